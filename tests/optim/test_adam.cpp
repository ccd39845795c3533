// Adam against a sequence that was computed by hand.
#include <cmath>

#include "optim/adam.h"
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"

namespace {

using namespace tg;
using namespace tg::test;

BOOST_AUTO_TEST_SUITE(adam)

// beta1 0.5, beta2 0.75, epsilon 0.5, eta 0.1, theta from 1; gradients 2, -1, 0.5:
//   m 1, 0, 0.25;  v 1, 1, 0.8125;  m / (1 - 0.5^t): 2, 0, 2/7;  v / (1 - 0.75^t): 4, 16/7, 52/37
//   steps 0.1 * 2 / 2.5, 0, 0.1 * (2/7) / (sqrt(52/37) + 0.5)
BOOST_AUTO_TEST_CASE(by_hand) {
  const auto rule = test::rule("adam:beta1=0.5,beta2=0.75,epsilon=0.5");
  const auto update = rule->update(flat_layout(16), view_of(std::vector<float>(16, 1)));
  const double expected[] = {0.92, 0.92, 0.92 - 0.1 * (2.0 / 7) / (std::sqrt(52.0 / 37) + 0.5)};
  const float gradients[] = {2, -1, 0.5f};
  for (int t = 0; t < 3; ++t) {
    const std::vector<float> g(16, gradients[t]);
    update->apply(0, view_of(g), {.learning_rate = 0.1f});
    BOOST_TEST(std::abs(double{update->theta()[5]} - expected[t]) < 1e-7);
  }
}

// With the defaults the first step has length eta in every coordinate, whatever the gradient: the means are unbiased.
BOOST_AUTO_TEST_CASE(the_first_step_has_the_length_of_the_rate) {
  for (const float g : {1e-3f, -7.0f, 400.0f}) {
    const auto update = rule("adam")->update(flat_layout(16), view_of(std::vector<float>(16)));
    update->apply(0, view_of(std::vector<float>(16, g)), {.learning_rate = 0.25f});
    BOOST_TEST(std::abs(update->theta()[0] + std::copysign(0.25f, g)) < 3e-6f);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
