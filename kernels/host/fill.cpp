#include "shoal/kernels/host/fill.h"

#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/spread.h"
#include "shoal/runtime/base/counter_rng.h"

namespace shoal::kernels::host {
namespace {

/// dst[i] = draw(global index of i).
template <typename Draw>
void fill_drawn(Workers& workers, const Tensor& dst, std::int64_t first_index, const Draw& draw) {
  spread_elements(workers, dst.numel(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      dst.as<float>()[i] = draw(static_cast<std::uint64_t>(first_index + i));
    }
  });
}

}  // namespace

void fill(Stream& stream, const Tensor& dst, float value) {
  stream.run("fill", {}, {dst}, [dst, value](Workers& workers) {
    spread_elements(workers, dst.numel(), [&](std::int64_t begin, std::int64_t end) {
      kernel_table().fill.fill(dst.as<float>() + begin, value, end - begin);
    });
  });
}

void fill_random(Stream& stream, const RandomFill& fill, const Tensor& dst) {
  if (fill.kind == RandomFill::Kind::Constant) {
    host::fill(stream, dst, fill.scale);
    return;
  }
  stream.run("fill_random", {}, {dst}, [fill, dst](Workers& workers) {
    if (fill.kind == RandomFill::Kind::Uniform) {
      fill_drawn(workers, dst, fill.first_index, [&](std::uint64_t index) {
        return fill.scale * (2.0f * counter_uniform(fill.seed, fill.sequence, index) - 1.0f);
      });
    } else {
      fill_drawn(workers, dst, fill.first_index,
                 [&](std::uint64_t index) { return fill.scale * counter_normal(fill.seed, fill.sequence, index); });
    }
  });
}

}  // namespace shoal::kernels::host
