#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shoal/runtime/base/shape.h"

namespace shoal::fsdp {

/// Elements to which parameters and shards are aligned: the same for every dtype and strategy.
inline constexpr std::int64_t kFlatAlignment = 64;

/// What the layout needs to know of a parameter.
struct ParameterSpec {
  std::string name;
  Shape shape;
  bool decays = true;
  bool is_trainable = true;
};

/// One parameter's place in a flat parameter, in elements.
struct Segment {
  int parameter = -1;  // index in the model's parameter list
  std::string name;
  Shape shape;
  std::int64_t offset = 0;  // a multiple of kFlatAlignment
  bool decays = true;

  std::int64_t numel() const { return shape.numel(); }
};

/// A part of one parameter that lies in a range of the flat parameter.
struct SegmentPart {
  int segment = -1;
  std::int64_t flat_begin = 0;     // where the part begins in the flat parameter
  std::int64_t element_begin = 0;  // where it begins in the parameter
  std::int64_t numel = 0;
};

/// How parameters lie in a flat parameter of `world_size` equal shards: declared order, each start aligned, the shard
/// being ceil(total / (64 N)) * 64 elements. Pure integers. What lies between segments and after the last is padding:
/// it may hold any bits.
struct FlatLayout {
  std::vector<Segment> segments;
  std::int64_t shard_numel = 0;
  int world_size = 1;

  std::int64_t full_numel() const { return shard_numel * world_size; }

  /// The parts of parameters in [begin, begin + numel), in order; padding belongs to none.
  std::vector<SegmentPart> parts_in(std::int64_t begin, std::int64_t numel) const;
};

/// Lays out `parameters[i]` for i in `members`, in that order. Throws InvalidArgument for a world size below 1.
FlatLayout make_flat_layout(std::span<const ParameterSpec> parameters, std::span<const int> members, int world_size);

}  // namespace shoal::fsdp
