#pragma once

namespace shoal::test {

/// Every so many of the 64 offsets are tried at least. Every one where the processor runs at its own speed; some under
/// ThreadSanitizer, since these runs have one thread.
int least_offset_step();

}  // namespace shoal::test
