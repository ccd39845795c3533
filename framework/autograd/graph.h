#pragma once
// The graph that operations record, and gradients(): reverse-mode differentiation of it on the calling thread.
//
// An operation computes its value and calls record() with the closure that sends the gradient back. Nodes are numbered
// as they are made, so "largest number first" is an order in which every node comes after all that used it; nothing
// here recurses.

#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <vector>

#include "framework/core/layout.h"
#include "framework/core/tensor.h"

namespace tg {

class GradientSink;

// What differentiates one operation: is given d loss / d output and hands d loss / d input i to the sink. The tensor is
// contiguous and, where unique() says so, may be overwritten.
using Backward = std::function<void(Tensor gradient, GradientSink& sink)>;

// An operation's name, the formulas of its value and its derivative (g is d loss / d value), and where it is written.
// Made once per operation as a static object, which lists it for the checks and for docs/derivatives.md.
class Op {
 public:
  Op(const char* name, const char* value, const char* derivative,
     std::source_location where = std::source_location::current());
  const char* name() const { return name_; }
  const char* value() const { return value_; }
  const char* derivative() const { return derivative_; }
  const std::source_location& where() const { return where_; }

 private:
  const char *name_, *value_, *derivative_;
  std::source_location where_;
};
// All operations, sorted by name.
std::vector<const Op*> all_ops();

// One recorded operation, or a leaf: where its gradient goes on to. Ids grow, so an input's is smaller.
class Node {
 public:
  ~Node();
  const char* op = "leaf";
  uint64_t id = 0;
  Shape shape;  // of the output, with its type and device: what the gradient must look like
  DType dtype = DType::f32;
  Device device;
  std::vector<std::shared_ptr<Node>> inputs;  // null where no gradient is wanted
  Backward backward;                          // empty for a leaf, and after it was used
  bool used = false;                          // gradients() went through it and released what it had saved
};

// A tensor that an operation keeps for its derivative. get() throws Error if somebody wrote to it since.
class Saved {
 public:
  explicit Saved(const Tensor& tensor) : tensor_(tensor.detach()), version_(tensor.version()) {}
  Tensor get(const char* op) const;

 private:
  Tensor tensor_;
  uint64_t version_;
};

// Where a derivative puts its results.
class GradientSink {
 public:
  // False: nobody asks for this input's gradient; do not compute it.
  bool wants(int input) const;
  // Adds a contribution of the input's shape and type. Throws Error naming op and input if it has another.
  void add(int input, Tensor contribution);
  // Memory of the input's shape for a kernel to write the contribution to, to be given to add(): the leaf's own place
  // in the flat gradient on its first contribution, else a new tensor.
  Tensor place(int input);

 private:
  friend class Walk;
  explicit GradientSink(class Walk& walk) : walk_(walk) {}
  class Walk& walk_;
  Node* node_ = nullptr;
};

// Gives `output` a node, unless gradients are switched off or none of the inputs carries one.
void record(Tensor& output, const Op& op, std::initializer_list<Tensor> inputs, Backward backward);
void record(Tensor& output, const Op& op, std::span<const Tensor> inputs, Backward backward);
// True if record() would: lets an operation skip what only the derivative needs.
bool recording(std::initializer_list<Tensor> inputs);

// While it lives, this thread records nothing.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

// While it lives, `seen` is told of every operation that this thread computes: in their order, with the result and
// what it was computed from, some of which may be undefined. Also where nothing is recorded.
class WatchOps {
 public:
  using Seen = std::function<void(const Op& op, const Tensor& output, std::span<const Tensor> inputs)>;
  explicit WatchOps(Seen seen);
  ~WatchOps();
  WatchOps(const WatchOps&) = delete;
  WatchOps& operator=(const WatchOps&) = delete;

 private:
  Seen seen_;
  const Seen* before_;
};

// The same numbers as a new leaf, to which gradients can be taken. A leaf is told from another by what it is, not by
// its values.
Tensor leaf(const Tensor& values);

// A model's parameters: leaves that are views of one flat vector. Made by nn/module.h.
struct Parameters {
  Tensor flat;  // [layout.size()]
  Layout layout;
  std::vector<Tensor> leaves;  // one per entry of the layout
};

// d loss / d parameters, laid out like parameters.flat; zeros in the gaps and for leaves that the loss does not depend
// on. The graph is released on the way: a loss can be differentiated once. Throws Error if `loss` is not one number,
// carries no gradient, or something that was saved has been changed.
Tensor gradients(const Tensor& loss, const Parameters& parameters);
// The same into the caller's memory of layout.size() elements. If it throws, `out` is partly written.
void gradients(const Tensor& loss, const Parameters& parameters, Span out);
// d (sum of output * cotangent) / d leaf for each leaf; the cotangent has the output's shape.
std::vector<Tensor> gradients(const Tensor& output, const std::vector<Tensor>& leaves, const Tensor& cotangent);

}  // namespace tg
