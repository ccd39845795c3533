#pragma once
// Model: any module, with its type erased and its parameters in one flat vector.

#include <memory>

#include "framework/nn/module.h"

namespace tg {

class Model {
 public:
  template <class M>
  explicit Model(M module) : module_(std::make_unique<Holder<M>>(std::move(module))) {
    collect();
  }

  Tensor operator()(const Tensor& x, const Context& context) const {
    require(parameters_.flat.defined(), "model: it has no parameters yet; call bind() or bind_new() first");
    return module_->forward(x, context);
  }

  const Layout& layout() const { return parameters_.layout; }
  // Writes initial values to a vector of layout().size() elements: each parameter from stream.split(its path), gaps
  // zero.
  void initialise(const Stream& stream, Span flat) const;
  // Makes the parameters views of `flat` [layout().size()], which is shared, not copied. A model computes nothing
  // before.
  void bind(const Tensor& flat);
  // bind() to new memory with initial values from Stream(seed).split("init").
  void bind_new(uint64_t seed);
  const Parameters& parameters() const { return parameters_; }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual Tensor forward(const Tensor& x, const Context& context) const = 0;
    virtual void visit(Visitor& visitor) = 0;
  };
  template <class M>
  struct Holder final : Base {
    explicit Holder(M m) : module(std::move(m)) {}
    Tensor forward(const Tensor& x, const Context& context) const override { return module(x, context); }
    void visit(Visitor& visitor) override { module.visit(visitor); }
    M module;
  };

  void collect();

  std::unique_ptr<Base> module_;   // on the heap: parts_ points into it
  std::vector<Parameter*> parts_;  // in the layout's order
  Parameters parameters_;
};

}  // namespace tg
