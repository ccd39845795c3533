#pragma once
// A task, rules, a codec and an observer that are small enough to be checked by hand.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "dist/simulate/simulator.h"

namespace tg::fake {

// The elements of a flat vector that are parameters, without the gaps.
inline std::vector<int64_t> parameters(const Layout& layout) {
  std::vector<int64_t> all;
  for (const Layout::Entry& entry : layout.entries())
    for (int64_t i = 0; i < entry.shape.count(); ++i) all.push_back(entry.offset + i);
  return all;
}

// loss = mean over the parameters of h (x - target)^2 / 2, where target depends on the batch and has a little noise
// from the stream. A hook sees each gradient's arguments.
class QuadraticTask : public Task {
 public:
  explicit QuadraticTask(int64_t size = 50) {
    layout_.add("a", {3});  // followed by a gap
    if (size > 3) layout_.add("b", {size - 3});
  }
  const Layout& layout() const override { return layout_; }
  int64_t batches_per_epoch() const override { return 10; }
  int64_t batch_size() const override { return 4; }

  void initial(uint64_t seed, Span out) const override {
    const Stream stream = Stream(seed).split("init");
    for (const int64_t i : parameters(layout())) out[i] = stream.normal(static_cast<uint64_t>(i));
  }

  double gradient(View at, uint64_t seed, int64_t batch, const Stream& stream, Span out) const override {
    ++gradients;
    if (on_gradient) on_gradient(batch);
    const Stream target = Stream(seed).split("batch", static_cast<uint64_t>(batch));
    double loss = 0;
    for (const int64_t i : parameters(layout())) {
      const uint64_t u = static_cast<uint64_t>(i);
      const float h = 0.1f + target.uniform(u);
      const float d = at[i] - (1 + 0.1f * target.normal(u) + 0.01f * stream.normal(u));
      out[i] = h * d;
      loss += 0.5 * static_cast<double>(h * d * d);
    }
    return loss / static_cast<double>(layout().count());
  }

  Evaluation evaluate(View theta, uint64_t) const override {
    if (on_evaluate) on_evaluate();
    double loss = 0;
    for (const int64_t i : parameters(layout())) loss += std::pow(static_cast<double>(theta[i]) - 1, 2);
    return {loss / static_cast<double>(layout().count()), 100 * loss};
  }

  std::function<void(int64_t batch)> on_gradient;
  std::function<void()> on_evaluate;
  mutable std::atomic<int> gradients = 0;

 private:
  Layout layout_;
};

// The gradient is 1 in every coordinate, always; loss 1.
class ConstantTask : public Task {
 public:
  explicit ConstantTask(int64_t size = 3) : layout_(flat_layout(size)) {}
  const Layout& layout() const override { return layout_; }
  int64_t batches_per_epoch() const override { return 10; }
  int64_t batch_size() const override { return 1; }
  void initial(uint64_t, Span out) const override { std::fill(out.begin(), out.end(), 0.0f); }
  double gradient(View, uint64_t, int64_t, const Stream&, Span out) const override {
    for (const int64_t i : parameters(layout_)) out[i] = 1;
    return 1;
  }
  Evaluation evaluate(View theta, uint64_t) const override { return {static_cast<double>(theta[0]), 0}; }

 private:
  Layout layout_;
};

// theta -= eta * message, with hooks where a test wants to look.
class PlainRule : public Rule {
 public:
  class PlainUpdate : public Update {
   public:
    PlainUpdate(const PlainRule& rule, View initial) : rule_(rule), theta_(initial.begin(), initial.end()) {}
    void apply(WorkerId worker, View message, const StepInfo& info) override {
      if (rule_.on_apply) rule_.on_apply(worker, message, info);
      for (int64_t i = 0; i < message.size; ++i) theta_[static_cast<size_t>(i)] -= info.learning_rate * message[i];
    }
    void reply(WorkerId worker, Span out, const StepInfo& info) override {
      std::copy(theta_.begin(), theta_.end(), out.begin());
      if (rule_.on_reply) rule_.on_reply(worker, out, info);
    }
    View theta() const override { return {theta_.data(), static_cast<int64_t>(theta_.size())}; }
    void save(StateWriter&) const override {}
    void load(const StateReader&) override {}

