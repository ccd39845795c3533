// Memory over a night: after the first steps neither the pool nor the heap grows.

#include <omp.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "framework/core/pool.h"
#include "framework/nn/models/models.h"
#include "framework/ops/loss.h"

using namespace tg;

namespace {

int64_t resident_bytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

BOOST_AUTO_TEST_CASE(resident_size_is_flat_over_ten_thousand_steps) {
  omp_set_num_threads(1);
  Model lenet = make_lenet({28, 28, 1}, 10), resnet = make_cifar_resnet({8, 8, 3}, 10, 8);
  for (Model* model : {&lenet, &resnet}) {
    model->bind_new(1);
    const Shape picture = model == &lenet ? Shape{28, 28, 1} : Shape{8, 8, 3};
    Tensor gradient = Tensor::zeros({model->layout().size()});
    int64_t resident = 0, system_calls = 0;
    for (int64_t step = 0; step < 10'000; ++step) {
      if (step == 200) {
        resident = resident_bytes();
        system_calls = pool::stats().system_calls;
      }
      // The last batch of an epoch is smaller.
      const Tensor x = Tensor::full({step % 10 == 9 ? 3 : 4, picture[0], picture[1], picture[2]}, 0.5);
      const Tensor labels = Tensor::zeros({x.dim(0)}, DType::i32);
      gradients(cross_entropy((*model)(x, {}), labels), model->parameters(), gradient.span());
    }
    BOOST_TEST(pool::stats().system_calls == system_calls);
    BOOST_TEST(resident_bytes() - resident < 1 << 20, "grew by " << resident_bytes() - resident << " bytes");
  }
}
