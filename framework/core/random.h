#pragma once
// Counter-based random numbers (Philox 4x32-10, Salmon et al. 2011): a value is a function of (stream, index), so it
// does not depend on threads, chunking or device, and any part of a stream can be drawn on its own.

#include <array>
#include <cstdint>
#include <string_view>

namespace tg {

// A named stream. Streams are split by name and number from a seed: Stream(seed).split("worker", 3).split("dropout").
// The new key is the first half of the Philox block of (hash of the name, number) under the old key; the hash is 64-bit
// FNV-1a of the name, and of a zero byte behind it where there is a number.
class Stream {
 public:
  explicit Stream(uint64_t seed) : key_(seed) {}
  Stream split(std::string_view name) const;
  Stream split(std::string_view name, uint64_t number) const;

  uint64_t key() const { return key_; }
  // 128 random bits of block `index`.
  std::array<uint32_t, 4> bits(uint64_t index) const;
  // In [0, 1), 24 bits, from word index % 4 of block index / 4.
  float uniform(uint64_t index) const;
  // uniform(first), uniform(first + 1), ... to out[0], ..., out[count - 1]; a block gives four at once. `first` is a
  // multiple of 4.
  void uniforms(uint64_t first, int64_t count, float* out) const;
  // Standard normal (Box-Muller); two indices share a block.
  float normal(uint64_t index) const;

 private:
  uint64_t key_;
};

// Draws one after the other from a stream: shuffles, gamma variates. Cheap to copy; a copy repeats the draws.
class Generator {
 public:
  explicit Generator(Stream stream) : stream_(stream) {}
  uint32_t next();
  double uniform();                          // in (0, 1), 32 bits
  double normal();                           // standard normal
  uint64_t below(uint64_t n);                // uniform in [0, n) without bias; n > 0
  double gamma(double shape, double scale);  // Marsaglia and Tsang 2000; shape >= 1

 private:
  Stream stream_;
  uint64_t index_ = 0;
};

}  // namespace tg
