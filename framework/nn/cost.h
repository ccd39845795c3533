#pragma once
// What a model costs: its operations, arithmetic and memory for a batch, counted by running a training step on tensors
// without memory (core/meta.h). Takes milliseconds for any model and batch.

#include <string>
#include <vector>

#include "framework/nn/model.h"

namespace tg {

// One operation of a forward pass.
struct OperationCost {
  std::string layer;  // path of the layer whose parameters it uses; empty if it uses none
  std::string operation;
  Shape output;
  int64_t parameters = 0;  // that no operation before it used
  double flops = 0;
};

// FLOPs are those of matrix products and convolutions, 2 for a multiplication and its addition; everything else counts
// for nothing. Kernels that leave out what is zero do fewer.
struct ModelCost {
  std::vector<OperationCost> operations;  // in their order, in training
  int64_t parameters = 0;
  double forward_flops = 0;
  double step_flops = 0;  // forward and backward; no gradient is taken of the batch itself
  // Bytes. The peak is the most that tensors hold at once in a step: parameters, gradient, batch, what the derivative
  // needs, temporary results. The loss is the logits' sum; a real one holds a few numbers per logit more.
  int64_t parameter_bytes = 0, gradient_bytes = 0, peak_bytes = 0;
};

// `batch` is the input's shape, [N, H, W, C] or [N, T, F]. Throws Error if the model does not take such a batch.
ModelCost cost_of(Model model, const Shape& batch);

}  // namespace tg
