#include "optim/dana_dc.h"

#include "optim/options.h"

namespace tg {

SpecInfo DanaDc::info() {
  const DanaDcOptions defaults;
  SpecInfo info = DanaZero::info();
  std::vector<OptionInfo> options = compensation_options(defaults.compensation);
  options.insert(options.end(), info.options.begin(), info.options.end());
  return {"dana-dc", "dana-zero with delay compensation of each gradient", options};
}

DanaDcOptions DanaDcOptions::from(const Spec& spec) {
  return {.compensation = CompensationOptions::from(spec), .zero = DanaZeroOptions::from(spec)};
}

}  // namespace tg
