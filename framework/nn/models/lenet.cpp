// LeNet (after LeCun et al. 1998): two convolutions 5x5, each with max-pooling, and two fully connected layers.
// Variant: 32 and 64 filters, 128 units, relu and max-pooling, as tutorials have it today; each relu comes after its
// pooling, which gives the same numbers for a quarter of the work.

#include "framework/nn/conv2d.h"
#include "framework/nn/linear.h"
#include "framework/nn/models/models.h"
#include "framework/nn/shape_layers.h"

namespace tg {
namespace {

// Side of the feature map after conv 5, pool 2, conv 5, pool 2.
int64_t features(int64_t side) { return ((side - 4) / 2 - 4) / 2; }

struct LeNet {
  LeNet(const Shape& picture, int64_t classes)
      : conv1({.in = picture[2], .out = 32, .kernel = 5}),
        conv2({.in = 32, .out = 64, .kernel = 5}),
        fc1({.in = features(picture[0]) * features(picture[1]) * 64, .out = 128, .relu = true}),
        fc2({.in = 128, .out = classes}) {}

  // x: [N, H, W, C] -> logits [N, classes]
  Tensor operator()(const Tensor& x, const Context& context) const {
    Tensor h = pool(conv1(x, context), context);
    h = pool(conv2(h, context), context);
    return fc2(fc1(flatten(h, context), context), context);
  }
  void visit(Visitor& v) {
    v("conv1", conv1);
    v("conv2", conv2);
    v("fc1", fc1);
    v("fc2", fc2);
  }

  Conv2d conv1, conv2;
  MaxPool2d pool{{.kernel = 2, .relu = true}};
  Flatten flatten;
  Linear fc1, fc2;
};

}  // namespace

Model make_lenet(const Shape& picture, int64_t classes) {
  require_picture("lenet", picture, 16);
  return Model(LeNet(picture, classes));
}

}  // namespace tg
