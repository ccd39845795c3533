#pragma once
// Where a tensor lives and which backend computes on it.

#include <string>

namespace tg {

// `plain` and `cpu` share the host's memory and differ in the kernels: plain is the readable loop that checks the
// others.
struct Device {
  enum class Kind { plain, cpu, cuda };
  Kind kind = Kind::cpu;
  int index = 0;

  bool on_host() const { return kind != Kind::cuda; }
  bool operator==(const Device&) const = default;
};

inline constexpr Device kCpu{Device::Kind::cpu, 0};
inline constexpr Device kPlain{Device::Kind::plain, 0};

// "cpu", "plain", "cuda:0".
std::string name_of(Device device);

}  // namespace tg
