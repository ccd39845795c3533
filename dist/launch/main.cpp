#include <fcntl.h>

#include <cerrno>

#include "dist/launch/command_line.h"

namespace {

// A standard descriptor that is closed would be given to the first file that is opened, and what is said would land in
// it.
void open_standard_descriptors() {
  for (int d = 0; d <= 2; ++d)
    if (::fcntl(d, F_GETFD) < 0 && errno == EBADF && ::open("/dev/null", d == 0 ? O_RDONLY : O_WRONLY) < 0) return;
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  return tg::run_command_line(argc, argv);
}
