// The memory of tensors: aligned, reused, merged, counted, and shared by threads.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <thread>
#include <vector>

#include "framework/core/error.h"
#include "framework/core/pool.h"
#include "framework/core/random.h"
#include "framework/core/tensor.h"

namespace {

using namespace tg;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

BOOST_AUTO_TEST_SUITE(pools)

BOOST_AUTO_TEST_CASE(blocks_are_aligned_and_their_own) {
  std::vector<void*> blocks;
  for (std::size_t size = 0; size < 300; size += 13) {
    void* p = pool::allocate(size);
    BOOST_TEST(reinterpret_cast<uintptr_t>(p) % pool::kAlignment == 0u);
    std::memset(p, static_cast<int>(size), size);
    blocks.push_back(p);
  }
  std::size_t size = 0;
  for (void* p : blocks) {
    for (std::size_t i = 0; i < size; ++i)
      BOOST_REQUIRE(static_cast<unsigned char*>(p)[i] == static_cast<unsigned char>(size));
    pool::release(p);
    size += 13;
  }
}

BOOST_AUTO_TEST_CASE(live_bytes_are_counted) {
  const PoolStats before = pool::stats();
  {
    const Tensor t = Tensor::empty({1000});  // 4000 bytes, in units of 64
    BOOST_TEST(pool::stats().live - before.live == 4032);
    const Tensor view = t.detach(), handle = t;
    BOOST_TEST(pool::stats().live - before.live == 4032);
  }
  BOOST_TEST(pool::stats().live == before.live);
}

BOOST_AUTO_TEST_CASE(a_step_repeated_asks_the_system_for_nothing) {
  const auto step = [] {
    std::vector<Tensor> kept;
    for (const int64_t n : {100'000, 3, 500'000, 70'000}) kept.push_back(Tensor::empty({n}));
    kept.erase(kept.begin());
    kept.push_back(Tensor::empty({50'000}));
  };
  step();
  const PoolStats before = pool::stats();
  for (int i = 0; i < 100; ++i) step();
  const PoolStats after = pool::stats();
  BOOST_TEST(after.system_calls == before.system_calls);
  BOOST_TEST(after.live == before.live);
  BOOST_TEST(after.peak == before.peak);
}

BOOST_AUTO_TEST_CASE(free_neighbours_are_merged) {
  // Three blocks side by side, freed in any order, make room for one of their size.
  for (const auto& order : {std::vector<int>{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}}) {
    std::vector<void*> blocks;
    for (int i = 0; i < 3; ++i) blocks.push_back(pool::allocate(8 * kMebibyte));
    for (const int i : order) pool::release(blocks[static_cast<size_t>(i)]);
    const PoolStats before = pool::stats();
    void* whole = pool::allocate(24 * kMebibyte);
    BOOST_TEST(pool::stats().system_calls == before.system_calls);
    pool::release(whole);
  }
}

BOOST_AUTO_TEST_CASE(peaks_since_reset) {
  pool::reset_peak();
  const PoolStats start = pool::stats();
  BOOST_TEST(start.live_peak == start.live);
  { const Tensor t = Tensor::empty({1'000'000}); }
  const PoolStats after = pool::stats();
  BOOST_TEST(after.live_peak >= start.live + 4'000'000);
  BOOST_TEST(after.live_peak <= start.live + 4'000'064);
  BOOST_TEST(after.peak >= after.live_peak);
}

BOOST_AUTO_TEST_CASE(trim_gives_memory_back_and_keeps_what_is_live) {
  Tensor kept = Tensor::full({1000}, 7);
  { const Tensor large = Tensor::zeros({16 * static_cast<int64_t>(kMebibyte)}); }
  const PoolStats before = pool::stats();
  BOOST_TEST(before.cached >= static_cast<int64_t>(64 * kMebibyte));
  pool::trim();
  BOOST_TEST(pool::stats().cached < before.cached);
  BOOST_TEST(pool::stats().live == before.live);
  for (const double v : kept.values()) BOOST_REQUIRE(v == 7);
  const Tensor again = Tensor::full({16 * static_cast<int64_t>(kMebibyte)}, 1);  // usable once more
  BOOST_TEST(again.view()[again.count() - 1] == 1);
}

BOOST_AUTO_TEST_CASE(too_much_is_an_error_and_harms_nothing) {
  const PoolStats before = pool::stats();
  BOOST_CHECK_THROW(pool::allocate(std::size_t{1} << 60), Error);
  BOOST_CHECK_THROW(Tensor::empty({int64_t{1} << 50}), Error);
  BOOST_TEST(pool::stats().live == before.live);
  BOOST_CHECK_NO_THROW(Tensor::zeros({10}));
}

BOOST_AUTO_TEST_CASE(threads_share_it) {
  const int64_t live = pool::stats().live;
  std::vector<std::thread> threads;
  std::vector<int> wrong(8);
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      Generator random(Stream{t});
      std::vector<std::pair<Tensor, double>> kept(16);
      for (int i = 0; i < 3000; ++i) {
        auto& [tensor, value] = kept[random.below(kept.size())];
        if (tensor.defined() && (tensor.values().front() != value || tensor.values().back() != value)) ++wrong[t];
        value = static_cast<double>(random.below(1000));
        tensor = Tensor::full({1 + static_cast<int64_t>(random.below(2000))}, value);
      }
    });
  for (std::thread& t : threads) t.join();
  for (const int w : wrong) BOOST_TEST(w == 0);
  BOOST_TEST(pool::stats().live == live);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
