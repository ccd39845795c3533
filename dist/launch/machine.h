#pragma once
// What a run's numbers depend on besides its options.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tg {

struct Machine {
  std::string tardygrad, compiler, build;  // versions; "optimised, AVX2"
  std::string onednn_compiled_against, onednn_loaded, onednn_path;
  std::string instruction_set;  // the best that oneDNN uses here
  std::string processor;
  std::vector<int> cores;  // that this process may run on
  int openmp_threads = 1;
  std::string huge_pages;  // the kernel's setting: "always", "madvise", "never"
};

Machine this_machine();
nlohmann::ordered_json to_json(const Machine& machine);
// Throws Error that names `what` and `way_out` if this machine has less memory than so many bytes.
void require_memory(const std::string& what, double bytes, const char* way_out);
// "0-3, 6"
std::string ranges(const std::vector<int>& numbers);

}  // namespace tg
