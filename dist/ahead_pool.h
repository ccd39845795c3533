#pragma once
// AheadPool: threads that compute results ahead of time for an event loop. The loop says when it is going to need each
// result, and what is needed first is begun first.
//
// If the loop waits for work that no thread has begun while a thread is idle, it runs the work on its own thread. With
// a single worker every task waits for the one before, and handing it to another thread and back would only cost time.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tg {

class AheadPool {
 public:
  // `threads` pieces of work run at the same time, each with `omp_threads` OpenMP threads. If omp_threads is 1 and
  // there are exactly as many cores as threads, thread i stays on the i-th of usable_cores(). Throws Error if the
  // system cannot start so many threads.
  AheadPool(int threads, int omp_threads);
  ~AheadPool();  // close()

  struct Work;  // a function, whether it has run, and what it threw
  using Handle = std::shared_ptr<Work>;

  // Queues `function`, whose result is needed at the (virtual) time `needed`. Of equal times, what was submitted first
  // is begun first.
  Handle submit(double needed, std::function<void()> function);
  // Queues `function` before everything that was given to submit().
  Handle submit_urgent(std::function<void()> function);
  // Moves `work` to the front of the queue and returns when it is done. Throws what the function threw, or Error if
  // close() has dropped it.
  void wait(const Handle& work);
  bool done(const Handle& work) const;
  // From now on, at most `count` pieces of work from submit() are begun that nobody has waited for yet. Near the end of
  // a run this keeps the pool from computing gradients that will never arrive.
  void limit_ahead(int64_t count);
  // Drops the work that was not begun, waits for the rest, and ends the threads. A second call does nothing.
  void close();

 private:
  void serve();
  bool has_next() const;
  Handle take_next();
  bool take_back(const Handle& work);
  void run(const Handle& work, std::unique_lock<std::mutex>& lock);

  const int most_running_, omp_threads_;
  mutable std::mutex mutex_;
  std::condition_variable queued_, finished_;
  std::deque<Handle> urgent_;
  std::map<std::pair<double, int64_t>, Handle> ahead_;  // from submit(), by `needed` and order of submission
  int64_t submitted_ = 0;
  int running_ = 0;          // pieces of work under way, at most most_running_
  int64_t begun_ahead_ = 0;  // pieces from submit() that were begun and not waited for yet
  int64_t limit_ahead_ = std::numeric_limits<int64_t>::max();
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tg
