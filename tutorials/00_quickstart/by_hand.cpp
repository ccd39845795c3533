// One asynchronous run, put together by hand: what `tardygrad train` does with its options. by_hand [DATA SET]

#include <fmt/format.h>

#include <exception>

#include "datasets/registry.h"
#include "dist/launch/classification_task.h"
#include "dist/simulate/simulator.h"
#include "framework/nn/models/models.h"
#include "optim/registry.h"

using namespace tg;

// Is told what happens, while it happens.
class Printer : public Observer {
 public:
  void on_evaluation(const EvaluationRecord& e) override {
    fmt::print("epoch {:.2f}: train loss {:.4f}, test error {:.2f} %\n", e.epoch, e.train_loss, e.test_error_percent);
  }
};

int main(int argc, char** argv) {
  try {
    const Splits data = load_dataset(argc > 1 ? argv[1] : "fashion-mnist", "");

    // What is trained. An engine sees a vector of parameters and its gradient on a batch; it knows no layers.
    const auto model = [] { return make_model(Spec::parse("mlp", model_infos(), "model"), {28, 28, 1}, 10); };
    const ClassificationTask task(data, model, 128);

    // The paper's algorithm. It knows no threads, no clock and no network.
    const std::unique_ptr<Rule> rule = make_rule(Spec::parse("dana-zero:momentum=0.9", rule_infos(), "rule"));

    // How vectors travel: as they are.
    const auto codec = [](const Layout& layout) { return make_none_codec(layout); };

    const Job job{.task = &task,
                  .rule = rule.get(),
                  .codec_up = codec,
                  .codec_down = codec,
                  .schedule = Schedule({.peak = 0.01}),
                  .workers = 8,
                  .gradients = 2 * task.batches_per_epoch(),
                  .evaluate_every = task.batches_per_epoch(),
                  .seed = 1};
    Printer printer;
    const History history = simulate(job, {.clock = {.mean = 128}}, printer);

    const Summary summary = summarise(history);
    fmt::print("{} gradients; mean lag {:.2f}, largest {}; mean gap {:.6f}\n", history.updates.size(), summary.mean_lag,
               summary.max_lag, summary.mean_gap);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "by_hand: {}\n", error.what());
    return 1;
  }
}
