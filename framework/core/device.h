#pragma once
// Where a tensor lives and which backend computes on it.

#include <string>

namespace tg {

// `plain` and `cpu` share the host's memory and differ in the kernels: plain is the readable loop that checks the
// others. Tensors on `meta` have a shape and a type and no numbers: a computation on them shows its shapes, and counts
// what it would have cost (meta.h).
struct Device {
  enum class Kind { plain, cpu, cuda, meta };
  Kind kind = Kind::cpu;
  int index = 0;

  bool on_host() const { return kind == Kind::plain || kind == Kind::cpu; }
  bool has_memory() const { return kind != Kind::meta; }
  bool operator==(const Device&) const = default;
};

inline constexpr Device kCpu{Device::Kind::cpu, 0};
inline constexpr Device kPlain{Device::Kind::plain, 0};
inline constexpr Device kMeta{Device::Kind::meta, 0};

// "cpu", "plain", "cuda:0", "meta".
std::string name_of(Device device);

[[noreturn]] void fail_without_numbers(const char* what);
// Throws Error naming `what` if tensors there have no numbers to read or write.
inline void require_numbers(const char* what, Device device) {
  if (!device.has_memory()) fail_without_numbers(what);
}

}  // namespace tg
