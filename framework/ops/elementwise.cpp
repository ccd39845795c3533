#include "framework/ops/elementwise.h"

#include <cmath>

#include "framework/backend/backend.h"
#include "framework/ops/internal.h"

namespace tg {

using detail::compute;

namespace {

struct Add {
  template <class T>
  TG_HD T operator()(T a, T b) const {
    return a + b;
  }
};
struct Subtract {
  template <class T>
  TG_HD T operator()(T a, T b) const {
    return a - b;
  }
};
struct Multiply {
  template <class T>
  TG_HD T operator()(T a, T b) const {
    return a * b;
  }
};
struct Divide {
  template <class T>
  TG_HD T operator()(T a, T b) const {
    return a / b;
  }
};
struct DivideByB {  // d loss / d b of a / b; b * b could overflow
  template <class T>
  TG_HD T operator()(T g, T a, T b) const {
    return -(g / b) * (a / b);
  }
};
struct Negate {
  template <class T>
  TG_HD T operator()(T x) const {
    return -x;
  }
};

// Checks that both can be operands, and computes.
template <class F>
Tensor binary(const Op& op, const F& formula, const Tensor& a, const Tensor& b) {
  detail::require_floating(op, a);
  detail::require_floating(op, b);
  return compute(op, formula, a, b);
}

}  // namespace

static const Op kAdd{"add", "y = a + b", "da = g, db = g"};
Tensor add(const Tensor& a, const Tensor& b) {
  Tensor y = binary(kAdd, Add{}, a, b);
  record(y, kAdd, {a, b}, [a_shape = a.shape(), b_shape = b.shape()](Tensor g, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, detail::sum_to(g, a_shape));
    if (sink.wants(1)) sink.add(1, detail::sum_to(g, b_shape));
  });
  return y;
}

static const Op kSubtract{"subtract", "y = a - b", "da = g, db = -g"};
Tensor subtract(const Tensor& a, const Tensor& b) {
  Tensor y = binary(kSubtract, Subtract{}, a, b);
  record(y, kSubtract, {a, b}, [a_shape = a.shape(), b_shape = b.shape()](Tensor g, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, detail::sum_to(g, a_shape));
    if (sink.wants(1)) sink.add(1, compute(kSubtract, Negate{}, detail::sum_to(g, b_shape)));
  });
  return y;
}

static const Op kMultiply{"multiply", "y = a * b", "da = g * b, db = g * a"};
Tensor multiply(const Tensor& a, const Tensor& b) {
  Tensor y = binary(kMultiply, Multiply{}, a, b);
  record(y, kMultiply, {a, b},
         [saved_a = detail::save_if(detail::carries_gradient(b), a),
          saved_b = detail::save_if(detail::carries_gradient(a), b), a_shape = a.shape(),
          b_shape = b.shape()](Tensor g, GradientSink& sink) {
           if (sink.wants(0))
             sink.add(0, detail::sum_to(compute(kMultiply, Multiply{}, g, saved_b->get(kMultiply.name())), a_shape));
           if (sink.wants(1))
             sink.add(1, detail::sum_to(compute(kMultiply, Multiply{}, g, saved_a->get(kMultiply.name())), b_shape));
         });
  return y;
}

static const Op kDivide{"divide", "y = a / b", "da = g / b, db = -g * a / b^2"};
Tensor divide(const Tensor& a, const Tensor& b) {
  Tensor y = binary(kDivide, Divide{}, a, b);
  record(y, kDivide, {a, b},
         [saved_a = detail::save_if(detail::carries_gradient(b), a), saved_b = Saved(b), a_shape = a.shape()](
             Tensor g, GradientSink& sink) {
           const Tensor divisor = saved_b.get(kDivide.name());
           if (sink.wants(0)) sink.add(0, detail::sum_to(compute(kDivide, Divide{}, g, divisor), a_shape));
           if (sink.wants(1)) {
             const Tensor db = compute(kDivide, DivideByB{}, g, saved_a->get(kDivide.name()), divisor);
             sink.add(1, detail::sum_to(db, divisor.shape()));
           }
         });
  return y;
}

