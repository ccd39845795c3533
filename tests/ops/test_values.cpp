// One operation, one value: float32 against float64, cpu against plain, for every case of the table.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/ops/elementwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/shape.h"
#include "tests/ops/cases.h"

namespace {

using namespace tg;

// float32 keeps 24 bits; sums of the table's sizes lose a few.
constexpr double kTolerance = 64 * 0x1p-24;

void check_close(const std::string& name, const std::string& what, const Tensor& got, const Tensor& exact) {
  BOOST_REQUIRE_MESSAGE(got.shape() == exact.shape(), name << ": " << what << " is " << got.shape().str());
  const auto g = got.values(), e = exact.values();
  for (size_t i = 0; i < g.size(); ++i)
    BOOST_TEST(std::abs(g[i] - e[i]) <= kTolerance * std::max(1.0, std::abs(e[i])),
               name << ": element " << i << " of the " << what << " is " << g[i] << ", in float64 " << e[i]);
}

BOOST_AUTO_TEST_SUITE(op_values)

BOOST_AUTO_TEST_CASE(float32_agrees_with_float64_on_both_devices) {
  for (const auto& c : test::op_cases()) {
    const auto exact = test::evaluate(c, DType::f64, kPlain);
    for (const Device device : {kPlain, kCpu}) {
      const auto got = test::evaluate(c, DType::f32, device);
      const std::string name = c.name + " on " + name_of(device);
      check_close(name, "value", got.value, exact.value);
      for (size_t i = 0; i < got.gradients.size(); ++i)
        check_close(name, fmt::format("gradient of input {}", i), got.gradients[i], exact.gradients[i]);
    }
  }
}

BOOST_AUTO_TEST_CASE(float64_is_the_same_on_both_devices) {
  for (const auto& c : test::op_cases()) {
    const auto plain = test::evaluate(c, DType::f64, kPlain), cpu = test::evaluate(c, DType::f64, kCpu);
    BOOST_TEST(plain.value.values() == cpu.value.values(), c.name);
    for (size_t i = 0; i < plain.gradients.size(); ++i)
      BOOST_TEST(plain.gradients[i].values() == cpu.gradients[i].values(), c.name);
  }
}

Tensor row(const std::vector<float>& values, Device device = kCpu) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())}, device);
}

using Numbers = std::vector<double>;

BOOST_AUTO_TEST_CASE(comparisons_give_bytes) {
  const Tensor a = row({1, 2, 3}), b = row({2, 2, 2});
  BOOST_CHECK(equal(a, b).dtype() == DType::u8);
  BOOST_TEST(equal(a, b).values() == (Numbers{0, 1, 0}));
  BOOST_TEST(less(a, b).values() == (Numbers{1, 0, 0}));
  BOOST_TEST(greater(a, b).values() == (Numbers{0, 0, 1}));
  BOOST_TEST(less_equal(a, b).values() == (Numbers{1, 1, 0}));
  BOOST_TEST(greater_equal(a, b).values() == (Numbers{0, 1, 1}));
  BOOST_TEST(equal(a, 2).values() == (Numbers{0, 1, 0}));
  BOOST_TEST(less(a, 2).values() == (Numbers{1, 0, 0}));
  BOOST_TEST(greater(a, 2).values() == (Numbers{0, 0, 1}));
  BOOST_TEST(less_equal(a, 2).values() == (Numbers{1, 1, 0}));
  BOOST_TEST(greater_equal(a, 2).values() == (Numbers{0, 1, 1}));
  // Against a NaN nothing holds; 0.1 as float is not 0.1.
  BOOST_TEST(equal(row({NAN}), row({NAN})).values() == (Numbers{0}));
  BOOST_TEST(greater(row({0.1f}), 0.1).values() == (Numbers{1}));
  const Tensor labels = Tensor::from<int32_t>({1, 2, 3, 1, 5, 6}, {2, 3});
  BOOST_TEST(equal(labels, Tensor::from<int32_t>({1, 2, 6}, {3})).values() == (Numbers{1, 1, 0, 1, 0, 1}));
}

BOOST_AUTO_TEST_CASE(functions_keep_infinities_and_nan) {
  for (const Device device : {kPlain, kCpu}) {
    const Tensor odd = row({-INFINITY, INFINITY, NAN, -1000, 1000, 0}, device);
    const Numbers r = relu(odd).values(), s = sigmoid(odd).values(), t = tanh(odd).values();
    BOOST_TEST((r[0] == 0 && r[1] == INFINITY && std::isnan(r[2]) && r[3] == 0 && r[4] == 1000));
    BOOST_TEST((s[0] == 0 && s[1] == 1 && std::isnan(s[2]) && s[3] == 0 && s[4] == 1 && s[5] == 0.5));
    BOOST_TEST((t[0] == -1 && t[1] == 1 && std::isnan(t[2]) && t[3] == -1 && t[4] == 1 && t[5] == 0));
    BOOST_TEST(std::isnan(max(odd).item()));
    BOOST_TEST(argmax(odd, 0).item() == 2);
  }
}

BOOST_AUTO_TEST_CASE(argmax_takes_the_first) {
  const Tensor x = Tensor::from<float>({1, 5, 5, 7, 7, 2}, {2, 3});
  BOOST_TEST(argmax(x, 1).values() == (Numbers{1, 0}));
  BOOST_TEST(argmax(x, -2).values() == (Numbers{1, 1, 0}));
  BOOST_CHECK(argmax(x, 1).dtype() == DType::i32);
  BOOST_TEST(argmax(transpose2d(x), 0).values() == (Numbers{1, 0}));
}

BOOST_AUTO_TEST_CASE(empty_tensors_stay_empty) {
  const Tensor none = Tensor::empty({0, 3});
  BOOST_CHECK((none + 1).shape() == (Shape{0, 3}));
  BOOST_CHECK((none * Tensor::zeros({3})).shape() == (Shape{0, 3}));
  BOOST_TEST(sum(none, {0}).values() == (Numbers{0, 0, 0}));
  BOOST_TEST(sum(none).item() == 0);
  BOOST_CHECK(sum(none, {1}).shape() == (Shape{0}));
  BOOST_CHECK(exp(transpose2d(none)).shape() == (Shape{3, 0}));
}

BOOST_AUTO_TEST_CASE(views_share_memory) {
  Tensor x = Tensor::zeros({2, 6});
  BOOST_TEST(reshape(x, {3, 4}).storage() == x.storage());
  BOOST_TEST(transpose2d(x).storage() == x.storage());
  BOOST_TEST(slice(x, 1, 2, 4).storage() == x.storage());
  BOOST_TEST(to(x, DType::f32).storage() == x.storage());
  x.data<float>()[7] = 3;
  BOOST_TEST(slice(reshape(x, {12}), 0, 7, 8).item() == 3);
  BOOST_TEST(slice(transpose2d(x), 0, 1, 2).values() == (Numbers{0, 3}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
