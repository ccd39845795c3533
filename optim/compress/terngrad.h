#pragma once
// TernGrad (Wen et al. 2017): every value becomes -s, 0 or s, where s is the largest magnitude of its tensor,
//
//   s sgn(g_i) b_i,  b_i = 1 with probability |g_i| / s, else 0
//
// so that its mean is the value. That is QSGD with one level, the max norm and a bucket as large as the tensor, and so
// it is made here: the same bytes, 2 bits a value, and the same exactness and errors. What QSGD has not is clipping:
// values beyond `clip` standard deviations of their tensor (2.5 in the paper) are cut to that before s is taken, which
// costs the mean and gains variance. Here the deviation is taken around 0 (the root of the mean square), where cutting
// is symmetric; around the mean, a tensor of equal values would vanish. The paper can also share s between workers: not
// here.

#include "optim/compress/qsgd.h"

namespace tg {

SpecInfo terngrad_info(int64_t min_elements);
QsgdOptions terngrad_options(const Spec& spec);

}  // namespace tg
