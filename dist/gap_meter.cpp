#include "dist/gap_meter.h"

#include <algorithm>
#include <utility>

#include "framework/core/reduce.h"

namespace tg {
namespace {

struct SquaredGap {
  TG_HD double operator()(float now, float sent) const { return square(static_cast<double>(now) - sent); }
  TG_HD double operator()(float now, float sent, double all_ahead, float own_ahead) const {
    return square(static_cast<double>(now) + (all_ahead - own_ahead) - sent);
  }
  TG_HD static double square(double d) { return d * d; }
};

struct TakeAhead {
  TG_HD void operator()(double& sum, float& kept, float now) const {
    sum += static_cast<double>(now) - static_cast<double>(kept);
    kept = now;
  }
};

struct Forget {
  TG_HD void operator()(double& sum, float kept) const { sum -= static_cast<double>(kept); }
};

// The same formulas at some places of longer vectors.
struct SquaredGapAt {
  const float *now, *sent;
  template <class... Ahead>
  double operator()(int64_t place, Ahead... ahead) const {
    return SquaredGap{}(now[place], sent[place], ahead...);
  }
};
struct TakeAheadAt {
  const float* now;
  void operator()(double& sum, float& kept, int64_t place) const { TakeAhead{}(sum, kept, now[place]); }
};

// The places in `range` of the measured coordinates. All parameters are cut into kGapCoordinates equally long parts,
// and one parameter is drawn from each, so that each parameter is as likely as any other. A part's length is no whole
// number, so a parameter in which two parts meet may be drawn twice.
std::vector<int64_t> draw_places(const Job& job, const ShardRange& range) {
  const Layout& layout = job.task->layout();
  const Stream stream = Stream(job.seed).split("gap");
  const double part = static_cast<double>(layout.count()) / kGapCoordinates;
  std::vector<int64_t> places;
  auto entry = layout.entries().begin();
  int64_t before = 0;  // parameters before this entry
  for (int64_t i = 0; i < kGapCoordinates; ++i) {
    const double at = part * (static_cast<double>(i) + static_cast<double>(stream.uniform(static_cast<uint64_t>(i))));
    const int64_t number = std::min(static_cast<int64_t>(at), layout.count() - 1);
    for (; number - before >= entry->shape.count(); ++entry) before += entry->shape.count();
    const int64_t place = entry->offset + number - before - range.first;
    if (place >= 0 && place < range.layout.size()) places.push_back(place);
  }
  return places;
}

}  // namespace

int64_t gap_coordinates(const Job& job) {
  const int64_t parameters = job.task->layout().count();
  return job.exact_gap ? parameters : std::min(parameters, kGapCoordinates);
}

GapMeter::GapMeter(const Job& job, const ShardRange& range)
    : all_(gap_coordinates(job) == job.task->layout().count()),
      places_(all_ ? std::vector<int64_t>{} : draw_places(job, range)),
      coordinates_(all_ ? range.layout.size() : std::ssize(places_)),
      ahead_(coordinates_, kCpu) {}

BasicSpan<const int64_t> GapMeter::places() const { return {places_.data(), std::ssize(places_)}; }

double GapMeter::squares(WorkerId worker, View theta, View sent) {
  const SquaredGapAt at{theta.data, sent.data};
  if (!sum_) return all_ ? reduce_sum(SquaredGap{}, theta, sent) : reduce_sum(at, places());
  ahead_.join(worker);  // one whose first message this is has a look-ahead of 0
  const BasicSpan<const double> sum = sum_->view();
  const View own = std::as_const(ahead_).of(worker);
  return all_ ? reduce_sum(SquaredGap{}, theta, sent, sum, own) : reduce_sum(at, places(), sum, own);
}

void GapMeter::take(WorkerId worker, View ahead) {
  if (ahead.empty()) return;
  if (!sum_) sum_ = std::make_unique<Vector<double>>(coordinates_, kCpu);
  ahead_.join(worker);
  if (all_)
    for_each(TakeAhead{}, sum_->span(), ahead_.of(worker), ahead);
  else
    for_each(TakeAheadAt{ahead.data}, sum_->span(), ahead_.of(worker), places());
}

void GapMeter::leave(WorkerId worker) {
  if (!ahead_.has(worker)) return;
  for_each(Forget{}, sum_->span(), std::as_const(ahead_).of(worker));
  ahead_.leave(worker);
}

void GapMeter::save(StateWriter& state) const {
  state.write("measured", int64_t{sum_ != nullptr});
  if (!sum_) return;
  state.write("sum", sum_->view());
  ahead_.save(state, "ahead");
}

void GapMeter::load(const StateReader& state) {
  if (state.read("measured") == 0) return;
  sum_ = std::make_unique<Vector<double>>(coordinates_, kCpu);
  state.read("sum", sum_->span());
  ahead_.load(state, "ahead");
}

}  // namespace tg
