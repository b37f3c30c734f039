// Every instruction set that this processor runs must give the bits of the baseline: the loops are written in lanes and
// without fused operations, so that this holds, and so that the op tests, which run on the best set, speak for all.

#include "shoal/kernels/isa.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/tests/support/compare.h"
#include "shoal/tests/support/fill_values.h"

namespace shoal::kernels {
namespace {

using host::ColumnRange;
using host::Isa;
using host::KernelTable;
using host::kStripColumns;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

std::vector<Isa> supported_sets() {
  std::vector<Isa> sets;
  for (const Isa isa : {Isa::Avx2, Isa::Avx512}) {
    if (host::is_supported(isa)) sets.push_back(isa);
  }
  return sets;
}

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span<const T>(values));
}

/// Runs `results` (a function of the table) on the baseline and on every other set.
void expect_baseline_bits(const char* what, const std::function<Floats(const KernelTable&)>& results) {
  const Floats want = results(host::kernel_table(Isa::Baseline));
  for (const Isa isa : supported_sets()) {
    EXPECT_TRUE(test::has_equal_bits(bytes_of(results(host::kernel_table(isa))), bytes_of(want), DType::F32))
        << what << " on " << host::isa_name(isa);
  }
}

/// A result in doubles as floats of the same bits.
Floats reinterpreted(const Doubles& values) {
  const auto* data = reinterpret_cast<const float*>(values.data());
  return {data, data + 2 * values.size()};
}

TEST(Isa, BestSetIsSupportedAndNamed) {
  EXPECT_TRUE(host::is_supported(Isa::Baseline));
  EXPECT_TRUE(host::is_supported(host::best_isa()));
  EXPECT_STREQ(isa_name(), host::isa_name(host::best_isa()));
  EXPECT_EQ(&host::kernel_table(), &host::kernel_table(host::best_isa()));
}

/// Mostly ordinary numbers and some that are not, with a tail after the last full vector.
constexpr std::int64_t kNumel = 1000 + 13;

Floats mixed_values(std::uint64_t seed) {
  Floats values = test::normal_values(kNumel, seed, 0, 4);
  const Floats corners = test::adversarial_values(100, seed + 1);
  std::copy(corners.begin(), corners.end(), values.begin());
  return values;
}

TEST(Isa, ElementwiseOpsHaveBaselineBits) {
  const Floats a = mixed_values(1);
  const Floats b = mixed_values(5);
  const auto map = [&](auto member) {
    return [&a, member](const KernelTable& table) {
      Floats y(a.size());
      (table.activation.*member)(a.data(), y.data(), kNumel);
      return y;
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
      return dz;
    };
  };
  expect_baseline_bits("relu backward", slope(&ActivationKernels::relu_backward));
  expect_baseline_bits("gelu backward", slope(&ActivationKernels::gelu_backward));
  expect_baseline_bits("silu backward", slope(&ActivationKernels::silu_backward));
  for (const bool relu : {false, true}) {
    expect_baseline_bits("add", [&](const KernelTable& table) {
      Floats y(a.size());
      (relu ? table.add.add_relu : table.add.add)(a.data(), b.data(), y.data(), kNumel);
      return y;
    });
  }
}

TEST(Isa, NormsHaveBaselineBits) {
  constexpr std::int64_t kRows = 70;
  for (const std::int64_t num_features : {3, 16, 600}) {
    const Floats x = test::normal_values(kRows * num_features, 1, 0.5);
    const Floats dy = test::normal_values(kRows * num_features, 2);
    const Floats gamma = test::normal_values(num_features, 3);
    const Floats beta = test::normal_values(num_features, 4);
    Floats mean(kRows);
    Floats rstd(kRows);
    expect_baseline_bits("layer_norm", [&](const KernelTable& table) {
      Floats y(x.size());
      table.norm.layer_norm(
          {x.data(), gamma.data(), beta.data(), y.data(), mean.data(), rstd.data(), num_features, 1e-5f}, 0, kRows);
      y.insert(y.end(), mean.begin(), mean.end());
      y.insert(y.end(), rstd.begin(), rstd.end());
      return y;
    });
    expect_baseline_bits("rms_norm", [&](const KernelTable& table) {
      Floats y(x.size());
      table.norm.rms_norm({x.data(), gamma.data(), y.data(), nullptr, num_features, 1e-5f}, 0, kRows);
      return y;
    });
    const host::NormColumns columns{x.data(), dy.data(), mean.data(), rstd.data(), num_features};
    const ColumnRange range{0, kRows, 0, std::min(num_features, kStripColumns)};
    for (const bool has_mean : {true, false}) {
      expect_baseline_bits("norm backward", [&](const KernelTable& table) {
        Floats dx = dy;
        const host::NormBackwardRows rows{x.data(),     dy.data(), mean.data(),  rstd.data(),
                                          gamma.data(), dx.data(), num_features, true};
        (has_mean ? table.norm.layer_norm_backward : table.norm.rms_norm_backward)(rows, 0, kRows);
        Doubles sums(static_cast<std::size_t>(2 * kStripColumns));
        (has_mean ? table.norm.layer_norm_columns : table.norm.rms_norm_columns)(columns, range, sums.data());
        const Floats more = reinterpreted(sums);
        dx.insert(dx.end(), more.begin(), more.end());
        return dx;
      });
    }
  }
}

