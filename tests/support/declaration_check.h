#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::test {

/// An operand of a call and what the call is to declare of it.
struct DeclaredOperand {
  std::string name;
  Tensor tensor;
  bool is_read = false;     // every byte
  bool is_written = false;  // every byte
  bool is_scratch = false;  // any of it may be written, and read
};

/// Success when the operations that `call` enqueues on a sim stream, taken together, declare that they read what is
/// read and write what is written, every byte of it and nothing else. What is written may be read as well.
::testing::AssertionResult declares_its_operands(std::span<const DeclaredOperand> operands,
                                                 const std::function<void(Stream& stream)>& call);

}  // namespace shoal::test
