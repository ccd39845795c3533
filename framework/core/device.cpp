#include "framework/core/device.h"

#include "framework/core/error.h"

namespace tg {

std::string name_of(Device device) {
  switch (device.kind) {
    case Device::Kind::plain: return "plain";
    case Device::Kind::cpu: return "cpu";
    case Device::Kind::meta: return "meta";
    case Device::Kind::cuda: break;
  }
  return "cuda:" + std::to_string(device.index);
}

void fail_without_numbers(const char* what) {
  fail("{}: tensors on meta have a shape and a type and no numbers; to compute, use cpu", what);
}

}  // namespace tg
