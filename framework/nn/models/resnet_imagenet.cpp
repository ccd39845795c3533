// ResNets for ImageNet with bottlenecks (He et al. 2016): 50 and 152 layers.
// Variant: a stage's stride is in the 3x3 convolution, not in the 1x1 before it, as most code has it since 2016: the
// same parameters, 4.1 instead of 3.8 G multiply-adds for ResNet-50. Shortcuts are 1x1 convolutions where the width
// changes (the paper's option B).

#include "framework/nn/conv_norm.h"
#include "framework/nn/linear.h"
#include "framework/nn/models/models.h"
#include "framework/nn/shape_layers.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/pool.h"

namespace tg {
namespace {

// relu(1x1 wide(3x3(1x1 narrow(x))) + shortcut(x)), a normalisation after each convolution
struct Bottleneck {
  Bottleneck(int64_t in, int64_t width, int64_t stride)
      : narrow({.in = in, .out = width, .kernel = 1}),
        middle({.in = width, .out = width, .kernel = 3, .stride = stride}),
        wide({.in = width, .out = 4 * width, .kernel = 1, .relu = false}) {
    if (in != 4 * width || stride != 1)
      shortcut.emplace(ConvNorm::Options{.in = in, .out = 4 * width, .kernel = 1, .stride = stride, .relu = false});
  }

  Tensor operator()(const Tensor& x, const Context& context) const {
    const Tensor h = wide(middle(narrow(x, context), context), context);
    return add_relu(h, shortcut ? (*shortcut)(x, context) : x);
  }
  void visit(Visitor& v) {
    v("narrow", narrow);
    v("middle", middle);
    v("wide", wide);
    v("shortcut", shortcut);
  }

  ConvNorm narrow, middle, wide;
  std::optional<ConvNorm> shortcut;
};

struct ResNet {
  ResNet(const Shape& picture, int64_t classes, const std::vector<int64_t>& blocks_per_stage)
      : stem({.in = picture[2], .out = 64, .kernel = 7, .stride = 2}), head({.in = 2048, .out = classes}) {
    int64_t in = 64, width = 64;
    for (const int64_t count : blocks_per_stage) {
      for (int64_t i = 0; i < count; ++i) {
        blocks.emplace_back(in, width, width > 64 && i == 0 ? 2 : 1);
        in = 4 * width;
      }
      width *= 2;
    }
  }

  // x: [N, H, W, C] -> logits [N, classes]
  Tensor operator()(const Tensor& x, const Context& context) const {
    Tensor h = pool(stem(x, context), context);
    for (const Bottleneck& block : blocks) h = block(h, context);
    return head(global_avg_pool2d(h), context);
  }
  void visit(Visitor& v) {
    v("stem", stem);
    v("block", blocks);
    v("head", head);
  }

  ConvNorm stem;
  MaxPool2d pool{{.kernel = 3, .stride = 2, .padding = 1}};
  std::vector<Bottleneck> blocks;
  Linear head;
};

}  // namespace

Model make_imagenet_resnet(const Shape& picture, int64_t classes, int64_t layers) {
  require(layers == 50 || layers == 152, "resnet: {} layers; ImageNet's ResNets here have 50 or 152", layers);
  require_picture(fmt::format("resnet{}", layers), picture, 32);
  return Model(
      ResNet(picture, classes, layers == 50 ? std::vector<int64_t>{3, 4, 6, 3} : std::vector<int64_t>{3, 8, 36, 3}));
}

}  // namespace tg
