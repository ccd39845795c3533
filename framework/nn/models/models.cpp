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

const Shape kMnist{28, 28, 1}, kCifar{32, 32, 3}, kImageNet{224, 224, 3};

struct Entry {
  SpecInfo info;
  Shape input;  // one sample
  int64_t classes;
  Model (*make)(const Spec& spec, const Shape& input, int64_t classes);
};

template <int64_t kLayers>
Entry cifar_resnet() {
  const std::string summary =
      fmt::format("CIFAR's ResNet with {} layers (He et al. 2016), shortcuts by 1x1 convolution", kLayers);
  return {{fmt::format("resnet{}", kLayers), summary, {}},
          kCifar,
          10,
          [](const Spec&, const Shape& input, int64_t classes) { return make_cifar_resnet(input, classes, kLayers); }};
}

template <int64_t kLayers>
Entry imagenet_resnet() {
  const std::string summary =
      fmt::format("ImageNet's ResNet with {} layers (He et al. 2016), strides in the 3x3 convolutions", kLayers);
  return {
      {fmt::format("resnet{}", kLayers), summary, {}},
      kImageNet,
      1000,
      [](const Spec&, const Shape& input, int64_t classes) { return make_imagenet_resnet(input, classes, kLayers); }};
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> list = {
      {{"lenet", "two convolutions and two fully connected layers", {}},
       kMnist,
       10,
       [](const Spec&, const Shape& input, int64_t classes) { return make_lenet(input, classes); }},
      {{"mlp",
        "fully connected layers with relu",
        {{"hidden", "256-128", "widths of the hidden layers, joined by -; none for softmax regression"}}},
       kMnist,
       10,
       [](const Spec& spec, const Shape& input, int64_t classes) {
         return make_mlp(input, parse_widths(spec.text("hidden")), classes);
       }},
      cifar_resnet<8>(),
      cifar_resnet<20>(),
      cifar_resnet<32>(),
      cifar_resnet<56>(),
      cifar_resnet<110>(),
      {{"wrn16-4", "wide ResNet with 16 layers, 4 times the width (Zagoruyko and Komodakis 2016), no dropout", {}},
       kCifar,
       10,
       [](const Spec&, const Shape& input, int64_t classes) { return make_wide_resnet(input, classes, 16, 4); }},
      {{"alexnet",
        "AlexNet (Krizhevsky et al. 2012) with local response normalisation",
        {{"groups", "2", "of convolutions 2, 4 and 5: 2 as published, 1 for the 62 M parameters of the QSGD paper"}}},
       kImageNet,
       1000,
       [](const Spec& spec, const Shape& input, int64_t classes) {
         return make_alexnet(input, classes, spec.integer("groups", 1, 2));
       }},
      {{"vgg19", "VGG-19 (Simonyan and Zisserman 2015), configuration E, no batch normalisation", {}},
       kImageNet,
       1000,
       [](const Spec&, const Shape& input, int64_t classes) { return make_vgg19(input, classes); }},
      imagenet_resnet<50>(),
      imagenet_resnet<152>(),
      {{"bn-inception", "Inception with batch normalisation (Ioffe and Szegedy 2015), one classifier", {}},
       kImageNet,
       1000,
       [](const Spec&, const Shape& input, int64_t classes) { return make_bn_inception(input, classes); }},
      {{"lstm", "an LSTM of 128 and a linear layer on its last step; reads pictures row by row", {}},
       {50, 40},
       10,
       [](const Spec&, const Shape& input, int64_t classes) { return make_lstm(input, classes); }},
      {{"lstm-speech",
        "3 LSTM layers of 800 and a linear layer on every step, for CTC; the QSGD paper leaves open all but 13 M",
        {}},
       {100, 40},
       29,
       [](const Spec& spec, const Shape& input, int64_t classes) {
         return make_lstm_speech(spec.name(), input, classes, 3, 800);
       }},
      {{"lstm-speech-small", "2 LSTM layers of 320 and a linear layer on every step, for CTC", {}},
       {100, 40},
       29,
       [](const Spec& spec, const Shape& input, int64_t classes) {
         return make_lstm_speech(spec.name(), input, classes, 2, 320);
       }},
  };
  return list;
}

const Entry& entry_of(const Spec& spec) {
  for (const Entry& entry : entries())
    if (entry.info.name == spec.name()) return entry;
  fail("model {}: it is not of model_infos()", spec.name());
}

}  // namespace

const std::vector<SpecInfo>& model_infos() {
  static const std::vector<SpecInfo> infos = [] {
    std::vector<SpecInfo> all;
    for (const Entry& entry : entries()) all.push_back(entry.info);
    return all;
  }();
  return infos;
}

void require_picture(const std::string& model, const Shape& picture, int64_t least) {
  require(picture.rank() == 3 && picture[0] >= least && picture[1] >= least && picture[2] >= 1,
          "{}: takes pictures [H, W, C] of at least {} x {}, got {}", model, least, least, picture.str());
}

int64_t features_of(const std::string& model, const Shape& sample) {
  require((sample.rank() == 2 || sample.rank() == 3) && sample.count() > 0,
          "{}: takes sequences [T, F] or pictures [H, W, C], got {}", model, sample.str());
  return sample.count() / sample[0];
}

Shape usual_input(const Spec& spec) { return entry_of(spec).input; }
int64_t usual_classes(const Spec& spec) { return entry_of(spec).classes; }

Model make_model(const Spec& spec, const Shape& input, int64_t classes) {
  require(classes >= 2, "model {}: {} classes; it takes 2 to tell apart", spec.name(), classes);
  return entry_of(spec).make(spec, input, classes);
}

}  // namespace tg
