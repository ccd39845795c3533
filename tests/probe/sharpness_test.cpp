#include "dist/probe/sharpness.h"

#include <boost/test/unit_test.hpp>

#include "dist/probe/quadratics.h"
#include "framework/core/tensor.h"

using namespace tg;

BOOST_AUTO_TEST_SUITE(sharpness_test)

BOOST_AUTO_TEST_CASE(it_is_the_largest_curvature) {
  const Quadratics task({0.5, 7, 2, 1}, 1, 10);
  const Tensor at = Tensor::full({task.layout().size()}, 0.3);
  BOOST_TEST(sharpness(task, at.view(), 1, 4) == 7, boost::test_tools::tolerance(1e-3));
}

BOOST_AUTO_TEST_CASE(a_flat_loss_has_none) {
  const Quadratics task({0, 0}, 1, 10);
  const Tensor at = Tensor::zeros({task.layout().size()});
  BOOST_TEST(sharpness(task, at.view(), 1, 1) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
