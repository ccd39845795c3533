#pragma once
// The first messages as float32: a model's first gradients are large and change fast, which codes of few bits take
// badly (Seide et al. 2014 begin 1-bit SGD so).

#include <memory>

#include "framework/core/spec.h"
#include "optim/compress/codec.h"

namespace tg {

// Around any codec of the same layout. The first `messages` travel as codec `none`, later ones as `codec`; a refused
// one does not count. A message starts with its part that holds element 0; each part begins with a byte that says how
// it is written, 0 or 1.
std::unique_ptr<Codec> make_warm_start(const Layout& layout, int64_t messages, std::unique_ptr<Codec> codec);

// Option `warm-start`, and what a spec says of it.
OptionInfo warm_start_option();
int64_t warm_start(const Spec& spec);

}  // namespace tg
