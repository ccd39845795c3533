#include "framework/autograd/grad_check.h"

#include <cmath>
#include <limits>

#include "framework/autograd/graph.h"
#include "framework/core/random.h"

namespace tg {
namespace {

// How far a right derivative may be from its central difference: rounding of the sum's terms, whose magnitudes add up
// to `terms`, over the step, and the cubic term of the function, taken to be as large as the derivative or 1. The
// factor is what sums over a few hundred terms need; a wrong formula is off by ten million times as much.
double tolerance(double step, double terms, double derivative) {
  constexpr double kMargin = 100;
  const double rounding = std::numeric_limits<double>::epsilon() / step * std::max(1.0, terms);
  const double truncation = step * step * std::max(1.0, std::abs(derivative));
  return kMargin * (rounding + truncation);
}

// Of magnitude 0.5 to 1.5 with random signs: nothing cancels or is hidden by a zero.
Tensor random_cotangent(const Tensor& output, const Stream& stream) {
  std::vector<double> values(static_cast<size_t>(output.count()));
  for (size_t i = 0; i < values.size(); ++i) {
    const double magnitude = 0.5 + static_cast<double>(stream.uniform(2 * i));
    values[i] = stream.uniform(2 * i + 1) < 0.5f ? -magnitude : magnitude;
  }
  return Tensor::from(values, output.shape(), output.device());
}

// One element with another value for a while.
class Replaced {
 public:
  Replaced(Tensor& tensor, int64_t element, double value) : tensor_(tensor), element_(element), before_(at()) {
    at() = value;
  }
  ~Replaced() { at() = before_; }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;

 private:
  double& at() { return tensor_.data<double>()[element_]; }
  Tensor& tensor_;
  int64_t element_;
  double before_;
};

std::vector<Tensor> leaves_of(const std::string& name, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> leaves;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    require(input.dtype() == DType::f64 && input.device() == kPlain && input.contiguous(),
            "grad_check of {}: input {} is {} {} on {}; it must be contiguous float64 on plain", name, i,
            name_of(input.dtype()), input.shape().str(), name_of(input.device()));
    const bool is_leaf = input.node() != nullptr && input.node()->inputs.empty();
    leaves.push_back(is_leaf ? input : leaf(input.copy()));
  }
  return leaves;
}

}  // namespace

void grad_check(const std::string& name, const std::function<Tensor(const std::vector<Tensor>&)>& f,
                const std::vector<Tensor>& inputs, const GradCheckOptions& options) {
  require(options.step > 0, "grad_check of {}: step {}; it must be positive", name, options.step);
  std::vector<Tensor> leaves = leaves_of(name, inputs);
  const Tensor output = f(leaves);
  require(output.dtype() == DType::f64, "grad_check of {}: the result is {}; it must be float64", name,
          name_of(output.dtype()));
  require(output.node() != nullptr, "grad_check of {}: the result depends on none of the inputs", name);
  const Tensor cotangent = random_cotangent(output, Stream(options.seed).split("grad_check").split(name));
  const std::vector<double> weights = cotangent.values(), value = output.values();
  double terms = 0;
  for (size_t i = 0; i < value.size(); ++i) {
    require(std::isfinite(value[i]), "grad_check of {}: element {} of the result is {}", name, i, value[i]);
    terms += std::abs(weights[i] * value[i]);
  }
  const std::vector<Tensor> computed = gradients(output, leaves, cotangent);

  const NoGrad no_grad;
  require(f(leaves).values() == value, "grad_check of {}: another value when nothing is recorded", name);
  for (size_t n = 0; n < leaves.size(); ++n) {
    Tensor& input = leaves[n];
    require(computed[n].shape() == input.shape(), "grad_check of {}: input {} is {}, its gradient {}", name, n,
            input.shape().str(), computed[n].shape().str());
    const std::vector<double> gradient = computed[n].values();
    for (int64_t i = 0; i < input.count(); ++i) {
      const double x = std::as_const(input).data<double>()[i], high = x + options.step, low = x - options.step;
      const auto value_at = [&](double there) {
        const Replaced replaced(input, i, there);
        return f(leaves).values();
      };
      const std::vector<double> above = value_at(high), below = value_at(low);
      double difference = 0;
      for (size_t k = 0; k < above.size(); ++k) difference += weights[k] * (above[k] - below[k]);
      difference /= high - low;
      const double got = gradient[static_cast<size_t>(i)], allowed = tolerance(options.step, terms, difference);
      require(std::abs(got - difference) <= allowed,
              "grad_check of {}: input {} {}, element {}: the derivative gives {:.12g}, a difference with step {:.3g} "
              "gives {:.12g}; they may differ by {:.3g}",
              name, n, input.shape().str(), i, got, options.step, difference, allowed);
    }
  }
}

}  // namespace tg
