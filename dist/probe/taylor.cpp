#include "dist/probe/taylor.h"

#include "dist/worker_side.h"

namespace tg {

// Keeps what the rule tells of one message.
class TaylorProbe::Taken : public Terms {
 public:
  explicit Taken(View theta) : theta(copy_of(theta)) {}
  void term(const std::string& name, View values) override {
    if (name == "g") gradient = copy_of(values);
    if (name.starts_with("compensation")) compensation = copy_of(values);
  }
  Tensor theta, gradient, compensation;
};

TaylorSums& TaylorSums::operator+=(const TaylorSums& other) {
  gradient += other.gradient;
  stale += other.stale;
  compensated += other.compensated;
  compensation += other.compensation;
  fit += other.fit;
  return *this;
}

TaylorProbe::TaylorProbe(const Job& job, int64_t every)
    : job_(job), every_(every), steps_(static_cast<size_t>(job.workers)) {
  require(every >= 1, "a Taylor probe at every {}th update: at least every 1st", every);
}

TaylorProbe::~TaylorProbe() = default;

void TaylorProbe::on_event(int, const Event& event) {
  if (event.kind == Event::Kind::assign) ++steps_[static_cast<size_t>(event.worker)];
}

Terms* TaylorProbe::explain_to(int, WorkerId, int64_t, View theta) {
  if (updates_++ % every_ != 0) return nullptr;
  taken_ = std::make_unique<Taken>(theta);
  return taken_.get();
}

void TaylorProbe::on_update(const UpdateRecord& update) {
  if (!taken_) return;
  const std::unique_ptr<Taken> taken = std::move(taken_);
  require(taken->gradient.defined() && taken->compensation.defined(),
          "this rule has no delay compensation to look at; there are: dc-asgd-c, dc-asgd-a, dc-ssgd, dana-dc");
  Tensor truth = Tensor::zeros({job_.task->layout().size()});
  const int64_t step = (steps_[static_cast<size_t>(update.worker)] - 1) * job_.rule->batches();
  job_.task->gradient(taken->theta.view(), job_.seed, update.batch, worker_stream(job_, update.worker, step),
                      truth.span());
  TaylorPoint point{update.update, update.lag, {}};
  for (const Layout::Entry& entry : job_.task->layout().entries()) {
    TaylorSums sums;
    for (int64_t i = entry.offset; i < entry.offset + entry.shape.count(); ++i) {
      const double g = static_cast<double>(taken->gradient.view()[i]);
      const double c = static_cast<double>(taken->compensation.view()[i]);
      const double t = static_cast<double>(truth.view()[i]);
      sums += {t * t, (t - g) * (t - g), (t - g - c) * (t - g - c), c * c, c * (t - g)};
    }
    point.tensors.push_back(sums);
  }
  points_.push_back(std::move(point));
}

}  // namespace tg
