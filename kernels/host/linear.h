#pragma once

#include "shoal/kernels/linear.h"

namespace shoal::kernels::host {

// The ops of kernels/linear.h on host memory, arguments checked.

struct LinearForward {
  Tensor x;
  Tensor w;
  Tensor bias;
  Tensor y;
  Epilogue epilogue;
  Tensor pre;
};

void linear_forward(Stream& stream, const LinearForward& t);
void linear_backward_input(Stream& stream, const Tensor& dy, const Tensor& w, const GradTarget& dx);
void linear_backward_weight(Stream& stream, const Tensor& dy, const Tensor& x, const GradTarget& dw);
void linear_backward_bias(Stream& stream, const Tensor& dy, const GradTarget& db);

}  // namespace shoal::kernels::host
