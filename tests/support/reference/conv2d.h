#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shoal/kernels/conv2d.h"

namespace shoal::test::reference {

/// Calls visit(x index, w index, y index) for every product of a convolution: images and outputs (batch, row, column,
/// channel), weights (out, in, row, column); taps outside the image are left out.
template <typename Visit>
void visit_conv2d(const kernels::Conv2dShape& s, const Visit& visit) {
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t p = 0; p < s.out_height(); ++p) {
      for (std::int64_t q = 0; q < s.out_width(); ++q) {
        for (std::int64_t r = 0; r < s.kernel; ++r) {
          const std::int64_t row = p * s.stride - s.padding + r;
          if (row < 0 || row >= s.height) continue;
          for (std::int64_t c = 0; c < s.kernel; ++c) {
            const std::int64_t column = q * s.stride - s.padding + c;
            if (column < 0 || column >= s.width) continue;
            for (std::int64_t o = 0; o < s.out_channels; ++o) {
              for (std::int64_t i = 0; i < s.in_channels; ++i) {
                visit(static_cast<std::size_t>(((b * s.height + row) * s.width + column) * s.in_channels + i),
                      static_cast<std::size_t>(((o * s.in_channels + i) * s.kernel + r) * s.kernel + c),
                      static_cast<std::size_t>(((b * s.out_height() + p) * s.out_width() + q) * s.out_channels + o));
              }
            }
          }
        }
      }
    }
  }
}

inline std::vector<double> conv2d(const kernels::Conv2dShape& s, std::span<const double> x, std::span<const double> w) {
  std::vector<double> y(static_cast<std::size_t>(s.batch * s.out_height() * s.out_width() * s.out_channels));
  visit_conv2d(s, [&](std::size_t xi, std::size_t wi, std::size_t yi) { y[yi] += x[xi] * w[wi]; });
  return y;
}

inline std::vector<double> conv2d_dx(const kernels::Conv2dShape& s, std::span<const double> dy,
                                     std::span<const double> w) {
  std::vector<double> dx(static_cast<std::size_t>(s.batch * s.height * s.width * s.in_channels));
  visit_conv2d(s, [&](std::size_t xi, std::size_t wi, std::size_t yi) { dx[xi] += dy[yi] * w[wi]; });
  return dx;
}

inline std::vector<double> conv2d_dw(const kernels::Conv2dShape& s, std::span<const double> x,
                                     std::span<const double> dy) {
  std::vector<double> dw(static_cast<std::size_t>(s.out_channels * s.in_channels * s.kernel * s.kernel));
  visit_conv2d(s, [&](std::size_t xi, std::size_t wi, std::size_t yi) { dw[wi] += x[xi] * dy[yi]; });
  return dw;
}

}  // namespace shoal::test::reference
