// The command line of info and bench: what is there, and how fast it is.

#include "dist/launch/command_list.h"
#include "dist/launch/commands.h"
#include "dist/launch/parse.h"
#include "framework/core/error.h"

namespace tg {
namespace {

void add_info(CLI::App& app, CommandList& commands) {
  struct Typed {
    std::string data_dir;
    ModelInfoOptions of_model;
    bool json = false;
  };
  const auto words = std::make_shared<Typed>();
  CLI::App* info_command =
      commands.add(app, "info", "versions, machine, data sets, models, rules, codecs; or a model",
                   [words](const CLI::App& command, const Words&) {
                     for (const char* flag : {"--input", "--classes", "--batch"})
                       require(command.count(flag) == 0 || command.count("--model") != 0,
                               "info: {} is for a model; name it with --model", flag);
                     if (command.count("--model") == 0) return info(words->data_dir, words->json);
                     require(command.count("--data-dir") == 0, "info: --data-dir has no use for a model; leave it out");
                     return model_info(words->of_model, words->json);
                   });
  ModelInfoOptions& of_model = words->of_model;
  info_command->add_option("--data-dir", words->data_dir, "as for train")->type_name("DIR")->check(kNotEmpty);
  info_command->add_option("--model", of_model.model, "layers, FLOPs and memory of a model")
      ->type_name("MODEL")
      ->check(kNotEmpty);
  info_command->add_option("--input", of_model.input, "its samples (what it was made for)")
      ->type_name("HxWxC")
      ->check(kNotEmpty);
  info_command->add_option("--classes", of_model.classes, "its classes (likewise)")->type_name("N")->check(kNotEmpty);
  info_command->add_option("--batch", of_model.batch, "samples (1)")->type_name("N")->check(kNotEmpty);
  info_command->add_flag("--json", words->json, "as JSON");
}

// What the benchmarks have in common, as typed.
struct BenchWords {
  std::string threads, seconds;

  template <class Options>
  void to(Options& options) const {
    if constexpr (requires { options.threads; })
      if (!threads.empty()) options.threads = static_cast<int>(parse_integer("--threads", threads, 1, 1024));
    if (!seconds.empty()) options.seconds = parse_number("--seconds", seconds, 0, 3600);
  }
};

void add_bench_step(CLI::App& bench, CommandList& commands) {
  struct Typed : BenchWords {
    BenchStepOptions options;
    std::string batch;
  };
  const auto words = std::make_shared<Typed>();
  BenchStepOptions& options = words->options;
  CLI::App* command = commands.add(bench, "step", "median time of a training step on made data",
                                   [words, &options](const CLI::App&, const Words&) {
                                     if (!words->batch.empty())
                                       options.batch = parse_integer("--batch", words->batch, 1, 1 << 16);
                                     words->to(options);
                                     return bench_step(options);
                                   });
  command->add_option("--model", options.model, "name or name:option=value,... (lenet)")
      ->type_name("MODEL")
      ->check(kNotEmpty);
  command->add_option("--batch", words->batch, "samples (128 pictures or 32 sequences)")
      ->type_name("N")
      ->check(kNotEmpty);
  command->add_option("--threads", words->threads, "threads (1)")->type_name("N")->check(kNotEmpty);
  command->add_option("--seconds", words->seconds, "how long to measure (3)")->type_name("S")->check(kNotEmpty);
  command->add_option("--device", options.device, "cpu, or plain: the readable loops (cpu)")
      ->type_name("DEVICE")
      ->check(kNotEmpty);
  command->add_flag("--trim", options.trim, "give the pool's memory back to the system after each step");
  command->add_flag("--json", options.json, "one line of JSON");
}

void add_bench_server(CLI::App& bench, CommandList& commands) {
  struct Typed : BenchWords {
    BenchServerOptions options;
    std::string parameters;
  };
  const auto words = std::make_shared<Typed>();
  BenchServerOptions& options = words->options;
  CLI::App* command = commands.add(bench, "server", "what a server's work costs, beside its bare loads and stores",
                                   [words, &options](const CLI::App&, const Words&) {
                                     if (!words->parameters.empty())
                                       options.parameters =
                                           parse_integer("--parameters", words->parameters, 1, int64_t{1} << 32);
                                     words->to(options);
                                     return bench_server(options);
                                   });
  command->add_option("--rule", options.rule, "one rule (all)")->type_name("RULE")->check(kNotEmpty);
  command->add_option("--parameters", words->parameters, "how many (25000000)")->type_name("N")->check(kNotEmpty);
  command->add_option("--threads", words->threads, "threads (1)")->type_name("N")->check(kNotEmpty);
  command->add_option("--seconds", words->seconds, "how long to measure each rule (1)")
      ->type_name("S")
      ->check(kNotEmpty);
  command->add_flag("--json", options.json, "one line of JSON");
}

void add_bench_codec(CLI::App& bench, CommandList& commands) {
  struct Typed : BenchWords {
    BenchCodecOptions options;
    std::string parameters;
  };
  const auto words = std::make_shared<Typed>();
  BenchCodecOptions& options = words->options;
  CLI::App* command = commands.add(bench, "codec", "how fast codecs encode and decode, beside memcpy, with one thread",
                                   [words, &options](const CLI::App&, const Words&) {
                                     if (!words->parameters.empty())
                                       options.parameters =
                                           parse_integer("--parameters", words->parameters, 1, int64_t{1} << 32);
                                     words->to(options);
                                     return bench_codec(options);
                                   });
  command->add_option("--codec", options.codec, "name or name:option=value,... (all)")->type_name("CODEC");
  command->add_option("--parameters", words->parameters, "how many (25000000)")->type_name("N");
  command->add_option("--seconds", words->seconds, "how long to measure each codec (1)")->type_name("S");
  command->add_flag("--json", options.json, "one line of JSON");
}

}  // namespace

void add_machine_commands(CLI::App& app, CommandList& commands) {
  add_info(app, commands);
  CLI::App* bench =
      commands.add(app, "bench", "measurements of this machine", [](const CLI::App&, const Words&) -> int {
        fail("bench: what is to be measured? There are: codec, server, step");
      });
  add_bench_codec(*bench, commands);
  add_bench_server(*bench, commands);
  add_bench_step(*bench, commands);
}

}  // namespace tg
