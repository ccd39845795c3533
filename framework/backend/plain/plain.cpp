#include "framework/backend/plain/plain.h"

namespace tg {

Backend& plain_backend() {
  static PlainBackend backend;
  return backend;
}

}  // namespace tg
