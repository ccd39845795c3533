#include "optim/compress/terngrad.h"

#include "optim/compress/error_feedback.h"

namespace tg {

SpecInfo terngrad_info(int64_t min_elements) {
  SpecInfo info{
      "terngrad",
      "-s, 0 or s at random, s the tensor's largest magnitude (Wen et al. 2017)",
      {{"clip", "0", "standard deviations at which values are cut, 0 to 1000; 0: nowhere; 2.5 in the paper"}}};
  for (OptionInfo& option : KeepFloat32::options(min_elements)) info.options.push_back(std::move(option));
  info.options.push_back(error_feedback_option(false));
  return info;
}

QsgdOptions terngrad_options(const Spec& spec) {
  return {.name = "terngrad",
          .levels = 1,
          .bucket = QsgdOptions::kLargestBucket,
          .norm = BucketNorm::max,
          .encoding = QsgdEncoding::fixed,
          .clip = spec.number("clip", 0, 1000),
          .contraction = error_feedback(spec),
          .keep = KeepFloat32::from(spec)};
}

}  // namespace tg
