#pragma once
// One entry per way to call an operation. Gradients, values by type and device, and the golden values all go by this
// table, so a new operation is tested by adding its lines here; a test fails until it has some.

#include <functional>
#include <string>
#include <vector>

#include "framework/core/tensor.h"

namespace tg::test {

struct Input {
  Shape shape;
  double low = -1.5, high = 1.5;  // the range of its numbers
};

struct OpCase {
  std::string name;  // "operation/what is special"
  std::vector<Input> inputs;
  std::function<Tensor(const std::vector<Tensor>&)> f;
  double step = 0x1p-17;  // for grad_check

  std::string op() const { return name.substr(0, name.find('/')); }
};

const std::vector<OpCase>& op_cases();
// Families of cases with files of their own.
void add_norms(std::vector<OpCase>& cases);
void add_lstms(std::vector<OpCase>& cases);
void add_sequences(std::vector<OpCase>& cases);

// Number `i` of a fixed sequence in [0, 1), by integer arithmetic: make_golden.py has the same.
double fixed_number(uint64_t sequence, uint64_t i);
// A tensor of fixed numbers in [low, high).
Tensor fixed_tensor(uint64_t sequence, const Input& input, DType dtype, Device device);

// f's value for fixed inputs, and the gradient of each for a fixed cotangent.
struct ValueAndGradients {
  Tensor value;
  std::vector<Tensor> gradients;
};
ValueAndGradients evaluate(const OpCase& op_case, DType dtype, Device device);

}  // namespace tg::test
