// Broadcasting against a plain loop, on random shapes with random ones.
#include <boost/test/unit_test.hpp>

#include "framework/autograd/graph.h"
#include "framework/core/random.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/shape.h"

namespace {

using namespace tg;

constexpr int kCases = 200;

// The element of a tensor of `shape` that is read at `index` of the larger shape.
size_t read_at(const Shape& shape, const std::vector<int64_t>& index) {
  int64_t at = 0;
  const size_t lead = index.size() - static_cast<size_t>(shape.rank());
  for (int i = 0; i < shape.rank(); ++i)
    at = at * shape[i] + (shape[i] == 1 ? 0 : index[lead + static_cast<size_t>(i)]);
  return static_cast<size_t>(at);
}

// Calls body(index) for every index of `shape`, row-major.
template <class Body>
void each_index(const Shape& shape, const Body& body) {
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()));
  for (int64_t n = 0; n < shape.count(); ++n) {
    int64_t rest = n;
    for (int i = shape.rank() - 1; i >= 0; --i) {
      index[static_cast<size_t>(i)] = rest % shape[i];
      rest /= shape[i];
    }
    body(index);
  }
}

struct Problem {
  Shape full;
  Tensor a, b;
};

// Two tensors that broadcast to `full`: leading axes dropped and others made 1 at random; sometimes a transposed view.
Problem random_problem(Generator& random) {
  Problem p;
  const auto rank = random.below(5);
  for (uint64_t i = 0; i < rank; ++i) p.full.push_back(1 + static_cast<int64_t>(random.below(4)));
  const auto operand = [&](bool whole) {
    Shape shape;
    const auto first = whole ? 0 : static_cast<int>(random.below(rank + 1));
    for (int i = first; i < p.full.rank(); ++i) shape.push_back(!whole && random.below(3) == 0 ? 1 : p.full[i]);
    const bool turned = shape.rank() == 2 && random.below(2) == 0;
    if (turned) std::swap(shape[0], shape[1]);
    std::vector<double> values;
    for (int64_t i = 0; i < shape.count(); ++i) values.push_back(random.normal());
    const Tensor t = Tensor::from(values, shape, kPlain);
    return turned ? transpose2d(t) : t;
  };
  const bool a_whole = random.below(2) == 0;
  p.a = operand(a_whole);
  p.b = operand(!a_whole);
  return p;
}

BOOST_AUTO_TEST_SUITE(broadcasting)

BOOST_AUTO_TEST_CASE(operations_and_sums_agree_with_loops) {
  Generator random(Stream(1).split("broadcast"));
  for (int n = 0; n < kCases; ++n) {
    const Problem p = random_problem(random);
    BOOST_TEST_CONTEXT("case " << n << ": " << p.a.shape().str() << " and " << p.b.shape().str()) {
      const auto a = p.a.values(), b = p.b.values();
      std::vector<double> expected;
      each_index(p.full, [&](const auto& index) {
        expected.push_back(a[read_at(p.a.shape(), index)] - 2 * b[read_at(p.b.shape(), index)]);
      });
      const Tensor y = p.a - 2 * p.b;
      BOOST_REQUIRE(y.shape() == p.full);
      BOOST_REQUIRE(y.values() == expected);

      for (int axis = 0; axis < p.full.rank(); ++axis) {
        Shape kept = p.full;
        kept[axis] = 1;
        std::vector<double> sums(static_cast<size_t>(kept.count())), largest(sums.size(), -INFINITY);
        size_t at = 0;
        each_index(p.full, [&](const auto& index) {
          const size_t to = read_at(kept, index);
          sums[to] += expected[at];
          largest[to] = std::max(largest[to], expected[at++]);
        });
        BOOST_TEST(sum(y, {axis}, {.keep_dims = true}).values() == sums, "sum over axis " << axis);
        BOOST_TEST(max(y, {axis}).values() == largest, "max over axis " << axis);
        BOOST_CHECK(sum(y, {axis}).shape() == p.full.without(axis));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_are_summed_back) {
  Generator random(Stream(2).split("broadcast"));
  for (int n = 0; n < kCases; ++n) {
    const Problem p = random_problem(random);
    const Tensor a = leaf(p.a), b = leaf(p.b);
    std::vector<double> cotangent;
    for (int64_t i = 0; i < p.full.count(); ++i) cotangent.push_back(random.normal());
    const auto got = gradients(a * b, {a, b}, Tensor::from(cotangent, p.full, kPlain));
    const auto av = p.a.values(), bv = p.b.values();
    std::vector<double> da(av.size()), db(bv.size());
    size_t at = 0;
    each_index(p.full, [&](const auto& index) {
      const size_t i = read_at(p.a.shape(), index), j = read_at(p.b.shape(), index);
      da[i] += cotangent[at] * bv[j];
      db[j] += cotangent[at++] * av[i];
    });
    BOOST_TEST_CONTEXT("case " << n << ": " << p.a.shape().str() << " and " << p.b.shape().str()) {
      BOOST_TEST(got[0].values() == da, boost::test_tools::tolerance(1e-12) << boost::test_tools::per_element());
      BOOST_TEST(got[1].values() == db, boost::test_tools::tolerance(1e-12) << boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
