#include "shoal/tests/support/offset_step.h"

namespace shoal::test {

int least_offset_step() { return 8; }

}  // namespace shoal::test
