#pragma once

#include "shoal/kernels/host/isa/product_pack.h"

// Operands gathered from images while they are packed, and the choice among all kinds.

namespace shoal::kernels::host::SHOAL_ISA {

/// Walks over positions (image, i, j) of patches.
struct PositionCursor {
  std::int64_t image;
  std::int64_t i;
  std::int64_t j;

  PositionCursor(const Patches& patches, std::int64_t position) {
    j = position % patches.columns.positions;
    const std::int64_t row = position / patches.columns.positions;
    i = row % patches.rows.positions;
    image = row / patches.rows.positions;
  }

  void advance(const Patches& patches) {
    if (++j == patches.columns.positions) next_row(patches);
  }

  void next_row(const Patches& patches) {
    j = 0;
    if (++i < patches.rows.positions) return;
    i = 0;
    ++image;
  }
};

[[gnu::always_inline]] inline bool is_inside(const PatchAxis& axis, std::int64_t source) {
  return static_cast<std::uint64_t>(source) < static_cast<std::uint64_t>(axis.extent);
}

/// kWidth positions: where their first tap is, in source coordinates and as an offset.
template <int kWidth>
struct PositionGroup {
  std::int64_t row[kWidth];
  std::int64_t column[kWidth];
  std::int64_t offset[kWidth];
  int count;
  bool is_interior = true;  // no tap of any position is outside its image

  PositionGroup(const Patches& patches, PositionCursor& cursor, std::int64_t remaining) {
    const PatchAxis& rows = patches.rows;
    const PatchAxis& columns = patches.columns;
    count = remaining < kWidth ? static_cast<int>(remaining) : kWidth;
    for (int w = 0; w < count; ++w) {
      row[w] = cursor.i * rows.position_step + rows.origin;
      column[w] = cursor.j * columns.position_step + columns.origin;
      offset[w] = ((cursor.image * rows.extent + row[w]) * columns.extent + column[w]) * patches.channels;
      is_interior = is_interior && is_inside(rows, row[w]) && is_inside(columns, column[w]) &&
                    is_inside(rows, row[w] + (rows.taps - 1) * rows.tap_step) &&
                    is_inside(columns, column[w] + (columns.taps - 1) * columns.tap_step);
      cursor.advance(patches);
    }
    is_interior = is_interior && count == kWidth;
  }
};

/// One run of channels of one tap, as k counts them.
struct TapRun {
  std::int64_t row_step;  // from the first tap, in source coordinates
  std::int64_t column_step;
  std::int64_t channel;  // the first
  std::int64_t offset;   // all of that in elements
  std::int64_t count;

  TapRun() = default;
  TapRun(const Patches& patches, std::int64_t k, std::int64_t k_end) {
    channel = k % patches.channels;
    const std::int64_t tap = k / patches.channels;
    row_step = tap / patches.columns.taps * patches.rows.tap_step;
    column_step = tap % patches.columns.taps * patches.columns.tap_step;
    offset = (row_step * patches.columns.extent + column_step) * patches.channels + channel;
    const std::int64_t rest = patches.channels - channel;
    count = rest < k_end - k ? rest : k_end - k;
  }
};

/// The runs that k in [begin, end) consists of, at most kMaxDepth of them.
struct TapRuns {
  TapRun run[kMaxDepth];
  int count = 0;

  TapRuns(const Patches& patches, std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; k += run[count++].count) run[count] = TapRun(patches, k, end);
  }
};

/// Runs too short to transpose, element by element.
template <int kWidth>
inline void gather_interior(const float* data, const PositionGroup<kWidth>& group, const TapRuns& runs, float* panels) {
  for (int r = 0; r < runs.count; ++r) {
    for (std::int64_t c = 0; c < runs.run[r].count; ++c) {
      const float* from = data + (runs.run[r].offset + c);
      for (int w = 0; w < kWidth; ++w) panels[w] = from[group.offset[w]];
      panels += kWidth;
    }
  }
}

template <int kWidth>
inline void pack_position_patches(const Operand& operand, const OperandPart& part, float* panels) {
  const Patches& patches = operand.patches;
  const TapRuns runs(patches, part.depth, part.depth + part.depth_count);
  PositionCursor cursor(patches, part.outer);
  for (std::int64_t begin = 0; begin < part.outer_count; begin += kWidth) {
    const PositionGroup<kWidth> group(patches, cursor, part.outer_count - begin);
    if (group.is_interior && patches.channels < 4) {
      gather_interior(operand.data, group, runs, panels);
      panels += kWidth * part.depth_count;
      continue;
    }
    for (int r = 0; r < runs.count; ++r) {
      const TapRun& run = runs.run[r];
      const float* rows[kWidth];
      for (int w = 0; w < kWidth; ++w) {
        const bool exists =
            group.is_interior || (w < group.count && is_inside(patches.rows, group.row[w] + run.row_step) &&
                                  is_inside(patches.columns, group.column[w] + run.column_step));
        rows[w] = exists ? operand.data + (group.offset[w] + run.offset) : kZeros;
      }
      interleave<kWidth>(rows, run.count, panels);
      panels += kWidth * run.count;
    }
  }
}

