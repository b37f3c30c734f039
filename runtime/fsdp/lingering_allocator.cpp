#include "shoal/runtime/fsdp/lingering_allocator.h"

#include <fmt/core.h>

#include "shoal/runtime/base/error.h"

namespace shoal::fsdp {

void LingeringAllocator::refuse_held(const char* what) {
  if (what == nullptr) return;
  fail(ErrorCode::Unsupported, fmt::format("[{}] its memory is still held at the end of the pass; a variable must not "
                                           "be kept from one pass to the next",
                                           what));
}

}  // namespace shoal::fsdp
