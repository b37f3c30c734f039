#include "shoal/runtime/fsdp/tracer.h"

#include <vector>

#include "shoal/kernels/step_block.h"
#include "shoal/nn/tape.h"
#include "shoal/runtime/device/runtime.h"
#include "shoal/runtime/fsdp/lingering_allocator.h"

namespace shoal::fsdp {
namespace {

/// Hands out addresses of the sim device and writes down when.
class TracingAllocator final : public LingeringAllocator {
 public:
  TracingAllocator(Device& device, Trace& trace) : device_(&device), trace_(&trace) {}

  /// Throws Unsupported where something is held still, naming it.
  void end() const {
    for (const Held& held : leases_) refuse_held(held.what);
  }

 private:
  struct Held {
    Buffer buffer;
    const char* what;  // null: given back
  };

  Leased lease(const Shape& shape, DType dtype, MemoryTag tag, const char* what) override {
    const std::int64_t bytes = shape.numel() * dtype_bytes(dtype);
    const auto id = static_cast<int>(leases_.size());
    leases_.push_back({device_->allocate(bytes, tag), what});
    trace_->events.push_back({TraceKind::Acquire, id, bytes, tag});
    return {Tensor(leases_.back().buffer.data(), shape, dtype), id};
  }

  void give_back(std::int64_t id) noexcept override {
    leases_[static_cast<std::size_t>(id)] = {Buffer(), nullptr};
    trace_->events.push_back({TraceKind::Release, static_cast<int>(id), 0, MemoryTag::Activations});
  }

  void leave() noexcept override { leases_.clear(); }

  Device* device_;
  Trace* trace_;
  std::vector<Held> leases_;
};

/// Everything is always gathered; uses and marks are written down.
class TracingBinding final : public nn::Binding {
 public:
  TracingBinding(Device& device, Trace& trace, nn::Model& model, bool stages_statistics)
      : trace_(trace), stages_statistics_(stages_statistics) {
    for (const nn::Parameter* parameter : model.parameters()) {
      values_.push_back(fake(device, parameter->shape, MemoryTag::UnshardedParameters));
      gradients_.push_back(fake(device, parameter->shape, MemoryTag::UnshardedGradients));
    }
    for (const nn::StateBuffer* buffer : model.state_buffers()) {
      running_.push_back(fake(device, buffer->shape, MemoryTag::Buffers));
      staged_.push_back(fake(device, buffer->shape, MemoryTag::Buffers));
    }
    is_written_.assign(values_.size(), false);
  }

  Tensor value(const nn::Parameter& parameter) override {
    trace_.events.push_back({TraceKind::UseParameter, parameter.index, 0, MemoryTag::Activations});
    return values_[static_cast<std::size_t>(parameter.index)];
  }

  kernels::GradTarget gradient(const nn::Parameter& parameter) override {
    if (!parameter.is_trainable) return {};
    const auto index = static_cast<std::size_t>(parameter.index);
    trace_.events.push_back({TraceKind::WriteGradient, parameter.index, 0, MemoryTag::Activations});
    const bool accumulate = is_written_[index];
    is_written_[index] = true;
    return {gradients_[index], accumulate};
  }

  Tensor running(const nn::StateBuffer& buffer) override { return running_[static_cast<std::size_t>(buffer.index)]; }
  Tensor staged(const nn::StateBuffer& buffer) override {
    if (!stages_statistics_) return {};
    trace_.events.push_back({TraceKind::StageState, buffer.index, 0, MemoryTag::Buffers});
    return staged_[static_cast<std::size_t>(buffer.index)];
  }

  void enter(const nn::Module& module, nn::Phase phase) override {
    mark(phase == nn::Phase::Forward ? TraceKind::EnterForward : TraceKind::EnterBackward, module);
  }
  void exit(const nn::Module& module, nn::Phase phase) override {
    mark(phase == nn::Phase::Forward ? TraceKind::ExitForward : TraceKind::ExitBackward, module);
  }

 private:
  Tensor fake(Device& device, const Shape& shape, MemoryTag tag) {
    buffers_.push_back(device.allocate(shape.numel() * dtype_bytes(DType::F32), tag));
    return Tensor(buffers_.back().data(), shape, DType::F32);
  }
  void mark(TraceKind kind, const nn::Module& module) {
    trace_.events.push_back({kind, module.index(), 0, MemoryTag::Activations});
  }

