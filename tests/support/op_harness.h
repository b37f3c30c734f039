#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "shoal/kernels/step_block.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/device.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"
#include "shoal/tests/support/tolerance.h"

namespace shoal::test {

/// Bytes of an operand, made from typed values by `operand(...)`.
struct OpInput {
  std::string name;
  Shape shape;
  DType dtype = DType::F32;
  std::vector<std::byte> bytes;
  /// As in OpOutput.
  DType read_as = DType::U8;
  /// False where the call is known to leave it alone.
  bool is_read = true;
};

OpInput operand(std::string name, const Shape& shape, std::span<const float> values);
OpInput operand(std::string name, const Shape& shape, std::span<const double> values);
OpInput operand(std::string name, const Shape& shape, std::span<const std::int32_t> values);
OpInput operand(std::string name, const Shape& shape, std::span<const std::uint8_t> values);
/// Bytes that are already in `dtype`, e.g. bf16 or a struct as U8.
OpInput operand(std::string name, const Shape& shape, DType dtype, std::vector<std::byte> bytes);

struct OpOutput {
  std::string name;
  Shape shape;
  DType dtype = DType::F32;
  Tolerance tolerance = kElementwise;
  /// Contents before the call, for outputs that are added to or updated in place; empty: poisoned.
  std::vector<std::byte> initial = {};
  /// Index of an input of equal shape and dtype that this output may share memory with; an extra run does so. -1: none.
  int may_alias = -1;
  /// The reference is known to hold many zeros.
  bool expect_zeros = false;
  /// How bytes are read for the reference, where the tensor is U8 but holds e.g. doubles; such a tensor is aligned to
  /// that type.
  DType read_as = DType::U8;
  /// False for scratch: guarded, but neither compared nor required to repeat.
  bool is_compared = true;
};

/// An output that starts with `values`.
OpOutput accumulated(OpOutput output, std::span<const float> values);

/// One op call and what it must compute. Everything is checked by `check_op`.
struct OpCase {
  std::string name;
  std::vector<OpInput> inputs;
  std::vector<OpOutput> outputs;
  std::function<void(Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out)> call;
  /// Inputs and initial output contents as doubles; one vector per output comes back, an empty one where the caller
  /// checks the value himself. No function: only bits are checked.
  using Doubles = std::vector<std::vector<double>>;
  std::function<Doubles(const Doubles& in, const Doubles& initial)> reference = nullptr;
  /// Every element offset in [0, 64) is tried; raise it where a case is large.
  int offset_step = 1;
};

/// Runs the case on the host device and expects: outputs within tolerance of the reference and independent of what they
/// held before, guard bands intact, inputs unchanged, and equal bits on repeat, with 1, 2 and 3 workers, at 64 offsets
/// of all operands, and with aliased operands where the contract allows them; and that the call declares to its stream
/// what it reads and writes: the inputs and the outputs, whole, and nothing else (see declaration_check.h). Returns the
/// outputs of the first run, for further checks.
std::vector<std::vector<std::byte>> check_op(const OpCase& op);

/// The outputs of one run with one worker, without any check.
std::vector<std::vector<std::byte>> run_op_once(const OpCase& op);

/// `bytes` as floats.
std::vector<float> as_floats(std::span<const std::byte> bytes);

/// Runs `body` and expects an Error of `code` whose text holds every one of `texts`.
void expect_error(ErrorCode code, const std::vector<std::string>& texts, const std::function<void()>& body);

/// A step block as bytes and back.
std::vector<std::byte> bytes_of(const kernels::StepBlock& block);
kernels::StepBlock as_step_block(std::span<const std::byte> bytes);

/// A host device with `threads` workers and one stream on it, for tests outside the harness.
class HostStream {
 public:
  explicit HostStream(int threads = 1);
  ~HostStream();
  Stream& operator*() const { return *stream_; }
  Stream* operator->() const { return stream_.get(); }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace shoal::test