/// The values of j in [begin, end) at which a tap's column lies inside the image.
struct InsideRange {
  std::int64_t begin;
  std::int64_t end;

  InsideRange(const PatchAxis& axis, std::int64_t step, std::int64_t first, std::int64_t last)
      : begin(first), end(last) {
    while (begin < end && !is_inside(axis, begin * axis.position_step + axis.origin + step)) ++begin;
    while (begin < end && !is_inside(axis, (end - 1) * axis.position_step + axis.origin + step)) --end;
  }
};

/// to[k * kWidth + c] = from[k * from_step + c] for c < channels, or zeros without `from`.
template <int kWidth>
[[gnu::always_inline]] inline void copy_channels(const float* from, std::int64_t from_step, std::int64_t count,
                                                 std::int64_t channels, float* to) {
  if (from == nullptr) {
    for (std::int64_t k = 0; k < count; ++k) {
      for (std::int64_t c = 0; c < channels; ++c) to[k * kWidth + c] = 0.0f;
    }
  } else if (channels == kWidth) {
    for (std::int64_t k = 0; k < count; ++k) {
      __builtin_memcpy(to + k * kWidth, from + k * from_step, kWidth * sizeof(float));
    }
  } else if (channels == 1) {
    for (std::int64_t k = 0; k < count; ++k) to[k * kWidth] = from[k * from_step];
  } else {
    for (std::int64_t k = 0; k < count; ++k) {
      for (std::int64_t c = 0; c < channels; ++c) to[k * kWidth + c] = from[k * from_step + c];
    }
  }
}

/// The positions of one row of an image from column j on, `count` of them, for one run of channels: `source` is where
/// column 0 of the image row begins, or null where the row is outside the image.
template <int kWidth>
[[gnu::always_inline]] inline void pack_tap_row(const Patches& patches, const TapRun& run, const float* source,
                                                std::int64_t j, std::int64_t count, float* panel) {
  if (source == nullptr) return copy_channels<kWidth>(nullptr, 0, count, run.count, panel);
  const PatchAxis& columns = patches.columns;
  const InsideRange inside(columns, run.column_step, j, j + count);
  const std::int64_t column = inside.begin * columns.position_step + columns.origin + run.column_step;
  copy_channels<kWidth>(nullptr, 0, inside.begin - j, run.count, panel);
  copy_channels<kWidth>(source + (column * patches.channels + run.channel), columns.position_step * patches.channels,
                        inside.end - inside.begin, run.count, panel + (inside.begin - j) * kWidth);
  copy_channels<kWidth>(nullptr, 0, j + count - inside.end, run.count, panel + (inside.end - j) * kWidth);
}

/// One run of channels of one tap for all positions of a part, into the panel whose column it begins in is `panel`.
template <int kWidth>
inline void pack_tap(const Operand& operand, const OperandPart& part, const TapRun& run, float* panel) {
  const Patches& patches = operand.patches;
  const std::int64_t row_numel = patches.columns.extent * patches.channels;
  PositionCursor cursor(patches, part.depth);
  for (std::int64_t k = 0; k < part.depth_count;) {
    const std::int64_t in_row = patches.columns.positions - cursor.j;
    const std::int64_t count = in_row < part.depth_count - k ? in_row : part.depth_count - k;
    const std::int64_t row = cursor.i * patches.rows.position_step + patches.rows.origin + run.row_step;
    const bool exists = is_inside(patches.rows, row);
    const float* source = exists ? operand.data + (cursor.image * patches.rows.extent + row) * row_numel : nullptr;
    pack_tap_row<kWidth>(patches, run, source, cursor.j, count, panel + k * kWidth);
    k += count;
    cursor.next_row(patches);
  }
}

template <int kWidth>
inline void pack_tap_patches(const Operand& operand, const OperandPart& part, float* panels) {
  const std::int64_t outer_end = part.outer + part.outer_count;
  for (std::int64_t begin = part.outer; begin < outer_end; begin += kWidth) {
    const std::int64_t end = begin + kWidth < outer_end ? begin + kWidth : outer_end;
    for (std::int64_t outer = begin; outer < end;) {
      const TapRun run(operand.patches, outer, end);
      pack_tap<kWidth>(operand, part, run, panels + (outer - begin));
      outer += run.count;
    }
    for (std::int64_t k = 0; k < part.depth_count; ++k) {
      for (std::int64_t w = end - begin; w < kWidth; ++w) panels[k * kWidth + w] = 0.0f;
    }
    panels += kWidth * part.depth_count;
  }
}

template <int kWidth>
inline void pack(const Operand& operand, const OperandPart& part, float* panels) {
  if (part.depth_count == 0) return;
  switch (operand.kind) {
    case Operand::Kind::OuterContiguous:
      return pack_outer_contiguous<kWidth>(operand, part, panels);
    case Operand::Kind::DepthContiguous:
      return pack_depth_contiguous<kWidth>(operand, part, panels);
    case Operand::Kind::PositionPatches:
      return pack_position_patches<kWidth>(operand, part, panels);
    case Operand::Kind::TapPatches:
      return pack_tap_patches<kWidth>(operand, part, panels);
  }
}

}  // namespace shoal::kernels::host::SHOAL_ISA
