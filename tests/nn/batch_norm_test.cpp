// Batch normalisation's two modes beside each other, against numbers of PyTorch's BatchNorm1d (1.13.1, momentum 0.25,
// epsilon 1e-3), and the running statistics between them.

#include <boost/test/unit_test.hpp>

#include "framework/nn/model.h"
#include "framework/nn/norm.h"

using namespace tg;

namespace {

struct Fixture {
  Fixture() : model(BatchNorm({.channels = 2, .epsilon = 1e-3})) {
    Tensor flat = Tensor::zeros({model.layout().size()});
    model.bind(flat);
    const auto set = [&](const char* name, float first, float second) {
      float* at = flat.data<float>() + model.layout().find(name).offset;
      at[0] = first, at[1] = second;
    };
    set("scale", 2, -1);
    set("shift", 0.5, 0.25);
  }
  std::vector<double> buffer(const char* name) const {
    const auto& entry = model.buffer_layout().find(name);
    const auto all = model.buffers().values();
    const auto first = all.begin() + entry.offset;
    return {first, first + entry.shape.count()};
  }
  Model model;
  const Tensor a = Tensor::from<float>({1, 10, 2, -10, 4, 0, 9, 4}, {4, 2});
  const Tensor b = Tensor::from<float>({0, 1, 1, 3}, {2, 2});
};

void close(const std::vector<double>& got, const std::vector<double>& expected) {
  BOOST_TEST(got == expected, boost::test_tools::tolerance(2e-6) << boost::test_tools::per_element());
}

const std::vector<double> kTrained{
    -1.4465546060226453, -0.9862334130138448, -0.7977030706817636, 1.7609519492391437, 0.5,
    0.3873592681126494,  3.744257676704409,   -0.16207780433794827};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(batch_norm_modes, Fixture)

BOOST_AUTO_TEST_CASE(as_pytorch_has_them) {
  close(buffer("mean"), {0, 0});
  close(buffer("variance"), {1, 1});
  const Context training{.training = true, .buffer_rate = 0.25};
  close(model(a, training).values(), kTrained);
  model(b, training);
  // The variance that is kept is the unbiased one, the one that normalised is not.
  close(buffer("mean"), {0.875, 0.6875});
  close(buffer("variance"), {3.0625, 14.3125});
  close(model(a, {.training = false}).values(),
        {0.6428338249523344, -2.2114632982129483, 1.7855044245710099, 3.074900832177276, 4.070845623808361,
         0.43171876698216394, 9.784198621901737, -0.6255540590958809});
}

// The mode is an argument: a pass in one leaves nothing behind for the other.
BOOST_AUTO_TEST_CASE(modes_in_turn) {
  model(b, {.training = true, .buffer_rate = 0.5});
  const auto evaluated = model(a, {.training = false}).values();
  for (int i = 0; i < 3; ++i) {
    close(model(a, {.training = true}).values(), kTrained);
    BOOST_TEST((model(a, {.training = false}).values() == evaluated));
  }
}

BOOST_AUTO_TEST_CASE(one_value_a_channel_is_refused_in_training_alone) {
  const Tensor one = Tensor::from<float>({3, 5}, {1, 2});
  BOOST_CHECK_THROW(model(one, {.training = true}), Error);
  BOOST_CHECK_NO_THROW(model(one, {.training = false}));
}

BOOST_AUTO_TEST_SUITE_END()
