#pragma once

#include <cstddef>

#include "shoal/runtime/fsdp/plan.h"

namespace shoal::test {

/// Makes a changed plan consistent in everything that is bookkeeping, so that only the change itself can be found:
/// trace positions follow the marks, leases their operations, events are numbered as they are recorded, and neither
/// records without waits nor waits for events that nothing records are left.
void repair_bookkeeping(fsdp::Plan& plan);

fsdp::Plan without_wait(const fsdp::Plan& plan, std::size_t op, std::size_t wait);
fsdp::Plan without_op(const fsdp::Plan& plan, std::size_t op);
fsdp::Plan with_swapped(const fsdp::Plan& plan, std::size_t op);  // with the one after it
fsdp::Plan with_moved(const fsdp::Plan& plan, std::size_t from, std::size_t to);
fsdp::Plan with_duplicate(const fsdp::Plan& plan, std::size_t op);

}  // namespace shoal::test
