// ResNets for CIFAR (He et al. 2016): 6n + 2 layers in three stages of n blocks with 16, 32 and 64 channels.
// Variant: where the number of channels changes, the shortcut is a 1x1 convolution with batch normalisation.

#include "framework/nn/conv2d.h"
#include "framework/nn/linear.h"
#include "framework/nn/models/models.h"
#include "framework/nn/norm.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/pool.h"

namespace tg {
namespace {

// relu(norm(conv(relu(norm(conv(x))))) + shortcut(x))
struct Block {
  Block(int64_t in, int64_t out, int64_t stride)
      : conv1({.in = in, .out = out, .kernel = 3, .stride = stride, .padding = 1, .bias = false}),
        conv2({.in = out, .out = out, .kernel = 3, .padding = 1, .bias = false}),
        norm1({.channels = out, .relu = true}),
        norm2({.channels = out}) {
    if (in == out && stride == 1) return;
    shortcut.emplace(Conv2d::Options{.in = in, .out = out, .kernel = 1, .stride = stride, .bias = false});
    shortcut_norm.emplace(BatchNorm::Options{.channels = out});
  }

  Tensor operator()(const Tensor& x, const Context& context) const {
    const Tensor h = norm2(conv2(norm1(conv1(x, context), context), context), context);
    return add_relu(h, shortcut ? (*shortcut_norm)((*shortcut)(x, context), context) : x);
  }
  void visit(Visitor& v) {
    v("conv1", conv1);
    v("norm1", norm1);
    v("conv2", conv2);
    v("norm2", norm2);
    v("shortcut", shortcut);
    v("shortcut_norm", shortcut_norm);
  }

  Conv2d conv1, conv2;
  BatchNorm norm1, norm2;
  std::optional<Conv2d> shortcut;
  std::optional<BatchNorm> shortcut_norm;
};

struct CifarResNet {
  CifarResNet(const Shape& picture, int64_t classes, int64_t blocks_per_stage)
      : conv({.in = picture[2], .out = 16, .kernel = 3, .padding = 1, .bias = false}),
        norm({.channels = 16, .relu = true}),
        head({.in = 64, .out = classes}) {
    int64_t in = 16;
    for (const int64_t channels : {16, 32, 64})
      for (int64_t i = 0; i < blocks_per_stage; ++i) {
        blocks.emplace_back(in, channels, in == channels ? 1 : 2);
        in = channels;
      }
  }

  // x: [N, H, W, C] -> logits [N, classes]
  Tensor operator()(const Tensor& x, const Context& context) const {
    Tensor h = norm(conv(x, context), context);
    for (const Block& block : blocks) h = block(h, context);
    return head(global_avg_pool2d(h), context);
  }
  void visit(Visitor& v) {
    v("conv", conv);
    v("norm", norm);
    v("block", blocks);
    v("head", head);
  }

  Conv2d conv;
  BatchNorm norm;
  std::vector<Block> blocks;
  Linear head;
};

}  // namespace

Model make_cifar_resnet(const Shape& picture, int64_t classes, int64_t layers) {
  require(layers >= 8 && (layers - 2) % 6 == 0, "resnet: {} layers; CIFAR's ResNets have 6n + 2", layers);
  require_picture(fmt::format("resnet{}", layers), picture, 8);
  return Model(CifarResNet(picture, classes, (layers - 2) / 6));
}

}  // namespace tg
