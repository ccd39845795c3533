// Any bytes as a safetensors file: arrays that lie within it, each of which can be read, or tg::Error.

#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "framework/core/error.h"
#include "framework/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::istringstream file(std::string(reinterpret_cast<const char*>(bytes), size));
  try {
    tg::SafetensorsReader reader(file, "fuzz");
    for (const tg::StoredArray& array : reader.arrays()) {
      if (array.offset < 8 || array.bytes < 0 || array.offset + array.bytes > static_cast<int64_t>(size)) std::abort();
      std::vector<std::byte> content(static_cast<size_t>(array.bytes));
      reader.read(array, content);
    }
    reader.require_checksum();
  } catch (const tg::Error&) {
    // refused, as it should be
  }
  return 0;
}
