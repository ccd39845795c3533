#pragma once
// A minimal engine: runs a rule's Gate, Update and Workers in an order of arrivals that the test gives, without clock
// or threads.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "optim/rule.h"
#include "optim/schedule.h"

namespace tg::test {

// Writes the gradient of batch number `batch` at `at`.
using Gradient = std::function<void(View at, int64_t batch, Span out)>;

// One thing that happened.
struct Logged {
  enum class Kind { sent, taken, refused };
  Kind kind;
  WorkerId worker;
  int64_t batch;             // that the worker has been given, or used; the first, where it has several
  float learning_rate;       // as told with the parameters
  std::vector<float> sent;   // what the worker works from
  std::vector<float> theta;  // afterwards
};

class Driver {
 public:
  Driver(const Rule& rule, const Layout& layout, std::vector<float> initial, Gradient gradient,
         const Schedule& schedule);

  void join(WorkerId worker);
  void leave(WorkerId worker);
  // The same in good order: what the worker was doing is dropped, and its last message, if it has one, is taken in.
  void leave_in_good_order(WorkerId worker);
  // The message of a worker that was sent parameters arrives, and whoever the gate releases is sent new ones.
  void arrive(WorkerId worker);
  std::vector<WorkerId> working() const;  // who was sent parameters and has not arrived since

  View theta() const { return update_->theta(); }
  View sent(WorkerId worker) const;
  Update& update() { return *update_; }
  Worker& worker(WorkerId worker) { return *slot(worker).worker; }
  std::vector<WorkerId> workers() const;  // who has joined
  // As after a restart of the server, or of a worker.
  void replace_update(std::unique_ptr<Update> update) { update_ = std::move(update); }
  void replace_worker(WorkerId worker, std::unique_ptr<Worker> by) { slot(worker).worker = std::move(by); }
  int64_t accepted() const { return accepted_; }
  const std::vector<Logged>& log() const { return log_; }

  // Sees each message that is taken in, just before it is.
  std::function<void(WorkerId worker, View message, const StepInfo& info)> before_apply;

 private:
  struct Slot {
    std::unique_ptr<Worker> worker;
    std::vector<float> sent;
    int64_t batch = 0;
    int64_t clock = 0;
    int64_t version = 0;
    float learning_rate = 0;
    bool working = false;
  };
  Slot& slot(WorkerId worker);
  void send(const Release& release);
  StepInfo info(const Slot& slot) const;

  const Rule& rule_;
  Layout layout_;
  Gradient gradient_;
  Schedule schedule_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<Update> update_;
  std::map<WorkerId, Slot> slots_;
  std::vector<Logged> log_;
  int64_t accepted_ = 0, version_ = 0, next_batch_ = 0;
};

// Arrivals in a random order: at each, any of the working workers, until `gradients` are accepted.
void arrive_at_random(Driver& driver, int64_t gradients, uint64_t seed);
// Arrivals when worker i needs delays[i] units of time for each gradient; equal times in the order of the workers.
void arrive_after(Driver& driver, const std::vector<int64_t>& delays, int64_t gradients);
// Workers 0, 1, ... in turn, `rounds` times.
void arrive_in_turn(Driver& driver, int workers, int rounds);

// A rule by its spec.
std::unique_ptr<Rule> rule(const std::string& spec);

// Logistic regression with `features` weights on noisy batches of 8 samples.
class Logistic {
 public:
  explicit Logistic(int64_t features);
  const Layout& layout() const { return layout_; }
  std::vector<float> initial() const;
  Gradient gradient() const;

 private:
  Layout layout_;
};

// A constant rate, and one with warm-up and two drops within 200 gradients.
Schedule constant_rate(double rate);
Schedule changing_rate(double peak);

}  // namespace tg::test
