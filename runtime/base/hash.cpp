#include "shoal/runtime/base/hash.h"

#include <xxhash.h>

namespace shoal {

std::uint64_t hash_bytes(const void* data, std::size_t bytes) {
  // The library reads nothing at 0 bytes, but wants a pointer that is not null.
  return XXH64(bytes == 0 ? "" : data, bytes, 0);
}

}  // namespace shoal
