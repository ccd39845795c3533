#include "framework/nn/embedding.h"

#include "framework/ops/join.h"

namespace tg {

Embedding::Embedding(const Options& o) : options(o), weight{{o.words, o.width}, {Init::Kind::normal, 1}, {}} {}

Tensor Embedding::operator()(const Tensor& ids, const Context&) const {
  require(ids.dtype() == DType::i32, "{}: Embedding takes int32 ids, got {} {}", path, name_of(ids.dtype()),
          ids.shape().str());
  return embedding(weight.value, ids);
}

}  // namespace tg
