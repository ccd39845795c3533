#include "optim/compress/per_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "optim/compress/tensors.h"

namespace tg {

namespace {

constexpr int64_t kFloatBytes = 4;

class PerTensorCodec : public Codec {
 public:
  PerTensorCodec(const char* name, const Layout& layout, const KeepFloat32& keep, std::unique_ptr<TensorCoder> coder)
      : name_(name), layout_(layout), kept_(kept_float32(layout, keep)), coder_(std::move(coder)) {}

  int64_t max_encoded_bytes(int64_t first, int64_t count) const override {
    int64_t bytes = 0;
    for_each_whole_part(first, count, [&](const TensorPart& part) { bytes += max_bytes(part); });
    return bytes;
  }

  int64_t encode(View values, int64_t first, const Stream& stream, std::span<std::byte> out) override {
    require(values.device.on_host(), "codec {}: encodes from host memory, not from {}", name_, name_of(values.device));
    const int64_t most = max_encoded_bytes(first, values.size);
    require(most <= std::ssize(out), "codec {}: up to {} bytes to write into {}", name_, most, out.size());
    int64_t used = 0;
    for_each_whole_part(first, values.size, [&](const TensorPart& part) {
      const View from = values.part(part.at, part.count);
      const std::span<std::byte> to = out.subspan(static_cast<std::size_t>(used));
      if (kept_[part.tensor]) {
        std::memcpy(to.data(), from.data, static_cast<std::size_t>(max_bytes(part)));
        used += max_bytes(part);
      } else {
        used += coder_->encode(entry(part), part.begin, from, stream, to);
      }
    });
    return used;
  }

  void decode(std::span<const std::byte> bytes, int64_t first, Span out) const override {
    require(out.device.on_host(), "codec {}: decodes into host memory, not into {}", name_, name_of(out.device));
    int64_t used = 0, filled = 0;
    for_each_whole_part(first, out.size, [&](const TensorPart& part) {
      std::fill(out.data + filled, out.data + part.at, 0.0f);  // the gap
      filled = part.at + part.count;
      const Span to = out.part(part.at, part.count);
      const std::span<const std::byte> from = bytes.subspan(static_cast<std::size_t>(used));
      if (kept_[part.tensor]) {
        require(max_bytes(part) <= std::ssize(from), "codec {}: the message ends within {}", name_, entry(part).name);
        std::memcpy(to.data, from.data(), static_cast<std::size_t>(max_bytes(part)));
        used += max_bytes(part);
      } else {
        used += coder_->decode(entry(part), part.begin, from, to);
      }
    });
    std::fill(out.data + filled, out.end(), 0.0f);
    require(used == std::ssize(bytes),
            "codec {}: elements {} to {} take {} bytes, but {} came; both sides must have the same model and codec",
            name_, first, first + out.size, used, bytes.size());
  }

  std::string describe() const override {
    int64_t coded = 0;
    std::string kept;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const Layout::Entry& tensor = layout_.entries()[i];
      if (kept_[i])
        kept += (kept.empty() ? "" : ", ") + tensor.name;
      else
        coded += tensor.shape.count();
    }
    return fmt::format("{}: {} of {} values in {}; float32: {}", name_, coded, layout_.count(), coder_->describe(),
                       kept.empty() ? "none" : kept);
  }

 private:
  const Layout::Entry& entry(const TensorPart& part) const { return layout_.entries()[part.tensor]; }

  int64_t max_bytes(const TensorPart& part) const {
    return kept_[part.tensor] ? kFloatBytes * part.count
                              : coder_->max_encoded_bytes(entry(part), part.begin, part.count);
  }

  template <class F>
  void for_each_whole_part(int64_t first, int64_t count, F&& f) const {
    for_each_part(name_, layout_, first, count, [&](const TensorPart& part) {
      if (!kept_[part.tensor]) {
        const int64_t unit = coder_->unit(entry(part)), end = part.begin + part.count;
        require(part.begin % unit == 0 && (end % unit == 0 || end == entry(part).shape.count()),
                "codec {}: elements {} to {} of {} are not whole buckets of {}; cut between tensors, or at a multiple",
                name_, part.begin, end, entry(part).name, unit);
      }
      f(part);
    });
  }

  const char* name_;
  Layout layout_;
  std::vector<bool> kept_;  // by tensor
  std::unique_ptr<TensorCoder> coder_;
};

}  // namespace

void require_finite(const char* codec, const std::string& tensor, int64_t element, View values) {
  for (int64_t i = 0; i < values.size; ++i)
    if (!std::isfinite(values[i]))
      fail("codec {}: element {} of {} is {}; it has no code, and a lower learning rate may avoid it", codec,
           element + i, tensor, values[i]);
}

std::unique_ptr<Codec> make_per_tensor_codec(const char* name, const Layout& layout, const KeepFloat32& keep,
                                             std::unique_ptr<TensorCoder> coder) {
  return std::make_unique<PerTensorCodec>(name, layout, keep, std::move(coder));
}

}  // namespace tg
