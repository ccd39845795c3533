#pragma once
// A synchronous round at the server: the mean of the messages that the gate has let in. What ssgd, and the rules that
// average as it does, are built on.
//
// The sum is kept in double, where up to 2^29 equal floats add up exactly: n equal messages have the mean that each of
// them is. The 1/n is applied here and nowhere else.

#include <set>

#include "optim/vector.h"

namespace tg {

struct AddTo {
  TG_HD void operator()(double& sum, float value) const { sum += static_cast<double>(value); }
};

// Writes the mean and empties the sum for the next round.
struct TakeMean {
  double n;
  TG_HD void operator()(float& mean, double& sum) const {
    mean = static_cast<float>(sum / n);
    sum = 0;
  }
};

// The workers whose messages are in the open round. A reply to one of them means that the gate has closed the round. (A
// worker that joins, or comes late from an earlier round, is replied to as well: it is sent theta as it is.) Until the
// round is closed theta stays the last round's: nobody sees half a round, and a run that ends within one leaves it out.
class RoundMembers {
 public:
  void take(WorkerId worker) {
    ++taken_;
    workers_.insert(worker);
  }
  bool closed_by_reply_to(WorkerId worker) const { return workers_.count(worker) != 0; }
  int64_t taken() const { return taken_; }  // messages
  void begin() { *this = {}; }              // the next round

  // What a worker sent before it left stays in the round, but when it comes again it is new to the round.
  void join(WorkerId worker) { workers_.erase(worker); }

  void save(StateWriter& state) const;
  // Throws Error for what no round can be.
  void load(const StateReader& state);

 private:
  int64_t taken_ = 0;
  std::set<WorkerId> workers_;
};

class Round {
 public:
  // For messages of n elements.
  Round(int64_t n, Device device) : sum_(n, device), mean_(n, device) {}

  void take(WorkerId worker, View message) {
    for_each(AddTo{}, sum_.span(), message);
    members_.take(worker);
  }
  bool closed_by_reply_to(WorkerId worker) const { return members_.closed_by_reply_to(worker); }
  int64_t taken() const { return members_.taken(); }
  // The mean, until the next call; what is taken after this is the next round's.
  View close() {
    for_each(TakeMean{static_cast<double>(taken())}, mean_.span(), sum_.span());
    members_.begin();
    return mean_.view();
  }
  // The mean that the round would have if it ended with `message`.
  Vector<float> mean_with(View message) const;

  void join(WorkerId worker) { members_.join(worker); }
  void save(StateWriter& state) const;
  void load(const StateReader& state);

 private:
  Vector<double> sum_;
  Vector<float> mean_;
  RoundMembers members_;
};

}  // namespace tg
