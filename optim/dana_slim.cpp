#include "optim/dana_slim.h"

#include "optim/options.h"

namespace tg {

SpecInfo DanaSlim::info() {
  const DanaSlimOptions defaults;
  return {"dana-slim",
          "DANA with the velocities at the workers: they send steps that look ahead, the server subtracts them",
          {momentum_option(defaults.momentum), weight_decay_option(defaults.weight_decay)}};
}

DanaSlimOptions DanaSlimOptions::from(const Spec& spec) {
  return {.momentum = tg::momentum(spec), .weight_decay = tg::weight_decay(spec)};
}

namespace {

struct DanaSlimUndo {
  LookAhead look;
  TG_HD void operator()(float& v, float& ahead, float before) const {
    v = before;
    ahead = look.distance(before);
  }
};

struct DanaSlimHandOver {
  TG_HD void operator()(float& message, float& v, float& ahead) const {
    message = -ahead;
    v = ahead = 0;
  }
};

}  // namespace

void DanaSlimWorker::explain(View received, const StepInfo& info, Oracle& oracle, Terms& terms) const {
  using Parts = DanaSlimStep::Parts;
  Vector<float> gradient(received.size, received.device);
  oracle.gradient(received, gradient.span());
  const auto say = [&](const char* name, auto part) {
    tell(terms, name, step(info), part, received, velocity_.view(), ahead_.view(), View(gradient.view()));
  };
  terms.term("g", gradient.view());
  say("weight_decay received", &Parts::decay);
  terms.term("v before", velocity_.view());
  say("v after = gamma v + g + weight_decay received", &Parts::v);
  say("eta v", &Parts::step);
  terms.term("look-ahead before = gamma eta_old v_old", ahead_.view());
  say("look-ahead after = gamma eta v", &Parts::ahead);
  say("u = eta v + gamma (eta v - eta_old v_old)", &Parts::u);
}

// The message was not subtracted from Theta: the next one is the difference to the message before it.
void DanaSlimWorker::not_taken() {
  eta_ = eta_before_;
  for_each(DanaSlimUndo{{eta_, options_.momentum}}, velocity_.span(), ahead_.span(), before_.view());
}

bool DanaSlimWorker::farewell(Span message) {
  if (eta_ == 0) return false;  // no step has been sent, or only steps of size 0
  for_each(DanaSlimHandOver{}, message, velocity_.span(), ahead_.span());
  eta_ = 0;
  return true;
}

void DanaSlimWorker::save(StateWriter& state) const {
  state.write("velocity", velocity_.view());
  state.write("before", before_.view());
  state.write("ahead", ahead_.view());
  state.write("rate", View(&eta_, 1));
  state.write("rate_before", View(&eta_before_, 1));
}

void DanaSlimWorker::load(const StateReader& state) {
  state.read("velocity", velocity_.span());
  state.read("before", before_.span());
  state.read("ahead", ahead_.span());
  state.read("rate", Span(&eta_, 1));
  state.read("rate_before", Span(&eta_before_, 1));
}

}  // namespace tg
