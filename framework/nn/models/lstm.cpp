// An LSTM that reads a sequence and is asked once, after its last step: 128 units, as the training step of tests/bench
// has them. No paper fixes it.

#include "framework/nn/lstm.h"

#include "framework/nn/linear.h"
#include "framework/nn/models/models.h"
#include "framework/nn/shape_layers.h"

namespace tg {
namespace {

struct LstmClassifier {
  // x: [N, T, F], or pictures -> logits [N, classes], after each sequence's own last step
  Tensor operator()(const Tensor& x, const Context& context) const {
    return head(last_steps(lstm(rows(x, context), context), context.lengths), context);
  }
  void visit(Visitor& v) {
    v("rows", rows);
    v("lstm", lstm);
    v("head", head);
  }

  Rows rows;
  Lstm lstm;
  Linear head;
};

}  // namespace

Model make_lstm(const Shape& sample, int64_t classes) {
  constexpr int64_t kHidden = 128;
  return Model(LstmClassifier{.rows = {},
                              .lstm = Lstm({.in = features_of("lstm", sample), .hidden = kHidden}),
                              .head = Linear({.in = kHidden, .out = classes})});
}

}  // namespace tg
