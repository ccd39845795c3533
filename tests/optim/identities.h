#pragma once
// What must hold bit for bit between rules, on any engine that repeats a run exactly.

#include <functional>
#include <string>
#include <vector>

#include "optim/schedule.h"

namespace tg::test {

// Runs a rule (by its spec) with so many workers under a schedule and returns the final parameters. Two calls with
// equal workers have the same arrivals.
using Run = std::function<std::vector<float>(const std::string& rule, int workers, const Schedule& schedule)>;

// Each checks with BOOST_TEST, under each of the schedules.
void one_worker_is_sgd(const Run& run, const std::vector<Schedule>& schedules);
void lambda_zero_is_without_compensation(const Run& run, const std::vector<Schedule>& schedules);
void one_worker_ahead_is_nesterov(const Run& run, const std::vector<Schedule>& schedules);
void momentum_zero_is_without_velocity(const Run& run, const std::vector<Schedule>& schedules);
// `initial`: the parameters that runs start with.
void rate_zero_changes_nothing(const Run& run, const std::vector<float>& initial);
// Guards the others: rules that are not equal must come out different on this engine and task.
void rules_differ(const Run& run, const std::vector<Schedule>& schedules);

}  // namespace tg::test
