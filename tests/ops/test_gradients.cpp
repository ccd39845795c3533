// Every operation's derivative against differences, in float64 on plain, from the table of cases.h.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "framework/autograd/grad_check.h"
#include "framework/autograd/graph.h"
#include "tests/ops/cases.h"

namespace {

using namespace tg;

// The operations in the graph behind a tensor.
std::set<std::string> ops_behind(const Tensor& output) {
  std::set<std::string> names;
  std::vector<Node*> open{output.node().get()};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    names.insert(node->op);
    for (const auto& input : node->inputs)
      if (input != nullptr) open.push_back(input.get());
  }
  return names;
}

BOOST_AUTO_TEST_SUITE(op_gradients)

BOOST_AUTO_TEST_CASE(every_operation_is_in_the_table_and_no_other) {
  std::set<std::string> registered, tested;
  for (const Op* op : all_ops()) {
    BOOST_TEST(registered.insert(op->name()).second, "two operations are called " << op->name());
    BOOST_TEST(std::string(op->derivative()) != "", op->name() << " does not say its derivative");
  }
  for (const auto& c : test::op_cases()) tested.insert(c.op());
  BOOST_TEST(registered == tested, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(names_of_cases_are_different) {
  std::set<std::string> names;
  for (const auto& c : test::op_cases()) BOOST_TEST(names.insert(c.name).second, c.name);
}

BOOST_AUTO_TEST_CASE(derivatives_agree_with_differences) {
  for (const auto& c : test::op_cases()) {
    BOOST_TEST_CONTEXT(c.name) {
      std::vector<Tensor> inputs;
      for (const auto& input : c.inputs) inputs.push_back(test::fixed_tensor(inputs.size(), input, DType::f64, kPlain));
      std::vector<Tensor> leaves;
      for (const Tensor& input : inputs) leaves.push_back(leaf(input));
      BOOST_TEST(ops_behind(c.f(leaves)).count(c.op()) == 1u, "the case does not use its operation");
      BOOST_CHECK_NO_THROW(grad_check(c.name, c.f, inputs, {.step = c.step}));
    }
  }
}

BOOST_AUTO_TEST_CASE(without_recording_there_is_no_graph) {
  const NoGrad no_grad;
  for (const auto& c : test::op_cases()) {
    std::vector<Tensor> leaves;
    for (const auto& input : c.inputs)
      leaves.push_back(leaf(test::fixed_tensor(leaves.size(), input, DType::f32, kCpu)));
    BOOST_TEST((c.f(leaves).node() == nullptr), c.name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
