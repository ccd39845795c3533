#pragma once
// Which tensors travel as float32 whatever the codec: small ones, of which a code would save little and hurt much
// (biases, norms), and those that the user names.

#include <string>
#include <vector>

#include "framework/core/layout.h"
#include "framework/core/spec.h"

namespace tg {

struct KeepFloat32 {
  int64_t min_elements = 1024;  // smaller tensors are kept
  std::string names;            // patterns joined by '+', in which * stands for any letters; empty: none

  static std::vector<OptionInfo> options(int64_t min_elements);  // `min-elements`, `keep-fp32`
  static KeepFloat32 from(const Spec& spec);
};

// For each tensor of the layout: whether it is kept. Throws Error for a pattern that matches none.
std::vector<bool> kept_float32(const Layout& layout, const KeepFloat32& keep);

}  // namespace tg