// --- one operand -----------------------------------------------------------------------------------------------------

namespace {

// y = value(x), with dx = derivative(g, x).
template <class Value, class Derivative>
Tensor unary_by_input(const Op& op, const Tensor& x, const Value& value, const Derivative& derivative) {
  detail::require_floating(op, x);
  Tensor y = compute(op, value, x);
  record(y, op, {x}, [&op, derivative, saved = Saved(x)](Tensor g, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, compute(op, derivative, g, saved.get(op.name())));
  });
  return y;
}

// y = value(x), with dx = derivative(g, y).
template <class Value, class Derivative>
Tensor unary_by_output(const Op& op, const Tensor& x, const Value& value, const Derivative& derivative) {
  detail::require_floating(op, x);
  Tensor y = compute(op, value, x);
  record(y, op, {x}, [&op, derivative, saved = Saved(y)](Tensor g, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, compute(op, derivative, g, saved.get(op.name())));
  });
  return y;
}

// y = value(x), with dx = derivative(g): linear in x, so nothing is saved.
template <class Value, class Derivative>
Tensor unary_linear(const Op& op, const Tensor& x, const Value& value, const Derivative& derivative) {
  detail::require_floating(op, x);
  Tensor y = compute(op, value, x);
  record(y, op, {x}, [&op, derivative](Tensor g, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, compute(op, derivative, g));
  });
  return y;
}

struct AddNumber {
  double b;
  template <class T>
  TG_HD T operator()(T a) const {
    return a + static_cast<T>(b);
  }
};
struct SubtractFromNumber {
  double a;
  template <class T>
  TG_HD T operator()(T b) const {
    return static_cast<T>(a) - b;
  }
};
struct MultiplyNumber {
  double b;
  template <class T>
  TG_HD T operator()(T a) const {
    return a * static_cast<T>(b);
  }
};
struct DivideByNumber {
  double b;
  template <class T>
  TG_HD T operator()(T a) const {
    return a / static_cast<T>(b);
  }
};
struct DivideNumber {
  double a;
  template <class T>
  TG_HD T operator()(T b) const {
    return static_cast<T>(a) / b;
  }
};
struct DivideNumberDerivative {
  double a;
  template <class T>
  TG_HD T operator()(T g, T b) const {
    return -(g / b) * (static_cast<T>(a) / b);
  }
};

}  // namespace

static const Op kAddNumber{"add_number", "y = a + number", "da = g"};
Tensor add(const Tensor& a, double b) {
  detail::require_floating(kAddNumber, a);
  Tensor y = compute(kAddNumber, AddNumber{b}, a);
  record(y, kAddNumber, {a}, [](Tensor g, GradientSink& sink) { sink.add(0, std::move(g)); });
  return y;
}
Tensor subtract(const Tensor& a, double b) { return add(a, -b); }

static const Op kSubtractFromNumber{"subtract_from_number", "y = number - b", "db = -g"};
Tensor subtract(double a, const Tensor& b) {
  return unary_linear(kSubtractFromNumber, b, SubtractFromNumber{a}, Negate{});
}

static const Op kMultiplyNumber{"multiply_number", "y = a * number", "da = g * number"};
Tensor multiply(const Tensor& a, double b) {
  return unary_linear(kMultiplyNumber, a, MultiplyNumber{b}, MultiplyNumber{b});
}

static const Op kDivideByNumber{"divide_by_number", "y = a / number", "da = g / number"};
Tensor divide(const Tensor& a, double b) {
  return unary_linear(kDivideByNumber, a, DivideByNumber{b}, DivideByNumber{b});
}

static const Op kDivideNumber{"divide_number", "y = number / b", "db = -g * number / b^2"};
Tensor divide(double a, const Tensor& b) {
  return unary_by_input(kDivideNumber, b, DivideNumber{a}, DivideNumberDerivative{a});
}

