#include "optim/compress/warm_start.h"

#include <algorithm>

namespace tg {

namespace {

constexpr std::byte kFloat32{0}, kCoded{1};
constexpr const char* kStarted = "messages";

class WarmStart : public Codec {
 public:
  WarmStart(const Layout& layout, int64_t messages, std::unique_ptr<Codec> codec)
      : messages_(messages), float32_(make_none_codec(layout)), codec_(std::move(codec)) {}

  int64_t max_encoded_bytes(int64_t first, int64_t count) const override {
    return 1 + std::max(float32_->max_encoded_bytes(first, count), codec_->max_encoded_bytes(first, count));
  }

  int64_t encode(View values, int64_t first, const Stream& stream, std::span<std::byte> out) override {
    require(!out.empty(), "warm start: no byte to write into");
    if (first == 0) ++started_;
    const bool warm = started_ <= messages_;
    out[0] = warm ? kFloat32 : kCoded;
    return 1 + (warm ? float32_ : codec_)->encode(values, first, stream, out.subspan(1));
  }

  void decode(std::span<const std::byte> bytes, int64_t first, Span out) const override {
    require(!bytes.empty() && (bytes[0] == kFloat32 || bytes[0] == kCoded),
            "warm start: a message starts with neither 0 (float32) nor 1 (coded)");
    (bytes[0] == kFloat32 ? float32_ : codec_)->decode(bytes.subspan(1), first, out);
  }

  std::string describe() const override {
    return fmt::format("{}; the first {} messages float32", codec_->describe(), messages_);
  }

  void not_taken() override {
    if (started_ > messages_) codec_->not_taken();
    --started_;
  }

  void save(StateWriter& state) const override {
    state.write(kStarted, started_);
    codec_->save(state);
  }
  void load(const StateReader& state) override {
    started_ = state.read(kStarted);
    codec_->load(state);
  }

 private:
  int64_t messages_;
  int64_t started_ = 0;
  std::unique_ptr<Codec> float32_, codec_;
};

}  // namespace

std::unique_ptr<Codec> make_warm_start(const Layout& layout, int64_t messages, std::unique_ptr<Codec> codec) {
  return std::make_unique<WarmStart>(layout, messages, std::move(codec));
}

OptionInfo warm_start_option() {
  return {"warm-start", "0", "so many messages of each worker travel as float32 first, 0 to 1000000000"};
}

int64_t warm_start(const Spec& spec) { return spec.integer("warm-start", 0, 1'000'000'000); }

}  // namespace tg
