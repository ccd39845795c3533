// AlexNet (Krizhevsky et al. 2012). Variants by the number of groups of convolutions 2, 4 and 5:
//   2  the paper's network, which was spread over two GPUs: 60.97 M parameters
//   1  every filter sees all channels: 62.38 M, the 62 M that the QSGD paper trains
// Both have local response normalisation and overlapping pooling as in the paper. Pictures of 224 x 224 are padded by
// 2, which gives the paper's 55 x 55 after the first convolution.

#include "framework/nn/conv2d.h"
#include "framework/nn/dropout.h"
#include "framework/nn/linear.h"
#include "framework/nn/models/models.h"
#include "framework/nn/norm.h"
#include "framework/nn/shape_layers.h"

namespace tg {
namespace {

constexpr int64_t kFirstKernel = 11, kFirstStride = 4, kFirstPadding = 2, kPoolKernel = 3, kPoolStride = 2;

// Side of the feature map that goes to the first fully connected layer: after the first convolution and three poolings.
int64_t features(int64_t side) {
  side = (side + 2 * kFirstPadding - kFirstKernel) / kFirstStride + 1;
  for (int pooling = 0; pooling < 3; ++pooling) side = (side - kPoolKernel) / kPoolStride + 1;
  return side;
}

struct AlexNet {
  AlexNet(const Shape& picture, int64_t classes, int64_t groups)
      : conv1({.in = picture[2],
               .out = 96,
               .kernel = kFirstKernel,
               .stride = kFirstStride,
               .padding = kFirstPadding,
               .relu = true}),
        conv2({.in = 96, .out = 256, .kernel = 5, .padding = 2, .groups = groups, .relu = true}),
        conv3({.in = 256, .out = 384, .kernel = 3, .padding = 1, .relu = true}),
        conv4({.in = 384, .out = 384, .kernel = 3, .padding = 1, .groups = groups, .relu = true}),
        conv5({.in = 384, .out = 256, .kernel = 3, .padding = 1, .groups = groups}),
        fc1({.in = features(picture[0]) * features(picture[1]) * 256, .out = 4096, .relu = true}),
        fc2({.in = 4096, .out = 4096, .relu = true}),
        fc3({.in = 4096, .out = classes}) {}

  // x: [N, H, W, C] -> logits [N, classes]
  Tensor operator()(const Tensor& x, const Context& context) const {
    Tensor h = pool(normalise(conv1(x, context), context), context);
    h = pool(normalise(conv2(h, context), context), context);
    h = conv5(conv4(conv3(h, context), context), context);
    h = flatten(pool_relu(h, context), context);
    h = drop1(fc1(h, context), context);
    h = drop2(fc2(h, context), context);
    return fc3(h, context);
  }
  void visit(Visitor& v) {
    v("conv1", conv1);
    v("conv2", conv2);
    v("conv3", conv3);
    v("conv4", conv4);
    v("conv5", conv5);
    v("fc1", fc1);
    v("drop1", drop1);
    v("fc2", fc2);
    v("drop2", drop2);
    v("fc3", fc3);
  }

  Conv2d conv1, conv2, conv3, conv4, conv5;
  // The paper's alpha of 1e-4 multiplies the sum of 5 squares, ours their mean.
  LocalResponseNorm normalise{{.size = 5, .alpha = 5e-4, .beta = 0.75, .k = 2}};
  MaxPool2d pool{{.kernel = kPoolKernel, .stride = kPoolStride}};
  MaxPool2d pool_relu{{.kernel = kPoolKernel, .stride = kPoolStride, .relu = true}};
  Flatten flatten;
  Linear fc1, fc2, fc3;
  Dropout drop1{{.rate = 0.5}}, drop2{{.rate = 0.5}};
};

}  // namespace

Model make_alexnet(const Shape& picture, int64_t classes, int64_t groups) {
  require_picture("alexnet", picture, 63);
  return Model(AlexNet(picture, classes, groups));
}

}  // namespace tg
