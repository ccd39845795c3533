#include "framework/nn/models/models.h"

#include <algorithm>

namespace tg {
namespace {

constexpr int64_t kWidest = 1 << 20;

// "256-128" -> {256, 128}; "none" -> {}.
std::vector<int64_t> parse_widths(const std::string& text) {
  std::vector<int64_t> widths;
  if (text == "none") return widths;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('-', at), text.size());
    const std::string word = text.substr(at, end - at);
    const bool number = !word.empty() && word.size() <= 7 && word.find_first_not_of("0123456789") == std::string::npos;
    const int64_t width = number ? std::stoll(word) : 0;
    require(width >= 1 && width <= kWidest && end + 1 != text.size(),
            "model mlp: hidden={} is not a list of widths from 1 to {} such as 256-128", text, kWidest);
    widths.push_back(width);
    at = end + 1;
  }
  return widths;
}

}  // namespace

const std::vector<SpecInfo>& model_infos() {
  static const std::vector<SpecInfo> infos = {
      {"lenet", "two convolutions and two fully connected layers", {}},
      {"mlp",
       "fully connected layers with relu",
       {{"hidden", "256-128", "widths of the hidden layers, joined by -; none for softmax regression"}}},
      {"resnet8", "CIFAR's ResNet with 8 layers (He et al. 2016), shortcuts by 1x1 convolution", {}},
      {"resnet20", "the same with 20 layers", {}},
      {"resnet32", "the same with 32 layers", {}},
      {"resnet56", "the same with 56 layers", {}},
      {"resnet110", "the same with 110 layers", {}},
  };
  return infos;
}

Shape usual_picture(const Spec& spec) {
  return spec.name().starts_with("resnet") ? Shape{32, 32, 3} : Shape{28, 28, 1};
}

Model make_model(const Spec& spec, const Shape& picture, int64_t classes) {
  require(classes >= 2, "model {}: {} classes; it takes 2 to tell apart", spec.name(), classes);
  if (spec.name() == "lenet") return make_lenet(picture, classes);
  for (const int64_t layers : {8, 20, 32, 56, 110})
    if (spec.name() == "resnet" + std::to_string(layers)) return make_cifar_resnet(picture, classes, layers);
  require(spec.name() == "mlp", "model {}: it has a name but no maker; add a line to make_model()", spec.name());
  return make_mlp(picture, parse_widths(spec.text("hidden")), classes);
}

}  // namespace tg
