// map(): broadcasting over strides, types of results, and what it refuses.
#include <boost/test/unit_test.hpp>

#include "framework/backend/elementwise.h"

namespace {

using namespace tg;
using Numbers = std::vector<double>;

struct Minus {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct Even {
  uint8_t operator()(int32_t a) const { return a % 2 == 0; }
};
struct Join {
  template <class T>
  T operator()(T a, T b, T c) const {
    return 100 * a + 10 * b + c;
  }
};

BOOST_AUTO_TEST_SUITE(elementwise)

BOOST_AUTO_TEST_CASE(shapes_spread) {
  const Tensor column = Tensor::from<double>({1, 2}, {2, 1}), row = Tensor::from<double>({10, 20, 30}, {3});
  const Tensor y = map<double>("minus", Minus{}, row, column);
  BOOST_CHECK((y.shape() == Shape{2, 3}));
  BOOST_TEST(y.values() == (Numbers{9, 19, 29, 8, 18, 28}));
  const Tensor scalar = Tensor::from<double>({5}, {});
  BOOST_TEST(map<double>("minus", Minus{}, scalar, scalar).item() == 0);
  BOOST_TEST(map<double>("minus", Minus{}, row, scalar).values() == (Numbers{5, 15, 25}));
}

BOOST_AUTO_TEST_CASE(three_operands) {
  const Tensor a = Tensor::from<double>({1, 2}, {2, 1, 1}), b = Tensor::from<double>({3, 4}, {2, 1}),
               c = Tensor::from<double>({5, 6}, {2});
  BOOST_TEST(map<double>("join", Join{}, a, b, c).values() == (Numbers{135, 136, 145, 146, 235, 236, 245, 246}));
}

BOOST_AUTO_TEST_CASE(views_are_read_as_they_lie) {
  const Tensor x = Tensor::from<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor turned = x.as_strided({3, 2}, {1, 3}, 0);
  BOOST_TEST(map<double>("minus", Minus{}, turned, Tensor::zeros({3, 2}, DType::f64)).values() ==
             (Numbers{1, 4, 2, 5, 3, 6}));
  const Tensor backwards = x.as_strided({2}, {-4}, 5);
  BOOST_TEST(map<double>("minus", Minus{}, backwards, Tensor::zeros({2}, DType::f64)).values() == (Numbers{6, 2}));
}

BOOST_AUTO_TEST_CASE(the_formula_gives_the_type) {
  const Tensor y = map<int32_t>("even", Even{}, Tensor::from<int32_t>({1, 2, 4}, {3}));
  BOOST_CHECK(y.dtype() == DType::u8);
  BOOST_TEST(y.values() == (Numbers{0, 1, 1}));
}

BOOST_AUTO_TEST_CASE(large_work_is_split_without_gaps) {
  const int64_t n = 3 * kParallelGrain + 5;
  const Tensor a = Tensor::full({n}, 3), b = Tensor::full({n}, 1);
  BOOST_TEST((map<float>("minus", Minus{}, a, b).values() == Numbers(static_cast<size_t>(n), 2)));
  const Tensor wide = Tensor::full({1001, 101}, 3), row = Tensor::full({101}, 1), column = Tensor::full({1001, 1}, 1);
  BOOST_TEST((map<float>("minus", Minus{}, wide, row).values() == Numbers(1001 * 101, 2)));
  BOOST_TEST((map<float>("minus", Minus{}, wide, column).values() == Numbers(1001 * 101, 2)));
}

BOOST_AUTO_TEST_CASE(different_operands_are_refused) {
  const Tensor f = Tensor::zeros({2}), d = Tensor::zeros({2}, DType::f64), p = Tensor::zeros({2}, DType::f32, kPlain);
  BOOST_CHECK_THROW(map<float>("minus", Minus{}, f, d), Error);
  BOOST_CHECK_THROW(map<float>("minus", Minus{}, f, p), Error);
  BOOST_CHECK_THROW(map<float>("minus", Minus{}, f, Tensor::zeros({3})), Error);
  BOOST_TEST(map<float>("minus", Minus{}, Tensor::zeros({0, 2}), f).count() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
