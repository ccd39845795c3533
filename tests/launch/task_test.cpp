#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <thread>

#include "datasets/synthetic.h"
#include "dist/launch/classification_task.h"
#include "framework/nn/models/models.h"
#include "framework/ops/loss.h"
#include "tests/temporary_folder.h"

using namespace tg;

namespace {

struct Fixture {
  Splits data = synthetic_dataset(0);
  std::function<Model()> make = [] { return make_mlp({28, 28, 1}, {16}, 10); };
  ClassificationTask task{data, make, 100};
  std::vector<float> theta = std::vector<float>(static_cast<size_t>(task.layout().size()));

  Fixture() { task.initial(5, {theta.data(), std::ssize(theta)}); }
  View at() const { return {theta.data(), std::ssize(theta)}; }
  std::vector<float> gradient(uint64_t seed, int64_t batch, double* loss = nullptr) const {
    std::vector<float> out(theta.size(), 1e9f);
    const double value = task.gradient(at(), seed, batch, Stream(1), {out.data(), std::ssize(out)});
    if (loss != nullptr) *loss = value;
    return out;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(classification_task, Fixture)

BOOST_AUTO_TEST_CASE(it_says_what_it_is) {
  BOOST_TEST(task.layout().count() == 784 * 16 + 16 + 16 * 10 + 10);
  BOOST_TEST(task.batch_size() == 100);
  BOOST_TEST(task.batches_per_epoch() == 41);  // 4096 samples: the last batch has 96
  BOOST_TEST(contains(error_of([&] { ClassificationTask(data, make, 4097); }), "4096"));
  BOOST_TEST(contains(error_of([&] { ClassificationTask(data, make, 0); }), "a batch of 0"));
}

BOOST_AUTO_TEST_CASE(parameters_start_as_the_seed_says) {
  std::vector<float> again(theta.size()), other(theta.size());
  task.initial(5, {again.data(), std::ssize(again)});
  task.initial(6, {other.data(), std::ssize(other)});
  BOOST_TEST(theta == again);
  BOOST_TEST(theta != other);
}

BOOST_AUTO_TEST_CASE(a_gradient_is_that_of_the_model_on_the_batch_and_changes_no_parameter) {
  const std::vector<float> before = theta;
  double loss = 0;
  const std::vector<float> g = gradient(3, 44, &loss);  // of the second epoch
  BOOST_TEST(theta == before);

  Model model = make();
  Tensor flat = Tensor::from(theta, {std::ssize(theta)});
  model.bind(flat);
  const Batches batches(data.train, 100, 3);
  const Batch batch = batches.get(44);
  const Tensor expected_loss = cross_entropy(model(batch.x, {}), batch.y);
  BOOST_TEST(loss == expected_loss.item());
  const Tensor expected = gradients(expected_loss, model.parameters());
  BOOST_TEST(std::memcmp(g.data(), expected.view().data, g.size() * sizeof(float)) == 0);
}

BOOST_AUTO_TEST_CASE(it_finds_where_a_number_is_not_finite_any_more) {
  const auto where = [&] { return task.where_not_finite(at(), 3, 44, Stream(1)); };
  BOOST_TEST(where() == "");
  const Layout& layout = task.layout();
  theta[static_cast<size_t>(layout.find("fc2.bias").offset)] = 3e38f;
  theta[static_cast<size_t>(layout.find("fc2.weight").offset)] = 3e38f;
  BOOST_TEST(where() == "linear [100, 10] of fc2");
  theta[static_cast<size_t>(layout.find("fc1.bias").offset)] = std::numeric_limits<float>::infinity();
  BOOST_TEST(where() == "the parameter fc1.bias");
}

BOOST_AUTO_TEST_CASE(calls_depend_on_their_arguments_alone) {
  const std::vector<float> first = gradient(3, 0);
  BOOST_TEST(gradient(3, 1) != first);
  BOOST_TEST(gradient(4, 0) != first);
  task.evaluate(at(), 3);
  BOOST_TEST(gradient(3, 0) == first);
}

BOOST_AUTO_TEST_CASE(threads_get_the_same_bytes_as_one_after_another) {
  constexpr int kThreads = 6;
  std::vector<std::vector<float>> expected(kThreads), found(kThreads);
  for (int i = 0; i < kThreads; ++i) expected[static_cast<size_t>(i)] = gradient(3 + i % 2, i);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) found[static_cast<size_t>(i)] = gradient(3 + i % 2, i);
    });
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST((found == expected));
}

BOOST_AUTO_TEST_CASE(an_evaluation_counts_wrong_answers_over_the_whole_test_set) {
  // Parameters of zero give every class the same chance, and the first class is named.
  std::fill(theta.begin(), theta.end(), 0.0f);
  const Evaluation guess = task.evaluate(at(), 1);
  BOOST_TEST(std::abs(guess.loss - std::log(10.0)) < 1e-6);
  const auto zeros = std::count(data.test.labels.begin(), data.test.labels.end(), 0);
  BOOST_TEST(guess.error_percent ==
             100 * static_cast<double>(data.test.size() - zeros) / static_cast<double>(data.test.size()));
}

BOOST_AUTO_TEST_SUITE_END()
