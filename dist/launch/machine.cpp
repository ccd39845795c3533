#include "dist/launch/machine.h"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "dist/cores.h"
#include "dist/launch/version.h"
#include "framework/backend/cpu/library.h"
#include "framework/core/error.h"

namespace tg {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

std::string build() {
#if defined(__OPTIMIZE__)
  std::string text = "optimised";
#else
  std::string text = "not optimised";
#endif
#if defined(__AVX512F__)
  return text + ", AVX-512";
#elif defined(__AVX2__)
  return text + ", AVX2";
#else
  return text;
#endif
}

// What follows the first "key : " in /proc/cpuinfo.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// The bracketed word of "always [madvise] never".
std::string huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  std::getline(file, line);
  const std::size_t open = line.find('['), close = line.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return "unknown";
  return line.substr(open + 1, close - open - 1);
}

}  // namespace

Machine this_machine() {
  const onednn::Library library = onednn::library();
  return {.tardygrad = TARDYGRAD_VERSION,
          .compiler = compiler(),
          .build = build(),
          .onednn_compiled_against = library.compiled_against,
          .onednn_loaded = library.loaded,
          .onednn_path = library.path,
          .instruction_set = library.instruction_set,
          .processor = processor(),
          .cores = usable_cores(),
          .openmp_threads = omp_get_max_threads(),
          .huge_pages = huge_pages()};
}

nlohmann::ordered_json to_json(const Machine& machine) {
  return {{"tardygrad", machine.tardygrad},
          {"compiler", machine.compiler},
          {"build", machine.build},
          {"onednn",
           {{"compiled_against", machine.onednn_compiled_against},
            {"loaded", machine.onednn_loaded},
            {"path", machine.onednn_path}}},
          {"instruction_set", machine.instruction_set},
          {"processor", machine.processor},
          {"cores", machine.cores},
          {"openmp_threads", machine.openmp_threads},
          {"huge_pages", machine.huge_pages}};
}

void require_memory(const std::string& what, double bytes, const char* way_out) {
  const double have = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  require(bytes <= have, "{}: it takes at least {:.1f} GB of memory, this machine has {:.1f}; {}", what, bytes / 1e9,
          have / 1e9, way_out);
}

std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    text += text.empty() ? "" : ", ";
    text += end == i ? std::to_string(numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace tg
