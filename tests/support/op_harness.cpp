#include "shoal/tests/support/op_harness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "shoal/runtime/device/runtime.h"
#include "shoal/tests/support/compare.h"
#include "shoal/tests/support/declaration_check.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/offset_step.h"

namespace shoal::test {
namespace {

using Bytes = std::vector<std::byte>;

template <typename T>
OpInput typed_operand(std::string name, const Shape& shape, DType dtype, std::span<const T> values) {
  Bytes bytes(values.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return operand(std::move(name), shape, dtype, std::move(bytes));
}

/// Huge as a number of any type.
constexpr std::byte kOtherGuard{0x7f};

/// One way of running a case.
struct RunMode {
  std::string what;
  int workers = 1;
  std::int64_t offset = 0;  // of operand k: (offset + 7 k) mod 64 when not 0
  std::byte poison{0xff};   // what outputs hold before
  std::byte read_guard = kReadGuard;
  std::byte write_guard = kWriteGuard;
  bool use_aliases = false;
};

/// The type that bytes are read as.
DType content_dtype(DType dtype, DType read_as) { return dtype == DType::U8 ? read_as : dtype; }

/// In elements of `dtype`; bytes that hold a wider type move by that type's size.
std::int64_t operand_offset(const RunMode& mode, std::size_t index, DType dtype, DType read_as) {
  if (mode.offset == 0) return 0;
  const std::int64_t steps = (mode.offset + 7 * static_cast<std::int64_t>(index)) % 64;
  return steps * dtype_bytes(content_dtype(dtype, read_as)) / dtype_bytes(dtype);
}

class OpRun {
 public:
  OpRun(const OpCase& op, RunMode mode) : op_(op), mode_(std::move(mode)) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const OpInput& input = op.inputs[i];
      inputs_.emplace_back(input.shape, input.dtype, operand_offset(mode_, i, input.dtype, input.read_as),
                           mode_.read_guard);
      inputs_.back().set_bytes(input.bytes);
      in_.push_back(inputs_.back().tensor());
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const OpOutput& output = op.outputs[i];
      const std::int64_t offset = operand_offset(mode_, op.inputs.size() + i, output.dtype, output.read_as);
      outputs_.emplace_back(output.shape, output.dtype, offset, mode_.write_guard);
      if (output.initial.empty()) {
        std::fill(outputs_.back().bytes().begin(), outputs_.back().bytes().end(), mode_.poison);
      } else {
        outputs_.back().set_bytes(output.initial);
      }
      out_.push_back(is_aliased(i) ? in_[static_cast<std::size_t>(output.may_alias)] : outputs_.back().tensor());
    }
  }

  void execute() {
    HostStream stream(mode_.workers);
    op_.call(*stream, in_, out_);
    stream->synchronize();
    check_surroundings();
  }

  void check_declarations() const {
    std::vector<DeclaredOperand> operands;
    for (std::size_t i = 0; i < in_.size(); ++i) {
      const OpInput& input = op_.inputs[i];
      operands.push_back({.name = input.name, .tensor = in_[i], .is_read = input.is_read});
    }
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const bool is_scratch = !op_.outputs[i].is_compared;
      operands.push_back(
          {.name = op_.outputs[i].name, .tensor = out_[i], .is_written = !is_scratch, .is_scratch = is_scratch});
    }
    EXPECT_TRUE(declares_its_operands(operands, [&](Stream& stream) { op_.call(stream, in_, out_); })) << op_.name;
  }

  std::vector<Bytes> results() const {
    std::vector<Bytes> results;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const GuardedTensor& holder =
          is_aliased(i) ? inputs_[static_cast<std::size_t>(op_.outputs[i].may_alias)] : outputs_[i];
      results.emplace_back(holder.bytes().begin(), holder.bytes().end());
    }
    return results;
  }

 private:
  bool is_aliased(std::size_t output) const { return mode_.use_aliases && op_.outputs[output].may_alias >= 0; }

  bool is_overwritten(std::size_t input) const {
    for (std::size_t i = 0; i < op_.outputs.size(); ++i) {
      if (is_aliased(i) && op_.outputs[i].may_alias == static_cast<int>(input)) return true;
    }
    return false;
  }

  void check_surroundings() const {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const OpInput& input = op_.inputs[i];
      EXPECT_TRUE(inputs_[i].guards_are_intact()) << op_.name << ", " << mode_.what << ": input " << input.name;
      if (is_overwritten(i)) continue;
      EXPECT_TRUE(has_equal_bits(inputs_[i].bytes(), input.bytes, input.dtype))
          << op_.name << ", " << mode_.what << ": input " << input.name << " was changed";
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      EXPECT_TRUE(outputs_[i].guards_are_intact())
          << op_.name << ", " << mode_.what << ": output " << op_.outputs[i].name;
    }
  }

  const OpCase& op_;
  RunMode mode_;
  std::vector<GuardedTensor> inputs_;
  std::vector<GuardedTensor> outputs_;
  std::vector<Tensor> in_;
  std::vector<Tensor> out_;
};

