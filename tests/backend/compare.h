#pragma once
// What the tests of the CPU's kernels share: made tensors, and comparisons with the plain loop.

#include <omp.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <functional>

#include "framework/backend/cpu/cpu.h"
#include "framework/backend/plain/plain.h"
#include "framework/core/random.h"

namespace tg::test {

inline Tensor random_tensor(const std::string& name, const Shape& shape) {
  const Stream stream = Stream(7).split(name);
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = stream.normal(i);
  return Tensor::from(values, shape);
}
// Few different numbers, so that many are equal.
inline Tensor tied_tensor(const std::string& name, const Shape& shape) {
  const Stream stream = Stream(7).split(name);
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::floor(stream.uniform(i) * 5) - 2;
  return Tensor::from(values, shape);
}

// Runs a kernel on both; outputs start as NaN, so that what a kernel forgets to write shows. Sums of `terms` numbers of
// magnitude 1 may differ by rounding.
inline void compare(const std::string& what, const std::vector<Shape>& outputs, int64_t terms,
                    const std::function<void(Backend&, std::vector<Tensor>&)>& kernel) {
  std::vector<Tensor> plain, cpu;
  for (const Shape& shape : outputs) {
    plain.push_back(Tensor::full(shape, NAN));
    cpu.push_back(Tensor::full(shape, NAN));
  }
  kernel(plain_backend(), plain);
  kernel(cpu_backend(), cpu);
  const double allowed = 4 * 0x1p-23 * std::sqrt(static_cast<double>(terms + 4)) * 4;
  for (size_t n = 0; n < outputs.size(); ++n) {
    const auto p = plain[n].values(), c = cpu[n].values();
    size_t wrong = 0;
    for (size_t i = 0; i < p.size(); ++i) wrong += !(std::abs(p[i] - c[i]) <= allowed * std::max(1.0, std::abs(p[i])));
    BOOST_TEST(wrong == 0u, what << ": output " << n << " " << outputs[n].str() << " differs in " << wrong << " of "
                                 << p.size() << " elements");
  }
}

inline void same(const std::string& what, const Tensor& a, const Tensor& b) {
  BOOST_TEST((a.values() == b.values()), what << ": different positions");
}

inline std::string numbers(std::initializer_list<int64_t> v) { return Shape(v).str(); }

// Runs a kernel of our own on the CPU with 1, 2 and 3 threads.
inline void same_bits_for_any_number_of_threads(const std::string& what, const std::vector<Shape>& outputs,
                                                const std::function<void(Backend&, std::vector<Tensor>&)>& kernel) {
  const int before = omp_get_max_threads();
  std::vector<Tensor> results[3];
  for (int threads = 1; threads <= 3; ++threads) {
    omp_set_num_threads(threads);
    auto& result = results[threads - 1];
    for (const Shape& shape : outputs) result.push_back(Tensor::full(shape, NAN));
    kernel(cpu_backend(), result);
    for (size_t n = 0; n < outputs.size(); ++n)
      BOOST_TEST(std::memcmp(result[n].raw(), results[0][n].raw(), 4 * static_cast<size_t>(result[n].count())) == 0,
                 what << ": output " << n << " with " << threads << " threads");
  }
  omp_set_num_threads(before);
}

}  // namespace tg::test
