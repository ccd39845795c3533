// The comparisons of elementwise.h. Piecewise constant, so nothing is recorded.

#include "framework/backend/elementwise.h"
#include "framework/ops/elementwise.h"

namespace tg {
namespace {

struct Equal {
  template <class T>
  TG_HD uint8_t operator()(T a, T b) const {
    return a == b;
  }
};
struct Less {
  template <class T>
  TG_HD uint8_t operator()(T a, T b) const {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  TG_HD uint8_t operator()(T a, T b) const {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  TG_HD uint8_t operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  TG_HD uint8_t operator()(T a, T b) const {
    return a >= b;
  }
};

// A comparison with a number: the element is widened, so that nothing is rounded.
template <class F>
struct WithNumber {
  double b;
  template <class T>
  TG_HD uint8_t operator()(T a) const {
    return F{}(static_cast<double>(a), b);
  }
};

template <class F>
Tensor compare(const char* what, const Tensor& a, const Tensor& b) {
  return visit_dtype(a.dtype(), [&](auto zero) { return map<decltype(zero)>(what, F{}, a, b); });
}
template <class F>
Tensor compare(const char* what, const Tensor& a, double b) {
  return visit_dtype(a.dtype(), [&](auto zero) { return map<decltype(zero)>(what, WithNumber<F>{b}, a); });
}

}  // namespace

Tensor equal(const Tensor& a, const Tensor& b) { return compare<Equal>("equal", a, b); }
Tensor less(const Tensor& a, const Tensor& b) { return compare<Less>("less", a, b); }
Tensor greater(const Tensor& a, const Tensor& b) { return compare<Less>("greater", b, a); }
Tensor less_equal(const Tensor& a, const Tensor& b) { return compare<LessEqual>("less_equal", a, b); }
Tensor greater_equal(const Tensor& a, const Tensor& b) { return compare<LessEqual>("greater_equal", b, a); }

Tensor equal(const Tensor& a, double b) { return compare<Equal>("equal", a, b); }
Tensor less(const Tensor& a, double b) { return compare<Less>("less", a, b); }
Tensor greater(const Tensor& a, double b) { return compare<Greater>("greater", a, b); }
Tensor less_equal(const Tensor& a, double b) { return compare<LessEqual>("less_equal", a, b); }
Tensor greater_equal(const Tensor& a, double b) { return compare<GreaterEqual>("greater_equal", a, b); }

}  // namespace tg
