#pragma once
// Which fields of records of the history, and of StepInfo, a snapshot stores, and by which names (records.h).

#include "dist/history/history.h"
#include "dist/snapshot/records.h"

namespace tg {

inline constexpr std::tuple kUpdateFields{Field("update", &UpdateRecord::update),
                                          Field("worker", &UpdateRecord::worker),
                                          Field("batch", &UpdateRecord::batch),
                                          Field("gradients", &UpdateRecord::gradients),
                                          Field("lag", &UpdateRecord::lag),
                                          Field("gap", &UpdateRecord::gap),
                                          Field("loss", &UpdateRecord::loss),
                                          Field("learning_rate", &UpdateRecord::learning_rate),
                                          Field("time", &UpdateRecord::time),
                                          Field("bytes_up", &UpdateRecord::bytes_up),
                                          Field("bytes_down", &UpdateRecord::bytes_down)};

inline constexpr std::tuple kEvaluationFields{Field("gradients", &EvaluationRecord::gradients),
                                              Field("epoch", &EvaluationRecord::epoch),
                                              Field("time", &EvaluationRecord::time),
                                              Field("train_loss", &EvaluationRecord::train_loss),
                                              Field("test_loss", &EvaluationRecord::test_loss),
                                              Field("test_error_percent", &EvaluationRecord::test_error_percent)};

// What a worker was told with its parameters. Without StepInfo::sent, which the worker's own state contains.
inline constexpr std::tuple kStepInfoFields{
    Field("learning_rate", &StepInfo::learning_rate), Field("peak_learning_rate", &StepInfo::peak_learning_rate),
    Field("accepted", &StepInfo::accepted), Field("workers", &StepInfo::workers), Field("lag", &StepInfo::lag)};

}  // namespace tg
