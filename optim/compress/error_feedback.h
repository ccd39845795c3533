#pragma once
// Error feedback (Seide et al. 2014; Karimireddy et al. 2019): what a message lost is added to the next one, so that
// nothing is lost for ever and even a biased codec sends, over time, the sum of what it was given.

#include <memory>

#include "framework/core/spec.h"
#include "optim/compress/codec.h"

namespace tg {

// Around any codec that works tensor by tensor, of the same layout:
//
//   1  p = g + e       e, the residual, is 0 at the start
//   2  send C(p)
//   3  e = p - what the other end decodes
//
// The residual belongs to the end that encodes, and is saved by the parameters' names. After not_taken() it is what it
// was before the last message. Memory: twice the layout's vector, and its largest tensor.
std::unique_ptr<Codec> make_error_feedback(const Layout& layout, std::unique_ptr<Codec> codec);

// Option `error-feedback`, and what a spec says of it.
OptionInfo error_feedback_option(bool by_default);
bool error_feedback(const Spec& spec);

}  // namespace tg
