// Error feedback: nothing is lost for ever, a refused message is forgotten, and the residual is in a snapshot.
#include <cmath>

#include "tests/optim/compress/message.h"
#include "tests/optim/compress/state.h"

namespace {

using namespace tg;
using namespace tg::test;

Layout layout() {
  Layout layout;
  layout.add("conv.weight", {8, 3, 3, 5});
  layout.add("conv.bias", {8});
  layout.add("fc.weight", {33, 10});
  return layout;
}

std::vector<float> gradient(uint64_t step) {
  const Layout l = layout();
  std::vector<float> g = gaussian(l.size(), 100 + step), gaps(g.size());
  for (const Layout::Entry& entry : l.entries())
    std::copy_n(g.begin() + entry.offset, entry.shape.count(), gaps.begin() + entry.offset);
  return gaps;
}

Stream stream(uint64_t step) { return Stream(3).split("step", step); }

std::vector<float> residual(const Codec& codec) {
  State state;
  codec.save(state);
  const Layout l = layout();
  std::vector<float> e(static_cast<size_t>(l.size()));
  for (const Layout::Entry& entry : l.entries()) {
    const std::vector<float>& part = state.vectors.at("residual/" + entry.name);
    std::copy(part.begin(), part.end(), e.begin() + entry.offset);
  }
  return e;
}

const std::vector<std::string> kSpecs = {
    "qsgd-4bit:min-elements=20,error-feedback=true",
    "qsgd-2bit:norm=l2,min-elements=0,error-feedback=true",
    "qsgd:levels=3,bucket=32,min-elements=0,encoding=elias-sparse,error-feedback=true",
    "terngrad:min-elements=20,error-feedback=true",
    "terngrad:min-elements=20,clip=2.5,error-feedback=true",
    "onebit:min-elements=20",
};

BOOST_AUTO_TEST_SUITE(feedback)

// sum of what was sent + e = sum of g. A float32 sum of three steps is off by 2^-24 of what is added, and the residual
// is not the largest of it: 40 steps of 1e-3.
BOOST_AUTO_TEST_CASE(what_was_sent_and_the_residual_are_the_gradients) {
  for (const std::string& spec : kSpecs) {
    BOOST_TEST_CONTEXT(spec) {
      const auto c = codec(spec, layout());
      const auto size = static_cast<size_t>(layout().size());
      std::vector<double> given(size), received(size);
      double most = 0;
      for (uint64_t step = 0; step < 40; ++step) {
        const std::vector<float> g = gradient(step), out = sent(*c, g, stream(step));
        for (size_t i = 0; i < size; ++i) {
          given[i] += g[i];
          received[i] += out[i];
          most = std::max(most, std::abs(received[i]) + std::abs(given[i]));
        }
      }
      const std::vector<float> e = residual(*c);
      double largest = 0;
      for (size_t i = 0; i < size; ++i) {
        BOOST_REQUIRE(std::abs(received[i] + e[i] - given[i]) < 80 * 0x1p-24 * most);
        largest = std::max(largest, std::abs(double{e[i]}));
      }
      BOOST_TEST(largest > 1e-4);  // something was lost, and kept
      // What travels as float32 leaves nothing.
      if (contains(spec, "min-elements=20")) {
        const Layout::Entry bias = layout().find("conv.bias");
        for (int64_t i = 0; i < 8; ++i) BOOST_TEST(e[static_cast<size_t>(bias.offset + i)] == 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_first_message_is_the_codecs_own) {
  const std::vector<float> g = gradient(0);
  const auto c = codec(kSpecs[0], layout());
  const Bytes bytes = encoded(*c, view_of(g), stream(0));
  const std::vector<float> out = decoded(*c, bytes, layout().size()), e = residual(*c);
  for (size_t i = 0; i < g.size(); ++i) BOOST_REQUIRE(e[i] == g[i] - out[i]);
}

BOOST_AUTO_TEST_CASE(a_refused_message_is_forgotten) {
  for (const std::string& spec : kSpecs) {
    BOOST_TEST_CONTEXT(spec) {
      const auto c = codec(spec, layout()), other = codec(spec, layout());
      for (uint64_t step = 0; step < 3; ++step)
        BOOST_TEST(same_bits(sent(*c, gradient(step), stream(step)), sent(*other, gradient(step), stream(step))));
      const std::vector<float> before = residual(*c);
      sent(*c, gradient(3), stream(3));
      BOOST_TEST(!same_bits(residual(*c), before));
      c->not_taken();
      BOOST_TEST(same_bits(residual(*c), before));
      BOOST_TEST((encoded(*c, view_of(gradient(4)), stream(4)) == encoded(*other, view_of(gradient(4)), stream(4))));
    }
  }
}

BOOST_AUTO_TEST_CASE(save_and_load) {
  for (const std::string& spec : kSpecs) {
    BOOST_TEST_CONTEXT(spec) {
      const auto c = codec(spec, layout());
      for (uint64_t step = 0; step < 3; ++step) sent(*c, gradient(step), stream(step));
      State state;
      c->save(state);
      BOOST_TEST(state.vectors.count("residual/fc.weight") == 1u);
      const auto loaded = codec(spec, layout()), refused = codec(spec, layout());
      loaded->load(state);
      refused->load(state);
      BOOST_TEST((encoded(*loaded, view_of(gradient(3)), stream(3)) == encoded(*c, view_of(gradient(3)), stream(3))));
      // The third message was on its way when the snapshot was taken.
      refused->not_taken();
      const auto two = codec(spec, layout());
      for (uint64_t step = 0; step < 2; ++step) sent(*two, gradient(step), stream(step));
      BOOST_TEST(same_bits(residual(*refused), residual(*two)));
    }
  }
}

BOOST_AUTO_TEST_CASE(shards_are_the_whole) {
  for (const std::string& spec : kSpecs) {
    BOOST_TEST_CONTEXT(spec) {
      const Layout l = layout();
      const auto whole = codec(spec, l), parts = codec(spec, l);
      for (uint64_t step = 0; step < 3; ++step) {
        const std::vector<float> g = gradient(step);
        Bytes joined;
        const int64_t cut = l.find("fc.weight").offset;
        for (const auto& [first, end] : {std::pair<int64_t, int64_t>{0, cut}, {cut, l.size()}}) {
          const Bytes part = encoded(*parts, view_of(g).part(first, end - first), stream(step), first);
          joined.insert(joined.end(), part.begin(), part.end());
        }
        BOOST_TEST((joined == encoded(*whole, view_of(g), stream(step))));
      }
      BOOST_CHECK_THROW(whole->encode(view_of(gradient(0)), 0, stream(0), {}), Error);
    }
  }
}

// With the paper's bound on the variance, Q / (1 + omega) loses on average at most omega / (1 + omega) of |v|^2: it is
// a contraction, and for the vectors at which the bound is reached no other factor loses less.
BOOST_AUTO_TEST_CASE(qsgd_is_scaled_to_a_contraction) {
  struct Case {
    const char* spec;
    std::vector<float> v;
  };
  std::vector<Case> cases = {{"qsgd:levels=1,norm=max", gaussian(64)},
                             {"qsgd:levels=1,norm=l2", gaussian(64)},
                             {"qsgd:levels=7,norm=l2", gaussian(64)},
                             {"qsgd:levels=7,norm=max", gaussian(500)}};
  const auto first_bound = cases.size();
  // max: one at s, the others at r = s (sqrt(s^2 + m) - s) / m; l2: all the same.
  for (const double s : {1.0, 3.0}) {
    std::vector<float> v(256, static_cast<float>((std::sqrt(s * s + 255) - s) / 255));
    v[100] = 1;
    cases.push_back({s == 1 ? "qsgd:levels=1,norm=max" : "qsgd:levels=3,norm=max", v});
    cases.push_back({s == 1 ? "qsgd:levels=1,norm=l2" : "qsgd:levels=3,norm=l2", std::vector<float>(256, 1.0f)});
  }
  cases.push_back({"qsgd:levels=7,norm=l2", std::vector<float>(196, -1.0f)});  // all at 1/2
  for (size_t k = 0; k < cases.size(); ++k) {
    const auto& [spec, v] = cases[k];
    BOOST_TEST_CONTEXT(spec << ", " << v.size() << " values") {
      const std::string all = std::string(spec) + ",min-elements=0";
      const Layout l = flat_layout(std::ssize(v));
      const double omega = qsgd_variance_bound(qsgd_options(all), std::ssize(v));
      double square = 0, lost = 0;
      for (const float x : v) square += double{x} * double{x};
      constexpr int kDraws = 2000;
      for (int i = 0; i < kDraws; ++i) {
        const auto c = codec(all + ",error-feedback=true", l);  // without a residual yet
        const std::vector<float> out = sent(*c, v, stream(static_cast<uint64_t>(i)));
        for (size_t j = 0; j < v.size(); ++j) lost += std::pow(double{out[j]} - double{v[j]}, 2) / kDraws;
      }
      const double share = lost / square, bound = omega / (1 + omega);
      BOOST_TEST(share < bound * 1.03, share << " of " << bound);
      if (k >= first_bound) BOOST_TEST(share > bound * 0.97, share << " of " << bound);
    }
  }
}

// Its residual stays bounded, where a QSGD that is not scaled amplifies what it failed to send.
BOOST_AUTO_TEST_CASE(the_residual_stays_bounded) {
  const auto c = codec("qsgd:levels=1,norm=l2,bucket=1000,min-elements=0,error-feedback=true", layout());
  const double omega = qsgd_variance_bound(qsgd_options("qsgd:levels=1,norm=l2"), 360);
  double largest = 0, given = 0;
  for (uint64_t step = 0; step < 400; ++step) {
    sent(*c, gradient(step), stream(step));
    double e = 0, g = 0;
    for (const float x : residual(*c)) e += double{x} * double{x};
    for (const float x : gradient(step)) g += double{x} * double{x};
    largest = std::max(largest, e);
    given = std::max(given, g);
  }
  // |e|^2 <= 4 (1 - delta) / delta^2 |g|^2 with delta = 1 / (1 + omega) (Karimireddy et al. 2019, Lemma 3).
  BOOST_TEST(largest < 4 * omega * (1 + omega) * given);
  BOOST_TEST(largest > given);
}

BOOST_AUTO_TEST_CASE(options) {
  BOOST_CHECK_THROW(codec("qsgd-4bit:error-feedback=yes", layout()), Error);
  BOOST_CHECK_THROW(codec("none:error-feedback=true", layout()), Error);
  const std::string text = codec("qsgd-4bit:min-elements=20,error-feedback=true", layout())->describe();
  BOOST_TEST(contains(text, "scaled to a contraction; float32: conv.bias; error feedback"), text);
  BOOST_TEST(!contains(codec("qsgd-4bit", layout())->describe(), "feedback"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
