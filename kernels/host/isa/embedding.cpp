#include "shoal/kernels/host/isa/embedding.h"

#include "shoal/kernels/host/isa/map.h"
#include "shoal/kernels/host/isa/row_sums.h"
#include "shoal/kernels/host/isa/table_parts.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

void forward(const EmbeddingRows& a, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) {
    const float* entry = a.table + a.ids[row] * a.width;
    float* y = a.y + row * a.width;
    if (a.positions == nullptr) {
      map_to(
          y, a.width, [](const Lanes& v) __attribute__((always_inline)) { return v; }, entry);
    } else {
      const float* position = a.positions + (row % a.num_positions) * a.width;
      map_to(
          y, a.width, [](const Lanes& v, const Lanes& p) __attribute__((always_inline)) { return v + p; }, entry,
          position);
    }
  }
}

void add_to_table(const EmbeddingGradient& a, std::int64_t begin, std::int64_t end) {
  const std::int64_t num_rows = a.num_sequences * a.num_positions;
  for (std::int64_t row = 0; row < num_rows; ++row) {
    float* entry = a.dtable + a.ids[row] * a.width + begin;
    const float* dy = a.dy + row * a.width + begin;
    map_to(
        entry, end - begin, [](const Lanes& old, const Lanes& d) __attribute__((always_inline)) { return old + d; },
        static_cast<const float*>(entry), dy);
  }
}

void sum_positions(const EmbeddingGradient& a, std::int64_t begin, std::int64_t end) {
  const std::int64_t sequence_stride = a.num_positions * a.width;
  for (std::int64_t position = begin; position < end; ++position) {
    const float* dy = a.dy + position * a.width;
    float* out = a.dpositions + position * a.width;
    for (std::int64_t c = 0; c < a.width; c += kLanes) {
      const std::int64_t count = a.width - c < kLanes ? a.width - c : kLanes;
      Lanes sum = splat(0.0f);
      for (std::int64_t b = 0; b < a.num_sequences; ++b) sum = sum + load_counted(dy + b * sequence_stride, c, count);
      if (a.accumulate_positions) sum = load_counted(out, c, count) + sum;
      store_counted(out + c, sum, count);
    }
  }
}

}  // namespace

EmbeddingKernels embedding_kernels() { return {forward, add_to_table, sum_positions}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
