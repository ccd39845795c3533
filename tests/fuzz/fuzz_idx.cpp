// Any bytes as an idx file, plain or gzipped: an array of the right size, or tg::Error.

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "datasets/idx.h"
#include "framework/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  for (const int rank : {1, 3}) {
    std::istringstream file(std::string(reinterpret_cast<const char*>(bytes), size));
    try {
      const tg::Idx idx = tg::read_idx(file, "fuzz", rank);
      int64_t elements = 1;
      for (const int64_t dim : idx.dims) elements *= dim;
      if (std::ssize(idx.dims) != rank || std::ssize(idx.values) != elements) std::abort();
    } catch (const tg::Error&) {
      // refused, as it should be
    }
  }
  return 0;
}
