#include "dist/launch/recorded_run.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "dist/launch/machine.h"
#include "dist/launch/run.h"
#include "framework/core/error.h"
#include "framework/io/file.h"

namespace tg {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostConfigBytes = 1 << 20;

nlohmann::json read_config(const fs::path& path) {
  std::error_code error;
  const bool there = fs::exists(fs::status(path, error));
  require(there, "{}: {}; a run's folder has this file", path.string(), error.message());
  std::ifstream file = open_to_read(path);
  const std::uintmax_t bytes = fs::file_size(path, error);
  require(!error, "{}: {}", path.string(), error.message());
  require(bytes <= kMostConfigBytes, "{}: {} bytes are no run's configuration", path.string(), bytes);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  require(!file.bad() && text.size() == bytes, "{}: cannot be read", path.string());
  const nlohmann::json config = nlohmann::json::parse(text, nullptr, false);
  require(config.is_object() && config.contains("options") && config["options"].is_object(),
          "{}: this is no run's configuration: it is damaged, or something else", path.string());
  return config["options"];
}

// The options in config.json, but those of `instead` as they stand there. One that the file leaves out had no value, or
// is newer than the program that wrote the file.
RunOptions options_from(const nlohmann::json& config, const fs::path& path, const OptionTexts& instead) {
  RunOptions options;
  for (const RunOption& option : run_option_list()) {
    if (const auto other = instead.find(option.name); other != instead.end()) {
      option.set(options, other->second);
      continue;
    }
    const auto found = config.find(option.name);
    if (found == config.end() || found->is_null()) continue;
    const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
    if (text.empty() || option.name == "recipe") continue;  // all that a recipe set is there
    try {
      option.set(options, text);
    } catch (const Error& error) {
      fail("{}: {}", path.string(), error.what());
    }
  }
  return options;
}

// The file's options may have been changed by hand.
Plan plan_from(RunOptions options, const fs::path& path) {
  try {
    return make_plan(std::move(options), Unfit::refuse);
  } catch (const Error& error) {
    fail("{}: {}", path.string(), error.what());
  }
}

}  // namespace

Plan read_plan(const fs::path& folder, const OptionTexts& instead) {
  const fs::path path = folder / "config.json";
  return plan_from(options_from(read_config(path), path, instead), path);
}

RecordedRun read_run(const fs::path& folder, const std::string& data_dir) {
  const fs::path path = folder / "config.json";
  // The cores that the run was confined to change no result, and may not be there any more.
  OptionTexts instead{{"cores", "any"}};
  if (!data_dir.empty()) instead["data_dir"] = data_dir;
  RunOptions options = options_from(read_config(path), path, instead);
  require(!options.hogwild, "{}: a hogwild run has no order of events that could be followed", folder.string());
  return {folder, plan_from(std::move(options), path), read_event_logs(folder)};
}

std::string changes_since(const fs::path& run) {
  std::ifstream file = open_to_read(run / "config.json");
  const nlohmann::json config = nlohmann::json::parse(file, nullptr, false), none = nlohmann::json::object();
  const auto found = config.find("machine");
  const nlohmann::json& then = found != config.end() && found->is_object() ? *found : none;
  const nlohmann::json now = to_json(this_machine());
  std::string text;
  for (const char* part : {"tardygrad", "compiler", "build", "onednn", "instruction_set", "processor"})
    if (then.value(part, nlohmann::json()) != now.value(part, nlohmann::json()))
      text += fmt::format("  {} was {}, is {}\n", part, then.value(part, nlohmann::json()).dump(),
                          now.value(part, nlohmann::json()).dump());
  return text.empty() ? text : "since the run was made:\n" + text;
}

void check_logs(const RecordedRun& run, const Layout& layout) {
  const uint64_t hash = job_hash(run.plan, layout);
  for (const EventLog& log : run.logs)
    require(log.header.job_hash == hash,
            "{}: {} was not written by the run that config.json describes, or by another version of tardygrad",
            run.folder.string(), event_log_name(log.header.shard, log.header.shards));
}

}  // namespace tg