   private:
    const PlainRule& rule_;
    std::vector<float> theta_;
  };
  class PlainWorker : public Worker {
   public:
    PlainWorker(const PlainRule& rule, WorkerId id) : rule_(rule), id_(id) {}
    void work(View reply, const StepInfo& info, Oracle& oracle, Span message) override {
      if (rule_.on_work) rule_.on_work(id_, reply, info);
      oracle.gradient(reply, message);
    }
    void not_taken() override {
      if (rule_.on_not_taken) rule_.on_not_taken(id_);
    }

   private:
    const PlainRule& rule_;
    WorkerId id_;
  };

  std::unique_ptr<Gate> gate() const override { return make_gate ? make_gate() : Rule::gate(); }
  std::unique_ptr<Update> update(const Layout&, View initial) const override {
    return std::make_unique<PlainUpdate>(*this, initial);
  }
  std::unique_ptr<Worker> worker(WorkerId id, const Layout&) const override {
    return std::make_unique<PlainWorker>(*this, id);
  }
  bool needs_sent() const override { return sent; }
  bool sequential() const override { return one_worker; }

  std::function<void(WorkerId, View message, const StepInfo&)> on_apply;
  std::function<void(WorkerId, View reply, const StepInfo&)> on_reply, on_work;  // on_work: on the pool's threads
  std::function<void(WorkerId)> on_not_taken;
  std::function<std::unique_ptr<Gate>()> make_gate;
  bool sent = false, one_worker = false;
};

// Keeps multiples of `step`, 2 bytes a parameter, and adds noise of at most one step from the stream.
class RoundingCodec : public Codec {
 public:
  RoundingCodec(float step, std::function<void()> on_not_taken) : step_(step), on_not_taken_(std::move(on_not_taken)) {}
  int64_t max_encoded_bytes(int64_t, int64_t count) const override { return 2 * count; }
  int64_t encode(View values, int64_t first, const Stream& stream, std::span<std::byte> out) override {
    for (int64_t i = 0; i < values.size; ++i) {
      const float draw = stream.uniform(static_cast<uint64_t>(first + i));
      const auto level = static_cast<uint16_t>(static_cast<int16_t>(std::floor(values[i] / step_ + draw)));
      out[static_cast<size_t>(2 * i)] = static_cast<std::byte>(level);
      out[static_cast<size_t>(2 * i + 1)] = static_cast<std::byte>(level >> 8);
    }
    return 2 * values.size;
  }
  void decode(std::span<const std::byte> bytes, int64_t, Span out) const override {
    for (int64_t i = 0; i < out.size; ++i) {
      const auto level = static_cast<uint16_t>(std::to_integer<int>(bytes[static_cast<size_t>(2 * i)]) |
                                               std::to_integer<int>(bytes[static_cast<size_t>(2 * i + 1)]) << 8);
      out[i] = step_ * static_cast<float>(static_cast<int16_t>(level));
    }
  }
  void not_taken() override {
    if (on_not_taken_) on_not_taken_();
  }

 private:
  float step_;
  std::function<void()> on_not_taken_;
};

inline auto rounding(float step, std::function<void()> on_not_taken = {}) {
  return [=](const Layout&) -> std::unique_ptr<Codec> { return std::make_unique<RoundingCodec>(step, on_not_taken); };
}

// Keeps all that it hears.
class Recorder : public Observer {
 public:
  void on_event(int shard, const Event& event) override {
    if (shard == 0) events.push_back(event);
    shards.resize(std::max(shards.size(), static_cast<size_t>(shard) + 1));
    shards[static_cast<size_t>(shard)].push_back(event);
  }
  void on_update(const UpdateRecord& update) override { updates.push_back(update); }
  void on_evaluation(const EvaluationRecord& evaluation) override { evaluations.push_back(evaluation); }
  void on_note(const std::string& note) override { notes.push_back(note); }
  bool stop() override { return static_cast<int64_t>(updates.size()) == stop_after; }

  std::vector<Event> events;               // of shard 0
  std::vector<std::vector<Event>> shards;  // of all
  std::vector<UpdateRecord> updates;
  std::vector<EvaluationRecord> evaluations;
  std::vector<std::string> notes;
  int64_t stop_after = -1;
};

inline Job job(const Task& task, const Rule& rule, int workers, int64_t gradients) {
  Job job;
  job.task = &task;
  job.rule = &rule;
  job.codec_up = job.codec_down = make_none_codec;
  job.schedule = Schedule({.peak = 0.1});
  job.workers = workers;
  job.gradients = gradients;
  return job;
}

inline History run(const Job& job, const SimulatorOptions& options = {.pool_threads = 2}) {
  Observer nobody;
  return simulate(job, options, nobody);
}

}  // namespace tg::fake
