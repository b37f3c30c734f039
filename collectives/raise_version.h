#pragma once

#include <atomic>
#include <cstdint>

namespace shoal::collectives {

/// Makes a window's version `version`, unless it is there already: streams of one rank may publish in another order
/// than the calls had, and versions never go back.
inline void raise_version(std::atomic<std::uint64_t>& current, std::uint64_t version) {
  std::uint64_t seen = current.load(std::memory_order_relaxed);
  while (seen < version && !current.compare_exchange_weak(seen, version, std::memory_order_acq_rel)) {
  }
}

}  // namespace shoal::collectives
