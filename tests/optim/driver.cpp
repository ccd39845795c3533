#include "tests/optim/driver.h"

#include <cmath>
#include <cstring>
#include <queue>

#include "framework/core/random.h"
#include "optim/registry.h"
#include "tests/optim/bits.h"

namespace tg::test {

namespace {

class Batches : public Oracle {
 public:
  Batches(const Gradient& gradient, int64_t first, int64_t count)
      : gradient_(gradient), batch_(first), end_(first + count) {}
  void gradient(View at, Span out) override { gradient_(at, batch_, out); }
  bool next_batch() override { return ++batch_ < end_; }

 private:
  const Gradient& gradient_;
  int64_t batch_, end_;
};

}  // namespace

Driver::Driver(const Rule& rule, const Layout& layout, std::vector<float> initial, Gradient gradient,
               const Schedule& schedule)
    : rule_(rule),
      layout_(layout),
      gradient_(std::move(gradient)),
      schedule_(schedule),
      gate_(rule.gate()),
      update_(rule.update(layout, view_of(initial))) {}

Driver::Slot& Driver::slot(WorkerId worker) {
  const auto found = slots_.find(worker);
  BOOST_REQUIRE_MESSAGE(found != slots_.end(), "worker " << worker << " is not in the test");
  return found->second;
}

View Driver::sent(WorkerId worker) const { return view_of(slots_.at(worker).sent); }

StepInfo Driver::info(const Slot& slot) const {
  return {.learning_rate = slot.learning_rate,
          .peak_learning_rate = schedule_.peak(),
          .accepted = accepted_,
          .workers = static_cast<int>(slots_.size()),
          .lag = version_ - slot.version,
          .sent = rule_.needs_sent() ? view_of(slot.sent) : View{}};
}

void Driver::join(WorkerId worker) {
  slots_[worker].worker = rule_.worker(worker, layout_);
  slots_[worker].sent.resize(static_cast<size_t>(layout_.size()));
  update_->join(worker);
  send(gate_->join(worker));
}

void Driver::leave(WorkerId worker) {
  slots_.erase(worker);
  update_->leave(worker);
  send(gate_->leave(worker));
}

void Driver::leave_in_good_order(WorkerId worker) {
  Slot& s = slot(worker);
  std::vector<float> message(s.sent.size());
  if (s.worker->farewell({message.data(), layout_.size()})) {
    update_->apply(worker, view_of(message), info(s));
    if (update_->theta_changed()) ++version_;
  }
  leave(worker);
}

void Driver::send(const Release& release) {
  for (const WorkerId worker : release) {
    Slot& s = slot(worker);
    s.learning_rate = schedule_.rate(accepted_);
    s.batch = next_batch_;
    next_batch_ += rule_.batches();
    s.version = version_;
    s.working = true;
    update_->reply(worker, {s.sent.data(), layout_.size()}, info(s));
    log_.push_back({Logged::Kind::sent, worker, s.batch, s.learning_rate, s.sent, values_of(theta())});
  }
}

void Driver::arrive(WorkerId worker) {
  Slot& s = slot(worker);
  BOOST_REQUIRE(s.working);
  s.working = false;
  std::vector<float> message(s.sent.size());
  Batches oracle(gradient_, s.batch, rule_.batches());
  s.worker->work(view_of(s.sent), info(s), oracle, {message.data(), layout_.size()});

  const Verdict verdict = gate_->arrive(worker, s.clock++);
  if (verdict.taken) {
    const std::vector<float> before = message;
    if (before_apply) before_apply(worker, view_of(message), info(s));
    update_->apply(worker, view_of(message), info(s));
    BOOST_REQUIRE(same_bits(before, message));  // a message's bytes are never changed
    accepted_ += rule_.batches();
    if (update_->theta_changed()) ++version_;
  } else {
    s.worker->not_taken();
  }
  log_.push_back({verdict.taken ? Logged::Kind::taken : Logged::Kind::refused, worker, s.batch, s.learning_rate, s.sent,
                  values_of(theta())});
  send(verdict.release);
}

std::vector<WorkerId> Driver::working() const {
  std::vector<WorkerId> ids;
  for (const auto& [id, slot] : slots_)
    if (slot.working) ids.push_back(id);
  return ids;
}

std::vector<WorkerId> Driver::workers() const {
  std::vector<WorkerId> ids;
  for (const auto& [id, slot] : slots_) ids.push_back(id);
  return ids;
}

void arrive_at_random(Driver& driver, int64_t gradients, uint64_t seed) {
  Generator draw(Stream(seed).split("arrivals"));
  while (driver.accepted() < gradients) {
    const std::vector<WorkerId> working = driver.working();
    BOOST_REQUIRE(!working.empty());
    driver.arrive(working[draw.below(working.size())]);
  }
}

void arrive_after(Driver& driver, const std::vector<int64_t>& delays, int64_t gradients) {
  using Arrival = std::pair<int64_t, WorkerId>;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals;
  for (size_t i = 0; i < delays.size(); ++i) arrivals.push({delays[i], static_cast<WorkerId>(i)});
  while (driver.accepted() < gradients) {
    const auto [time, worker] = arrivals.top();
    arrivals.pop();
    driver.arrive(worker);
    arrivals.push({time + delays[static_cast<size_t>(worker)], worker});
  }
}

void arrive_in_turn(Driver& driver, int workers, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (WorkerId worker = 0; worker < workers; ++worker) driver.arrive(worker);
}

std::unique_ptr<Rule> rule(const std::string& spec) { return make_rule(Spec::parse(spec, rule_infos(), "rule")); }

Logistic::Logistic(int64_t features) { layout_.add("weights", Shape{features}); }

std::vector<float> Logistic::initial() const {
  const Stream stream = Stream(3).split("init");
  std::vector<float> w(static_cast<size_t>(layout_.size()));
  for (int64_t i = 0; i < layout_.count(); ++i) w[static_cast<size_t>(i)] = stream.normal(static_cast<uint64_t>(i));
  return w;
}

Gradient Logistic::gradient() const {
  const int64_t n = layout_.count();
  return [n](View w, int64_t batch, Span out) {
    constexpr int kSamples = 8;
    std::fill(out.begin(), out.end(), 0.0f);
    for (int sample = 0; sample < kSamples; ++sample) {
      const Stream x = Stream(static_cast<uint64_t>(batch)).split("sample", static_cast<uint64_t>(sample));
      // The true weights are 1, -1, 1, ...; one label in ten is wrong.
      float score = 0, truth = 0;
      for (int64_t i = 0; i < n; ++i) {
        const float xi = x.normal(static_cast<uint64_t>(i));
        score += w[i] * xi;
        truth += i % 2 == 0 ? xi : -xi;
      }
      const float label = (truth > 0) != (x.split("label").uniform(0) < 0.1f) ? 1.0f : 0.0f;
      const float residual = (1 / (1 + std::exp(-score)) - label) / kSamples;
      for (int64_t i = 0; i < n; ++i) out[i] += residual * x.normal(static_cast<uint64_t>(i));
    }
  };
}

Schedule constant_rate(double rate) { return Schedule({.peak = rate}); }

Schedule changing_rate(double peak) {
  return Schedule({.peak = peak, .warmup = 40, .warmup_start = peak / 8, .drops = {100, 150}, .factor = 0.3});
}

}  // namespace tg::test
