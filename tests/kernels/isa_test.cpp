// Every instruction set that this processor runs must give the bits of the baseline: the loops are written in lanes and
// without fused operations, so that this holds, and so that the op tests, which run on the best set, speak for all.
// Which NaN comes out of several is the processor's affair, and the compiler's: any NaN equals any other here.

#include "shoal/kernels/isa.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "shoal/tests/kernels/tested_sets.h"
#include "shoal/tests/support/compare.h"
#include "shoal/tests/support/fill_values.h"

namespace shoal::kernels {
namespace {

using host::ColumnRange;
using host::Isa;
using host::KernelTable;
using host::kStripColumns;
using host::TestedSet;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

/// What a kernel writes, of any types, as doubles; exact.
class Results {
 public:
  Results() = default;
  Results(const Floats& values) { add(values); }

  template <typename T>
  Results& add(const std::vector<T>& values) {
    for (const T value : values) {
      const auto wide = static_cast<double>(value);
      values_.push_back(std::isnan(wide) ? std::numeric_limits<double>::quiet_NaN() : wide);
    }
    return *this;
  }

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(values_)); }

 private:
  Doubles values_;
};

void expect_same_on_every_set(const char* what, const std::function<Results(const TestedSet&)>& results) {
  const std::vector<TestedSet> sets = host::tested_sets();
  const Results want = results(sets.front());
  for (const TestedSet& set : sets) {
    EXPECT_TRUE(test::has_equal_bits(results(set).bytes(), want.bytes(), DType::F64)) << what << " on " << set.name;
  }
}

/// Runs `results` (a function of the table) on the baseline and on every other set.
void expect_baseline_bits(const char* what, const std::function<Results(const KernelTable&)>& results) {
  expect_same_on_every_set(what, [&](const TestedSet& set) { return results(*set.table); });
}

TEST(Isa, BestSetIsSupportedAndNamed) {
  EXPECT_TRUE(host::is_supported(Isa::Baseline));
  EXPECT_TRUE(host::is_supported(host::best_isa()));
  EXPECT_STREQ(isa_name(), host::isa_name(host::best_isa()));
  EXPECT_EQ(&host::kernel_table(), &host::kernel_table(host::best_isa()));
}

