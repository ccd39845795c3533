#include "optim/options.h"

#include <fmt/format.h>

namespace tg {

OptionInfo number_option(const char* name, float default_value, const char* help) {
  return {name, fmt::format("{}", default_value), help};
}

OptionInfo momentum_option(float default_value) {
  return number_option("momentum", default_value, "share of the velocity that is kept at each step, 0 to 0.9999");
}

OptionInfo weight_decay_option(float default_value) {
  return number_option("weight-decay", default_value, "times the parameters, added to the gradient, 0 to 1");
}

OptionInfo period_option(int64_t default_value) {
  return {"period", fmt::format("{}", default_value),
          "minibatches that a worker does by itself to a message, 1 to 1000000"};
}

OptionInfo flag_option(const char* name, bool default_value, const char* help) {
  return {name, default_value ? "true" : "false", help};
}

OptionInfo nesterov_option(bool default_value) {
  return flag_option("nesterov", default_value,
                     "true: gradients are taken ahead, at theta - momentum * (rate * velocity)");
}

OptionInfo backup_option() {
  return {"backup", "0", "so many workers of a round are not waited for, 0 to 1000000; fewer than there are workers"};
}

float number(const Spec& spec, const char* option, double least, double most) {
  return static_cast<float>(spec.number(option, least, most));
}

float momentum(const Spec& spec) { return number(spec, "momentum", 0, 0.9999); }

int backup(const Spec& spec) { return static_cast<int>(spec.integer("backup", 0, 1'000'000)); }

Per per(const Spec& spec, const char* option) {
  return spec.choice(option, {"server", "worker"}) == "worker" ? Per::worker : Per::server;
}

float weight_decay(const Spec& spec) { return number(spec, "weight-decay", 0, 1); }

int64_t period(const Spec& spec) { return spec.integer("period", 1, 1'000'000); }

}  // namespace tg
