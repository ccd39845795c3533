// for_each: one pass, every element once, whatever the number of threads.
#include <omp.h>

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <thread>
#include <vector>

#include "framework/core/for_each.h"

namespace {

using namespace tg;

struct Step {
  float rate;
  void operator()(float& w, float& velocity, float gradient) const {
    velocity = 0.5f * velocity + gradient;
    w -= rate * velocity;
  }
};
struct Increase {
  template <class T>
  void operator()(T& v) const {
    v += 1;
  }
};

BOOST_AUTO_TEST_SUITE(for_each_of_vectors)

BOOST_AUTO_TEST_CASE(writes_through_references_and_reads_values) {
  std::vector<float> w{1, 2, 3}, velocity{0, 2, 4};
  const std::vector<float> gradient{10, 20, 30};
  for_each(Step{0.1f}, Span(w.data(), 3), Span(velocity.data(), 3), View(gradient.data(), 3));
  BOOST_TEST(velocity == (std::vector<float>{10, 21, 32}));
  BOOST_TEST(w == (std::vector<float>{1 - 0.1f * 10, 2 - 0.1f * 21, 3 - 0.1f * 32}));
}

BOOST_AUTO_TEST_CASE(every_element_once_for_any_length_and_threads) {
  for (const int threads : {1, 2, 3, 7}) {
    std::thread([&] {
      omp_set_num_threads(threads);
      for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{15}, kParallelGrain - 1, 2 * kParallelGrain,
                              3 * kParallelGrain + 17, 8 * kParallelGrain + 1}) {
        std::vector<float> v(static_cast<size_t>(n) + 1);
        std::iota(v.begin(), v.end(), 0.0f);
        const float guard = v.back();
        for_each(Increase{}, Span(v.data(), n));
        size_t wrong = 0;
        for (size_t i = 0; i < static_cast<size_t>(n); ++i) wrong += v[i] != static_cast<float>(i) + 1;
        BOOST_TEST(wrong == 0u, n << " elements on " << threads << " threads");
        BOOST_TEST(v.back() == guard);
      }
    }).join();
  }
}

BOOST_AUTO_TEST_CASE(other_types) {
  std::vector<double> d{1, 2};
  for_each(Increase{}, BasicSpan<double>(d.data(), 2));
  BOOST_TEST(d == (std::vector<double>{2, 3}));
}

BOOST_AUTO_TEST_CASE(vectors_must_agree) {
  std::vector<float> a(3), b(4);
  BOOST_CHECK_THROW(for_each(Step{1}, Span(a.data(), 3), Span(b.data(), 4), View(a.data(), 3)), Error);
  BOOST_CHECK_THROW(for_each(Step{1}, Span(a.data(), 3), Span(b.data(), 3, kPlain), View(a.data(), 3)), Error);
  BOOST_CHECK_THROW(for_each(Increase{}, Span(a.data(), 3, Device{Device::Kind::cuda, 0})), Error);
}

BOOST_AUTO_TEST_CASE(parts_of_spans_stay_inside) {
  std::vector<float> a{1, 2, 3, 4};
  const Span s(a.data(), 4);
  BOOST_TEST(s.part(1, 2)[1] == 3);
  BOOST_TEST(s.part(4, 0).empty());
  BOOST_CHECK_THROW(s.part(3, 2), Error);
  BOOST_CHECK_THROW(s.part(-1, 2), Error);
  BOOST_CHECK_THROW(s.part(1, INT64_MAX), Error);
  BOOST_CHECK_THROW(s.part(0, -1), Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
