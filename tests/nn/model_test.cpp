// Models as a whole: names and places of parameters, initial values, errors that say where.

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/nn/linear.h"
#include "framework/nn/models/models.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/norm.h"
#include "framework/ops/reduce.h"

using namespace tg;

namespace {

const Shape kPicture{28, 28, 1};

std::string message_of(const auto& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(model)

BOOST_AUTO_TEST_CASE(parameters_are_named_by_their_path) {
  const Model lenet = make_lenet(kPicture, 10);
  std::vector<std::string> names;
  for (const auto& e : lenet.layout().entries()) names.push_back(e.name);
  const std::vector<std::string> expected{"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias",
                                          "fc1.weight",   "fc1.bias",   "fc2.weight",   "fc2.bias"};
  BOOST_TEST(names == expected, boost::test_tools::per_element());
  BOOST_TEST(lenet.layout().find("conv2.weight").shape == (Shape{64, 5, 5, 32}));
}

BOOST_AUTO_TEST_CASE(parameter_counts) {
  BOOST_TEST(make_mlp(kPicture, {256, 128}, 10).layout().count() == 784 * 256 + 256 + 256 * 128 + 128 + 1290);
  BOOST_TEST(make_lenet(kPicture, 10).layout().count() == 832 + 51264 + 131200 + 1290);
  BOOST_TEST(make_mlp(kPicture, {}, 10).layout().count() == 7850);
}

BOOST_AUTO_TEST_CASE(parameter_counts_of_resnets) {
  const Shape cifar{32, 32, 3};
  BOOST_TEST(make_cifar_resnet(cifar, 10, 20).layout().count() == 272'474);        // 0.27 M (He et al. 2016)
  BOOST_TEST(make_cifar_resnet(cifar, 10, 110).layout().count() / 10'000 == 173);  // 1.7 M
  BOOST_CHECK_THROW(make_cifar_resnet(cifar, 10, 21), Error);
}

// Running statistics: the mean over batches of the batches' means and unbiased variances, whatever was there before.
BOOST_AUTO_TEST_CASE(buffers_are_estimated_at_the_present_parameters) {
  Model m = make_cifar_resnet({8, 8, 1}, 10, 8);
  m.bind_new(1);
  const auto batch = [](int64_t i) {
    Tensor x = Tensor::empty({6, 8, 8, 1});
    const Stream stream = Stream(5).split("batch", static_cast<uint64_t>(i));
    for (int64_t j = 0; j < x.count(); ++j) x.data<float>()[j] = stream.normal(static_cast<uint64_t>(j));
    return x;
  };
  Tensor buffers = m.buffers();
  buffers.fill(std::nan(""));
  m.estimate_buffers(3, batch);
  const auto once = buffers.values();
  m(batch(7), {.training = true});  // a worker's pass changes nothing
  BOOST_TEST((buffers.values() == once));
  m.estimate_buffers(3, batch);
  BOOST_TEST((buffers.values() == once));
  BOOST_TEST(m.buffer_layout().find("norm.variance").shape == (Shape{16}));
  for (const double v : once) BOOST_TEST(std::isfinite(v));
}

BOOST_AUTO_TEST_CASE(initial_values_follow_the_seed_and_leave_gaps_zero) {
  Model a = make_lenet(kPicture, 10), b = make_lenet(kPicture, 10), c = make_lenet(kPicture, 10);
  a.bind_new(7), b.bind_new(7), c.bind_new(8);
  const auto va = a.parameters().flat.values(), vc = c.parameters().flat.values();
  BOOST_TEST(va == b.parameters().flat.values());
  BOOST_TEST(va != vc);
  const auto& w = a.layout().find("conv2.weight");
  double squares = 0;
  for (int64_t i = 0; i < w.shape.count(); ++i) squares += std::pow(va[static_cast<size_t>(w.offset + i)], 2);
  const double variance = squares / static_cast<double>(w.shape.count());
  BOOST_TEST(variance == 2.0 / (25 * 32), boost::test_tools::tolerance(0.05));  // He; 51,200 draws: sd 0.6 %
  // fc2.bias has 10 elements: the rest up to the 64-byte boundary is a gap.
  const auto& bias = a.layout().find("fc2.bias");
  for (int64_t i = bias.offset; i < a.layout().size(); ++i) BOOST_TEST(va[static_cast<size_t>(i)] == 0);
}

BOOST_AUTO_TEST_CASE(bind_shares_the_vector) {
  Model m = make_mlp(kPicture, {8}, 10);
  Tensor flat = Tensor::zeros({m.layout().size()});
  m.bind(flat);
  const Tensor x = Tensor::full({3, 28, 28, 1}, 1);
  BOOST_TEST(m(x, {}).values() == std::vector<double>(30, 0.0));
  flat.data<float>()[m.layout().find("fc2.bias").offset] = 5;
  BOOST_TEST(m(x, {}).values()[0] == 5);
  BOOST_CHECK_THROW(m.bind(Tensor::zeros({m.layout().size() + 1})), Error);
  BOOST_CHECK_THROW(m.bind(Tensor::zeros({m.layout().size()}, DType::i32)), Error);
}

BOOST_AUTO_TEST_CASE(a_model_computes_in_float64_with_such_parameters) {
  Model m = make_mlp(kPicture, {8}, 10);
  Tensor flat = Tensor::zeros({m.layout().size()}, DType::f64, kPlain);
  flat.data<double>()[m.layout().find("fc2.bias").offset] = 0.1;
  m.bind(flat);
  const Tensor y = m(Tensor::zeros({2, 28, 28, 1}, DType::f64, kPlain), {});
  BOOST_TEST(y.values()[0] == 0.1);  // a float32 would be rounded
}

BOOST_AUTO_TEST_CASE(errors_name_the_layer) {
  Model lenet = make_lenet(kPicture, 10);
  lenet.bind_new(1);
  const std::string channels = message_of([&] { lenet(Tensor::zeros({2, 28, 28, 3}), {}); });
  BOOST_TEST(contains(channels, "conv1: Conv2d takes [N, H, W, 1]"), channels);
  const std::string size = message_of([&] { lenet(Tensor::zeros({2, 32, 32, 1}), {}); });
  BOOST_TEST(contains(size, "fc1: Linear takes [n, 1024], got [2, 1600]"), size);
  const std::string unbound = message_of([&] { make_mlp(kPicture, {}, 10)(Tensor::zeros({2, 28, 28, 1}), {}); });
  BOOST_TEST(contains(unbound, "call bind()"), unbound);
}

BOOST_AUTO_TEST_CASE(models_by_name) {
  const auto make = [](const char* text) {
    return make_model(Spec::parse(text, model_infos(), "model"), kPicture, 10);
  };
  BOOST_TEST(make("mlp").layout().count() == make_mlp(kPicture, {256, 128}, 10).layout().count());
  BOOST_TEST(make("mlp:hidden=4096").layout().count() == 784 * 4096 + 4096 + 40960 + 10);
  BOOST_TEST(make("mlp:hidden=none").layout().count() == 7850);
  BOOST_TEST(make("lenet").layout().count() == make_lenet(kPicture, 10).layout().count());
  for (const char* bad :
       {"mlp:hidden=0", "mlp:hidden=12-", "mlp:hidden=-3", "mlp:hidden=1e3", "mlp:hidden=99999999999"})
    BOOST_CHECK_THROW(make(bad), Error);
  BOOST_TEST(contains(message_of([&] { make("lennet"); }), "lenet"));
  BOOST_CHECK_THROW(make_lenet({12, 28, 1}, 10), Error);
}

BOOST_AUTO_TEST_CASE(a_parameter_has_one_name) {
  struct Tied {
    Linear layer{{.in = 3, .out = 3}};
    Tensor operator()(const Tensor& x, const Context& context) const { return layer(layer(x, context), context); }
    void visit(Visitor& v) {
      v("first", layer);
      v("second", layer);
    }
  };
  const std::string message = message_of([] { Model m(Tied{}); });
  BOOST_TEST(contains(message, "second.weight"), message);
}

// A kernel that writes two gradients of one leaf is given two places.
BOOST_AUTO_TEST_CASE(one_leaf_as_scale_and_shift) {
  Parameters one, two;
  one.flat = Tensor::full({16}, 2), two.flat = Tensor::full({32}, 2);
  one.layout.add("both", {3}), two.layout.add("scale", {3}), two.layout.add("shift", {3});
  one.leaves = {leaf(one.flat.as_strided({3}, {1}, 0))};
  two.leaves = {leaf(two.flat.as_strided({3}, {1}, 0)), leaf(two.flat.as_strided({3}, {1}, 16))};
  const Tensor x = Tensor::from<float>({1, 2, 3, 5, 1, 0, 2, 2, 7, 1, 4, 4}, {4, 3}),
               w = Tensor::from<float>({1, -2, 3}, {3});
  const auto loss = [&](const Tensor& scale, const Tensor& shift) { return sum(batch_norm(x, scale, shift) * w * x); };
  const auto together = gradients(loss(one.leaves[0], one.leaves[0]), one).values();
  const auto apart = gradients(loss(two.leaves[0], two.leaves[1]), two).values();
  for (size_t i = 0; i < 3; ++i)
    BOOST_TEST(together[i] == apart[i] + apart[16 + i], boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(a_loss_of_other_leaves_is_an_error) {
  Model m = make_mlp(kPicture, {}, 10);
  m.bind_new(1);
  const Tensor loss = sum(m(Tensor::full({1, 28, 28, 1}, 1), {}));
  m.bind_new(1);  // new leaves, after the forward pass
  const std::string message = message_of([&] { gradients(loss, m.parameters()); });
  BOOST_TEST(contains(message, "bind()"), message);
}

BOOST_AUTO_TEST_SUITE_END()
