#include "optim/round.h"

#include <limits>

namespace tg {

Vector<float> Round::mean_with(View message) const {
  Vector<double> sum(sum_.view());
  Vector<float> mean(message.size, message.device);
  for_each(AddTo{}, sum.span(), message);
  for_each(TakeMean{static_cast<double>(taken() + 1)}, mean.span(), sum.span());
  return mean;
}

void Round::save(StateWriter& state) const {
  state.write("sum", sum_.view());
  members_.save(state);
}

void Round::load(const StateReader& state) {
  state.read("sum", sum_.span());
  members_.load(state);
}

void RoundMembers::save(StateWriter& state) const {
  state.write("taken", taken_);
  int64_t i = 0;
  for (const WorkerId worker : workers_) state.write(fmt::format("in_round/{}", i++), int64_t{worker});
  state.write("in_round/count", i);
}

void RoundMembers::load(const StateReader& state) {
  taken_ = state.read("taken");
  workers_.clear();
  const int64_t count = state.read("in_round/count");
  for (int64_t i = 0; i < count; ++i) {
    const int64_t worker = state.read(fmt::format("in_round/{}", i));
    require(worker >= 0 && worker <= std::numeric_limits<WorkerId>::max(), "round: the state names worker {}", worker);
    workers_.insert(static_cast<WorkerId>(worker));
  }
  require(taken_ >= static_cast<int64_t>(workers_.size()),
          "round: the state has {} messages of {} workers in its round; the snapshot is damaged", taken_,
          workers_.size());
}

}  // namespace tg
