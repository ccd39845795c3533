// How parameters are cut into shards, and what one shard of a server does.

#include "dist/shards.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "dist/shard.h"
#include "tests/dist/fake.h"
#include "tests/errors.h"

using namespace tg;

namespace {

Layout layout_of(const std::vector<int64_t>& sizes) {
  Layout layout;
  for (const int64_t size : sizes) layout.add(fmt::format("p{}", layout.entries().size()), {size});
  return layout;
}

// The smallest size of the largest part, by trying all places to cut.
int64_t best_maximum(const std::vector<int64_t>& sizes, size_t begin, int shards) {
  if (shards == 1) return std::accumulate(sizes.begin() + static_cast<std::ptrdiff_t>(begin), sizes.end(), int64_t{0});
  int64_t best = std::numeric_limits<int64_t>::max(), first = 0;
  for (size_t end = begin + 1; end + static_cast<size_t>(shards) - 1 <= sizes.size(); ++end) {
    first += sizes[end - 1];
    best = std::min(best, std::max(first, best_maximum(sizes, end, shards - 1)));
  }
  return best;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shards)

BOOST_AUTO_TEST_CASE(cuts_are_between_tensors_and_the_largest_part_is_as_small_as_can_be) {
  Generator random(Stream(3));
  for (int round = 0; round < 100; ++round) {
    std::vector<int64_t> sizes(1 + random.below(8));
    for (int64_t& size : sizes) size = static_cast<int64_t>(random.below(4) == 0 ? 1000 : random.below(40));
    const Layout layout = layout_of(sizes);
    for (int shards = 1; shards <= static_cast<int>(sizes.size()); ++shards) {
      const std::vector<ShardRange> ranges = cut_shards(layout, shards);
      BOOST_REQUIRE(std::ssize(ranges) == shards);
      int64_t next = 0, largest = 0;
      size_t tensor = 0;
      for (const ShardRange& range : ranges) {
        BOOST_REQUIRE(range.first == next);
        BOOST_REQUIRE(!range.layout.entries().empty());
        for (const Layout::Entry& entry : range.layout.entries()) {
          const Layout::Entry& whole = layout.entries()[tensor++];
          BOOST_REQUIRE((entry.name == whole.name && entry.offset + range.first == whole.offset));
        }
        next += range.layout.size();
        largest = std::max(largest, range.layout.count());
      }
      BOOST_REQUIRE(next == layout.size());
      BOOST_REQUIRE(largest == best_maximum(sizes, 0, shards));
    }
  }
}

BOOST_AUTO_TEST_CASE(sizes_and_imbalance) {
  const std::vector<ShardRange> ranges = cut_shards(layout_of({100, 20, 20, 160}), 2);
  BOOST_TEST(ranges[0].bytes() == 560);
  BOOST_TEST(ranges[1].bytes() == 640);
  BOOST_TEST(std::abs(imbalance(ranges) - 640.0 / 600) < 1e-12);
}

BOOST_AUTO_TEST_CASE(a_shard_holds_at_least_one_tensor) {
  for (const int shards : {0, -1, 4})
    BOOST_TEST(contains(error_of([&] { cut_shards(layout_of({5, 5, 5}), shards); }), "use 1 to 3"));
}

// Two shards that are told the same are together one server: same theta, same sums of squares, of all coordinates or of
// those that were drawn.
void check_two_shards(int64_t parameters) {
  const fake::QuadraticTask task(parameters);
  const auto rule = fake::PlainRule();
  const Job job = fake::job(task, rule, 2, 10);
  const Tensor initial = initial_parameters(job);
  Shard whole(job, {.first = 0, .layout = task.layout()}, initial.view());
  std::vector<Shard> parts;
  for (const ShardRange& range : cut_shards(task.layout(), 2)) parts.emplace_back(job, range, initial.view());
  const int64_t size = task.layout().size();
  std::vector<float> reply(static_cast<size_t>(size)), message(reply), of_parts(reply);
  const Span out(reply.data(), size), part_out(of_parts.data(), size), gradient(message.data(), size);
  const auto all = [&](const auto& f) {
    f(whole, out);
    for (Shard& part : parts) f(part, part_out);
  };
  all([](Shard& shard, Span) { shard.join(1); });
  for (int64_t batch = 0; batch < 5; ++batch) {
    all([&](Shard& shard, Span to) { shard.assign(1, batch, 0.1f, to); });
    BOOST_TEST(reply == of_parts, boost::test_tools::per_element());
    BOOST_TEST(whole.at_work(1));
    task.gradient(out, 1, batch, Stream(1), gradient);
    all([&](Shard& shard, Span) {
      const Event event = shard.take(1, gradient, out, {}, 0.5);
      BOOST_TEST((event.kind == Event::Kind::arrive && event.batch == batch && event.version == batch + 1));
    });
    BOOST_TEST(!whole.at_work(1));
    const double squares = whole.squared_gap(1, out);
    BOOST_TEST(squares > 0);
    BOOST_TEST(std::abs(squares / (parts[0].squared_gap(1, out) + parts[1].squared_gap(1, out)) - 1) < 1e-12);
  }
  for (int64_t i = 0; i < size; ++i) {
    const ShardRange& second = parts[1].range();
    BOOST_REQUIRE(whole.theta()[i] == (i < second.first ? parts[0].theta()[i] : parts[1].theta()[i - second.first]));
  }
}

BOOST_AUTO_TEST_CASE(two_shards_are_together_one_server) {
  for (const int64_t parameters : {50, 20'000}) check_two_shards(parameters);
}

BOOST_AUTO_TEST_CASE(what_an_engine_must_not_do) {
  const fake::QuadraticTask task;
  const auto rule = fake::PlainRule();
  const Job job = fake::job(task, rule, 2, 10);
  Shard shard(job, {.first = 0, .layout = task.layout()}, initial_parameters(job).view());
  std::vector<float> buffer(static_cast<size_t>(task.layout().size()));
  const Span reply(buffer.data(), task.layout().size());
  shard.join(0);
  BOOST_TEST(contains(error_of([&] { shard.join(0); }), "worker 0 joins twice"));
  BOOST_TEST(contains(error_of([&] { shard.leave(1); }), "worker 1 leaves but has not joined"));
  shard.assign(0, 0, 0.1f, reply);
  BOOST_TEST(contains(error_of([&] { shard.assign(0, 1, 0.1f, reply); }), "worker 0 go on, which is at work"));
  BOOST_TEST(contains(error_of([&] { shard.assign(2, 1, 0.1f, reply); }), "worker 2 go on, which does not exist"));
}

BOOST_AUTO_TEST_SUITE_END()
