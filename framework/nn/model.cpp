#include "framework/nn/model.h"

#include <algorithm>

namespace tg {
namespace {

class Collector final : public Visitor {
 public:
  std::vector<std::pair<std::string, Parameter*>> parameters;
  std::vector<std::pair<std::string, Buffer*>> buffers;

 private:
  void visit_parameter(const std::string& path, Parameter& p) override { parameters.emplace_back(path, &p); }
  void visit_buffer(const std::string& path, Buffer& b) override { buffers.emplace_back(path, &b); }
};

Tensor entry_of(const Tensor& flat, const Layout::Entry& entry) {
  return flat.as_strided(entry.shape, row_major(entry.shape), flat.offset() + entry.offset);
}

}  // namespace

void Model::collect() {
  Collector found;
  module_->visit(found);
  for (const auto& [path, parameter] : found.parameters) {
    require(std::find(parts_.begin(), parts_.end(), parameter) == parts_.end(),
            "model: '{}' is a parameter that has another name already; visit() lists each parameter once", path);
    parameters_.layout.add(path, parameter->shape);
    parts_.push_back(parameter);
  }
  parameters_.leaves.resize(parts_.size());

  if (found.buffers.empty()) return;
  for (const auto& [path, buffer] : found.buffers) buffer_layout_.add(path, buffer->shape);
  buffers_ = Tensor::zeros({buffer_layout_.size()});
  for (size_t i = 0; i < found.buffers.size(); ++i) {
    Buffer& buffer = *found.buffers[i].second;
    buffer.value = entry_of(buffers_, buffer_layout_.entries()[i]);
    buffer.value.fill(buffer.initial);
  }
}

void Model::estimate_buffers(int64_t batches, const std::function<Tensor(int64_t)>& batch) {
  if (!buffers_.defined()) return;
  const NoGrad no_grad;
  // A rate of 1/(i+1) makes the running value the plain mean; the first batch replaces what was there.
  for (int64_t i = 0; i < batches; ++i)
    (*this)(batch(i), {.training = true, .buffer_rate = 1.0 / static_cast<double>(i + 1)});
}

void Model::initialise(const Stream& stream, Span flat) const {
  require(flat.size == layout().size(), "model: {} elements to initialise, the parameters take {}", flat.size,
          layout().size());
  require_numbers("model", flat.device);
  std::fill(flat.begin(), flat.end(), 0.0f);
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Layout::Entry& entry = layout().entries()[i];
    parts_[i]->init.fill(stream.split(entry.name), flat.part(entry.offset, entry.shape.count()));
  }
}

void Model::bind(const Tensor& flat) {
  require(is_floating(flat.dtype()) && flat.shape() == Shape{layout().size()} && flat.contiguous(),
          "model: bind needs float32 or float64 [{}], got {} {}", layout().size(), name_of(flat.dtype()),
          flat.shape().str());
  parameters_.flat = flat;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Layout::Entry& entry = layout().entries()[i];
    parts_[i]->value = leaf(entry_of(flat, entry));
    parameters_.leaves[i] = parts_[i]->value;
  }
}

void Model::bind_new(uint64_t seed) {
  Tensor flat = Tensor::empty({layout().size()});
  initialise(Stream(seed).split("init"), flat.span());
  bind(flat);
}

}  // namespace tg
