// Many callers at once: every product must be right while others are computed.
#include <omp.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <thread>

#include "framework/backend/cpu/cpu.h"
#include "framework/backend/plain/plain.h"
#include "framework/core/random.h"

namespace {

using namespace tg;

constexpr int kCallers = 8, kProducts = 10'000;

struct Problem {
  Tensor a, b, expected;
};

std::vector<Problem> make_problems() {
  std::vector<Problem> problems;
  const Stream stream(3);
  for (uint64_t i = 0; i < 16; ++i) {
    const auto size = [&](uint64_t which) { return static_cast<int64_t>(1 + stream.bits(3 * i + which)[0] % 24); };
    const int64_t m = size(0), n = size(1), k = size(2);
    Problem p{Tensor::empty({m, k}), Tensor::empty({k, n}), Tensor::empty({m, n})};
    for (Tensor* t : {&p.a, &p.b})
      for (int64_t e = 0; e < t->count(); ++e)
        t->span()[e] = stream.split("value", i).normal(static_cast<uint64_t>(e + (t == &p.b ? 1000 : 0)));
    plain_backend().matmul(p.a, false, p.b, false, p.expected);
    problems.push_back(p);
  }
  return problems;
}

BOOST_AUTO_TEST_SUITE(concurrent)

BOOST_AUTO_TEST_CASE(small_products_on_eight_threads) {
  const std::vector<Problem> problems = make_problems();
  std::atomic<int> wrong = 0, done = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller)
    callers.emplace_back([&, caller] {
      omp_set_num_threads(1);
      for (int i = 0; i < kProducts / kCallers; ++i) {
        const Problem& p = problems[static_cast<size_t>(caller + i) % problems.size()];
        Tensor out = Tensor::full(p.expected.shape(), NAN);
        cpu_backend().matmul(p.a, false, p.b, false, out);
        const View got = std::as_const(out).view(), expected = p.expected.view();
        for (int64_t e = 0; e < got.size; ++e)
          if (!(std::abs(got[e] - expected[e]) <= 1e-4f)) ++wrong;
        ++done;
      }
    });
  for (std::thread& t : callers) t.join();
  BOOST_TEST(wrong == 0);
  BOOST_TEST(done == kProducts);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