  Trace& trace_;
  bool stages_statistics_;
  std::vector<Buffer> buffers_;
  std::vector<Tensor> values_, gradients_, running_, staged_;
  std::vector<bool> is_written_;
};

/// Marks every module but the root, whose marks the driver of a pass sets itself, for as long as it lives.
class AllMarked {
 public:
  explicit AllMarked(nn::Model& model) : modules_(model.modules()) {
    for (nn::Module* module : modules_) {
      before_.push_back(module->is_marked());
      module->set_marked(module->parent() != nullptr);
    }
  }
  ~AllMarked() {
    for (std::size_t i = 0; i < modules_.size(); ++i) modules_[i]->set_marked(before_[i]);
  }
  AllMarked(const AllMarked&) = delete;
  AllMarked& operator=(const AllMarked&) = delete;

 private:
  std::vector<nn::Module*> modules_;
  std::vector<bool> before_;
};

}  // namespace

ModelSpec describe_model(nn::Module& root) {
  root.finalize();
  ModelSpec spec;
  for (const nn::Module* module : root.modules()) {
    ModuleSpec entry{.path = module->path(), .type = module->type(), .parent = -1, .is_unit = module->is_unit()};
    if (module->parent() != nullptr) entry.parent = module->parent()->index();
    for (const nn::Parameter* parameter : module->own_parameters()) entry.own_parameters.push_back(parameter->index);
    spec.modules.push_back(std::move(entry));
  }
  for (const nn::Parameter* parameter : root.parameters()) {
    spec.parameters.push_back({parameter->name, parameter->shape, parameter->decays, parameter->is_trainable});
  }
  for (const nn::StateBuffer* buffer : root.state_buffers()) spec.state_buffers.push_back(buffer->shape.numel());
  return spec;
}

Trace trace_model(nn::Model& model, const nn::BatchSpec& spec, TracedPass pass, int num_workers) {
  model.finalize();
  const Runtime runtime({.threads_per_rank = num_workers});
  const std::unique_ptr<Device> device = runtime.open_device(DeviceKind::Sim);
  Trace trace;
  trace.has_loss = pass != TracedPass::Predict;
  const std::unique_ptr<Stream> stream = device->make_stream(StreamRole::Compute, "compute");
  const Lingering<TracingAllocator> allocator(new TracingAllocator(*device, trace));
  TracingBinding binding(*device, trace, model, pass == TracedPass::Train);
  const AllMarked marks(model);

  const auto fake = [&](const Shape& shape, DType dtype) {
    return device->allocate(shape.numel() * dtype_bytes(dtype), MemoryTag::Inputs);
  };
  const Buffer inputs = fake(spec.inputs, spec.inputs_dtype);
  const Buffer targets = fake(spec.targets, spec.targets_dtype);
  const Buffer block = fake({sizeof(kernels::StepBlock)}, DType::U8);
  const nn::Batch batch{Tensor(inputs.data(), spec.inputs, spec.inputs_dtype),
                        Tensor(targets.data(), spec.targets, spec.targets_dtype)};
  nn::Tape tape;
  nn::Context ctx{.stream = *stream,
                  .allocator = *allocator,
                  .binding = binding,
                  .tape = pass == TracedPass::Train ? &tape : nullptr,
                  .uses_batch_statistics = pass == TracedPass::Train,
                  .block = Tensor(block.data(), {sizeof(kernels::StepBlock)}, DType::U8)};
  nn::Variable predictions;
  binding.enter(model, nn::Phase::Forward);
  if (pass == TracedPass::Predict) {
    predictions = model.predict(ctx, batch.inputs);
  } else {
    model.loss(ctx, batch);
  }
  binding.exit(model, nn::Phase::Forward);
  trace.events.push_back({TraceKind::ForwardEnd, -1, 0, MemoryTag::Activations});
  if (pass == TracedPass::Train) {
    trace.has_backward = true;
    binding.enter(model, nn::Phase::Backward);
    tape.backward(ctx);
    binding.exit(model, nn::Phase::Backward);
  }
  predictions = nn::Variable();
  allocator->end();
  return trace;
}

}  // namespace shoal::fsdp
