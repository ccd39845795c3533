// Backward convolutions of gradients that are mostly zeros: against the plain loop, at one and two threads.
#include <omp.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/backend/cpu/cpu.h"
#include "framework/backend/cpu/sparse_conv.h"
#include "framework/backend/plain/plain.h"
#include "framework/core/random.h"

namespace {

using namespace tg;

// Of the values, `share` are not zero.
Tensor random_tensor(const std::string& name, const Shape& shape, double share) {
  const Stream stream = Stream(5).split(name);
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = stream.split("zero").uniform(i) < share ? stream.normal(i) : 0.0f;
  return Tensor::from(values, shape);
}

struct Problem {
  Shape x, weight;  // [N, H, W, C], [K, R, S, C]
  ConvGeometry geometry;

  Shape out() const { return {x[0], geometry.out(x[1], weight[1]), geometry.out(x[2], weight[2]), weight[0]}; }
};

const std::vector<Problem> kProblems = {
    {{5, 12, 12, 32}, {64, 5, 5, 32}, {}},                           // lenet's second
    {{12, 9, 11, 16}, {24, 3, 2, 16}, {.stride = 2, .padding = 1}},  // nothing divides
    {{9, 12, 12, 20}, {50, 5, 5, 20}, {}},                           // few weights, shared among threads all the same
    {{8, 7, 40, 11}, {33, 3, 3, 11}, {.stride = 3, .padding = 2}},   // padding beyond the picture's edge
    {{1, 5, 300, 8}, {130, 5, 5, 8}, {.stride = 1, .padding = 4}},   // a row of outputs fills a band
    {{2, 40, 40, 16}, {16, 3, 3, 16}, {.stride = 1, .padding = 1}},  // several bands a picture
};

struct Results {
  Tensor dx, dweight, dbias;
};

Results nothing_yet(const Problem& p) {
  return {Tensor::full(p.x, NAN), Tensor::full(p.weight, NAN), Tensor::full({p.weight[0]}, NAN)};
}

Results run(Backend& on, const Problem& p, const Tensor& gradient) {
  Results r = nothing_yet(p);
  on.conv2d_backward_data(gradient, random_tensor("weight", p.weight, 1), p.geometry, r.dx);
  on.conv2d_backward_weights(random_tensor("x", p.x, 1), gradient, p.geometry, r.dweight, r.dbias);
  return r;
}

// The sparse kernels, whether or not they pay.
Results run_sparse(const Problem& p, const Tensor& gradient) {
  Results r = nothing_yet(p);
  tg::sparse_conv::backward_data(gradient, random_tensor("weight", p.weight, 1), p.geometry, r.dx);
  tg::sparse_conv::backward_weights(random_tensor("x", p.x, 1), gradient, p.geometry, r.dweight, r.dbias);
  return r;
}

// Sums of `terms` numbers of magnitude 1 may differ by rounding.
void check_close(const std::string& what, const Tensor& a, const Tensor& b, int64_t terms) {
  const double allowed = 16 * 0x1p-23 * std::sqrt(static_cast<double>(terms + 4));
  const auto p = a.values(), c = b.values();
  size_t wrong = 0;
  for (size_t i = 0; i < p.size(); ++i) wrong += !(std::abs(p[i] - c[i]) <= allowed * std::max(1.0, std::abs(p[i])));
  BOOST_TEST(wrong == 0u, what << " differs in " << wrong << " of " << p.size() << " elements");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sparse_conv)

BOOST_AUTO_TEST_CASE(as_the_plain_loop) {
  for (const Problem& p : kProblems) {
    const Tensor gradient = random_tensor("gradient", p.out(), 0.2);
    BOOST_TEST_CONTEXT(p.x.str() << " * " << p.weight.str()) {
      const Results plain = run(plain_backend(), p, gradient), cpu = run_sparse(p, gradient);
      check_close("dx", plain.dx, cpu.dx, p.weight.count() / p.weight[3]);
      check_close("dweight", plain.dweight, cpu.dweight, p.out().count() / p.weight[0]);
      check_close("dbias", plain.dbias, cpu.dbias, p.out().count() / p.weight[0]);
    }
  }
}

BOOST_AUTO_TEST_CASE(same_bits_at_any_number_of_threads) {
  const int before = omp_get_max_threads();
  for (const Problem& p : kProblems) {
    const Tensor gradient = random_tensor("gradient", p.out(), 0.2);
    omp_set_num_threads(1);
    const Results one = run_sparse(p, gradient);
    omp_set_num_threads(3);
    const Results three = run_sparse(p, gradient);
    BOOST_TEST((one.dx.values() == three.dx.values()));
    BOOST_TEST((one.dweight.values() == three.dweight.values()));
    BOOST_TEST((one.dbias.values() == three.dbias.values()));
  }
  omp_set_num_threads(before);
}

BOOST_AUTO_TEST_CASE(only_zeros) {
  const Problem& p = kProblems[0];
  const Results r = run(cpu_backend(), p, Tensor::zeros(p.out()));
  for (const Tensor* t : {&r.dx, &r.dweight, &r.dbias})
    for (const double v : t->values()) BOOST_REQUIRE(v == 0);
}

BOOST_AUTO_TEST_CASE(a_nan_is_no_zero) {
  const Problem& p = kProblems[0];
  Tensor gradient = Tensor::zeros(p.out());
  gradient.data<float>()[0] = NAN;
  const Results r = run(cpu_backend(), p, gradient);
  for (const Tensor* t : {&r.dx, &r.dweight, &r.dbias}) BOOST_TEST(std::isnan(t->values()[0]));
}

BOOST_AUTO_TEST_CASE(the_backend_takes_them_where_they_pay) {
  const Problem& p = kProblems[0];
  const Tensor gradient = random_tensor("gradient", p.out(), 0.15);
  const Results cpu = run(cpu_backend(), p, gradient), sparse = run_sparse(p, gradient);
  BOOST_TEST((cpu.dx.values() == sparse.dx.values()));
  BOOST_TEST((cpu.dweight.values() == sparse.dweight.values()));
}

BOOST_AUTO_TEST_CASE(pays_where_most_are_zeros_and_the_kernel_is_large) {
  const auto pays = [](double share, const Shape& weight, const ConvGeometry& g = {}, int64_t rows = 16) {
    return tg::sparse_conv::pays(random_tensor("gradient", {4, rows, rows, weight[0]}, share), weight, g);
  };
  const Shape lenet{50, 5, 5, 20};
  BOOST_TEST(pays(0.25, lenet));
  BOOST_TEST(!pays(0.35, lenet));
  BOOST_TEST(!pays(0.1, lenet, {.groups = 2}));
  BOOST_TEST(!pays(0.1, lenet, {.dilation = 2}));
  BOOST_TEST(!pays(0.1, lenet, {}, 2));  // too few to judge
  BOOST_TEST(!pays(0.1, {50, 5, 5, 1}));
  BOOST_TEST(!pays(0.15, {16, 3, 3, 16}));  // ResNet-20's first stage: oneDNN does all in half the time
  BOOST_TEST(pays(0.15, {64, 3, 3, 64}));
  BOOST_TEST(!pays(0.05, {256, 1, 1, 64}));  // too little work a value for looking at each
  BOOST_TEST(pays(0.2, {256, 1, 1, 1024}));
}

BOOST_AUTO_TEST_SUITE_END()
