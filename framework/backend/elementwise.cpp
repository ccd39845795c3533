#include "framework/backend/elementwise.h"

namespace tg::detail {

Shape map_shape(const char* what, std::initializer_list<const Tensor*> operands) {
  const Tensor& first = **operands.begin();
  Shape shape = first.shape();
  for (const Tensor* other : operands) {
    shape = broadcast(shape, other->shape(), what);
    require(other->device() == first.device(), "{}: one tensor is on {}, one on {}", what, name_of(first.device()),
            name_of(other->device()));
    require(other->dtype() == first.dtype(), "{}: one tensor holds {}, one {}; convert one with to()", what,
            name_of(first.dtype()), name_of(other->dtype()));
  }
  require(first.device().on_host() || !first.device().has_memory(), "{}: no kernel of this formula for {}", what,
          name_of(first.device()));
  return shape;
}

}  // namespace tg::detail
