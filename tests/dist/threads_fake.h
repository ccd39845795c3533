#pragma once
// What tests of the threads engine share.

#include <map>
#include <string>

#include "dist/threads/threads.h"
#include "framework/core/spec.h"
#include "optim/registry.h"
#include "tests/dist/fake.h"

namespace tg::fake {

// QuadraticTask with four tensors, so that there can be shards.
class FourTensors : public QuadraticTask {
 public:
  FourTensors() : QuadraticTask(20) {
    layout_.add("c", {7, 3});
    layout_.add("d", {5});
  }
  const Layout& layout() const override { return layout_; }

 private:
  Layout layout_ = QuadraticTask::layout();
};

// The gradient is 1 everywhere, in three tensors.
class Ones : public ConstantTask {
 public:
  Ones() {
    for (const char* name : {"a", "b", "c"}) layout_.add(name, {20});
  }
  const Layout& layout() const override { return layout_; }
  double gradient(View, uint64_t, int64_t, const Stream&, Span out) const override {
    for (float& g : out) g = 1;
    return 1;
  }

 private:
  Layout layout_;
};

inline std::unique_ptr<Rule> rule(const std::string& spec) {
  return make_rule(Spec::parse(spec, rule_infos(), "rule"));
}
inline std::function<std::unique_ptr<Gate>()> gate(const std::string& spec) {
  return [spec] { return make_gate(Spec::parse(spec, gate_infos(), "gate")); };
}

inline History run_on_threads(const Job& job, const ThreadsOptions& options = {}) {
  Observer nobody;
  return run_threads(job, options, nobody);
}

}  // namespace tg::fake
