#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shoal {

/// What device memory is held for.
enum class MemoryTag : std::uint8_t {
  Parameters,           // master shards (or full parameters where a strategy holds them)
  Gradients,            // gradient shards
  OptimizerState,       //
  Buffers,              // batch-norm statistics and the like
  Inputs,               // batches
  Control,              // the step block, small reduction scratch
  UnshardedParameters,  // gathered flat parameters
  UnshardedGradients,   // reduce inputs
  Activations,          //
  Workspace,            // scratch of ops
};
inline constexpr int kNumMemoryTags = 10;

/// "parameters", "gradients", "optimizer_state", "buffers", "inputs", "control", "unsharded_parameters",
/// "unsharded_gradients", "activations", "workspace".
std::string_view memory_tag_name(MemoryTag tag);

/// Bytes by tag, and their total at one moment (which for peaks is not the sum of the tags' peaks).
struct MemoryBytes {
  std::array<std::int64_t, kNumMemoryTags> by_tag{};
  std::int64_t total = 0;

  std::int64_t operator[](MemoryTag tag) const { return by_tag[static_cast<std::size_t>(tag)]; }
  friend bool operator==(const MemoryBytes&, const MemoryBytes&) = default;
};

/// Counts live and peak bytes by tag, in the order of the calls. Used from the rank's thread only, in enqueue order.
class MemoryLedger {
 public:
  /// Does `check` first.
  void acquire(MemoryTag tag, std::int64_t bytes);
  /// Where more is given back than is held, counts down to none and remembers that: memory goes in destructors, which
  /// cannot throw.
  void release(MemoryTag tag, std::int64_t bytes) noexcept;
  /// Throws Internal where more was given back than was held, naming the first time. Devices do this in `allocate` and
  /// `reserve`, streams in `synchronize`.
  void check() const {
    if (fault_) fail_fault();
  }

  const MemoryBytes& live() const { return live_; }
  const MemoryBytes& peak() const { return peak_; }

  /// One line per tag with live and peak bytes, for OutOfMemory messages.
  std::string to_table() const;

 private:
  struct Fault {
    MemoryTag tag = MemoryTag::Parameters;
    std::int64_t bytes = 0;
    std::int64_t held = 0;
  };
  [[noreturn]] void fail_fault() const;

  std::optional<Fault> fault_;  // the first
  MemoryBytes live_;
  MemoryBytes peak_;
};

}  // namespace shoal
