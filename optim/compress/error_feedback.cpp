#include "optim/compress/error_feedback.h"

#include <algorithm>

#include "framework/core/tensor.h"
#include "optim/compress/tensors.h"

namespace tg {

namespace {

// e += g; before = e as it was.
void add_and_keep(const float* __restrict g, int64_t n, float* __restrict e, float* __restrict before) {
  for (int64_t i = 0; i < n; ++i) {
    before[i] = e[i];
    e[i] += g[i];
  }
}

class ErrorFeedback : public Codec {
 public:
  ErrorFeedback(const Layout& layout, std::unique_ptr<Codec> codec)
      : layout_(layout),
        codec_(std::move(codec)),
        residual_(Tensor::zeros({layout.size()})),
        before_(Tensor::zeros({layout.size()})),
        decoded_(Tensor::zeros({largest_tensor(layout)})) {}

  int64_t max_encoded_bytes(int64_t first, int64_t count) const override {
    return codec_->max_encoded_bytes(first, count);
  }

  // Tensor by tensor, while they are in the cache: a message is that of its tensors, one behind the other.
  int64_t encode(View values, int64_t first, const Stream& stream, std::span<std::byte> out) override {
    require(max_encoded_bytes(first, values.size) <= std::ssize(out), "error feedback: up to {} bytes to write into {}",
            max_encoded_bytes(first, values.size), out.size());
    int64_t used = 0;
    for_each_part("with error feedback", layout_, first, values.size, [&](const TensorPart& part) {
      const int64_t place = first + part.at;
      const View g = values.part(part.at, part.count);
      const Span e = residual_.span().part(place, part.count), decoded = decoded_.span().part(0, part.count);
      // 1: p = g + e, in the residual's place.
      add_and_keep(g.data, part.count, e.data, before_.span().data + place);
      // 2: send C(p).
      const std::span<std::byte> message = out.subspan(static_cast<std::size_t>(used));
      const int64_t bytes = codec_->encode(e, place, stream, message);
      // 3: e = p - what the other end decodes.
      codec_->decode(message.first(static_cast<std::size_t>(bytes)), place, decoded);
      for (int64_t i = 0; i < part.count; ++i) e.data[i] -= decoded.data[i];
      used += bytes;
    });
    return used;
  }

  void decode(std::span<const std::byte> bytes, int64_t first, Span out) const override {
    codec_->decode(bytes, first, out);
  }

  std::string describe() const override { return codec_->describe() + "; error feedback"; }

  void not_taken() override {
    const View before = before_.view();
    std::copy(before.begin(), before.end(), residual_.span().begin());
    codec_->not_taken();
  }

  // Both: a snapshot may be taken while a message is on its way, of which it is not known yet whether it is taken.
  void save(StateWriter& state) const override {
    for (const Layout::Entry& entry : layout_.entries()) {
      state.write("residual/" + entry.name, residual_.view().part(entry.offset, entry.shape.count()));
      state.write("residual-before/" + entry.name, before_.view().part(entry.offset, entry.shape.count()));
    }
    codec_->save(state);
  }
  void load(const StateReader& state) override {
    for (const Layout::Entry& entry : layout_.entries()) {
      state.read("residual/" + entry.name, residual_.span().part(entry.offset, entry.shape.count()));
      state.read("residual-before/" + entry.name, before_.span().part(entry.offset, entry.shape.count()));
    }
    codec_->load(state);
  }

 private:
  static int64_t largest_tensor(const Layout& layout) {
    int64_t largest = 0;
    for (const Layout::Entry& entry : layout.entries()) largest = std::max(largest, entry.shape.count());
    return largest;
  }

  Layout layout_;
  std::unique_ptr<Codec> codec_;
  Tensor residual_, before_;  // as the layout
  Tensor decoded_;            // of one tensor
};

}  // namespace

std::unique_ptr<Codec> make_error_feedback(const Layout& layout, std::unique_ptr<Codec> codec) {
  return std::make_unique<ErrorFeedback>(layout, std::move(codec));
}

OptionInfo error_feedback_option(bool by_default) {
  return {"error-feedback", by_default ? "true" : "false", "add what a message lost to the next: true or false"};
}

bool error_feedback(const Spec& spec) { return spec.flag("error-feedback"); }

}  // namespace tg
