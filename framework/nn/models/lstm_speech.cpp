// Layers of LSTM with a linear layer on every step, for CTC (ops/ctc.h).
//
// The QSGD paper trains "an LSTM" of 13 M parameters on AN4 and says nothing more about it (Alistarh et al. 2017, table
// 1). Here it is 3 layers of 800, in one direction, on 40 log-mel features: 12.96 M with 29 classes.

#include "framework/nn/linear.h"
#include "framework/nn/lstm.h"
#include "framework/nn/models/models.h"
#include "framework/nn/shape_layers.h"
#include "framework/ops/shape.h"

namespace tg {
namespace {

struct LstmSpeech {
  LstmSpeech(int64_t features, int64_t classes, int64_t count, int64_t hidden) : head({.in = hidden, .out = classes}) {
    for (int64_t i = 0; i < count; ++i) layers.emplace_back(Lstm::Options{i == 0 ? features : hidden, hidden});
  }

  // x: [N, T, F] -> logits [N, T, classes]; past a sequence's end they are the head's bias
  Tensor operator()(const Tensor& x, const Context& context) const {
    Tensor h = rows(x, context);
    for (const Lstm& layer : layers) h = layer(h, context);
    const int64_t n = h.dim(0), steps = h.dim(1);
    return reshape(head(reshape(h, {n * steps, h.dim(2)}), context), {n, steps, head.options.out});
  }
  void visit(Visitor& v) {
    v("rows", rows);
    v("lstm", layers);
    v("head", head);
  }

  Rows rows;
  std::vector<Lstm> layers;
  Linear head;
};

}  // namespace

Model make_lstm_speech(const std::string& name, const Shape& sample, int64_t classes, int64_t layers, int64_t hidden) {
  return Model(LstmSpeech(features_of(name, sample), classes, layers, hidden));
}

}  // namespace tg
