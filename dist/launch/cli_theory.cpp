// The command line of stability and probe, which hold a rule's theory against what it does.

#include "dist/launch/command_list.h"
#include "dist/launch/commands.h"
#include "dist/launch/parse.h"
#include "framework/core/error.h"

namespace tg {
namespace {

constexpr int kMostValues = 100;  // after one flag
constexpr int kMostWorkers = 256;
constexpr int64_t kMostUpdates = int64_t{1} << 40;

constexpr const char* kStabilityExamples =
    "Examples:\n"
    "  tardygrad stability --rule asgd nag-asgd multi-asgd dana-zero\n"
    "  tardygrad stability --rule multi-asgd dana-zero --workers 1 4 16 --train 0.5\n\n"
    "Each rule runs on quadratics whose gradients are late, N workers in turn. A picture for each rule shows the "
    "growth\n"
    "of its error over rates and N; a table, the largest rate at which it does not grow. With --train, mlp is trained\n"
    "at rates around these, which are then learning rate x sharpness.\n";

constexpr const char* kTaylorExamples =
    "Examples:\n"
    "  tardygrad probe taylor --rule dc-asgd-a --workers 8 --epochs 1\n"
    "  tardygrad probe taylor --rule dana-dc:lambda=2 --workers 16 --model lenet --epochs 0.5 --every 10\n\n"
    "At some updates of the run, three gradients of the same batch: the late one, the late one with the rule's delay\n"
    "compensation, and the true one at the parameters that it is applied to.\n";

constexpr const char* kHessianExamples =
    "Examples:\n"
    "  tardygrad probe hessian\n"
    "  tardygrad probe hessian --model mlp:hidden=8 --epochs 2 --batches 1 16 256\n\n"
    "Trains a small model as these options say, then compares the diagonal of the Hessian (differences of gradients "
    "in\n"
    "float64) with lambda g (.) g, which DC-ASGD uses in its place, g being the mean gradient of a batch.\n";

std::vector<int64_t> integers(const char* flag, const Words& words, std::vector<int64_t> usual, int64_t most) {
  if (words.empty()) return usual;
  std::vector<int64_t> values;
  for (const std::string& word : words) values.push_back(parse_integer(flag, word, 1, most));
  return values;
}

void add_list(CLI::App& command, const char* flag, Words& words, const char* help, const char* type) {
  command.add_option(flag, words, help)->type_name(type)->expected(1, kMostValues);
}

void add_stability(CLI::App& app, CommandList& commands) {
  struct Typed {
    Words rules, workers;
    std::string train, data_dir, out;
  };
  const auto typed = std::make_shared<Typed>();
  CLI::App* command = commands.add(
      app, "stability", "at which rates a rule converges with how many workers",
      [typed](const CLI::App&, const Words& line) {
        require(!typed->rules.empty(), "stability: of which rules? --rule RULE ...");
        StabilityOptions options{.rules = typed->rules, .workers = {}, .data_dir = typed->data_dir, .out = typed->out};
        for (const int64_t n : integers("--workers", typed->workers, {1, 2, 4, 8, 16, 32, 64}, kMostWorkers))
          options.workers.push_back(static_cast<int>(n));
        if (!typed->train.empty()) options.epochs = parse_positive("--train", typed->train, 1000);
        return stability(options, line);
      });
  add_list(*command, "--rule", typed->rules, "rules", "RULE ...");
  add_list(*command, "--workers", typed->workers, "numbers of workers (1 2 4 8 16 32 64)", "N ...");
  command->add_option("--train", typed->train, "also train mlp for so many epochs (none)")->type_name("EPOCHS");
  command->add_option("--data-dir", typed->data_dir, "as for train")->type_name("DIR");
  command->add_option("--out", typed->out, "the results' folder, new or empty (a new one below runs/)")
      ->type_name("DIR");
  command->footer(kStabilityExamples);
}

void add_probe(CLI::App& app, CommandList& commands) {
  CLI::App* probe = commands.add(
      app, "probe", "a rule's assumptions, measured",
      [](const CLI::App&, const Words&) -> int { fail("probe: what is to be looked at? There are: hessian, taylor"); });
  struct Typed {
    RunFlags flags;
    std::string every, samples, coordinates;
    Words batches;
  };
  const auto typed = std::make_shared<Typed>();
  CLI::App* taylor = commands.add(*probe, "taylor", "how near a delay compensation comes to the true gradient",
                                  [typed](const CLI::App&, const Words& line) {
                                    ProbeTaylorOptions options{
                                        .run = single_values(typed->flags), .every = {}, .out = typed->flags.out};
                                    if (!typed->every.empty())
                                      options.every = parse_integer("--every", typed->every, 1, kMostUpdates);
                                    return probe_taylor(options, line);
                                  });
  add_run_flags(*taylor, typed->flags, false);
  taylor->add_option("--every", typed->every, "updates between measurements (200 along the run)")->type_name("N");
  taylor->footer(kTaylorExamples);

  CLI::App* hessian = commands.add(
      *probe, "hessian", "the Hessian's diagonal beside lambda g (.) g", [typed](const CLI::App&, const Words& line) {
        RunOptions usual;
        usual.model = "mlp:hidden=16";
        usual.rule = "sgd";
        ProbeHessianOptions options{.run = single_values(typed->flags, usual),
                                    .batches = integers("--batches", typed->batches, {1, 8, 64, 512}, 1 << 16),
                                    .out = typed->flags.out};
        if (!typed->samples.empty()) options.samples = parse_integer("--samples", typed->samples, 1, 1 << 16);
        if (!typed->coordinates.empty())
          options.coordinates = parse_integer("--coordinates", typed->coordinates, 2, 1 << 16);
        return probe_hessian(options, line);
      });
  add_run_flags(*hessian, typed->flags, false);
  add_list(*hessian, "--batches", typed->batches, "sizes of batches whose gradients are squared (1 8 64 512)", "B ...");
  hessian->add_option("--samples", typed->samples, "of the training set, that the figures are of (1024)")
      ->type_name("N");
  hessian->add_option("--coordinates", typed->coordinates, "of the parameters, drawn (300)")->type_name("N");
  hessian->footer(kHessianExamples);
}

}  // namespace

void add_theory_commands(CLI::App& app, CommandList& commands) {
  add_stability(app, commands);
  add_probe(app, commands);
}

}  // namespace tg
