#pragma once

#include "framework/nn/module.h"

namespace tg {

// The vectors of words: ids int32 of any shape -> [..., width], rows of weight [words, width]. Values start standard
// normal.
struct Embedding {
  struct Options {
    int64_t words, width;
  };
  explicit Embedding(const Options& options);
  // Throws Error if ids are not int32 (with this layer's path) or one is not in [0, words).
  Tensor operator()(const Tensor& ids, const Context& context) const;
  void visit(Visitor& v) { v("weight", weight); }

  Options options;
  Parameter weight;
  std::string path = "Embedding";
};

}  // namespace tg
