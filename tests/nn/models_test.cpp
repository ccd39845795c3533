// The models of the papers: sizes against what was published, costs, and a training step of each.

#include "framework/nn/models/models.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <utility>

#include "framework/core/pool.h"
#include "framework/nn/cost.h"
#include "framework/ops/loss.h"

using namespace tg;

namespace {

Spec spec_of(const std::string& text) { return Spec::parse(text, model_infos(), "model"); }

// With its usual input and number of classes.
Model usual(const std::string& text) {
  const Spec spec = spec_of(text);
  return make_model(spec, usual_input(spec), usual_classes(spec));
}

ModelCost usual_cost(const std::string& text, int64_t batch) {
  return cost_of(usual(text), batch_of(batch, usual_input(spec_of(text))));
}

Tensor noise(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  const Stream stream(7);
  const Span values = x.span();
  for (int64_t i = 0; i < values.size; ++i) values[i] = stream.normal(static_cast<uint64_t>(i));
  return x;
}

std::string message_of(const auto& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(models)

BOOST_AUTO_TEST_CASE(parameter_counts) {
  const std::vector<std::pair<std::string, int64_t>> published{
      // He et al. 2016, table 6: 0.27 M and 1.7 M. With shortcuts by padding it is 269,722 and 1,727,962; the two 1x1
      // convolutions and their normalisations add 16 * 32 + 32 * 64 + 2 * 32 + 2 * 64 = 2,752.
      {"resnet20", 269'722 + 2'752},
      {"resnet110", 1'727'962 + 2'752},
      {"wrn16-4", 2'748'890},            // Zagoruyko and Komodakis 2016, table 4: 2.8 M; their code has this number
      {"alexnet", 60'965'224},           // Krizhevsky et al. 2012: "60 million parameters"; the Caffe model's number
      {"alexnet:groups=1", 62'378'344},  // Alistarh et al. 2017, table 1: 62 M
      {"vgg19", 143'667'240},            // Simonyan and Zisserman 2015, table 2: 144 M; torchvision's number
      {"resnet50", 25'557'032},          // torchvision's numbers; Alistarh et al. 2017: 25 M and 60 M
      {"resnet152", 60'192'808},
      // The Caffe model converted to PyTorch has 11,295,240, of which 10,016 are biases before normalisation.
      {"bn-inception", 11'295'240 - 10'016},
      {"mlp:hidden=4096", 784 * 4096 + 4096 + 4096 * 10 + 10},
  };
  for (const auto& [name, count] : published) BOOST_TEST(usual(name).layout().count() == count, name);
}

BOOST_AUTO_TEST_CASE(outputs_of_all_models) {
  for (const SpecInfo& info : model_infos()) {
    const Spec spec = spec_of(info.name);
    const ModelCost cost = cost_of(make_model(spec, usual_input(spec), 7), batch_of(3, usual_input(spec)));
    const Shape& out = cost.operations.back().output;
    BOOST_TEST(out[0] == 3, info.name);
    BOOST_TEST(out[out.rank() - 1] == 7, info.name);
    int64_t parameters = 0;
    double flops = 0;
    for (const OperationCost& operation : cost.operations) {
      parameters += operation.parameters;
      flops += operation.flops;
    }
    BOOST_TEST(parameters == cost.parameters, info.name);
    BOOST_TEST(flops == cost.forward_flops, info.name);
    BOOST_TEST(cost.step_flops > 2 * cost.forward_flops, info.name);
  }
}

BOOST_AUTO_TEST_CASE(alexnet_takes_227_as_well) {
  const Spec spec = spec_of("alexnet");
  BOOST_TEST(make_model(spec, {227, 227, 3}, 1000).layout().count() == usual("alexnet").layout().count());
  const ModelCost cost = usual_cost("alexnet", 1);
  BOOST_TEST(cost.operations.front().output == (Shape{1, 55, 55, 96}));  // the paper's
}

BOOST_AUTO_TEST_CASE(pictures_that_are_too_small) {
  const std::vector<std::pair<std::string, int64_t>> least{{"lenet", 16},     {"resnet20", 8},     {"wrn16-4", 8},
                                                           {"alexnet", 63},   {"vgg19", 32},       {"resnet50", 32},
                                                           {"resnet152", 32}, {"bn-inception", 32}};
  for (const auto& [name, side] : least) {
    cost_of(make_model(spec_of(name), {side, side, 3}, 10), {2, side, side, 3});
    for (const Shape& picture :
         {Shape{side - 1, side, 3}, Shape{side, side - 1, 3}, Shape{side, side, 0}, Shape{side}}) {
      const std::string message = message_of([&, n = name] { make_model(spec_of(n), picture, 10); });
      BOOST_TEST(message.starts_with(fmt::format("{}: takes pictures [H, W, C] of at least {} x {}", name, side, side)),
                 message);
    }
  }
}

// Multiply-adds of a forward pass of one picture, in millions, as published.
BOOST_AUTO_TEST_CASE(multiplications_as_published) {
  const std::vector<std::pair<std::string, double>> published{
      {"alexnet", 724},                                              // Sze et al. 2017, table II
      {"vgg19", 19'632},                                             // torchvision's list, with the next two
      {"resnet50", 4'089}, {"resnet152", 11'514}, {"resnet20", 41},  // as many as for shortcuts by padding, and 1 %
  };
  for (const auto& [name, millions] : published)
    BOOST_TEST(usual_cost(name, 1).forward_flops / 2e6 == millions, boost::test_tools::tolerance(0.01));
}

// A training step of batch 128 (lstm: 32), as tests/bench counts it for its list of primitives.
BOOST_AUTO_TEST_CASE(flops_of_a_step_as_the_bare_program_has_them) {
  BOOST_TEST(usual_cost("mlp", 128).step_flops / 1e9 == 0.129, boost::test_tools::tolerance(0.005));
  BOOST_TEST(usual_cost("lenet", 128).step_flops / 1e9 == 2.85, boost::test_tools::tolerance(0.005));
  BOOST_TEST(usual_cost("resnet20", 128).step_flops / 1e9 == 31.2, boost::test_tools::tolerance(0.005));
  BOOST_TEST(usual_cost("lstm", 32).step_flops / 1e9 == 0.76, boost::test_tools::tolerance(0.005));
}

BOOST_AUTO_TEST_CASE(cost_is_listed_by_layer) {
  const ModelCost cost = usual_cost("lenet", 128);
  std::vector<std::string> rows;
  for (const OperationCost& o : cost.operations)
    rows.push_back(fmt::format("{} {} {} {} {}", o.layer, o.operation, o.output.str(), o.parameters, o.flops / 256));
  const std::vector<std::string> expected{
      "conv1 conv2d [128, 24, 24, 32] 832 460800",
      " max_pool2d [128, 12, 12, 32] 0 0",
      "conv2 conv2d [128, 8, 8, 64] 51264 3276800",
      " max_pool2d [128, 4, 4, 64] 0 0",
      " reshape [128, 1024] 0 0",
      "fc1 linear [128, 128] 131200 131072",
      "fc2 linear [128, 10] 1290 1280",
  };
  BOOST_TEST(rows == expected, boost::test_tools::per_element());
}

// What a step of the real thing takes from the pool.
BOOST_AUTO_TEST_CASE(predicted_memory_is_what_a_step_takes) {
  for (const std::string name : {"lenet", "resnet20", "wrn16-4", "mlp", "lstm"}) {
    const Shape batch = batch_of(32, usual_input(spec_of(name)));
    int64_t real = 0;
    {
      Model model = usual(name);
      pool::reset_peak();
      const int64_t before = pool::stats().live;
      model.bind_new(1);
      Tensor gradient = Tensor::empty({model.layout().size()});
      const Tensor x = Tensor::zeros(batch), labels = Tensor::zeros({batch[0]}, DType::i32);
      gradients(cross_entropy(model(x, {}), labels), model.parameters(), gradient.span());
      real = pool::stats().live_peak - before;
    }
    const ModelCost cost = usual_cost(name, batch[0]);
    const double ratio = static_cast<double>(cost.peak_bytes) / static_cast<double>(real);
    BOOST_TEST_MESSAGE(name << ": predicted " << cost.peak_bytes << ", taken " << real << ", ratio " << ratio);
    BOOST_TEST(std::abs(ratio - 1) < 0.02, name << ": predicted " << cost.peak_bytes << ", taken " << real);
  }
}

// Nothing on the way hides that a parameter is no number any more.
BOOST_AUTO_TEST_CASE(a_nan_in_any_parameter_reaches_the_result) {
  for (const char* name : {"mlp:hidden=8", "lenet", "resnet8", "wrn16-4", "lstm"}) {
    const Spec spec = Spec::parse(name, model_infos(), "model");
    const bool sequences = spec.name() == "lstm";
    const Shape sample = sequences ? Shape{3, 4} : Shape{16, 16, 1};
    Model model = make_model(spec, sample, 10);
    model.bind_new(1);
    const Tensor x = Tensor::full(sequences ? Shape{2, 3, 4} : Shape{2, 16, 16, 1}, 1);
    Tensor flat = model.parameters().flat;
    for (const Layout::Entry& entry : model.layout().entries()) {
      float& first = flat.data<float>()[entry.offset];
      const float before = std::exchange(first, NAN);
      const NoGrad no_grad;
      const auto logits = model(x, {}).values();
      first = before;
      BOOST_TEST(std::any_of(logits.begin(), logits.end(), [](double v) { return std::isnan(v); }),
                 name << " " << entry.name);
    }
  }
}

// A training step at batch 1 gives every parameter a finite gradient; then an evaluation with estimated statistics.
BOOST_AUTO_TEST_CASE(one_step_of_each_large_model) {
  for (const std::string name : {"wrn16-4", "alexnet", "vgg19", "resnet50", "resnet152", "bn-inception"}) {
    Model model = usual(name);
    model.bind_new(1);
    const Tensor x = noise(batch_of(1, usual_input(spec_of(name))));
    const Tensor labels = Tensor::from<int32_t>({3}, {1});
    const Tensor loss = cross_entropy(model(x, {}), labels);
    BOOST_TEST(std::isfinite(loss.item()), name);
    const Tensor gradient = gradients(loss, model.parameters());
    const View g = std::as_const(gradient).view();
    for (const Layout::Entry& entry : model.layout().entries()) {
      double largest = 0;
      for (const float v : g.part(entry.offset, entry.shape.count()))
        largest = std::isfinite(v) ? std::max(largest, std::abs(static_cast<double>(v))) : INFINITY;
      BOOST_TEST((largest > 0 && std::isfinite(largest)), name << ", " << entry.name << ": " << largest);
    }
    model.estimate_buffers(1, [&](int64_t) { return x; });
    const NoGrad no_grad;
    for (const double logit : model(x, {.training = false}).values()) BOOST_TEST(std::isfinite(logit), name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
