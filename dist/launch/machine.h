#pragma once
// Machine: what the results of a run depend on besides its options: versions, processor, cores.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tg {

struct Machine {
  std::string tardygrad, compiler, build;  // versions; "optimised, AVX2"
  std::string onednn_compiled_against, onednn_loaded, onednn_path;
  std::string instruction_set;  // the best one that oneDNN uses on this processor
  std::string processor;
  std::vector<int> cores;  // that this process may run on
  int openmp_threads = 1;
  std::string huge_pages;  // the kernel's setting: "always", "madvise", "never"
};

Machine this_machine();
nlohmann::ordered_json to_json(const Machine& machine);
// Throws Error if this machine has less than `bytes` of memory. The message starts with `what` and ends with `way_out`.
void require_memory(const std::string& what, double bytes, const char* way_out);
// "0-3, 6"
std::string ranges(const std::vector<int>& numbers);

}  // namespace tg
