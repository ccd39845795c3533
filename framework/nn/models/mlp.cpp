// Fully connected layers of any widths, with relu between; none at all is softmax regression.

#include "framework/nn/linear.h"
#include "framework/nn/models/models.h"
#include "framework/nn/shape_layers.h"

namespace tg {
namespace {

struct Mlp {
  Flatten flatten;
  std::vector<Linear> layers;

  Tensor operator()(const Tensor& x, const Context& context) const {
    Tensor h = flatten(x, context);
    for (const Linear& layer : layers) h = layer(h, context);
    return h;
  }
  void visit(Visitor& v) {
    v("flatten", flatten);
    v("fc", layers);
  }
};

}  // namespace

Model make_mlp(const Shape& picture, const std::vector<int64_t>& hidden, int64_t classes) {
  Mlp mlp;
  int64_t in = picture.count();
  for (int64_t width : hidden) {
    mlp.layers.emplace_back(Linear::Options{.in = in, .out = width, .relu = true});
    in = width;
  }
  mlp.layers.emplace_back(Linear::Options{.in = in, .out = classes});
  return Model(std::move(mlp));
}

}  // namespace tg
