#pragma once
// Wraps a rule to check an engine: what apply() is told that a worker was sent must be what reply() wrote for it, bit
// for bit.

#include <map>

#include "optim/rule.h"
#include "tests/optim/bits.h"

namespace tg::test {

class SentCheckUpdate : public Update {
 public:
  explicit SentCheckUpdate(std::unique_ptr<Update> inner, int64_t* checked)
      : inner_(std::move(inner)), checked_(checked) {}

  void apply(WorkerId worker, View message, const StepInfo& info) override {
    BOOST_TEST_CONTEXT("worker " << worker << ", update " << *checked_) {
      BOOST_TEST(same_bits(info.sent, view_of(sent_.at(worker))));
    }
    ++*checked_;
    inner_->apply(worker, message, info);
  }
  void reply(WorkerId worker, Span out, const StepInfo& info) override {
    inner_->reply(worker, out, info);
    sent_[worker] = values_of(out);
  }
  View theta() const override { return inner_->theta(); }
  bool theta_changed() const override { return inner_->theta_changed(); }
  void join(WorkerId worker) override { inner_->join(worker); }
  void leave(WorkerId worker) override { inner_->leave(worker); }
  void save(StateWriter& state) const override { inner_->save(state); }
  void load(const StateReader& state) override { inner_->load(state); }

 private:
  std::unique_ptr<Update> inner_;
  std::map<WorkerId, std::vector<float>> sent_;
  int64_t* checked_;
};

// Asks for `sent` whether the rule does or not.
class SentCheck : public Rule {
 public:
  explicit SentCheck(const Rule& inner) : inner_(inner) {}
  std::unique_ptr<Gate> gate() const override { return inner_.gate(); }
  std::unique_ptr<Update> update(const Layout& layout, View initial) const override {
    return std::make_unique<SentCheckUpdate>(inner_.update(layout, initial), &checked_);
  }
  std::unique_ptr<Worker> worker(WorkerId id, const Layout& layout) const override { return inner_.worker(id, layout); }
  bool needs_sent() const override { return true; }
  bool sequential() const override { return inner_.sequential(); }
  bool shardable() const override { return inner_.shardable(); }
  bool needs_rounds() const override { return inner_.needs_rounds(); }
  int64_t checked() const { return checked_; }  // messages looked at

 private:
  const Rule& inner_;
  mutable int64_t checked_ = 0;
};

}  // namespace tg::test
