#pragma once

#include <cmath>
#include <limits>

namespace shoal::test {

/// How far a result may be from the double-precision reference. A bound of infinity is not checked.
/// The only numbers that tests compare with; each says where it comes from.
/// u = 2^-24 is half an ulp of fp32 relative to 1: one rounding.
struct Tolerance {
  double max_ulp;           // worst element, in units in the last place of the result's dtype at the reference's value
  double normalised_mse;    // sum (got - want)^2 / sum want^2
  double max_scaled_error;  // worst |got - want| / max(|want|, root mean square of want)
};

inline constexpr double kUnchecked = std::numeric_limits<double>::infinity();

/// Exact inputs, copies, integers, comparisons: no bit may differ from the rounded reference.
inline constexpr Tolerance kExact{0, 0, 0};

/// One operation, correctly rounded: half an ulp (0.5), and the reference is itself rounded from double (1e-8 covers
/// the double's own error). u^2 = 3.6e-15 bounds the mean square.
inline constexpr Tolerance kOneRounding{0.5 + 1e-8, 3.6e-15, 6e-8};

/// A short chain of fp32 operations per element without cancellation (about 8 roundings of at most half an ulp each,
/// and the error of one operand counted twice where it is squared): 8 ulp; mean square (8u)^2 = 2.3e-13.
inline constexpr Tolerance kElementwise{8, 2.3e-13, 9.6e-7};

/// A chain in which terms may cancel (a sum of two rounded terms): relative to the result's own size nothing can be
/// promised, relative to its root mean square 16 roundings of terms up to 2 rms: 32u = 2e-6. Mean square (4u)^2 would
/// do; 4 times that allows for inputs with few elements.
inline constexpr Tolerance kElementwiseCancelling{kUnchecked, 9.2e-13, 2e-6};

/// Sums in fp32 in blocks: at most 64 sequential additions per partial sum before partial sums are combined pairwise or
/// in double, so |error| <= 80 u sum|terms|; against random signs the typical error is sqrt(80) u. Terms that carry
/// errors of their own (products) add a few u. 80u = 4.8e-6 against the root mean square; mean square (16u)^2.
inline constexpr Tolerance kReduction{kUnchecked, 9.1e-13, 4.8e-6};

/// Sums of products of two values, k summed in order in fp32 by fused operations in parts of at most 256, then added
/// part by part. The j-th of n random terms rounds a partial sum of size sqrt(j): relative to the root mean square of
/// the result sqrt(n / 6) u < 7u for a part; the largest of 10^6 elements lies 5 such deviations away: 35u = 2.1e-6,
/// and as much again for the other parts and for what follows the product (bias, activation, probabilities). Mean
/// square (7u)^2 = 1.8e-13, and as much again and a half.
inline constexpr Tolerance kProduct{kUnchecked, 4.6e-13, 4.8e-6};

/// Gradients of attention: a probability carries the errors of log_sum_exp (half an ulp of a value of up to 8: 4u
/// relative to the probability) and of its score and exponential (8u), dp - delta those of two sums of up to 512
/// products that may cancel (16u); the product over queries or keys adds 8u of its own: sqrt(4^2 + 8^2 + 16^2 + 8^2) u
/// = 20u relative to the element, mean square 1.4e-12. Gradients of the first tokens, whose few keys share the weight,
/// are up to 5 times the root mean square, and the largest error of many lies 5 deviations away: 500u = 3e-5.
inline constexpr Tolerance kAttentionGradient{kUnchecked, 1.4e-12, 3e-5};

/// Gradients of a layer norm whose rows have means from 1024 to 2048 and a deviation of 1: the mean is rounded to a
/// multiple of 2^-13, so xhat is off by up to 2^-14 = 6.1e-5, the same for a whole row, evenly spread: mean square
/// 1.2e-9 of a sum over rows of dy xhat, and as much again for few rows; the largest of many lies 5 deviations
/// of 3.5e-5 away.
inline constexpr Tolerance kRoundedMeanGradient{kUnchecked, 2.5e-9, 1.8e-4};

/// A double sum of fp32 terms that were computed with a few roundings each (4u = 2.4e-7), e.g. a row's loss.
inline constexpr Tolerance kDoubleSum{kUnchecked, 5.8e-14, 4.8e-7};

/// A gradient in fp32 against central differences of the double reference along one direction, relative to
/// |gradient| |direction|: the fp32 gradient carries up to 80u = 4.8e-6 (kReduction), the differences
/// h^2 f'''/6 + 2^-53 f / h with h = 1e-5: about 1e-10 f''' and 1e-11 f; a factor 4 for functions whose f is large
/// beside their gradient.
inline constexpr double kDirectionalGradient = 2e-5;
/// The step of those differences: near the cube root of 2^-53, which balances truncation and rounding.
inline constexpr double kDirectionalStep = 1e-5;

/// A training curve may be this many times as far from PyTorch's float64 curve as PyTorch's own float32 curve, which is
/// what rounding does to this model and these steps; another order of the same sums is as far again, in either
/// direction, and a largest distance over fifty steps scatters by as much.
inline constexpr double kCurveFactor = 3;
/// Where the curves agree to the last bits of the loss: 2 ulp of a loss between 2 and 4 in fp32.
inline constexpr double kCurveFloor = 1e-6;

/// A gradient in fp32 against central differences of the fp32 forward itself along one direction, relative to
/// |gradient| |direction|: the truncation h^2 f'''/6 is 2.5e-6 f''' at h = 2^-8, and the gradient carries 4.8e-6
/// (kReduction); the rest is for functions whose third derivative is up to 400 times their first.
inline constexpr double kForwardGradient = 1e-3;
/// Added to it, relative to the root of the sum of squares of the forward's weighted results: each carries about 16u,
/// on either side of the difference, and their errors are independent: 16 sqrt(2) u = 1.4e-6.
inline constexpr double kForwardRounding = 1.4e-6;
/// The step of those differences, relative to a direction whose largest component is 1: near the cube root of u (2^-8 =
/// 3.9e-3), which balances truncation and rounding.
inline constexpr double kForwardStep = 0x1p-8;

/// The deviation of n normal samples, relative to that of their distribution, scatters by 1 / sqrt(2n): six times that
/// for n = 200.
inline constexpr double kSampledDeviation = 0.3;

/// How far the mean of `count` independent samples of the given variance may lie from its expectation: five standard
/// errors, which one sample set in 1.7 million exceeds.
inline double five_standard_errors(double variance, double count) { return 5 * std::sqrt(variance / count); }

/// A norm of equal values: their mean is off by at most 4u of values up to 4 (1e-6), which the reciprocal deviation
/// 1 / sqrt(epsilon) = 316 turns into up to 3e-4 of a deviation; scales are below 1 / 3 of that here.
inline constexpr double kConstantNorm = 1e-4;
/// The variance of equal values: the square of that error of the mean.
inline constexpr double kConstantVariance = 1e-12;

/// A logarithm in double of a value of a few units: a few roundings of 2^-53 with a factor 1000 to spare.
inline constexpr double kDoubleLogarithm = 1e-12;

/// More zeros than this in a reference make a relative comparison say little; a test must then expect them.
inline constexpr double kMaxZeroFraction = 0.3;

}  // namespace shoal::test
