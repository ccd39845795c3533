#include "framework/core/device.h"

namespace tg {

std::string name_of(Device device) {
  switch (device.kind) {
    case Device::Kind::plain: return "plain";
    case Device::Kind::cpu: return "cpu";
    case Device::Kind::cuda: break;
  }
  return "cuda:" + std::to_string(device.index);
}

}  // namespace tg
