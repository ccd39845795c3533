#include "framework/backend/cpu/cpu.h"

namespace tg {

Backend& cpu_backend() {
  static CpuBackend instance;
  return instance;
}

}  // namespace tg
