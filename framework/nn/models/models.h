#pragma once
// Models by name.

#include "framework/core/spec.h"
#include "framework/nn/model.h"

namespace tg {

const std::vector<SpecInfo>& model_infos();

// One sample of what a model was made for, pictures [H, W, C] or sequences [T, F], and how many classes it told apart:
// those of MNIST, CIFAR-10 or ImageNet.
Shape usual_input(const Spec& spec);
int64_t usual_classes(const Spec& spec);

// A model for samples of this shape and this many classes, its parameters not yet bound. Throws Error if the samples
// are too small for it or an option is out of range.
Model make_model(const Spec& spec, const Shape& input, int64_t classes);

// Fully connected layers with relu between; pictures are flattened. hidden {256, 128}: 784-256-128-10 for 28 x 28 x 1.
Model make_mlp(const Shape& picture, const std::vector<int64_t>& hidden, int64_t classes);
// conv 5x5x32, max-pool 2, conv 5x5x64, max-pool 2, fully connected 128, classes; no padding (after LeCun et al. 1998,
// with today's widths and relu). 1024 features before the first fully connected layer for 28 x 28 pictures.
Model make_lenet(const Shape& picture, int64_t classes);
// ResNets for CIFAR (He et al. 2016) with 6n + 2 layers: 8, 20, 32, 56, 110; shortcuts by 1x1 convolution where the
// width changes.
Model make_cifar_resnet(const Shape& picture, int64_t classes, int64_t layers);
// Wide ResNets for CIFAR (Zagoruyko and Komodakis 2016): 6n + 4 layers, `widening` times the channels of the above.
Model make_wide_resnet(const Shape& picture, int64_t classes, int64_t layers, int64_t widening);

// Networks for ImageNet; each file says which variant it is.
Model make_alexnet(const Shape& picture, int64_t classes, int64_t groups);  // 1 or 2
Model make_vgg19(const Shape& picture, int64_t classes);
Model make_imagenet_resnet(const Shape& picture, int64_t classes, int64_t layers);  // 50 or 152
Model make_bn_inception(const Shape& picture, int64_t classes);

// Networks for sequences [T, F] of any T; pictures are read row by row. One LSTM layer of 128, and a linear layer on
// the last step.
Model make_lstm(const Shape& sample, int64_t classes);
// For CTC: LSTM layers and a linear layer on every step; logits [N, T, classes].
Model make_lstm_speech(const std::string& name, const Shape& sample, int64_t classes, int64_t layers, int64_t hidden);

// For the makers: the features F of a sequence [T, F], W * C of pictures [H, W, C]. Throws Error naming the model if
// `sample` is neither.
int64_t features_of(const std::string& model, const Shape& sample);
// For the makers: throws Error naming the model unless `picture` is [H, W, C] with sides of at least `least`.
void require_picture(const std::string& model, const Shape& picture, int64_t least);

}  // namespace tg
