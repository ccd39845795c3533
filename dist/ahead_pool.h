#pragma once
// Threads that compute what an event loop will need, the earliest needed first.
//
// The loop's own thread takes the place of one of them where it would wait for work that nobody has begun and a thread
// is idle: a task that waits for the one before it, as with a single worker, is not handed over twice.

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
  // Each thread has `omp_threads` OpenMP threads. If that is one, and there is a core for each thread, thread i stays
  // on the i-th of usable_cores().
  AheadPool(int threads, int omp_threads);
  ~AheadPool();  // close()

  struct Work;  // a function and what became of it
  using Handle = std::shared_ptr<Work>;

  // Queues what is needed at the time `needed`. Of equal times, what was submitted first is begun first.
  Handle submit(double needed, std::function<void()> function);
  // Queues what goes before everything that submit() was given.
  Handle submit_urgent(std::function<void()> function);
  // Returns when `work`, which now goes before everything else, is done; throws what it threw.
  void wait(const Handle& work);
  bool done(const Handle& work) const;
  // At most `count` pieces of what submit() was given are begun before they are waited for. At the end of a run this
  // keeps what will not be needed from being computed.
  void limit_ahead(int64_t count);
  // Drops what was not begun and waits for the rest.
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
  std::map<std::pair<double, int64_t>, Handle> ahead_;  // by time and order of submission
  int64_t submitted_ = 0;
  int running_ = 0;
  int64_t begun_ahead_ = 0;
  int64_t limit_ahead_ = std::numeric_limits<int64_t>::max();
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tg
