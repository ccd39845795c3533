#pragma once
// Data sets laid out like MNIST: four idx files in a folder.

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/dataset.h"

namespace tg {

// Training pictures, training labels, test pictures, test labels.
inline constexpr std::array<const char*, 4> kMnistFiles{"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                                        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
using MnistPaths = std::array<std::filesystem::path, 4>;

// Those of kMnistFiles that lie in `folder`, the others empty. Each may also be spelt with a dot
// (train-images.idx3-ubyte), and each may have .gz after it; where there are several, the plain one is taken.
MnistPaths find_mnist(const std::filesystem::path& folder);

// Throws Error that names the file, unless all four can be read, labels match pictures, every label has a class and all
// pictures have one size.
Splits load_mnist(const MnistPaths& files, const std::string& name, const std::vector<std::string>& class_names);

}  // namespace tg
