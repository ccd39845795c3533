#include <nlohmann/json.hpp>

#include "datasets/registry.h"
#include "dist/launch/commands.h"
#include "dist/launch/machine.h"
#include "dist/launch/table.h"
#include "framework/nn/models/models.h"
#include "optim/registry.h"

namespace tg {
namespace {

nlohmann::ordered_json to_json(const std::vector<SpecInfo>& infos) {
  nlohmann::ordered_json list = nlohmann::json::array();
  for (const SpecInfo& info : infos) {
    nlohmann::ordered_json options = nlohmann::json::array();
    for (const OptionInfo& option : info.options)
      options.push_back({{"name", option.name}, {"default", option.default_value}, {"help", option.help}});
    list.push_back({{"name", info.name}, {"summary", info.summary}, {"options", options}});
  }
  return list;
}

nlohmann::ordered_json to_json(const std::vector<DatasetStatus>& datasets) {
  nlohmann::ordered_json list = nlohmann::json::array();
  for (const DatasetStatus& dataset : datasets) {
    nlohmann::ordered_json searched = nlohmann::json::array();
    for (const SearchedPlace& place : dataset.searched)
      searched.push_back({{"folder", place.folder}, {"state", place.state}});
    list.push_back(
        {{"name", dataset.name}, {"summary", dataset.summary}, {"found", dataset.found}, {"searched", searched}});
  }
  return list;
}

std::string text_of(const Machine& machine) {
  const bool same = machine.onednn_loaded == machine.onednn_compiled_against;
  return fmt::format(
      "tardygrad         {}, {}, {}\n"
      "oneDNN            {} from {}{}\n"
      "instruction set   {} (of {})\n"
      "threads           {}; this process may use {} core{}: {}\n"
      "huge pages        {}\n",
      machine.tardygrad, machine.compiler, machine.build, machine.onednn_loaded, machine.onednn_path,
      same ? "" : fmt::format("; compiled against {}", machine.onednn_compiled_against), machine.instruction_set,
      machine.processor, machine.openmp_threads, machine.cores.size(), machine.cores.size() == 1 ? "" : "s",
      ranges(machine.cores), machine.huge_pages);
}

std::string text_of(const char* title, const std::vector<SpecInfo>& infos) {
  std::string text = fmt::format("\n{}\n", title);
  for (const SpecInfo& info : infos) {
    text += fmt::format("  {:<12}  {}\n", info.name, info.summary);
    for (const OptionInfo& option : info.options)
      text += fmt::format("    {}={}  {}\n", option.name, option.default_value, option.help);
  }
  return text;
}

std::string text_of(const std::vector<DatasetStatus>& datasets) {
  std::string text = "\ndata sets\n";
  for (const DatasetStatus& dataset : datasets) {
    text += fmt::format("  {:<14}  {}\n    {}\n", dataset.name, dataset.summary,
                        dataset.found.empty() ? "not found" : "found: " + dataset.found);
    for (const SearchedPlace& place : dataset.searched)
      text += fmt::format("    looked in {}: {}\n", place.folder, place.state);
  }
  return text;
}

}  // namespace

int info(const std::string& data_dir, bool json) {
  const Machine machine = this_machine();
  const std::vector<DatasetStatus> datasets = find_datasets(data_dir);
  if (json) {
    nlohmann::ordered_json all = to_json(machine);
    all["data"] = to_json(datasets);
    all["models"] = to_json(model_infos());
    all["rules"] = to_json(rule_infos());
    all["codecs"] = to_json(codec_infos());
    say(all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else {
    say(text_of(machine) + text_of(datasets) + text_of("models", model_infos()) + text_of("rules", rule_infos()) +
        text_of("codecs", codec_infos()));
  }
  return 0;
}

}  // namespace tg
