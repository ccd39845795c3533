// VGG-19 (Simonyan and Zisserman 2015), configuration E: 16 convolutions 3x3 in five stages and three fully connected
// layers, dropout 0.5 between these. Variant: as published, without batch normalisation; He initialisation instead of
// the paper's start from a trained smaller network.

#include "framework/nn/conv2d.h"
#include "framework/nn/dropout.h"
#include "framework/nn/linear.h"
#include "framework/nn/models/models.h"
#include "framework/nn/shape_layers.h"

namespace tg {
namespace {

// Convolutions with relu between, and max-pooling that halves the sides; the last relu comes after it.
struct Stage {
  Stage(int64_t in, int64_t out, int64_t convolutions) {
    for (int64_t i = 1; i <= convolutions; ++i)
      convs.emplace_back(
          Conv2d::Options{.in = i == 1 ? in : out, .out = out, .kernel = 3, .padding = 1, .relu = i < convolutions});
  }

  Tensor operator()(const Tensor& x, const Context& context) const {
    Tensor h = x;
    for (const Conv2d& conv : convs) h = conv(h, context);
    return pool(h, context);
  }
  void visit(Visitor& v) { v("conv", convs); }

  std::vector<Conv2d> convs;
  MaxPool2d pool{{.kernel = 2, .relu = true}};
};

struct Vgg {
  Vgg(const Shape& picture, int64_t classes)
      : stages{{picture[2], 64, 2}, {64, 128, 2}, {128, 256, 4}, {256, 512, 4}, {512, 512, 4}},
        fc1({.in = (picture[0] / 32) * (picture[1] / 32) * 512, .out = 4096, .relu = true}),
        fc2({.in = 4096, .out = 4096, .relu = true}),
        fc3({.in = 4096, .out = classes}) {}

  // x: [N, H, W, C] -> logits [N, classes]
  Tensor operator()(const Tensor& x, const Context& context) const {
    Tensor h = x;
    for (const Stage& stage : stages) h = stage(h, context);
    h = drop1(fc1(flatten(h, context), context), context);
    h = drop2(fc2(h, context), context);
    return fc3(h, context);
  }
  void visit(Visitor& v) {
    v("stage", stages);
    v("fc1", fc1);
    v("drop1", drop1);
    v("fc2", fc2);
    v("drop2", drop2);
    v("fc3", fc3);
  }

  std::vector<Stage> stages;
  Flatten flatten;
  Linear fc1, fc2, fc3;
  Dropout drop1{{.rate = 0.5}}, drop2{{.rate = 0.5}};
};

}  // namespace

Model make_vgg19(const Shape& picture, int64_t classes) {
  require_picture("vgg19", picture, 32);
  return Model(Vgg(picture, classes));
}

}  // namespace tg
