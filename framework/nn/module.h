#pragma once
// What a module is: a plain struct with operator()(x, context) and one visit() that lists its parts by name.
//
//   struct Mlp {
//     Linear hidden{{.in = 784, .out = 256, .relu = true}}, head{{.in = 256, .out = 10}};
//     Tensor operator()(const Tensor& x, const Context& context) const { return head(hidden(x, context), context); }
//     void visit(Visitor& v) { v("hidden", hidden); v("head", head); }
//   };
//
// From visit() come the parameters, their names in a checkpoint ("hidden.weight") and the path in an error message.

#include <optional>
#include <string>
#include <vector>

#include "framework/autograd/graph.h"
#include "framework/core/random.h"
#include "framework/nn/init.h"

namespace tg {

// Passed from layer to layer: nothing about mode or randomness is hidden in a module.
struct Context {
  bool training = true;
  // Of a training pass: how far running statistics move towards the batch's, 0 to 1. Zero, the default, leaves them
  // alone: workers share no statistics, and an evaluation re-estimates them (Model::estimate_buffers).
  double buffer_rate = 0;
  Stream stream{0};  // of this forward pass: split from seed, worker and step; a layer splits it by its path
  // Of a batch of sequences [N, T, ...]: int32 [N], how many steps each has, 1 to T; undefined: all have T.
  Tensor lengths = {};
};

// A trainable tensor of a module. `value` is a leaf from Model::bind() on.
struct Parameter {
  Shape shape;
  Init init;
  Tensor value;
};

// What a module keeps beside its parameters and no gradient reaches: batch normalisation's running statistics. `value`
// exists from the making of the Model on.
struct Buffer {
  Shape shape;
  float initial = 0;
  Tensor value;
};

class Visitor {
 public:
  virtual ~Visitor() = default;

  void operator()(const std::string& name, Parameter& parameter) { visit_parameter(joined(name), parameter); }
  void operator()(const std::string& name, Buffer& buffer) { visit_buffer(joined(name), buffer); }

  template <class M>
  requires requires(M& m, Visitor& v) { m.visit(v); }
  void operator()(const std::string& name, M& module) {
    const std::string before = path_;
    path_ = joined(name);
    // A layer knows where it is, to say so in its errors.
    if constexpr (requires { module.path = path_; }) module.path = path_;
    module.visit(*this);
    path_ = before;
  }

  template <class M>
  void operator()(const std::string& name, std::optional<M>& part) {
    if (part) (*this)(name, *part);
  }

  template <class M>
  void operator()(const std::string& name, std::vector<M>& modules) {
    for (size_t i = 0; i < modules.size(); ++i) (*this)(name + std::to_string(i + 1), modules[i]);
  }

 protected:
  virtual void visit_parameter(const std::string& path, Parameter& parameter) = 0;
  virtual void visit_buffer(const std::string&, Buffer&) {}

 private:
  std::string joined(const std::string& name) const { return path_.empty() ? name : path_ + "." + name; }
  std::string path_;
};

}  // namespace tg
