#pragma once
// From an operation's input back to the model: which parameter it is, and of which layer.

#include <string>

#include "framework/autograd/graph.h"

namespace tg {

// The layout's entry of the parameter that `input` is; nullptr if it is none of them, or undefined.
inline const Layout::Entry* entry_of(const Parameters& parameters, const Tensor& input) {
  if (!input.defined()) return nullptr;
  for (size_t i = 0; i < parameters.leaves.size(); ++i)
    if (input.node() == parameters.leaves[i].node()) return &parameters.layout.entries()[i];
  return nullptr;
}

// The layer's path: "conv1" of "conv1.weight".
inline std::string layer_of(const Layout::Entry& entry) { return entry.name.substr(0, entry.name.rfind('.')); }

}  // namespace tg
