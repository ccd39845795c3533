// Shapes of graphs: what is used twice, what is not used, what is long, what was changed.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/autograd/graph.h"
#include "framework/ops/conv.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/matmul.h"
#include "framework/ops/pool.h"
#include "framework/ops/reduce.h"
#include "framework/ops/shape.h"

namespace {

using namespace tg;
using Numbers = std::vector<double>;

Tensor numbers(const std::vector<float>& values) { return Tensor::from(values, {static_cast<int64_t>(values.size())}); }
Tensor ones_like(const Tensor& t) { return Tensor::full(t.shape(), 1, t.dtype(), t.device()); }

// d (sum of y) / d leaf.
Numbers gradient(const Tensor& y, const Tensor& of) { return gradients(y, {of}, ones_like(y))[0].values(); }

bool says(const Error& e, const std::string& part) { return std::string(e.what()).find(part) != std::string::npos; }

BOOST_AUTO_TEST_SUITE(graph)

BOOST_AUTO_TEST_CASE(used_twice) {
  const Tensor x = leaf(numbers({1, 2, -3}));
  BOOST_TEST(gradient(x + x, x) == (Numbers{2, 2, 2}));
  BOOST_TEST(gradient(x * x, x) == (Numbers{2, 4, -6}));
  BOOST_TEST(gradient(x - x, x) == (Numbers{0, 0, 0}));
  BOOST_TEST(gradient(x / x, x) == (Numbers{0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(diamond) {
  // y = x^2, a = 3 y, b = y^2, c = a b = 3 x^6.
  const Tensor x = leaf(numbers({1, 2}));
  const Tensor y = x * x;
  BOOST_TEST(gradient(3 * y * (y * y), x) == (Numbers{18, 18 * 32}));
}

BOOST_AUTO_TEST_CASE(diamonds_in_a_row) {
  Tensor x = leaf(numbers({1}));
  Tensor y = x;
  for (int i = 0; i < 20; ++i) y = y + y;  // a walk by paths would take 2^20 steps
  BOOST_TEST(gradient(y, x) == (Numbers{1 << 20}));
}

BOOST_AUTO_TEST_CASE(leaves_with_equal_values_are_different) {
  const Tensor a = leaf(numbers({2, 3})), b = leaf(numbers({2, 3}));
  const auto g = gradients(a * b + a, {a, b}, Tensor::full({2}, 1));
  BOOST_TEST(g[0].values() == (Numbers{3, 4}));
  BOOST_TEST(g[1].values() == (Numbers{2, 3}));
  // Two leaves over the same memory are different too.
  const Tensor c = leaf(a);
  BOOST_TEST(gradient(a * c, c) == (Numbers{2, 3}));
}

BOOST_AUTO_TEST_CASE(residual) {
  // x + relu(x): the gradient of relu must not be written over that of x.
  const Tensor x = leaf(numbers({1, -1}));
  const Tensor y = x * 1;
  BOOST_TEST(gradient(y + relu(y), x) == (Numbers{2, 1}));
  const Tensor z = x * 1;
  BOOST_TEST(gradient(relu(z) + z, x) == (Numbers{2, 1}));
}

BOOST_AUTO_TEST_CASE(shared_weights) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {2, 2});
  const Tensor w = leaf(Tensor::from<float>({1, 0, 0, 1}, {2, 2}));
  const Tensor once = leaf(w), again = leaf(w);
  const Tensor shared = linear(linear(x, w, Tensor()), w, Tensor());
  const Tensor apart = linear(linear(x, once, Tensor()), again, Tensor());
  const auto g = gradients(apart, {once, again}, Tensor::full({2, 2}, 1));
  BOOST_TEST(gradient(shared, w) == (g[0] + g[1]).values());
}

BOOST_AUTO_TEST_CASE(a_gradient_that_the_caller_holds_is_not_written) {
  const Tensor x = leaf(numbers({1, -1}));
  const Tensor cotangent = numbers({5, 7});
  const Tensor y = relu(x);
  BOOST_TEST(gradients(y, {x}, cotangent)[0].values() == (Numbers{5, 0}));
  BOOST_TEST(cotangent.values() == (Numbers{5, 7}));
}

BOOST_AUTO_TEST_CASE(a_cotangent_with_a_history_is_a_number_like_others) {
  const Tensor x = leaf(numbers({1, 2})), c = leaf(numbers({3, 4}));
  const auto g = gradients(x * x, {x}, c);
  BOOST_TEST(g[0].values() == (Numbers{6, 16}));
  BOOST_TEST((g[0].node() == nullptr));
}

BOOST_AUTO_TEST_CASE(only_what_is_asked_for) {
  const Tensor a = leaf(numbers({2})), b = leaf(numbers({3})), unused = leaf(numbers({1, 1}));
  const auto g = gradients(a * b, {b, unused}, Tensor::full({1}, 1));
  BOOST_TEST(g[0].values() == (Numbers{2}));
  BOOST_TEST(g[1].values() == (Numbers{0, 0}));
}

BOOST_AUTO_TEST_CASE(a_leaf_may_be_the_result) {
  const Tensor x = leaf(numbers({2, 3}));
  BOOST_TEST(gradient(x, x) == (Numbers{1, 1}));
}

// Recursion over this many nodes would need tens of megabytes of stack.
constexpr int kLongChain = 200'000;

BOOST_AUTO_TEST_CASE(long_chain) {
  const Tensor x = leaf(numbers({1})), one = numbers({1});
  Tensor y = x;
  for (int i = 0; i < kLongChain; ++i) y = y + one;
  BOOST_TEST(y.item() == kLongChain + 1);
  BOOST_TEST(gradient(y, x) == (Numbers{1}));
}

BOOST_AUTO_TEST_CASE(long_chain_dropped_without_differentiation) {
  const Tensor x = leaf(numbers({1})), one = numbers({1});
  Tensor y = x;
  for (int i = 0; i < kLongChain; ++i) y = y + one;
  y = Tensor();
  BOOST_TEST(x.node().use_count() == 1);  // nothing is left of the graph
}

BOOST_AUTO_TEST_CASE(long_chain_of_diamonds) {
  const Tensor x = leaf(numbers({1}));
  Tensor y = x;
  for (int i = 0; i < kLongChain / 2; ++i) y = (y + y) * 0.5;
  BOOST_TEST(gradient(y, x) == (Numbers{1}));
}

BOOST_AUTO_TEST_CASE(pow_at_zero_and_below) {
  const Tensor x = leaf(numbers({0, -2, 3}));
  BOOST_TEST(gradient(pow(x, 2), x) == (Numbers{0, -4, 6}));
  BOOST_TEST(gradient(pow(x, 3), x) == (Numbers{0, 12, 27}));
  BOOST_TEST(gradient(pow(x, 1), x) == (Numbers{1, 1, 1}));
  BOOST_TEST(gradient(pow(x, 0), x) == (Numbers{0, 0, 0}));
  BOOST_TEST(pow(x, 0).values() == (Numbers{1, 1, 1}));
  BOOST_TEST(gradient(pow(x, 1.5), x)[0] == 0);
  BOOST_TEST(gradient(pow(x, 0.5), x)[0] == INFINITY);
  BOOST_TEST(gradient(pow(x, -1), x)[1] == -0.25);
  BOOST_TEST(std::isnan(pow(x, 0.5).values()[1]));
}

BOOST_AUTO_TEST_CASE(ties_go_to_the_first) {
  for (const Device device : {kPlain, kCpu}) {
    const Tensor x = leaf(Tensor::from<float>({1, 2, 2, 2, 1, 2}, {2, 3}, device));
    BOOST_TEST(gradient(max(x), x) == (Numbers{0, 1, 0, 0, 0, 0}));
    BOOST_TEST(gradient(max(x, {1}), x) == (Numbers{0, 1, 0, 1, 0, 0}));
    BOOST_TEST(gradient(max(x, {0}), x) == (Numbers{0, 1, 1, 1, 0, 0}));
    const Tensor t = leaf(Tensor::from<float>({3, 1, 3, 3, 3, 3, 0, 3}, {2, 2, 2}, device));
    BOOST_TEST(gradient(max(t, {0, 2}), t) == (Numbers{1, 0, 1, 0, 0, 0, 0, 0}));
    const Tensor picture = leaf(Tensor::full({1, 2, 2, 1}, 4, DType::f32, device));
    BOOST_TEST(gradient(max_pool2d(picture), picture) == (Numbers{1, 0, 0, 0}));
    const Tensor zeros = leaf(Tensor::zeros({3}, DType::f32, device));
    BOOST_TEST(gradient(relu(zeros), zeros) == (Numbers{0, 0, 0}));
  }
}

BOOST_AUTO_TEST_CASE(a_change_of_what_was_saved_is_an_error) {
  const Tensor x = leaf(numbers({1, 2}));
  Tensor y = exp(x);
  const Tensor z = y * 2;
  y.data<float>()[0] = 7;
  BOOST_CHECK_EXCEPTION(gradient(z, x), Error, [](const Error& e) { return says(e, "exp: ") && says(e, "[2]"); });

  // A view of it shares its numbers, and a span counts as a write.
  Tensor values = numbers({1, 2, 3});
  const Tensor w = leaf(numbers({1, 1, 1}));
  const Tensor product = w * values;
  reshape(values, {3, 1}).span()[0] = 5;
  BOOST_CHECK_EXCEPTION(gradient(product, w), Error, [](const Error& e) { return says(e, "multiply: "); });
}

BOOST_AUTO_TEST_CASE(a_change_of_what_was_not_saved_is_allowed) {
  const Tensor x = leaf(numbers({1, 2}));
  Tensor y = x + 1;
  const Tensor z = y * 3;
  y.fill(0);
  BOOST_TEST(gradient(z, x) == (Numbers{3, 3}));
  // The other factor is needed only for a gradient that nobody can ask for.
  Tensor factor = numbers({4, 5});
  Tensor w = leaf(numbers({1, 1}));
  const Tensor product = w * factor;
  w.fill(9);
  BOOST_TEST(gradient(product, w) == (Numbers{4, 5}));
}

BOOST_AUTO_TEST_CASE(without_recording) {
  const Tensor x = leaf(numbers({1, 2}));
  {
    const NoGrad outer;
    { const NoGrad inner; }
    BOOST_TEST(((x * x).node() == nullptr));
    BOOST_TEST(!recording({x}));
  }
  BOOST_TEST(((x * x).node() != nullptr));
  BOOST_TEST(recording({x}));
  const NoGrad no_grad;
  BOOST_CHECK_EXCEPTION(gradient(x * x, x), Error, [](const Error& e) { return says(e, "NoGrad"); });
}

BOOST_AUTO_TEST_CASE(detached_numbers_carry_nothing) {
  const Tensor x = leaf(numbers({2}));
  BOOST_TEST(gradient(x * (x * x).detach(), x) == (Numbers{4}));
}

BOOST_AUTO_TEST_CASE(a_graph_is_differentiated_once) {
  const Tensor x = leaf(numbers({1, 2}));
  const Tensor y = x * x;
  gradient(y, x);
  BOOST_CHECK_EXCEPTION(gradient(y, x), Error, [](const Error& e) { return says(e, "differentiated before"); });
  // So is one that shares a part with it.
  const Tensor trunk = x * x, left = trunk * 2, right = trunk * 3;
  gradient(left, x);
  BOOST_CHECK_EXCEPTION(gradient(right, x), Error, [](const Error& e) { return says(e, "multiply"); });
}

BOOST_AUTO_TEST_CASE(what_was_saved_is_released_on_the_way) {
  Tensor big = Tensor::zeros({1000});
  const Tensor x = leaf(Tensor::zeros({1000}));
  const Tensor y = x * big;
  BOOST_TEST(big.storage().use_count() == 2);
  gradient(y, x);
  BOOST_TEST(big.storage().use_count() == 1);
}

BOOST_AUTO_TEST_CASE(bad_requests) {
  const Tensor x = leaf(numbers({1, 2}));
  const Tensor y = x * x;
  BOOST_CHECK_EXCEPTION(gradients(y, {x}, numbers({1, 2, 3})), Error,
                        [](const Error& e) { return says(e, "[3]") && says(e, "[2]"); });
  BOOST_CHECK_EXCEPTION(gradients(y, {x}, Tensor::full({2}, 1, DType::f64)), Error,
                        [](const Error& e) { return says(e, "float64"); });
  BOOST_CHECK_EXCEPTION(gradients(y, {numbers({1})}, numbers({1, 1})), Error,
                        [](const Error& e) { return says(e, "no leaf"); });
  BOOST_CHECK_EXCEPTION(gradients(y, {y * 2}, numbers({1, 1})), Error,
                        [](const Error& e) { return says(e, "no leaf"); });
  BOOST_CHECK_EXCEPTION(leaf(Tensor::zeros({2}, DType::i32)), Error, [](const Error& e) { return says(e, "int32"); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