static const Op kNegate{"negate", "y = -x", "dx = -g"};
Tensor negate(const Tensor& x) { return unary_linear(kNegate, x, Negate{}, Negate{}); }

namespace {

struct Pow {
  double exponent;
  template <class T>
  TG_HD T operator()(T x) const {
    return std::pow(x, static_cast<T>(exponent));
  }
};
struct PowDerivative {
  double exponent;
  template <class T>
  TG_HD T operator()(T g, T x) const {
    // x^0 is constant; the formula would give 0 * infinity at x = 0.
    if (exponent == 0) return T{0};
    return g * static_cast<T>(exponent) * std::pow(x, static_cast<T>(exponent - 1));
  }
};
struct Relu {
  template <class T>
  TG_HD T operator()(T x) const {
    return x > 0 || x != x ? x : T{0};
  }
};
struct Exp {
  template <class T>
  TG_HD T operator()(T x) const {
    return std::exp(x);
  }
};
struct Log {
  template <class T>
  TG_HD T operator()(T x) const {
    return std::log(x);
  }
};
struct Sqrt {
  template <class T>
  TG_HD T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct SqrtDerivative {
  template <class T>
  TG_HD T operator()(T g, T y) const {
    return g / (2 * y);
  }
};
struct Tanh {
  template <class T>
  TG_HD T operator()(T x) const {
    return std::tanh(x);
  }
};
struct TanhDerivative {
  template <class T>
  TG_HD T operator()(T g, T y) const {
    return g * (1 - y * y);
  }
};
struct Sigmoid {
  template <class T>
  TG_HD T operator()(T x) const {
    return 1 / (1 + std::exp(-x));
  }
};
struct SigmoidDerivative {
  template <class T>
  TG_HD T operator()(T g, T y) const {
    return g * y * (1 - y);
  }
};

}  // namespace

static const Op kPow{"pow", "y = x^e", "dx = g * e * x^(e - 1), 0 for e = 0"};
Tensor pow(const Tensor& x, double exponent) { return unary_by_input(kPow, x, Pow{exponent}, PowDerivative{exponent}); }

static const Op kRelu{"relu", "y = max(x, 0)", "dx = g where y > 0, else 0"};
Tensor relu(const Tensor& x) {
  detail::require_floating(kRelu, x);
  Tensor y = compute(kRelu, Relu{}, x);
  record(y, kRelu, {x}, [saved = Saved(y)](Tensor g, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, detail::through_relu(std::move(g), saved.get(kRelu.name())));
  });
  return y;
}

static const Op kExp{"exp", "y = e^x", "dx = g * y"};
Tensor exp(const Tensor& x) { return unary_by_output(kExp, x, Exp{}, Multiply{}); }

static const Op kLog{"log", "y = ln x", "dx = g / x"};
Tensor log(const Tensor& x) { return unary_by_input(kLog, x, Log{}, Divide{}); }

static const Op kSqrt{"sqrt", "y = x^(1/2)", "dx = g / (2 y)"};
Tensor sqrt(const Tensor& x) { return unary_by_output(kSqrt, x, Sqrt{}, SqrtDerivative{}); }

static const Op kTanh{"tanh", "y = tanh x", "dx = g * (1 - y^2)"};
Tensor tanh(const Tensor& x) { return unary_by_output(kTanh, x, Tanh{}, TanhDerivative{}); }

static const Op kSigmoid{"sigmoid", "y = 1 / (1 + e^-x)", "dx = g * y * (1 - y)"};
Tensor sigmoid(const Tensor& x) { return unary_by_output(kSigmoid, x, Sigmoid{}, SigmoidDerivative{}); }

namespace detail {

Tensor through_relu(Tensor&& gradient, const Tensor& y) {
  Tensor g = gradient.unique() ? gradient : empty_like(gradient);
  backend_for(y).relu_backward(gradient, y, g);
  return g;
}

}  // namespace detail

}  // namespace tg
