// Gradients laid out like the parameters, in memory of the caller's.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "framework/autograd/graph.h"
#include "framework/ops/conv.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/shape.h"

namespace {

using namespace tg;
using Numbers = std::vector<double>;

// Leaves that are views of one vector, filled with 0.01, 0.02, ...
Parameters make_parameters(const std::vector<std::pair<std::string, Shape>>& parts) {
  Parameters p;
  for (const auto& [name, shape] : parts) p.layout.add(name, shape);
  p.flat = Tensor::zeros({p.layout.size()});
  for (int64_t i = 0; i < p.layout.size(); ++i) p.flat.span()[i] = 0.01f * static_cast<float>(i + 1);
  for (const auto& entry : p.layout.entries())
    p.leaves.push_back(leaf(p.flat.as_strided(entry.shape, row_major(entry.shape), entry.offset)));
  return p;
}

// The part of a flat vector that belongs to a parameter; counts that all else is zero.
Numbers part_of(const Tensor& flat, const Layout& layout, size_t i) {
  const auto& entry = layout.entries()[i];
  return flat.as_strided(entry.shape, row_major(entry.shape), entry.offset).values();
}

BOOST_AUTO_TEST_SUITE(parameters)

BOOST_AUTO_TEST_CASE(gaps_and_unused_leaves_are_zero) {
  const Parameters p = make_parameters({{"a", {3}}, {"unused", {5}}, {"b", {2, 2}}, {"last", {1}}});
  std::vector<float> memory(static_cast<size_t>(p.layout.size()), std::numeric_limits<float>::quiet_NaN());
  gradients(sum(p.leaves[0]) * 2 + sum(p.leaves[2] * p.leaves[2]), p, Span(memory.data(), p.layout.size()));
  Numbers expected(memory.size());
  for (size_t i = 0; i < 3; ++i) expected[i] = 2;
  for (int64_t i = 0; i < 4; ++i) {
    const auto at = static_cast<size_t>(p.layout.find("b").offset + i);
    expected[at] = 2 * p.flat.values()[at];
  }
  BOOST_TEST(Numbers(memory.begin(), memory.end()) == expected, boost::test_tools::tolerance(1e-6)
                                                                    << boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_same_as_leaf_by_leaf) {
  // Weights that are written straight to their place, once (conv, second layer) and more than once (shared).
  const auto build = [](const std::vector<Tensor>& w) {
    const Tensor x = Tensor::full({2, 4, 4, 1}, 0.5);
    const Tensor c = conv2d(x, w[0], w[1], {.relu = true});
    const Tensor h = linear(reshape(c, {2, -1}), w[2], w[3], true);
    return sum(linear(linear(h, w[4], Tensor()), w[4], Tensor()) * w[5]);
  };
  const Parameters p = make_parameters({{"conv.weight", {2, 3, 3, 1}},
                                        {"conv.bias", {2}},
                                        {"fc.weight", {3, 8}},
                                        {"fc.bias", {3}},
                                        {"shared", {3, 3}},
                                        {"scale", {}}});
  const Tensor flat = gradients(build(p.leaves), p);
  std::vector<Tensor> apart;
  for (const Tensor& l : p.leaves) apart.push_back(leaf(l.copy()));
  const auto expected = gradients(build(apart), apart, Tensor::full({}, 1));
  double in_parts = 0, in_all = 0;
  for (size_t i = 0; i < apart.size(); ++i) {
    BOOST_TEST(part_of(flat, p.layout, i) == expected[i].values(), p.layout.entries()[i].name);
    for (const double v : expected[i].values()) in_parts += std::abs(v);
  }
  for (const double v : flat.values()) in_all += std::abs(v);
  BOOST_TEST(in_all == in_parts, boost::test_tools::tolerance(1e-12));  // nothing outside
}

BOOST_AUTO_TEST_CASE(a_second_time_writes_and_does_not_add) {
  const Parameters p = make_parameters({{"a", {3}}});
  Tensor out = Tensor::zeros({p.layout.size()});
  for (int i = 0; i < 2; ++i) gradients(sum(p.leaves[0] * 3), p, out.span());
  BOOST_TEST(part_of(out, p.layout, 0) == (Numbers{3, 3, 3}));
}

BOOST_AUTO_TEST_CASE(bad_requests) {
  const Parameters p = make_parameters({{"a", {3}}});
  std::vector<float> memory(3);
  const auto says = [](const char* part) {
    return [part](const Error& e) { return std::string(e.what()).find(part) != std::string::npos; };
  };
  BOOST_CHECK_EXCEPTION(gradients(p.leaves[0] * 2, p), Error, says("one number, it has shape [3]"));
  BOOST_CHECK_EXCEPTION(gradients(sum(p.leaves[0]), p, Span(memory.data(), 3)), Error, says("room for 3 elements"));
  BOOST_CHECK_EXCEPTION(gradients(Tensor::zeros({}), p), Error, says("depends on no parameter"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
