#pragma once
// What all calls of oneDNN share: engine, stream, memory over tensors, and the cache of primitives by shape.
// Only this folder knows oneDNN (2.6.3, its v2 interface), so that another version is a small port.

#include <array>
#include <bit>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "framework/core/tensor.h"

namespace tg::onednn {

using Tag = dnnl::memory::format_tag;
using Arguments = std::unordered_map<int, dnnl::memory>;

inline constexpr auto kFloat = dnnl::memory::data_type::f32;

dnnl::engine& engine();
// One stream a thread: workers compute at the same time.
dnnl::stream& stream();

// The OpenMP threads among which a call of oneDNN from here divides its work. It trusts that all of them come, and
// leaves out, without a word, what those who do not come were to do: throws Error where the environment keeps threads
// away.
int team();

// A memory object without data of its own; set_data_handle() points it to a tensor.
inline dnnl::memory unbound(const dnnl::memory::desc& desc) { return dnnl::memory(desc, engine(), nullptr); }

// oneDNN takes pointers to non-const for what it only reads.
inline void point(dnnl::memory& memory, const Tensor& tensor) {
  memory.set_data_handle(const_cast<void*>(tensor.raw()));
}

// Memory for a reordered copy that lives for one call: from the pool, so that it costs no page faults.
inline Tensor scratch(const dnnl::memory::desc& desc) {
  return Tensor::empty({static_cast<int64_t>(desc.get_size() + 3) / 4});
}

// The plan for `key`, made by `make` at its first use on this thread. Building a primitive takes milliseconds, looking
// one up less than a microsecond. The number of OpenMP threads is part of the key, as primitives are built for it.
template <class Plan, size_t N, class Make>
Plan& cached(std::array<int64_t, N> shape, const Make& make) {
  constexpr size_t kMostPlans = 256;
  thread_local std::map<std::array<int64_t, N + 1>, Plan> plans;
  std::array<int64_t, N + 1> key{team()};
  std::copy(shape.begin(), shape.end(), key.begin() + 1);
  const auto found = plans.find(key);
  if (found != plans.end()) return found->second;
  if (plans.size() >= kMostPlans) plans.clear();
  return plans.emplace(key, make()).first->second;
}

}  // namespace tg::onednn
