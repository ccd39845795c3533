// Wide ResNets for CIFAR (Zagoruyko and Komodakis 2016): WRN-d-k has d = 6n + 4 layers in three stages of n blocks with
// 16k, 32k and 64k channels. Batch normalisation and relu come before each convolution; no dropout.
// Variant: where the number of channels changes, the shortcut is a 1x1 convolution of the activated input, as in the
// authors' code.

#include "framework/nn/conv2d.h"
#include "framework/nn/linear.h"
#include "framework/nn/models/models.h"
#include "framework/nn/norm.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/pool.h"

namespace tg {
namespace {

// a = relu(norm(x)); conv(relu(norm(conv(a)))) + x, or + shortcut(a)
struct Block {
  Block(int64_t in, int64_t out, int64_t stride)
      : norm1({.channels = in, .relu = true}),
        norm2({.channels = out, .relu = true}),
        conv1({.in = in, .out = out, .kernel = 3, .stride = stride, .padding = 1, .bias = false}),
        conv2({.in = out, .out = out, .kernel = 3, .padding = 1, .bias = false}) {
    if (in == out && stride == 1) return;
    shortcut.emplace(Conv2d::Options{.in = in, .out = out, .kernel = 1, .stride = stride, .bias = false});
  }

  Tensor operator()(const Tensor& x, const Context& context) const {
    const Tensor a = norm1(x, context);
    const Tensor h = conv2(norm2(conv1(a, context), context), context);
    return add(h, shortcut ? (*shortcut)(a, context) : x);
  }
  void visit(Visitor& v) {
    v("norm1", norm1);
    v("conv1", conv1);
    v("norm2", norm2);
    v("conv2", conv2);
    v("shortcut", shortcut);
  }

  BatchNorm norm1, norm2;
  Conv2d conv1, conv2;
  std::optional<Conv2d> shortcut;
};

struct WideResNet {
  WideResNet(const Shape& picture, int64_t classes, int64_t blocks_per_stage, int64_t widening)
      : conv({.in = picture[2], .out = 16, .kernel = 3, .padding = 1, .bias = false}),
        norm({.channels = 64 * widening, .relu = true}),
        head({.in = 64 * widening, .out = classes}) {
    int64_t in = 16;
    for (const int64_t stage : {0, 1, 2})
      for (int64_t i = 0; i < blocks_per_stage; ++i) {
        const int64_t out = (16 << stage) * widening;
        blocks.emplace_back(in, out, stage > 0 && i == 0 ? 2 : 1);
        in = out;
      }
  }

  // x: [N, H, W, C] -> logits [N, classes]
  Tensor operator()(const Tensor& x, const Context& context) const {
    Tensor h = conv(x, context);
    for (const Block& block : blocks) h = block(h, context);
    return head(global_avg_pool2d(norm(h, context)), context);
  }
  void visit(Visitor& v) {
    v("conv", conv);
    v("block", blocks);
    v("norm", norm);
    v("head", head);
  }

  Conv2d conv;
  std::vector<Block> blocks;
  BatchNorm norm;
  Linear head;
};

}  // namespace

Model make_wide_resnet(const Shape& picture, int64_t classes, int64_t layers, int64_t widening) {
  require(layers >= 10 && (layers - 4) % 6 == 0 && widening >= 1, "wrn{}-{}: wide ResNets have 6n + 4 layers", layers,
          widening);
  require_picture(fmt::format("wrn{}-{}", layers, widening), picture, 8);
  return Model(WideResNet(picture, classes, (layers - 4) / 6, widening));
}

}  // namespace tg
