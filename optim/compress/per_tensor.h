#pragma once
// What codecs that treat every tensor on its own have in common: the walk over the layout, the tensors that stay
// float32, the limits and the errors. The codec itself is a TensorCoder.
//
// A message is each tensor's bytes in the layout's order, those of a tensor that stays float32 as they lie in memory.

#include <memory>

#include "optim/compress/codec.h"
#include "optim/compress/keep.h"

namespace tg {

// Codes part of one tensor. `begin` is the part's first element, counted from the tensor's start; entry.offset + begin
// is its place in the whole vector.
class TensorCoder {
 public:
  virtual ~TensorCoder() = default;
  // "4 bits, ...": how a coded tensor travels, for the log.
  virtual std::string describe() const = 0;
  // A tensor may be cut behind every so many elements.
  virtual int64_t unit(const Layout::Entry& entry) const = 0;
  // The most that encode() writes for `count` elements.
  virtual int64_t max_encoded_bytes(const Layout::Entry& entry, int64_t begin, int64_t count) const = 0;
  // Returns the bytes written; `out` has room for max_encoded_bytes(). Throws Error for values that it cannot encode.
  virtual int64_t encode(const Layout::Entry& entry, int64_t begin, View values, const Stream& stream,
                         std::span<std::byte> out) = 0;
  // Returns the bytes read from the start of `bytes`, which may hold more, or less: then it throws Error.
  virtual int64_t decode(const Layout::Entry& entry, int64_t begin, std::span<const std::byte> bytes,
                         Span out) const = 0;
};

// Throws Error naming the tensor and the first of its `values` that is not finite, if there is one. `element` is where
// they start in it.
void require_finite(const char* codec, const std::string& tensor, int64_t element, View values);

// `name` is for messages. Throws Error as kept_float32() does.
std::unique_ptr<Codec> make_per_tensor_codec(const char* name, const Layout& layout, const KeepFloat32& keep,
                                             std::unique_ptr<TensorCoder> coder);

}  // namespace tg
