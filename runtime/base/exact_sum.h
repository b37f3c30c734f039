#pragma once

#include <array>
#include <cstdint>

namespace shoal {

/// A sum of doubles without rounding: a fixed-point number wide enough for every double, kept as signed 64-bit limbs of
/// 32 value bits each. A limb is carried on at 2^52, so up to 2^10 accumulators add limb by limb as integers.
/// The result is therefore the same in any order and for any split over ranks.
/// (Kulisch's accumulator; "Computer Arithmetic and Validity", 2008.)
class ExactSum {
 public:
  static constexpr int kLimbs = 70;

  /// Adds `value`. NaN and infinity are counted instead, and make the result NaN.
  void add(double value);
  void add(const ExactSum& other);
  /// The exact sum rounded once to nearest even; NaN where a non-finite value was added.
  double value() const;
  /// Non-finite values added so far.
  std::int64_t num_nonfinite() const { return limbs_[kLimbs]; }

  /// The kLimbs limbs and the count of non-finite values: what an integer all-reduce (sum) combines.
  std::int64_t* words() { return limbs_.data(); }
  const std::int64_t* words() const { return limbs_.data(); }
  static constexpr int kWords = kLimbs + 1;

 private:
  std::array<std::int64_t, kLimbs + 1> limbs_{};
};

}  // namespace shoal
