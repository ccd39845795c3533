// reduce_sum: the same bits for any number of threads, and the order that it promises.
#include <omp.h>

#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

#include "framework/core/random.h"
#include "framework/core/reduce.h"

namespace {

using namespace tg;

struct Square {
  float operator()(float x) const { return x * x; }
};
struct Product {
  float operator()(float a, float b) const { return a * b; }
};
struct Itself {
  float operator()(float x) const { return x; }
};

std::vector<float> random_values(int64_t n) {
  const Stream stream(5);
  std::vector<float> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) v[i] = stream.normal(i);
  return v;
}

// What reduce.h says, written without its loops: 16 lanes a block of 4096, neighbours added.
double by_definition(const std::vector<float>& v) {
  const auto tree = [](std::vector<double> s) {
    while (s.size() > 1) {
      std::vector<double> next;
      for (size_t i = 0; i + 1 < s.size(); i += 2) next.push_back(s[i] + s[i + 1]);
      if (s.size() % 2 != 0) next.push_back(s.back());
      s = next;
    }
    return s.empty() ? 0.0 : s[0];
  };
  std::vector<double> blocks;
  for (size_t begin = 0; begin < v.size(); begin += 4096) {
    std::vector<double> lanes(16);
    for (size_t i = begin; i < std::min(v.size(), begin + 4096); ++i) lanes[(i - begin) % 16] += v[i];
    blocks.push_back(tree(lanes));
  }
  return tree(blocks);
}

BOOST_AUTO_TEST_SUITE(reduce)

BOOST_AUTO_TEST_CASE(small_sums) {
  const std::vector<float> a{1, 2, 3}, b{4, 5, 6};
  BOOST_TEST(reduce_sum(Square{}, View(a.data(), 3)) == 14);
  BOOST_TEST(reduce_sum(Product{}, View(a.data(), 3), View(b.data(), 3)) == 32);
  BOOST_TEST(reduce_sum(Square{}, View(a.data(), 0)) == 0);
}

BOOST_AUTO_TEST_CASE(the_order_is_the_promised_one) {
  for (const int64_t n : {1, 15, 16, 17, 4095, 4096, 4097, 12'288, 100'003}) {
    const auto v = random_values(n);
    BOOST_TEST(reduce_sum(Itself{}, View(v.data(), n)) == by_definition(v), n << " elements");
  }
}

BOOST_AUTO_TEST_CASE(threads_change_no_bit) {
  const int64_t n = 9 * kParallelGrain + 4099;
  const auto v = random_values(n);
  const double expected = by_definition(v);
  for (const int threads : {1, 2, 3, 5, 8})
    std::thread([&] {
      omp_set_num_threads(threads);
      BOOST_TEST(reduce_sum(Itself{}, View(v.data(), n)) == expected, threads << " threads");
    }).join();
}

BOOST_AUTO_TEST_CASE(vectors_must_agree) {
  const std::vector<float> a(4);
  BOOST_CHECK_THROW(reduce_sum(Product{}, View(a.data(), 3), View(a.data(), 4)), Error);
  BOOST_CHECK_THROW(reduce_sum(Product{}, View(a.data(), 3), View(a.data(), 3, kPlain)), Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