void check_values(const OpCase& op, const std::vector<Bytes>& results) {
  OpCase::Doubles in;
  OpCase::Doubles initial;
  for (const OpInput& input : op.inputs) {
    in.push_back(to_doubles(input.bytes, content_dtype(input.dtype, input.read_as)));
  }
  for (const OpOutput& output : op.outputs) {
    initial.push_back(to_doubles(output.initial, content_dtype(output.dtype, output.read_as)));
  }
  const OpCase::Doubles want = op.reference(in, initial);
  ASSERT_EQ(want.size(), op.outputs.size()) << op.name << ": the reference returns another number of outputs";
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const OpOutput& output = op.outputs[i];
    if (!output.is_compared || (want[i].empty() && !results[i].empty())) continue;
    const DType dtype = content_dtype(output.dtype, output.read_as);
    std::vector<double> rounded = want[i];
    if (dtype == DType::F32 && output.tolerance.max_ulp == 0) {
      for (double& value : rounded) value = static_cast<double>(static_cast<float>(value));
    }
    EXPECT_TRUE(is_within(to_doubles(results[i], dtype), rounded, dtype, output.tolerance, output.expect_zeros))
        << op.name << ": output " << output.name;
  }
}

void expect_same_results(const OpCase& op, const RunMode& mode, const std::vector<Bytes>& first) {
  OpRun run(op, mode);
  run.execute();
  const std::vector<Bytes> again = run.results();
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (!op.outputs[i].is_compared) continue;
    EXPECT_TRUE(has_equal_bits(again[i], first[i], op.outputs[i].dtype))
        << op.name << ", " << mode.what << ": output " << op.outputs[i].name;
  }
}

}  // namespace

OpInput operand(std::string name, const Shape& shape, DType dtype, std::vector<std::byte> bytes) {
  EXPECT_EQ(static_cast<std::int64_t>(bytes.size()), shape.numel() * dtype_bytes(dtype)) << name;
  return {std::move(name), shape, dtype, std::move(bytes)};
}

OpInput operand(std::string name, const Shape& shape, std::span<const float> values) {
  return typed_operand(std::move(name), shape, DType::F32, values);
}

OpInput operand(std::string name, const Shape& shape, std::span<const double> values) {
  return typed_operand(std::move(name), shape, DType::F64, values);
}

OpInput operand(std::string name, const Shape& shape, std::span<const std::int32_t> values) {
  return typed_operand(std::move(name), shape, DType::I32, values);
}

OpInput operand(std::string name, const Shape& shape, std::span<const std::uint8_t> values) {
  return typed_operand(std::move(name), shape, DType::U8, values);
}

OpOutput accumulated(OpOutput output, std::span<const float> values) {
  output.initial.resize(values.size_bytes());
  if (!values.empty()) std::memcpy(output.initial.data(), values.data(), values.size_bytes());
  return output;
}

std::vector<std::vector<std::byte>> check_op(const OpCase& op) {
  OpRun run(op, {.what = "first run"});
  run.execute();
  run.check_declarations();
  const std::vector<Bytes> first = run.results();
  if (op.reference) check_values(op, first);

  expect_same_results(op, {.what = "repeat over other old contents", .poison = std::byte{0x5a}}, first);
  // Integers read beyond an end have not shown yet, nor has what is read beyond an output.
  expect_same_results(op, {.what = "other surroundings", .read_guard = kOtherGuard, .write_guard = kOtherGuard}, first);
  expect_same_results(op, {.what = "2 workers", .workers = 2}, first);
  expect_same_results(op, {.what = "3 workers", .workers = 3}, first);
  const bool has_alias =
      std::any_of(op.outputs.begin(), op.outputs.end(), [](const OpOutput& output) { return output.may_alias >= 0; });
  if (has_alias) expect_same_results(op, {.what = "in place", .use_aliases = true}, first);
  for (int offset = 1; offset < 64; offset += std::max(op.offset_step, least_offset_step())) {
    expect_same_results(op, {.what = fmt::format("offset {}", offset), .offset = offset}, first);
    if (::testing::Test::HasFailure()) break;
  }
  return first;
}

std::vector<std::vector<std::byte>> run_op_once(const OpCase& op) {
  OpRun run(op, {.what = "single run"});
  run.execute();
  return run.results();
}

std::vector<float> as_floats(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

std::vector<std::byte> bytes_of(const kernels::StepBlock& block) {
  std::vector<std::byte> bytes(sizeof(block));
  std::memcpy(bytes.data(), &block, sizeof(block));
  return bytes;
}

kernels::StepBlock as_step_block(std::span<const std::byte> bytes) {
  kernels::StepBlock block{};
  EXPECT_EQ(bytes.size(), sizeof(block));
  std::memcpy(&block, bytes.data(), std::min(bytes.size(), sizeof(block)));
  return block;
}

void expect_error(ErrorCode code, const std::vector<std::string>& texts, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error_code_name(error.code()), error_code_name(code)) << error.what();
    for (const std::string& text : texts) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
          << "'" << text << "' is not in: " << error.what();
    }
    return;
  }
  ADD_FAILURE() << "no error was thrown; expected " << error_code_name(code);
}

HostStream::HostStream(int threads) {
  RuntimeOptions options;
  options.threads_per_rank = threads;
  device_ = Runtime(options).open_device(DeviceKind::Host);
  stream_ = device_->make_stream(StreamRole::Compute, "test");
}

HostStream::~HostStream() = default;

}  // namespace shoal::test
