// Ends the program with one clear line where the processor lacks instructions that the rest was compiled for.
// It runs before any other initialiser of the library and is itself compiled for the oldest x86-64.

#include <unistd.h>

#include <cstring>

namespace {

[[gnu::constructor(101)]] void check_cpu() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) return;
  const char* message =
      "tardygrad: this processor has no AVX2, FMA or BMI2 (x86-64-v3), for which this program was compiled. "
      "Run it on a newer machine, or build it here with -Dnative=true.\n";
  if (write(STDERR_FILENO, message, std::strlen(message)) < 0) _exit(2);
  _exit(1);
}

}  // namespace
