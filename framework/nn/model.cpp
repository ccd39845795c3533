#include "framework/nn/model.h"

#include <algorithm>

namespace tg {
namespace {

class Collector final : public Visitor {
 public:
  Collector(Layout& layout, std::vector<Parameter*>& parts) : layout_(layout), parts_(parts) {}

 private:
  void visit_parameter(const std::string& path, Parameter& parameter) override {
    layout_.add(path, parameter.shape);
    parts_.push_back(&parameter);
  }
  Layout& layout_;
  std::vector<Parameter*>& parts_;
};

}  // namespace

void Model::collect() {
  Collector collector(parameters_.layout, parts_);
  module_->visit(collector);
  parameters_.leaves.resize(parts_.size());
}

void Model::initialise(const Stream& stream, Span flat) const {
  require(flat.size == layout().size(), "model: {} elements to initialise, the parameters take {}", flat.size,
          layout().size());
  std::fill(flat.begin(), flat.end(), 0.0f);
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Layout::Entry& entry = layout().entries()[i];
    parts_[i]->init.fill(stream.split(entry.name), flat.part(entry.offset, entry.shape.count()));
  }
}

void Model::bind(const Tensor& flat) {
  require(flat.dtype() == DType::f32 && flat.shape() == Shape{layout().size()} && flat.contiguous(),
          "model: bind needs float32 [{}], got {} {}", layout().size(), name_of(flat.dtype()), flat.shape().str());
  parameters_.flat = flat;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Layout::Entry& entry = layout().entries()[i];
    parts_[i]->value = leaf(flat.as_strided(entry.shape, row_major(entry.shape), flat.offset() + entry.offset));
    parameters_.leaves[i] = parts_[i]->value;
  }
}

void Model::bind_new(uint64_t seed) {
  Tensor flat = Tensor::empty({layout().size()});
  initialise(Stream(seed).split("init"), flat.span());
  bind(flat);
}

}  // namespace tg
