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
      // Three dimensions below 2^32, one of them perhaps 0: 64 bits do not hold every product on the way.
      unsigned __int128 elements = 1;
      for (const int64_t dim : idx.dims) elements *= static_cast<uint64_t>(dim);
      if (std::ssize(idx.dims) != rank || idx.values.size() != elements) std::abort();
    } catch (const tg::Error&) {
      // refused, as it should be
    }
  }
  return 0;
}
