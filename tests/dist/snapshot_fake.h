#pragma once
// What tests of snapshots share.

#include <optional>

#include "dist/snapshot/snapshot.h"
#include "dist/snapshot/snapshot_file.h"
#include "tests/dist/threads_fake.h"
#include "tests/temporary_folder.h"

namespace tg::fake {

// Keeps the last snapshot in a file, and how much had been heard when it was taken.
class Keeper : public Recorder {
 public:
  explicit Keeper(std::filesystem::path path) : path_(std::move(path)) {}
  void on_snapshot(Snapshot& snapshot, int64_t gradients) override {
    snapshot.write(path_);
    heard_.clear();
    for (const auto& of : shards) heard_.push_back(of.size());
    at.push_back(gradients);
    ++taken;
    int64_t heard = 0;
    for (const UpdateRecord& update : updates) heard += update.gradients;
    BOOST_TEST(heard == gradients);
    updates_heard_ = updates.size();
    evaluations_heard_ = evaluations.size();
  }
  // Forgets what was heard after the snapshot, as a run's files are cut.
  void cut() {
    for (size_t s = 0; s < shards.size(); ++s) shards[s].resize(heard_.at(s));
    if (!shards.empty()) events = shards.front();
    updates.resize(updates_heard_);
    evaluations.resize(evaluations_heard_);
    stop_after = -1;
  }
  std::vector<int64_t> at;     // updates taken in at each snapshot
  std::atomic<int> taken = 0;  // snapshots, for other threads

 private:
  std::filesystem::path path_;
  std::vector<size_t> heard_;
  size_t updates_heard_ = 0, evaluations_heard_ = 0;
};

// A vector that a rule or codec keeps, and saves.
inline void save(StateWriter& state, const std::vector<float>& kept) {
  state.write("kept", View(kept.data(), std::ssize(kept)));
}
inline void load(const StateReader& state, std::vector<float>& kept) {
  state.read("kept", Span(kept.data(), std::ssize(kept)));
}

// Adds half of its last message to each.
class RememberingWorker : public Worker {
 public:
  explicit RememberingWorker(int64_t size) : kept_(static_cast<size_t>(size)) {}
  void work(View reply, const StepInfo&, Oracle& oracle, Span message) override {
    oracle.gradient(reply, message);
    before_ = kept_;
    for (int64_t i = 0; i < message.size; ++i) {
      message[i] += 0.5f * kept_[static_cast<size_t>(i)];
      kept_[static_cast<size_t>(i)] = message[i];
    }
  }
  void not_taken() override { kept_ = before_; }
  void save(StateWriter& state) const override {
    fake::save(state, kept_);
    state.write("before", View(before_.data(), std::ssize(before_)));
    state.write("worked", std::ssize(before_));
  }
  void load(const StateReader& state) override {
    fake::load(state, kept_);
    before_.resize(state.read("worked") == 0 ? 0 : kept_.size());
    state.read("before", Span(before_.data(), std::ssize(before_)));
  }

 private:
  std::vector<float> kept_, before_;
};

// Any rule, with such workers.
class RememberingRule : public Rule {
 public:
  explicit RememberingRule(std::unique_ptr<Rule> rule) : rule_(std::move(rule)) {}
  std::unique_ptr<Gate> gate() const override { return rule_->gate(); }
  std::unique_ptr<Update> update(const Layout& layout, View initial) const override {
    return rule_->update(layout, initial);
  }
  std::unique_ptr<Worker> worker(WorkerId, const Layout& layout) const override {
    return std::make_unique<RememberingWorker>(layout.size());
  }
  bool needs_sent() const override { return rule_->needs_sent(); }
  bool needs_rounds() const override { return rule_->needs_rounds(); }

 private:
  std::unique_ptr<Rule> rule_;
};

// Rounds, and adds what was lost to the next message.
class FeedbackCodec : public RoundingCodec {
 public:
  explicit FeedbackCodec(int64_t size) : RoundingCodec(0.01f, {}), kept_(static_cast<size_t>(size)) {}
  int64_t encode(View values, int64_t first, const Stream& stream, std::span<std::byte> out) override {
    std::vector<float> sum(values.begin(), values.end()), decoded(sum.size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += kept_[i];
    const int64_t bytes = RoundingCodec::encode({sum.data(), values.size}, first, stream, out);
    decode(out.first(static_cast<size_t>(bytes)), first, {decoded.data(), values.size});
    for (size_t i = 0; i < sum.size(); ++i) kept_[i] = sum[i] - decoded[i];
    return bytes;
  }
  void save(StateWriter& state) const override { fake::save(state, kept_); }
  void load(const StateReader& state) override { fake::load(state, kept_); }

 private:
  std::vector<float> kept_;
};

inline std::unique_ptr<Codec> make_feedback_codec(const Layout& layout) {
  return std::make_unique<FeedbackCodec>(layout.size());
}

}  // namespace tg::fake
