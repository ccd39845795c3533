#pragma once
// Layers without parameters.

#include "framework/nn/module.h"

namespace tg {

// [N, ...] -> [N, everything else], in memory order: H, W, C for pictures.
struct Flatten {
  Tensor operator()(const Tensor& x, const Context& context) const;
  void visit(Visitor&) {}
  std::string path = "Flatten";
};

// A batch as sequences: pictures [N, H, W, C] are read row by row, H steps of W * C features; [N, T, F] stays as it is.
struct Rows {
  Tensor operator()(const Tensor& x, const Context& context) const;
  void visit(Visitor&) {}
  std::string path = "Rows";
};

// Largest value of each kernel x kernel window, then relu if asked. [N, H, W, C] -> [N, OH, OW, C].
struct MaxPool2d {
  struct Options {
    int64_t kernel = 2;
    int64_t stride = 0;  // 0: the kernel's size
    int64_t padding = 0;
    bool relu = false;  // relu of the result: the same as relu before pooling, on fewer numbers
  };
  MaxPool2d() = default;
  explicit MaxPool2d(const Options& o) : options(o) {}
  Tensor operator()(const Tensor& x, const Context& context) const;
  void visit(Visitor&) {}

  Options options;
  std::string path = "MaxPool2d";
};

// Mean of each kernel x kernel window's positions inside the picture. [N, H, W, C] -> [N, OH, OW, C].
struct AvgPool2d {
  struct Options {
    int64_t kernel = 2;
    int64_t stride = 0;  // 0: the kernel's size
    int64_t padding = 0;
  };
  AvgPool2d() = default;
  explicit AvgPool2d(const Options& o) : options(o) {}
  Tensor operator()(const Tensor& x, const Context& context) const;
  void visit(Visitor&) {}

  Options options;
  std::string path = "AvgPool2d";
};

}  // namespace tg
