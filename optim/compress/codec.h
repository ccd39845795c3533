#pragma once
// Codec: how a vector travels. Made for a Layout, so that it can keep small tensors exact and count bytes without gaps.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/core/layout.h"
#include "framework/core/random.h"
#include "framework/core/span.h"
#include "optim/state.h"

namespace tg {

class Codec {
 public:
  virtual ~Codec() = default;
  // True if decode(encode(x)) is x, bit for bit: and encode() always writes
  // max_encoded_bytes(): an engine in one process then skips both and counts that.
  virtual bool exact() const { return false; }
  // The most bytes that encode() writes for elements [first, first + count) of the layout's vector.
  virtual int64_t max_encoded_bytes(int64_t first, int64_t count) const = 0;
  // Encodes `values`, which are elements [first, first + values.size) of the layout's vector (all of it, or a shard's
  // range), into `out` and returns the bytes used. Random draws are keyed by `stream` and the element's index in the
  // whole vector, so they depend neither on threads nor on how the vector is cut; the engine splits `stream` by worker
  // and step.
  virtual int64_t encode(View values, int64_t first, const Stream& stream, std::span<std::byte> out) = 0;
  // The inverse. Throws Error on bytes that encode() cannot have written; never reads past their end.
  virtual void decode(std::span<const std::byte> bytes, int64_t first, Span out) const = 0;
  // One line for a run's log: what travels how, and which parameters stay float32.
  virtual std::string describe() const { return ""; }
  // The push that this codec encoded last was refused by the gate: residuals go back to what they were.
  virtual void not_taken() {}
  virtual void save(StateWriter&) const {}
  virtual void load(const StateReader&) {}
};

// Float32 as it is, little-endian, without the gaps: 4 * layout.count() bytes.
std::unique_ptr<Codec> make_none_codec(const Layout& layout);

}  // namespace tg
