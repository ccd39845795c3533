// BN-Inception (Ioffe and Szegedy 2015): the table at the paper's end.
// Variant: the table's numbers of filters (4c and 4d then have 608 channels, where its column of sizes says 576); an
// ordinary first convolution instead of a separable one; no bias before batch normalisation; no auxiliary classifiers.
// 11.29 M parameters with 1000 classes.

#include "framework/nn/conv_norm.h"
#include "framework/nn/linear.h"
#include "framework/nn/models/models.h"
#include "framework/nn/shape_layers.h"
#include "framework/ops/join.h"
#include "framework/ops/pool.h"

namespace tg {
namespace {

enum class Pool { average, largest, halving };  // halving: stride 2 in all branches, and no 1x1 branch

// A row of the table: numbers of filters.
struct Row {
  int64_t one, reduce3, three, reduce5, five;  // five: two 3x3 in a row, which see 5x5
  Pool pool;
  int64_t projection;  // after pooling; 0 where it is passed through
  int64_t out(int64_t in) const { return one + three + five + (projection == 0 ? in : projection); }
};

// Branches side by side, their channels one after the other.
struct Inception {
  Inception(int64_t in, const Row& row) : pool_kind(row.pool) {
    const int64_t stride = row.pool == Pool::halving ? 2 : 1;
    if (row.one != 0) one.emplace(ConvNorm::Options{.in = in, .out = row.one, .kernel = 1});
    three.emplace_back(ConvNorm::Options{.in = in, .out = row.reduce3, .kernel = 1});
    three.emplace_back(ConvNorm::Options{.in = row.reduce3, .out = row.three, .kernel = 3, .stride = stride});
    five.emplace_back(ConvNorm::Options{.in = in, .out = row.reduce5, .kernel = 1});
    five.emplace_back(ConvNorm::Options{.in = row.reduce5, .out = row.five, .kernel = 3});
    five.emplace_back(ConvNorm::Options{.in = row.five, .out = row.five, .kernel = 3, .stride = stride});
    if (row.projection != 0) projection.emplace(ConvNorm::Options{.in = in, .out = row.projection, .kernel = 1});
  }

  Tensor operator()(const Tensor& x, const Context& context) const {
    std::vector<Tensor> parts;
    if (one) parts.push_back((*one)(x, context));
    for (const std::vector<ConvNorm>* branch : {&three, &five}) {
      Tensor h = x;
      for (const ConvNorm& layer : *branch) h = layer(h, context);
      parts.push_back(h);
    }
    const Pool2dOptions options{.kernel = 3, .stride = pool_kind == Pool::halving ? 2 : 1, .padding = 1};
    const Tensor pooled = pool_kind == Pool::average ? avg_pool2d(x, options) : max_pool2d(x, options);
    parts.push_back(projection ? (*projection)(pooled, context) : pooled);
    return concat(parts, 3);
  }
  void visit(Visitor& v) {
    v("one", one);
    v("three", three);
    v("five", five);
    v("projection", projection);
  }

  Pool pool_kind;
  std::optional<ConvNorm> one, projection;
  std::vector<ConvNorm> three, five;
};

constexpr Row kTable[] = {
    {64, 64, 64, 64, 96, Pool::average, 32},        // 3a
    {64, 64, 96, 64, 96, Pool::average, 64},        // 3b
    {0, 128, 160, 64, 96, Pool::halving, 0},        // 3c
    {224, 64, 96, 96, 128, Pool::average, 128},     // 4a
    {192, 96, 128, 96, 128, Pool::average, 128},    // 4b
    {160, 128, 160, 128, 160, Pool::average, 128},  // 4c
    {96, 128, 192, 160, 192, Pool::average, 128},   // 4d
    {0, 128, 192, 192, 256, Pool::halving, 0},      // 4e
    {352, 192, 320, 160, 224, Pool::average, 128},  // 5a
    {352, 192, 320, 192, 224, Pool::largest, 128},  // 5b
};

struct BnInception {
  BnInception(const Shape& picture, int64_t classes)
      : stem1({.in = picture[2], .out = 64, .kernel = 7, .stride = 2}),
        stem2({.in = 64, .out = 64, .kernel = 1}),
        stem3({.in = 64, .out = 192, .kernel = 3}),
        head({.in = 1024, .out = classes}) {
    int64_t in = 192;
    for (const Row& row : kTable) {
      blocks.emplace_back(in, row);
      in = row.out(in);
    }
  }

  // x: [N, H, W, C] -> logits [N, classes]
  Tensor operator()(const Tensor& x, const Context& context) const {
    Tensor h = pool(stem1(x, context), context);
    h = pool(stem3(stem2(h, context), context), context);
    for (const Inception& block : blocks) h = block(h, context);
    return head(global_avg_pool2d(h), context);
  }
  void visit(Visitor& v) {
    v("stem1", stem1);
    v("stem2", stem2);
    v("stem3", stem3);
    v("block", blocks);
    v("head", head);
  }

  ConvNorm stem1, stem2, stem3;
  MaxPool2d pool{{.kernel = 3, .stride = 2, .padding = 1}};
  std::vector<Inception> blocks;
  Linear head;
};

}  // namespace

Model make_bn_inception(const Shape& picture, int64_t classes) {
  require_picture("bn-inception", picture, 32);
  return Model(BnInception(picture, classes));
}

}  // namespace tg
