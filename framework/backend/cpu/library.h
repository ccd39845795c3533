#pragma once
// Which oneDNN this process runs on: `tardygrad info` and config.json say so, since another one has other bits.

#include <string>

namespace tg::onednn {

struct Library {
  std::string compiled_against;  // "2.6.3"
  std::string loaded;            // the version that the loader found
  std::string path;              // its file
  std::string instruction_set;   // the best that it uses on this processor: "AVX2"
};

Library library();

}  // namespace tg::onednn
