#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "shoal/kernels/step_block.h"
#include "shoal/nn/context.h"
#include "shoal/nn/module.h"
#include "shoal/nn/tape.h"
#include "shoal/nn/variable.h"
#include "shoal/runtime/device/device.h"
#include "shoal/runtime/device/runtime.h"
#include "shoal/runtime/tensor/heap_allocator.h"

namespace shoal::test {

/// One call of an allocator.
struct AllocationEvent {
  bool is_acquire;
  std::int64_t bytes;
  MemoryTag tag;
  std::int64_t lease;  // in order of acquisition, from 0

  friend bool operator==(const AllocationEvent&, const AllocationEvent&) = default;
};

/// Passes leases through and writes them down.
class RecordingAllocator final : public TensorAllocator {
 public:
  explicit RecordingAllocator(Device& device) : heap_(device) {}

  Leased acquire(const Shape& shape, DType dtype, MemoryTag tag, const char* what) override;
  void release(std::int64_t id) noexcept override;

  int num_held() const { return heap_.num_held(); }
  const std::vector<AllocationEvent>& events() const { return events_; }
  /// Forgets what was written down, once nothing is held, and keeps room for as much again.
  void restart();

 private:
  HeapAllocator heap_;
  std::vector<AllocationEvent> events_;
  std::vector<std::int64_t> lease_of_id_;
  std::int64_t num_leases_ = 0;
};

/// A root to hang layers and parameters on.
class TestRoot : public nn::Module {
 public:
  TestRoot() : Module(nullptr, "", "TestRoot") {}
  using Module::add_parameter;
  using Module::add_state_buffer;
};

/// A device with everything that a pass over a model needs, for tests.
class NnWorld {
 public:
  explicit NnWorld(DeviceKind kind = DeviceKind::Host, int threads = 1);
  ~NnWorld();

  Device& device() { return *device_; }
  Stream& stream() { return *stream_; }
  RecordingAllocator& allocator() { return *allocator_; }
  nn::Tape& tape() { return tape_; }

  /// A context that records on tape(), or not.
  nn::Context context(nn::Binding& binding, bool is_recorded = true);

  /// Memory for as long as this object; poisoned or filled with `values` on the host, untouched on sim.
  Tensor make(const Shape& shape, DType dtype);
  Tensor upload(const Shape& shape, std::span<const float> values);
  Tensor upload(const Shape& shape, std::span<const std::int32_t> values);
  void overwrite(const Tensor& tensor, std::span<const float> values);
  /// After everything enqueued has run.
  std::vector<float> download(const Tensor& tensor);

  /// A variable of `values` that requires a gradient.
  nn::Variable leaf(nn::Context& ctx, const Shape& shape, std::span<const float> values);
  /// Makes `values` the gradient of y, as a loss would.
  void seed_gradient(nn::Context& ctx, const nn::Variable& y, std::span<const float> values);

  void begin_step(double lr = 0, std::int64_t step = 1);
  kernels::StepBlock step_block();
  const Tensor& block() const { return block_; }

 private:
  Runtime runtime_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<RecordingAllocator> allocator_;
  std::vector<Buffer> buffers_;
  nn::Tape tape_;
  Tensor block_;
};

}  // namespace shoal::test
