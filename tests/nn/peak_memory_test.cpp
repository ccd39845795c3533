// What a training step takes from the system, beside what its tensors ask for. A program of its own: the pool's peak is
// the process's.

#include <omp.h>

#include <boost/test/unit_test.hpp>

#include "framework/core/pool.h"
#include "framework/nn/models/models.h"
#include "framework/ops/loss.h"

using namespace tg;

BOOST_AUTO_TEST_CASE(the_pool_takes_little_more_than_the_tensors) {
  omp_set_num_threads(1);
  Model model = make_lenet({28, 28, 1}, 10);
  model.bind_new(1);
  Tensor gradient = Tensor::empty({model.layout().size()});
  const Tensor x = Tensor::full({128, 28, 28, 1}, 0.5), labels = Tensor::zeros({128}, DType::i32);
  for (int step = 0; step < 4; ++step)
    gradients(cross_entropy(model(x, {}), labels), model.parameters(), gradient.span());
  const PoolStats stats = pool::stats();
  BOOST_TEST_MESSAGE("tensors at their peak " << static_cast<double>(stats.live_peak) / 1e6
                                              << " MB, taken from the system " << static_cast<double>(stats.peak) / 1e6
                                              << " MB");
  BOOST_TEST(static_cast<double>(stats.peak) <= 1.2 * static_cast<double>(stats.live_peak));
}