TEST(Isa, BatchNormHasBaselineBits) {
  constexpr std::int64_t kRows = 150;
  for (const std::int64_t num_channels : {3, 16, 70}) {
    const Floats x = test::normal_values(kRows * num_channels, 1, 0.5);
    const Floats y = test::normal_values(kRows * num_channels, 2);
    const Floats dy = test::normal_values(kRows * num_channels, 3);
    const Floats c0 = test::normal_values(num_channels, 4);
    const Floats c1 = test::uniform_values(num_channels, 5, 0.5, 2);
    const ColumnRange range{0, kRows, 0, num_channels};
    expect_baseline_bits("moments", [&](const KernelTable& table) {
      Doubles values(static_cast<std::size_t>(2 * kStripColumns));
      table.batch_norm.moments(x.data(), num_channels, range, values.data());
      return reinterpreted(values);
    });
    for (const bool relu : {false, true}) {
      expect_baseline_bits("batch norm", [&](const KernelTable& table) {
        Floats out(x.size());
        table.batch_norm.normalise(
            {x.data(), c0.data(), nullptr, c1.data(), c1.data(), c0.data(), out.data(), num_channels, 1e-5f, relu}, 0,
            kRows);
        const host::BatchNormGradient gradient{x.data(),   relu ? y.data() : nullptr,
                                               dy.data(),  c0.data(),
                                               c1.data(),  c1.data(),
                                               out.data(), num_channels,
                                               kRows,      true};
        Doubles sums(static_cast<std::size_t>(2 * kStripColumns));
        table.batch_norm.gradient_sums(gradient, range, sums.data());
        table.batch_norm.gradient(gradient, range, sums.data());
        return out;
      });
    }
  }
}

TEST(Isa, CrossEntropyHasBaselineBits) {
  for (const std::int64_t num_classes : {1, 10, 16, 1100}) {
    const Floats logits = test::normal_values(3 * num_classes, 1, 0, 5);
    const std::vector<std::int32_t> targets = {0, -1, static_cast<std::int32_t>(num_classes - 1)};
    expect_baseline_bits("cross entropy", [&](const KernelTable& table) {
      Floats dlogits(logits.size());
      Doubles loss(3);
      std::vector<std::uint8_t> correct(3);
      table.cross_entropy.rows(
          {logits.data(), targets.data(), dlogits.data(), loss.data(), correct.data(), num_classes, 0.25}, 0, 3);
      const Floats more = reinterpreted(loss);
      dlogits.insert(dlogits.end(), more.begin(), more.end());
      dlogits.insert(dlogits.end(), correct.begin(), correct.end());
      return dlogits;
    });
  }
}

TEST(Isa, UpdatesAndSumsHaveBaselineBits) {
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
      out.insert(out.end(), m.begin(), m.end());
      out.insert(out.end(), v.begin(), v.end());
      return out;
    });
  }
  for (const bool is_nesterov : {false, true}) {
    expect_baseline_bits("sgd", [&](const KernelTable& table) {
      Floats out = w;
      Floats m = test::normal_values(kNumel, 7);
      table.update.sgd({3.0f, 0.7f, 0.01f, 0.9f, 0.1f, false, is_nesterov}, g.data(), out.data(), m.data(), kNumel);
      return out;
    });
  }
  expect_baseline_bits("sum of squares", [&](const KernelTable& table) {
    Doubles sums(static_cast<std::size_t>(kNumel / host::kSquareGroup + 1));
    table.sum_squares.groups(g.data(), kNumel, sums.data());
    return reinterpreted(sums);
  });
}

TEST(Isa, CastsHaveBaselineBits) {
  const Floats src = mixed_values(1);
  using host::CastKernels;
  for (const auto& [narrow, widen] : {std::pair{&CastKernels::f32_to_bf16, &CastKernels::bf16_to_f32},
                                      std::pair{&CastKernels::f32_to_f16, &CastKernels::f16_to_f32}}) {
    expect_baseline_bits("casts", [&, narrow = narrow, widen = widen](const KernelTable& table) {
      std::vector<std::uint16_t> half(src.size());
      Floats out(src.size());
      (table.cast.*narrow)(src.data(), half.data(), kNumel);
      (table.cast.*widen)(half.data(), out.data(), kNumel);
      return out;
    });
  }
}

TEST(Isa, PoolingHasBaselineBits) {
  const std::int64_t channels = 19;
  const host::PoolShape shape{5, 7, channels, 2};
  const Floats x = test::normal_values(2 * 5 * 7 * channels, 1);
  expect_baseline_bits("pooling", [&](const KernelTable& table) {
    Floats y(static_cast<std::size_t>(2 * 2 * 3 * channels));
    std::vector<std::uint8_t> argmax(y.size());
    table.pooling.max_pool({shape, x.data(), y.data(), argmax.data()}, 0, 4);
    Floats dx = x;
    table.pooling.max_pool_backward({shape, y.data(), argmax.data(), dx.data(), true}, 0, 4);
    table.pooling.average({x.data(), y.data(), 35, channels, false}, 0, 2);
    dx.insert(dx.end(), y.begin(), y.end());
    table.pooling.average_backward({y.data(), dx.data(), 35, channels, true}, 0, 2);
    return dx;
  });
}

}  // namespace
}  // namespace shoal::kernels
