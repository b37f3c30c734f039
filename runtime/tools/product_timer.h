#pragma once

#include "shoal/runtime/tools/workloads.h"
#include "shoal/runtime/train/launcher.h"

namespace shoal::tools {

/// Seconds that one linear_forward of this size takes on this rank while all ranks do the same: the fastest of a few
/// rounds. Collective.
double time_product(train::RankContext& rank, const Product& product);

}  // namespace shoal::tools
