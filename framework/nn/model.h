#pragma once
// Model: any module, with its type erased and its parameters in one flat vector.

#include <functional>
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
  // before. float32, or float64 for checks.
  void bind(const Tensor& flat);
  // bind() to new memory with initial values from Stream(seed).split("init").
  void bind_new(uint64_t seed);
  const Parameters& parameters() const { return parameters_; }

  // The buffers' places in one vector of their own, and that vector (undefined if there are none).
  const Layout& buffer_layout() const { return buffer_layout_; }
  const Tensor& buffers() const { return buffers_; }
  // Sets running statistics to the mean of those of `batches` training batches at the present parameters, so that they
  // depend on these alone and not on who trained last. `batch(i)` gives the i-th batch's input.
  void estimate_buffers(int64_t batches, const std::function<Tensor(int64_t)>& batch);

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
  Layout buffer_layout_;
  Tensor buffers_;
};

}  // namespace tg
