#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace shoal::test::reference {

struct ImageShape {
  std::size_t batch, height, width, channels;
  std::size_t at(std::size_t b, std::size_t row, std::size_t column, std::size_t c) const {
    return ((b * height + row) * width + column) * channels + c;
  }
  std::size_t numel() const { return batch * height * width * channels; }
};

struct MaxPool {
  std::vector<double> y, argmax;
};

/// Largest of each window, the first of equals; NaN is larger than any number.
inline MaxPool max_pool(const ImageShape& in, const std::vector<double>& x, std::size_t window) {
  MaxPool out;
  for (std::size_t b = 0; b < in.batch; ++b) {
    for (std::size_t p = 0; p < in.height / window; ++p) {
      for (std::size_t q = 0; q < in.width / window; ++q) {
        for (std::size_t c = 0; c < in.channels; ++c) {
          double best = x[in.at(b, p * window, q * window, c)];
          std::size_t place = 0;
          for (std::size_t k = 1; k < window * window; ++k) {
            const double value = x[in.at(b, p * window + k / window, q * window + k % window, c)];
            if (value > best || (std::isnan(value) && !std::isnan(best))) {
              best = value;
              place = k;
            }
          }
          out.y.push_back(best);
          out.argmax.push_back(static_cast<double>(place));
        }
      }
    }
  }
  return out;
}

/// dx += dy at the places that argmax names.
inline void max_pool_backward(const ImageShape& in, const std::vector<double>& dy, const std::vector<double>& argmax,
                              std::size_t window, std::vector<double>& dx) {
  std::size_t i = 0;
  for (std::size_t b = 0; b < in.batch; ++b) {
    for (std::size_t p = 0; p < in.height / window; ++p) {
      for (std::size_t q = 0; q < in.width / window; ++q) {
        for (std::size_t c = 0; c < in.channels; ++c, ++i) {
          const auto place = static_cast<std::size_t>(argmax[i]);
          dx[in.at(b, p * window + place / window, q * window + place % window, c)] += dy[i];
        }
      }
    }
  }
}

inline std::vector<double> global_average_pool(const ImageShape& in, const std::vector<double>& x) {
  std::vector<double> y(in.batch * in.channels);
  const std::size_t pixels = in.height * in.width;
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i / (pixels * in.channels) * in.channels + i % in.channels] += x[i] / static_cast<double>(pixels);
  }
  return y;
}

/// dx += dy / (H W).
inline void global_average_pool_backward(const ImageShape& in, const std::vector<double>& dy, std::vector<double>& dx) {
  const std::size_t pixels = in.height * in.width;
  for (std::size_t i = 0; i < dx.size(); ++i) {
    dx[i] += dy[i / (pixels * in.channels) * in.channels + i % in.channels] / static_cast<double>(pixels);
  }
}

}  // namespace shoal::test::reference
