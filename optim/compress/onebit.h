#pragma once
// 1-bit SGD (Seide, Fu, Droppo, Li, Yu 2014): a value travels as its sign, and each column of a matrix with two means.
//
//   decoded_i = mean of the column's values below 0  where v_i < 0,  else  mean of its values from 0 on
//
// A column is the values that share a tensor's first index, which lie side by side: of a layer's weights [out, in] or
// [out, height, width, in] those of one output; a tensor with one axis is one column. Columns of zeros stay so, as the
// gradients of an embedding's rows that were not used. Nothing is random, and -0.0 counts as 0.0.
//
// It is biased: alone it loses all but the means for ever. So the codec `onebit` has error feedback (error_feedback.h)
// unless it is told not to. Throws Error for values that are not finite, naming the tensor. The bytes: docs/codecs.md.

#include <memory>

#include "framework/core/spec.h"
#include "optim/compress/codec.h"
#include "optim/compress/keep.h"

namespace tg {

SpecInfo onebit_info(int64_t min_elements);

// Signs and means alone, without error feedback.
std::unique_ptr<Codec> make_onebit_codec(const Layout& layout, const KeepFloat32& keep);

}  // namespace tg