TEST(Isa, EverySetRunsHere) {
  for (const std::string& name : host::untested_sets()) {
    GTEST_SKIP() << "not tested: this processor does not run " << name;
  }
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Mostly ordinary numbers and some that are not, with a tail after the last full vector.
constexpr std::int64_t kNumel = 1000 + 13;

Floats mixed_values(std::uint64_t seed) {
  Floats values = test::normal_values(kNumel, seed, 0, 4);
  const Floats corners = test::adversarial_values(100, seed + 1);
  std::copy(corners.begin(), corners.end(), values.begin());
  for (const std::size_t at : {seed, std::uint64_t{200} + seed, std::uint64_t{kNumel - 9} + seed}) {
    values[at] = kNan;
    values[at + 1] = kInfinity;
    values[at + 2] = -kInfinity;
  }
  return values;
}

/// Values with a few that are not finite where that is asked for.
Floats values_with(bool has_nonfinite, std::int64_t numel, std::uint64_t seed) {
  Floats values = test::normal_values(numel, seed, 0.5);
  if (!has_nonfinite) return values;
  const std::size_t count = values.size();
  values[count / 2] = kNan;
  values[count / 3] = kInfinity;
  values[count - 1] = -kInfinity;
  return values;
}

TEST(Isa, ElementwiseOpsHaveBaselineBits) {
  const Floats a = mixed_values(1);
  const Floats b = mixed_values(5);
  const auto map = [&](auto member) {
    return [&a, member](const KernelTable& table) {
      Floats y(a.size());
      (table.activation.*member)(a.data(), y.data(), kNumel);
      return Results(y);
    };
  };
  using host::ActivationKernels;
  expect_baseline_bits("relu", map(&ActivationKernels::relu));
  expect_baseline_bits("gelu", map(&ActivationKernels::gelu));
  expect_baseline_bits("silu", map(&ActivationKernels::silu));
  const auto slope = [&](auto member) {
    return [&a, &b, member](const KernelTable& table) {
      Floats dz = b;
      (table.activation.*member)(a.data(), b.data(), dz.data(), true, kNumel);
      return Results(dz);
    };
  };
  expect_baseline_bits("relu backward", slope(&ActivationKernels::relu_backward));
  expect_baseline_bits("gelu backward", slope(&ActivationKernels::gelu_backward));
  expect_baseline_bits("silu backward", slope(&ActivationKernels::silu_backward));
  for (const bool relu : {false, true}) {
    expect_baseline_bits("add", [&](const KernelTable& table) {
      Floats y(a.size());
      (relu ? table.add.add_relu : table.add.add)(a.data(), b.data(), y.data(), kNumel);
      return Results(y);
    });
  }
  expect_baseline_bits("fill", [&](const KernelTable& table) {
    Floats y = a;
    table.fill.fill(y.data() + 1, 0.1f, kNumel - 2);
    return Results(y);
  });
}

TEST(Isa, NormsHaveBaselineBits) {
  constexpr std::int64_t kRows = 70;
  for (const auto& [num_features, has_nonfinite] :
       std::vector<std::pair<std::int64_t, bool>>{{3, false}, {16, false}, {600, false}, {600, true}}) {
    const std::int64_t width = num_features;
    const Floats x = values_with(has_nonfinite, kRows * width, 1);
    const Floats dy = values_with(has_nonfinite, kRows * width, 2);
    const Floats gamma = test::normal_values(width, 3);
    const Floats beta = test::normal_values(width, 4);
    Floats mean(kRows);
    Floats rstd(kRows);
    expect_baseline_bits("layer_norm", [&](const KernelTable& table) {
      Floats y(x.size());
      table.norm.layer_norm({x.data(), gamma.data(), beta.data(), y.data(), mean.data(), rstd.data(), width, 1e-5f}, 0,
                            kRows);
      return Results(y).add(mean).add(rstd);
    });
    expect_baseline_bits("rms_norm", [&](const KernelTable& table) {
      Floats y(x.size());
      table.norm.rms_norm({x.data(), gamma.data(), y.data(), nullptr, width, 1e-5f}, 0, kRows);
      return Results(y);
    });
    const host::NormColumns columns{x.data(), dy.data(), mean.data(), rstd.data(), width};
    const ColumnRange range{0, kRows, 0, std::min(width, kStripColumns)};
    for (const bool has_mean : {true, false}) {
      expect_baseline_bits("norm backward", [&](const KernelTable& table) {
        Floats dx = dy;
        const host::NormBackwardRows rows{x.data(),     dy.data(), mean.data(), rstd.data(),
                                          gamma.data(), dx.data(), width,       true};
        (has_mean ? table.norm.layer_norm_backward : table.norm.rms_norm_backward)(rows, 0, kRows);
        Doubles sums(static_cast<std::size_t>(2 * kStripColumns));
        (has_mean ? table.norm.layer_norm_columns : table.norm.rms_norm_columns)(columns, range, sums.data());
        return Results(dx).add(sums);
      });
    }
  }
}

TEST(Isa, BatchNormHasBaselineBits) {
  constexpr std::int64_t kRows = 150;
  for (const auto& [num_channels, has_nonfinite] :
       std::vector<std::pair<std::int64_t, bool>>{{3, false}, {16, false}, {70, false}, {70, true}}) {
    const std::int64_t width = num_channels;
    const Floats x = values_with(has_nonfinite, kRows * width, 1);
    const Floats y = values_with(has_nonfinite, kRows * width, 2);
    const Floats dy = values_with(has_nonfinite, kRows * width, 3);
    const Floats c0 = test::normal_values(width, 4);
    const Floats c1 = test::uniform_values(width, 5, 0.5, 2);
    const ColumnRange range{0, kRows, 0, width};
    expect_baseline_bits("moments", [&](const KernelTable& table) {
      Doubles values(static_cast<std::size_t>(2 * kStripColumns));
      table.batch_norm.moments(x.data(), width, range, values.data());
      return Results().add(values);
    });
    for (const bool relu : {false, true}) {
      expect_baseline_bits("batch norm", [&](const KernelTable& table) {
        Floats out(x.size());
        const host::BatchNormRows rows{x.data(),  c0.data(),  nullptr, c1.data(), c1.data(),
                                       c0.data(), out.data(), width,   1e-5f,     relu};
        table.batch_norm.normalise(rows, 0, kRows);
        Results results(out);
        const host::BatchNormGradient gradient{
            x.data(), relu ? y.data() : nullptr, dy.data(), c0.data(), c1.data(), c1.data(), out.data(), width, kRows,
            true};
        Doubles sums(static_cast<std::size_t>(2 * kStripColumns));
        table.batch_norm.gradient_sums(gradient, range, sums.data());
        table.batch_norm.gradient(gradient, range, sums.data());
        return results.add(out).add(sums);
      });
    }
  }
}

TEST(Isa, CrossEntropyHasBaselineBits) {
  for (const std::int64_t num_classes : {1, 10, 16, 1100}) {
    for (const bool has_nonfinite : {false, true}) {
      Floats logits = test::normal_values(5 * num_classes, 1, 0, 5);
      if (has_nonfinite) {
        logits[0] = kNan;
        logits[static_cast<std::size_t>(2 * num_classes)] = kInfinity;
        logits[static_cast<std::size_t>(4 * num_classes - 1)] = -kInfinity;
      }
      const auto last = static_cast<std::int32_t>(num_classes - 1);
      const std::vector<std::int32_t> targets = {0, -1, last, 0, last};
      expect_baseline_bits("cross entropy", [&](const KernelTable& table) {
        Floats dlogits(logits.size());
        Doubles loss(targets.size());
        std::vector<std::uint8_t> correct(targets.size());
        table.cross_entropy.rows(
            {logits.data(), targets.data(), dlogits.data(), loss.data(), correct.data(), num_classes, 0.25}, 0, 5);
        return Results(dlogits).add(loss).add(correct);
      });
    }
  }
}

TEST(Isa, UpdatesHaveBaselineBits) {
  const Floats g = mixed_values(1);
  const Floats w = mixed_values(3);
  const host::AdamWStep adamw{3.0f, 0.7f, 0.999f, 0.1f, 0.001f, 1e-8f, 0.02f, 0.3f, 1e-3f, 0.0f};
  host::AdamWStep coupled = adamw;
  coupled.coupled_decay = 0.1f;
  for (const host::AdamWStep& step : {adamw, coupled}) {
    expect_baseline_bits("adamw", [&](const KernelTable& table) {
      Floats out = w;
      Floats m = test::normal_values(kNumel, 7);
      Floats v = test::uniform_values(kNumel, 8, 0, 1);
      table.update.adamw(step, g.data(), out.data(), m.data(), v.data(), kNumel);
      return Results(out).add(m).add(v);
    });
  }
  for (const bool is_first : {false, true}) {
    for (const bool is_nesterov : {false, true}) {
      expect_baseline_bits("sgd", [&](const KernelTable& table) {
        Floats out = w;
        Floats m = test::normal_values(kNumel, 7);
        table.update.sgd({3.0f, 0.7f, 0.01f, 0.9f, 0.1f, is_first, is_nesterov}, g.data(), out.data(), m.data(),
                         kNumel);
        return Results(out).add(m);
      });
    }
  }
  expect_baseline_bits("sgd without momentum", [&](const KernelTable& table) {
    Floats out = w;
    table.update.sgd({3.0f, 0.7f, 0.01f, 0.0f, 0.1f, false, false}, g.data(), out.data(), nullptr, kNumel);
    return Results(out);
  });
}

TEST(Isa, SumsHaveBaselineBits) {
  const Floats g = mixed_values(1);
  expect_baseline_bits("sum of squares", [&](const KernelTable& table) {
    Doubles sums(static_cast<std::size_t>(kNumel / host::kSquareGroup + 1));
    table.sum_squares.groups(g.data(), kNumel, sums.data());
    return Results().add(sums);
  });
  constexpr std::int64_t kRows = 130;
  for (const std::int64_t width : {1, 16, 67}) {
    const Floats x = values_with(true, kRows * width, 2);
    expect_same_on_every_set("column total", [&](const TestedSet& set) {
      Doubles sums(static_cast<std::size_t>(width));
      set.dense->column_total.partial(x.data(), width, {1, kRows, width / 2, width}, sums.data());
      return Results().add(sums);
    });
  }
}

TEST(Isa, EmbeddingHasBaselineBits) {
  constexpr std::int64_t kSequences = 4;
  constexpr std::int64_t kPositions = 3;
  constexpr std::int64_t kWidth = 37;
  constexpr std::int64_t kRows = kSequences * kPositions;
  const std::vector<std::int32_t> ids = test::index_values(kRows, 1, 5);
  const Floats source = mixed_values(2);
  const Floats positions = test::normal_values(kPositions * kWidth, 3);
  for (const bool flag : {false, true}) {
    expect_baseline_bits("embedding", [&](const KernelTable& table) {
      Floats y(kRows * kWidth);
      table.embedding.forward(
          {ids.data(), source.data(), flag ? positions.data() : nullptr, y.data(), kPositions, kWidth}, 0, kRows);
      Floats dtable = source;
      Floats dpositions = positions;
      const host::EmbeddingGradient gradient{ids.data(), source.data(), dtable.data(), dpositions.data(),
                                             kSequences, kPositions,    kWidth,        flag};
      table.embedding.add_to_table(gradient, 0, kWidth);
      table.embedding.sum_positions(gradient, 0, kPositions);
      return Results(y).add(dtable).add(dpositions);
    });
  }
}

TEST(Isa, CastsHaveBaselineBits) {
  const Floats src = mixed_values(1);
  std::vector<std::uint16_t> all(65536 + 5);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  const auto num_all = static_cast<std::int64_t>(all.size());
  using host::CastKernels;
  for (const auto narrow : {&CastKernels::f32_to_bf16, &CastKernels::f32_to_f16}) {
    expect_baseline_bits("narrowing casts", [&](const KernelTable& table) {
      std::vector<std::uint16_t> half(src.size());
      (table.cast.*narrow)(src.data(), half.data(), kNumel);
      return Results().add(half);
    });
  }
  for (const auto widen : {&CastKernels::bf16_to_f32, &CastKernels::f16_to_f32}) {
    expect_baseline_bits("widening casts", [&](const KernelTable& table) {
      Floats out(all.size());
      (table.cast.*widen)(all.data(), out.data(), num_all);
      std::vector<std::uint32_t> bits;
      for (const float value : out) bits.push_back(std::bit_cast<std::uint32_t>(value));
      return Results().add(bits);
    });
  }
  for (const auto convert : {&CastKernels::bf16_to_f16, &CastKernels::f16_to_bf16}) {
    expect_baseline_bits("casts between halves", [&](const KernelTable& table) {
      std::vector<std::uint16_t> out(all.size());
      (table.cast.*convert)(all.data(), out.data(), num_all);
      return Results().add(out);
    });
  }
}

TEST(Isa, PoolingHasBaselineBits) {
  const std::int64_t channels = 19;
  const host::PoolShape shape{5, 7, channels, 2};
  for (const bool has_nonfinite : {false, true}) {
    const Floats x = values_with(has_nonfinite, 2 * 5 * 7 * channels, 1);
    expect_baseline_bits("pooling", [&](const KernelTable& table) {
      Floats y(static_cast<std::size_t>(2 * 2 * 3 * channels));
      std::vector<std::uint8_t> argmax(y.size());
      table.pooling.max_pool({shape, x.data(), y.data(), argmax.data()}, 0, 4);
      Results results(y);
      Floats dx = x;
      table.pooling.max_pool_backward({shape, y.data(), argmax.data(), dx.data(), true}, 0, 4);
      results.add(dx).add(argmax);
      table.pooling.average({x.data(), y.data(), 35, channels, false}, 0, 2);
      results.add(y);
      table.pooling.average_backward({y.data(), dx.data(), 35, channels, true}, 0, 2);
      return results.add(dx);
    });
  }
}

}  // namespace
}  // namespace shoal::kernels
