#include "dist/ahead_pool.h"

#include <omp.h>

#include <exception>
#include <system_error>

#include "dist/cores.h"
#include "framework/core/error.h"

namespace tg {

struct AheadPool::Work {
  std::function<void()> function;
  std::pair<double, int64_t> key;
  bool begun_ahead = false;  // begun by a thread of the pool, and not waited for yet
  bool done = false;
  std::exception_ptr error;
};

AheadPool::AheadPool(int threads, int omp_threads) : most_running_(threads), omp_threads_(omp_threads) {
  const std::vector<int> cores = usable_cores();
  const bool tie = omp_threads == 1 && static_cast<size_t>(threads) == cores.size();
  try {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, core = tie ? cores[static_cast<size_t>(i)] : -1] {
        omp_set_num_threads(omp_threads_);
        if (core >= 0) stay_on({core});
        serve();
      });
    }
  } catch (const std::system_error& error) {
    const size_t started = threads_.size();
    close();
    fail("the system starts no more than {} of {} threads: {}", started, threads, error.what());
  }
}

AheadPool::~AheadPool() { close(); }

void AheadPool::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  queued_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

AheadPool::Handle AheadPool::submit(double needed, std::function<void()> function) {
  const auto work = std::make_shared<Work>();
  work->function = std::move(function);
  {
    const std::lock_guard lock(mutex_);
    work->key = {needed, submitted_++};
    ahead_.emplace(work->key, work);
  }
  queued_.notify_one();
  return work;
}

AheadPool::Handle AheadPool::submit_urgent(std::function<void()> function) {
  const auto work = std::make_shared<Work>();
  work->function = std::move(function);
  {
    const std::lock_guard lock(mutex_);
    urgent_.push_back(work);
  }
  queued_.notify_one();
  return work;
}

void AheadPool::wait(const Handle& work) {
  std::unique_lock lock(mutex_);
  require(work->done || !closed_, "pool: waited for what was dropped when the pool was closed");
  if (work->begun_ahead) {
    work->begun_ahead = false;
    --begun_ahead_;
    queued_.notify_all();
  } else if (take_back(work)) {
    if (running_ < most_running_) {
      const OmpThreads threads(omp_threads_);
      run(work, lock);
      if (has_next()) queued_.notify_one();
    } else {
      urgent_.push_front(work);
    }
  }
  finished_.wait(lock, [&] { return work->done; });
  if (work->error) std::rethrow_exception(work->error);
}

bool AheadPool::done(const Handle& work) const {
  const std::lock_guard lock(mutex_);
  return work->done;
}

void AheadPool::limit_ahead(int64_t count) {
  {
    const std::lock_guard lock(mutex_);
    limit_ahead_ = count;
  }
  queued_.notify_all();
}

bool AheadPool::has_next() const {
  if (running_ == most_running_) return false;
  return !urgent_.empty() || (!ahead_.empty() && begun_ahead_ < limit_ahead_);
}

AheadPool::Handle AheadPool::take_next() {
  Handle work;
  if (!urgent_.empty()) {
    work = std::move(urgent_.front());
    urgent_.pop_front();
  } else {
    work = std::move(ahead_.begin()->second);
    ahead_.erase(ahead_.begin());
    work->begun_ahead = true;
    ++begun_ahead_;
  }
  return work;
}

// Takes `work` out of its queue, so that no thread of the pool runs it. False if a thread has begun it already.
bool AheadPool::take_back(const Handle& work) {
  const auto place = ahead_.find(work->key);
  if (place != ahead_.end() && place->second == work) {
    ahead_.erase(place);
    return true;
  }
  return std::erase(urgent_, work) > 0;
}

void AheadPool::run(const Handle& work, std::unique_lock<std::mutex>& lock) {
  ++running_;
  lock.unlock();
  try {
    work->function();
  } catch (...) {
    work->error = std::current_exception();
  }
  lock.lock();
  --running_;
  work->done = true;
  finished_.notify_all();
}

void AheadPool::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    queued_.wait(lock, [&] { return closed_ || has_next(); });
    if (closed_) return;
    run(take_next(), lock);
  }
}

}  // namespace tg
