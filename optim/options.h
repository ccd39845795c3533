#pragma once
// Options that several rules share: how they are typed, explained and checked.

#include "framework/core/spec.h"
#include "optim/vector.h"

namespace tg {

OptionInfo number_option(const char* name, float default_value, const char* help);
OptionInfo momentum_option(float default_value);
OptionInfo weight_decay_option(float default_value);
OptionInfo period_option(int64_t default_value);
OptionInfo flag_option(const char* name, bool default_value, const char* help);
OptionInfo nesterov_option(bool default_value);
OptionInfo backup_option();  // of rules in rounds; 0 by default

// Each throws Error outside its range.
float number(const Spec& spec, const char* option, double least, double most);
float momentum(const Spec& spec);               // [0, 0.9999]
int backup(const Spec& spec);                   // [0, 1000000]
float weight_decay(const Spec& spec);           // [0, 1]
Per per(const Spec& spec, const char* option);  // server or worker
int64_t period(const Spec& spec);               // [1, 1000000]

}  // namespace tg
