#include "framework/backend/backend.h"

#include "framework/backend/cpu/cpu.h"
#include "framework/backend/meta/meta.h"
#include "framework/backend/plain/plain.h"

namespace tg {

Backend& backend_for(const Tensor& tensor) {
  const Device device = tensor.device();
  if (!device.has_memory()) return meta_backend();
  require(device.on_host(), "backend: device {} is not available", name_of(device));
  return device == kCpu && tensor.dtype() == DType::f32 ? cpu_backend() : plain_backend();
}

}  // namespace tg
