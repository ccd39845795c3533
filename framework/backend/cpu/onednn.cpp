#include "framework/backend/cpu/onednn.h"

#include <omp.h>

namespace tg::onednn {

dnnl::engine& engine() {
  static dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

dnnl::stream& stream() {
  thread_local dnnl::stream instance(engine());
  return instance;
}

int team() {
  thread_local int looked_at = 1;  // alone, nobody can be missing
  const int threads = omp_get_max_threads();
  if (threads == looked_at || omp_in_parallel()) return threads;  // within a loop of ours it works alone
  omp_set_dynamic(0);                                             // as OMP_DYNAMIC sets it for every new thread
  require(threads <= omp_get_thread_limit(),
          "oneDNN: {} threads are to share the work, but OMP_THREAD_LIMIT lets {} come, and the rest would be left "
          "undone: unset it, or ask for fewer threads",
          threads, omp_get_thread_limit());
  require(omp_get_max_active_levels() > 0,
          "oneDNN: {} threads are to share the work, but OMP_MAX_ACTIVE_LEVELS=0 lets none come, and the rest would be "
          "left undone: unset it, or ask for 1 thread",
          threads);
  looked_at = threads;
  return threads;
}

}  // namespace tg::onednn
