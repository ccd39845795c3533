#pragma once
// Equality bit for bit, with a message that shows where two vectors part.

#include <bit>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "framework/core/span.h"

namespace tg::test {

inline std::vector<float> values_of(View v) { return {v.begin(), v.end()}; }
inline View view_of(const std::vector<float>& v) { return {v.data(), static_cast<int64_t>(v.size())}; }

// BOOST_TEST(same_bits(a, b)). Also false for two empty vectors, which compare nothing.
inline boost::test_tools::predicate_result same_bits(View a, View b) {
  boost::test_tools::predicate_result result(a.size == b.size && a.size > 0);
  if (!result) {
    result.message() << "vectors of " << a.size << " and " << b.size << " elements";
    return result;
  }
  int64_t different = 0, first = 0;
  for (int64_t i = a.size; i-- > 0;) {
    if (std::bit_cast<uint32_t>(a[i]) == std::bit_cast<uint32_t>(b[i])) continue;
    ++different;
    first = i;
  }
  if (different == 0) return result;
  result = false;
  result.message() << fmt::format("{} of {} elements differ, the first at {}: {:a} and {:a} ({} and {})", different,
                                  a.size, first, a[first], b[first], a[first], b[first]);
  return result;
}
inline boost::test_tools::predicate_result same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return same_bits(view_of(a), view_of(b));
}

}  // namespace tg::test
