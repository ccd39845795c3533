#pragma once
// The product that all others of this folder are made of.

#include <cstdint>

namespace tg {

// c [m, n] = op(a) op(b) + beta c, row-major; with beta 0 what was in c does not matter. op(a) is a [m, k], or the
// transpose of a [k, m]; op(b) is b [k, n], or the transpose of b [n, k]. b's rows begin `b_row` elements apart; 0:
// they lie side by side. Split among this thread's OpenMP threads, unless they are at work already.
void sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, const float* b,
           float beta, float* c, int64_t b_row = 0);

}  // namespace tg
