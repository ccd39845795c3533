#pragma once
// What the rules of this folder have in common: theta lies at the server, and workers send plain gradients.

#include "framework/core/spec.h"
#include "optim/vector.h"

namespace tg {

// An Update that keeps theta and sends it, unless the rule says otherwise.
class ThetaUpdate : public Update {
 public:
  View theta() const override { return theta_.view(); }
  void save(StateWriter& state) const override { state.write("theta", theta_.view()); }
  void load(const StateReader& state) override { state.read("theta", theta_.span()); }

 protected:
  explicit ThetaUpdate(View initial) : theta_(initial) {}
  int64_t size() const { return theta_.view().size; }
  Device device() const { return theta_.view().device; }

  Vector<float> theta_;
};

// A Rule that is its Update: U is made from the initial parameters and the options O, which O::from reads from a spec.
template <class U, class O>
class ServerRule : public Rule {
 public:
  using Options = O;
  explicit ServerRule(const O& options = {}) : options_(options) {}
  const O& options() const { return options_; }
  std::unique_ptr<Update> update(const Layout&, View initial) const override {
    return std::make_unique<U>(initial, options_);
  }

 protected:
  O options_;
};

}  // namespace tg
