#include "shoal/tests/support/declaration_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "shoal/runtime/device/operation_sink.h"
#include "shoal/runtime/device/runtime.h"

namespace shoal::test {
namespace {

/// Which of an operand's bytes were declared.
struct Declared {
  std::vector<bool> read;
  std::vector<bool> written;
};

std::uintptr_t address(const void* data) { return std::bit_cast<std::uintptr_t>(data); }

class DeclarationLog {
 public:
  explicit DeclarationLog(std::span<const DeclaredOperand> operands) : operands_(operands) {
    for (const DeclaredOperand& operand : operands) {
      const auto bytes = static_cast<std::size_t>(operand.tensor.num_bytes());
      declared_.push_back({std::vector<bool>(bytes), std::vector<bool>(bytes)});
    }
  }

  void add(const char* operation, const ByteRanges& reads, const ByteRanges& writes) {
    ++num_operations_;
    for (const ByteRange& range : reads) add_range(operation, "reads", range, &Declared::read);
    for (const ByteRange& range : writes) add_range(operation, "writes", range, &Declared::written);
  }

  /// The first complaint, or nothing.
  std::string complaint() const {
    if (!complaint_.empty()) return complaint_;
    if (num_operations_ == 0) return "nothing was enqueued";
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const DeclaredOperand& operand = operands_[i];
      const Declared& declared = declared_[i];
      const auto is_whole = [](const std::vector<bool>& bytes) {
        return std::ranges::find(bytes, false) == bytes.end();
      };
      const auto is_empty = [](const std::vector<bool>& bytes) {
        return std::ranges::find(bytes, true) == bytes.end();
      };
      if (operand.is_scratch) continue;
      if (operand.is_written && !is_whole(declared.written)) return "does not declare that it writes " + operand.name;
      if (operand.is_written) continue;
      if (!is_empty(declared.written)) return "declares that it writes " + operand.name;
      if (operand.is_read && !is_whole(declared.read)) return "does not declare that it reads " + operand.name;
      if (!operand.is_read && !is_empty(declared.read)) return "declares that it reads " + operand.name;
    }
    return {};
  }

 private:
  void add_range(const char* operation, const char* verb, const ByteRange& range, std::vector<bool> Declared::*member) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const auto begin = address(operands_[i].tensor.data());
      const auto first = static_cast<std::int64_t>(address(range.begin) - begin);
      if (address(range.begin) < begin || first + range.bytes > operands_[i].tensor.num_bytes()) continue;
      std::vector<bool>& bytes = declared_[i].*member;
      std::fill_n(bytes.begin() + first, range.bytes, true);
      return;
    }
    if (!complaint_.empty()) return;
    complaint_ =
        fmt::format("{} declares that it {} {} bytes that are no part of an operand", operation, verb, range.bytes);
  }

  std::span<const DeclaredOperand> operands_;
  std::vector<Declared> declared_;
  std::string complaint_;
  int num_operations_ = 0;
};

}  // namespace

::testing::AssertionResult declares_its_operands(std::span<const DeclaredOperand> operands,
                                                 const std::function<void(Stream& stream)>& call) {
  DeclarationLog log(operands);
  const std::unique_ptr<Device> device = Runtime().open_device(DeviceKind::Sim);
  set_operation_sink(*device, [&log](const Stream&, const char* name, const ByteRanges& reads,
                                     const ByteRanges& writes) { log.add(name, reads, writes); });
  const std::unique_ptr<Stream> stream = device->make_stream(StreamRole::Compute, "declarations");
  call(*stream);
  const std::string complaint = log.complaint();
  if (complaint.empty()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "the call " << complaint;
}

}  // namespace shoal::test
