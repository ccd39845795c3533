// What the simulator itself costs: everything but gradients and updates, with many workers of a model like lenet.

#include <sys/resource.h>

#include <boost/test/unit_test.hpp>
#include <ctime>
#include <iostream>

#include "optim/asgd.h"
#include "tests/dist/fake.h"

using namespace tg;

namespace {

double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double process_cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// 163,000 parameters, and a gradient that keeps a processor busy for 20 ms.
class BusyTask : public fake::ConstantTask {
 public:
  BusyTask() : ConstantTask(163'000) {}
  double gradient(View at, uint64_t, int64_t, const Stream&, Span out) const override {
    const double start = thread_cpu_seconds();
    double spent = 0;
    while (spent < 0.02) {
      for (int64_t i = 0; i < out.size; ++i) out[i] = 0.5f * at[i] + 1e-3f;
      spent = thread_cpu_seconds() - start;
    }
    double sum = seconds.load();
    while (!seconds.compare_exchange_weak(sum, sum + spent)) {
    }
    return 1;
  }
  mutable std::atomic<double> seconds = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(simulator_cost)

BOOST_AUTO_TEST_CASE(own_cost_is_below_five_percent_with_64_workers) {
  const Asgd rule{AsgdOptions{}};
  const fake::ConstantTask same_size(163'000);
  fake::run(fake::job(same_size, rule, 64, 64));  // the first buffers of a process cost page faults
  for (const int pool_threads : {1, 2}) {
    const BusyTask task;
    const Job job = fake::job(task, rule, 64, 150);
    const double before = process_cpu_seconds();
    const History history = fake::run(job, {.pool_threads = pool_threads});
    const double total = process_cpu_seconds() - before;
    const double own = total - task.seconds - history.update_seconds;
    std::cout << fmt::format(
        "pool of {}: {:.2f} s, processor {:.2f} s: gradients {:.2f}, updates {:.3f}, own {:.3f} ({:.2f} %)\n",
        pool_threads, history.seconds, total, task.seconds.load(), history.update_seconds, own, 100 * own / total);
    BOOST_TEST(own < 0.05 * total);
  }
}

BOOST_AUTO_TEST_SUITE_END()
