#include "shoal/runtime/fsdp/flat_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/int_math.h"

namespace shoal::fsdp {

std::vector<SegmentPart> FlatLayout::parts_in(std::int64_t begin, std::int64_t numel) const {
  std::vector<SegmentPart> parts;
  const std::int64_t end = begin + numel;
  auto at = std::upper_bound(segments.begin(), segments.end(), begin,
                             [](std::int64_t value, const Segment& segment) { return value < segment.offset; });
  // The segment before may reach into the range (at most one does: segments lie in order).
  if (at != segments.begin() && std::prev(at)->offset + std::prev(at)->numel() > begin) --at;
  for (; at != segments.end() && at->offset < end; ++at) {
    const std::int64_t part_begin = std::max(begin, at->offset);
    const std::int64_t part_end = std::min(end, at->offset + at->numel());
    if (part_begin >= part_end) continue;
    parts.push_back({.segment = static_cast<int>(at - segments.begin()),
                     .flat_begin = part_begin,
                     .element_begin = part_begin - at->offset,
                     .numel = part_end - part_begin});
  }
  return parts;
}

FlatLayout make_flat_layout(std::span<const ParameterSpec> parameters, std::span<const int> members, int world_size) {
  if (world_size < 1) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[make_flat_layout] the world size is {}; there must be at least one rank", world_size));
  }
  FlatLayout layout;
  layout.world_size = world_size;
  std::int64_t total = 0;
  for (const int parameter : members) {
    const ParameterSpec& spec = parameters[static_cast<std::size_t>(parameter)];
    Segment segment{.parameter = parameter,
                    .name = spec.name,
                    .shape = spec.shape,
                    .offset = round_up(total, kFlatAlignment),
                    .decays = spec.decays};
    total = segment.offset + segment.numel();
    layout.segments.push_back(std::move(segment));
  }
  layout.shard_numel = ceil_div(total, checked_mul(kFlatAlignment, world_size)) * kFlatAlignment;
  return layout;
}

}  // namespace shoal::fsdp
