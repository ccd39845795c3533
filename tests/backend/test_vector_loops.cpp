// The CPU's own loops against plain's, and the same bits for any number of threads: normalisations, gather, dropout.
#include "tests/backend/compare.h"

namespace {

using namespace tg;
using namespace tg::test;

// Both comparisons. Of the shapes below some are large enough to be split among threads.
void check(const std::string& what, const std::vector<Shape>& outputs, int64_t terms,
           const std::function<void(Backend&, std::vector<Tensor>&)>& kernel) {
  compare(what, outputs, terms, kernel);
  same_bits_for_any_number_of_threads(what, outputs, kernel);
}

// Rows times channels, from one of each to 1030 rows of 96 or many short ones; 16 and its multiples are the vectors'
// lengths.
const Shape kShapes[] = {Shape{1, 2},     Shape{3, 7},        Shape{2, 16},         Shape{5, 33},   Shape{1030, 96},
                         Shape{7000, 17}, Shape{300, 2, 130}, Shape{2, 33, 31, 48}, Shape{256, 257}};

BOOST_AUTO_TEST_SUITE(vector_loops)

BOOST_AUTO_TEST_CASE(batch_norm_fixed) {
  for (const Shape& in : kShapes)
    for (const bool relu : {false, true}) {
      const Shape c{in[in.rank() - 1]};
      const Tensor x = random_tensor("x", in), gradient = random_tensor("g", in), scale = random_tensor("scale", c);
      const Tensor shift = random_tensor("shift", c), mean = random_tensor("mean", c);
      Tensor variance = random_tensor("variance", c);
      for (float& v : variance.span()) v = 0.25f + v * v;
      const BatchNormGeometry g{1e-3, relu};
      check("batch_norm_fixed " + in.str() + (relu ? " relu" : ""), {in, in, c, c}, in.count() / c[0],
            [&](Backend& on, std::vector<Tensor>& y) {
              on.batch_norm_fixed(x, scale, shift, mean, variance, g, y[0]);
              on.batch_norm_fixed_backward(gradient, x, relu ? y[0] : Tensor(), scale, mean, variance, g, y[1], y[2],
                                           y[3]);
            });
    }
}

BOOST_AUTO_TEST_CASE(layer_norm) {
  for (const Shape& in : kShapes) {
    const Shape c{in[in.rank() - 1]};
    const Tensor x = random_tensor("x", in), gradient = random_tensor("g", in);
    const Tensor scale = random_tensor("scale", c), shift = random_tensor("shift", c);
    check("layer_norm " + in.str(), {in, in, c, c}, in.count(), [&](Backend& on, std::vector<Tensor>& y) {
      on.layer_norm(x, scale, shift, 1e-3, y[0]);
      on.layer_norm_backward(gradient, x, scale, 1e-3, y[1], y[2], y[3]);
    });
  }
}

BOOST_AUTO_TEST_CASE(local_response_norm) {
  for (const Shape& in : kShapes)
    for (const ResponseNormGeometry& g :
         {ResponseNormGeometry{5, 1e-4, 0.75, 2}, ResponseNormGeometry{1, 0.5, 0.75, 1},
          ResponseNormGeometry{4, 0.5, 0.6, 0.5}, ResponseNormGeometry{51, 2, 0.75, 1}}) {
      const Tensor x = random_tensor("x", in), gradient = random_tensor("g", in);
      check(fmt::format("local_response_norm {}, size {}", in.str(), g.size), {in, in}, g.size,
            [&](Backend& on, std::vector<Tensor>& y) {
              on.local_response_norm(x, g, y[0]);
              on.local_response_norm_backward(gradient, x, g, y[1]);
            });
    }
}

// What stands beside plain elsewhere: the number of threads.
BOOST_AUTO_TEST_CASE(threads_of_pools_sums_and_relu) {
  const Shape in{9, 33, 30, 24};
  const Tensor x = tied_tensor("x", in);
  for (const PoolGeometry& g : {PoolGeometry{2, 2, 0}, PoolGeometry{3, 2, 1}}) {
    const Shape out{9, g.out(33), g.out(30), 24};
    const Tensor gradient = random_tensor("g", out);
    same_bits_for_any_number_of_threads("pools", {out, in, out, in}, [&](Backend& on, std::vector<Tensor>& y) {
      Tensor index = Tensor::empty(out, DType::u8);
      on.max_pool2d(x, g, true, y[0], index);
      on.max_pool2d_backward(gradient, index, g, y[1]);
      on.avg_pool2d(x, g, y[2]);
      on.avg_pool2d_backward(gradient, g, y[3]);
    });
  }
  same_bits_for_any_number_of_threads("sums and relu", {{24}, {9}, {9, 30 * 24}, in},
                                      [&](Backend& on, std::vector<Tensor>& y) {
                                        on.sum(x, 1, x.count() / 24, 24, y[0]);
                                        on.sum(x, 9, x.count() / 9, 1, y[1]);
                                        on.sum(x, 9, 33, 30 * 24, y[2]);
                                        on.relu_backward(x, tied_tensor("y", in), y[3]);
                                      });
}

BOOST_AUTO_TEST_CASE(gather) {
  struct Problem {
    int64_t outer, n, inner, taken;
  };
  for (const Problem& p :
       {Problem{1, 5, 1, 3}, Problem{1, 1000, 70, 300}, Problem{3, 9, 5, 40}, Problem{700, 11, 13, 7},
        Problem{1, 3, 40'000, 2}, Problem{2, 4, 3, 0}, Problem{0, 4, 3, 2}, Problem{2, 4, 0, 2}}) {
    std::vector<int32_t> places;
    for (int64_t i = 0; i < p.taken; ++i) places.push_back(static_cast<int32_t>((i * i + 1) % p.n));
    const Tensor index = Tensor::from(places, {p.taken});
    const Shape in{p.outer, p.n, p.inner}, out{p.outer, p.taken, p.inner};
    const Tensor x = random_tensor("x", in), gradient = random_tensor("g", out);
    check("gather " + in.str() + out.str(), {out, in}, p.taken, [&](Backend& on, std::vector<Tensor>& y) {
      on.gather(x, p.outer, p.n, p.inner, index, y[0]);
      on.gather_backward(gradient, p.outer, p.n, p.inner, index, y[1]);
    });
  }
}

BOOST_AUTO_TEST_CASE(dropout) {
  const Stream stream = Stream(9).split("mask");
  for (const int64_t n : {0, 1, 5, 1024, 1027, 70'001})
    for (const double rate : {0.1, 0.5, 0.9}) {
      const Tensor x = random_tensor("x", {n});
      const auto kernel = [&](Backend& on, std::vector<Tensor>& y) { on.dropout(x, rate, stream, y[0]); };
      check(fmt::format("dropout of {}", n), {{n}}, 1, kernel);
      std::vector<Tensor> plain{Tensor::empty({n})}, cpu{Tensor::empty({n})};
      kernel(plain_backend(), plain);
      kernel(cpu_backend(), cpu);
      BOOST_TEST((plain[0].values() == cpu[0].values()));
    }
  // A number drawn that is the rate itself is kept, whatever the rate is rounded to.
  const auto drawn = static_cast<double>(stream.uniform(5));
  for (const double rate : {drawn, std::nextafter(drawn, 0.0), std::nextafter(drawn, 1.0)})
    for (Backend* on : {&plain_backend(), &cpu_backend()}) {
      Tensor y = Tensor::empty({8});
      on->dropout(Tensor::full({8}, 1), rate, stream, y);
      BOOST_TEST((y.values()[5] != 0) == (drawn >= rate));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
