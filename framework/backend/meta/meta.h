#pragma once
// Kernels that compute nothing: products and convolutions count their arithmetic (core/meta.h), and what cpu/ allocates
// beside the results is allocated here too.

#include "framework/backend/backend.h"

namespace tg {

Backend& meta_backend();

}  // namespace tg
