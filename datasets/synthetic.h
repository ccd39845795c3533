#pragma once
// A data set made on the spot: for tests, and for trying commands where no data is installed.

#include "datasets/dataset.h"

namespace tg {

// 4096 training and 1024 test pictures of 28 x 28 x 1 in 10 classes of equal size. A class is a pattern of 7 x 7
// Gaussian squares, a picture is its class's pattern under uniform noise. The same seed gives the same bytes.
Splits synthetic_dataset(uint64_t seed);

}  // namespace tg
