#include "framework/backend/cpu/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <oneapi/dnnl/dnnl.hpp>

namespace tg::onednn {
namespace {

std::string name_of(dnnl::cpu_isa isa) {
  switch (isa) {
    case dnnl::cpu_isa::sse41: return "SSE4.1";
    case dnnl::cpu_isa::avx: return "AVX";
    case dnnl::cpu_isa::avx2: return "AVX2";
    case dnnl::cpu_isa::avx2_vnni: return "AVX2 with VNNI";
    case dnnl::cpu_isa::avx512_core: return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni: return "AVX-512 with VNNI";
    case dnnl::cpu_isa::avx512_core_bf16: return "AVX-512 with bfloat16";
    case dnnl::cpu_isa::avx512_core_amx: return "AVX-512 with AMX";
    default: return fmt::format("number {} of oneDNN's list", static_cast<int>(isa));
  }
}

}  // namespace

Library library() {
  const dnnl_version_t* version = dnnl_version();
  Dl_info place = {};
  const bool found = ::dladdr(reinterpret_cast<const void*>(&dnnl_version), &place) != 0;
  return {fmt::format("{}.{}.{}", DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH),
          fmt::format("{}.{}.{}", version->major, version->minor, version->patch),
          found && place.dli_fname != nullptr ? place.dli_fname : "unknown", name_of(dnnl::get_effective_cpu_isa())};
}

}  // namespace tg::onednn
