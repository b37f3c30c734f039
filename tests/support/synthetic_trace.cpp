#include "shoal/tests/support/synthetic_trace.h"

#include <algorithm>
#include <utility>

namespace shoal::test {
namespace {

using fsdp::Trace;
using fsdp::TraceKind;

/// Writes a trace down.
class Recorder {
 public:
  explicit Recorder(const fsdp::ModelSpec& spec) : spec_(spec) {}

  void mark(TraceKind kind, int module = -1) { trace.events.push_back({kind, module}); }

  int acquire(std::int64_t bytes, MemoryTag tag = MemoryTag::Activations) {
    const int id = num_leases_++;
    trace.events.push_back({TraceKind::Acquire, id, bytes, tag});
    return id;
  }
  void release(int lease) { trace.events.push_back({TraceKind::Release, lease}); }

  void use(const std::vector<int>& parameters) {
    for (const int p : parameters) trace.events.push_back({TraceKind::UseParameter, p});
  }
  void write_gradients(const std::vector<int>& parameters) {
    for (const int p : parameters) {
      if (spec_.parameters[static_cast<std::size_t>(p)].is_trainable) {
        trace.events.push_back({TraceKind::WriteGradient, p});
      }
    }
  }
  void use_workspace(std::int64_t bytes) {
    if (bytes > 0) release(acquire(bytes, MemoryTag::Workspace));
  }

  Trace trace;

 private:
  const fsdp::ModelSpec& spec_;
  int num_leases_ = 0;
};

}  // namespace

int SyntheticModel::add_module(const std::string& path, const std::string& type, int parent, bool is_unit) {
  spec_.modules.push_back({.path = path, .type = type, .parent = parent, .is_unit = is_unit});
  return static_cast<int>(spec_.modules.size()) - 1;
}

int SyntheticModel::add_parameter(int module, const std::string& name, std::int64_t numel, bool is_trainable) {
  const int index = static_cast<int>(spec_.parameters.size());
  spec_.parameters.push_back({.name = name, .shape = {numel}, .is_trainable = is_trainable});
  spec_.modules[static_cast<std::size_t>(module)].own_parameters.push_back(index);
  return index;
}

void SyntheticModel::stage_state(std::int64_t numel) {
  steps_.push_back({Step::Kind::Stage, static_cast<int>(spec_.state_buffers.size()), {}, is_recording_});
  spec_.state_buffers.push_back(numel);
}

void SyntheticModel::call(int module, SyntheticOp op) {
  enter(module);
  run(std::move(op));
  exit(module);
}

Trace SyntheticModel::train_trace() const {
  Recorder record(spec_);
  record.trace.has_backward = true;
  std::vector<int> outputs(steps_.size(), -1);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (step.kind == Step::Kind::Enter) record.mark(TraceKind::EnterForward, step.module);
    if (step.kind == Step::Kind::Exit) record.mark(TraceKind::ExitForward, step.module);
    if (step.kind == Step::Kind::Stage) record.mark(TraceKind::StageState, step.module);
    if (step.kind != Step::Kind::Run) continue;
    outputs[i] = record.acquire(step.op.output_bytes);
    record.use(step.op.parameters);
    record.use_workspace(step.op.workspace_bytes);
  }
  record.mark(TraceKind::ForwardEnd);
  int gradient = -1;  // of the output of the operation that comes next
  for (std::size_t i = steps_.size(); i-- > 0;) {
    const Step& step = steps_[i];
    if (step.kind == Step::Kind::Run) {
      if (step.is_recorded) {
        if (gradient < 0) gradient = record.acquire(step.op.output_bytes);
        const bool has_input = std::any_of(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(i),
                                           [](const Step& s) { return s.kind == Step::Kind::Run && s.is_recorded; });
        const int input_gradient = has_input ? record.acquire(step.op.output_bytes) : -1;
        if (step.op.reads_in_backward) record.use(step.op.parameters);
        record.write_gradients(step.op.parameters);
        record.use_workspace(step.op.workspace_bytes);
        record.release(gradient);
        gradient = input_gradient;
      }
      record.release(outputs[i]);
    } else if (step.is_recorded && step.kind != Step::Kind::Stage) {
      record.mark(step.kind == Step::Kind::Exit ? TraceKind::EnterBackward : TraceKind::ExitBackward, step.module);
    }
  }
  return std::move(record.trace);
}

Trace SyntheticModel::evaluate_trace() const {
  Recorder record(spec_);
  int input = -1;
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::Enter) record.mark(TraceKind::EnterForward, step.module);
    if (step.kind == Step::Kind::Exit) record.mark(TraceKind::ExitForward, step.module);
    if (step.kind != Step::Kind::Run) continue;
    const int output = record.acquire(step.op.output_bytes);
    record.use(step.op.parameters);
    record.use_workspace(step.op.workspace_bytes);
    if (input >= 0) record.release(input);
    input = output;
  }
  record.mark(TraceKind::ForwardEnd);
  if (input >= 0) record.release(input);
  return std::move(record.trace);
}

SyntheticModel make_chain(int num_units, std::int64_t numel, std::int64_t activation_bytes) {
  SyntheticModel model;
  const int root = model.add_module("", "Chain", -1);
  model.enter(root);
  for (int i = 0; i < num_units; ++i) {
    const std::string path = "layers." + std::to_string(i);
    const int module = model.add_module(path, "Layer", root, true);
    const int parameter = model.add_parameter(module, path + ".weight", numel);
    model.call(module, {.parameters = {parameter}, .output_bytes = activation_bytes});
  }
  model.exit(root);
  return model;
}

SyntheticModel make_tied_transformer(int num_blocks, std::int64_t width, std::int64_t vocabulary, std::int64_t tokens) {
  SyntheticModel model;
  const std::int64_t row = 4 * tokens;  // bytes of one activation per unit of width
  const int root = model.add_module("", "Transformer", -1);
  const int embedding = model.add_module("embedding", "Embedding", root);
  const int table = model.add_parameter(embedding, "embedding.weight", vocabulary * width);
  model.enter(root);
  model.call(embedding, {.parameters = {table}, .output_bytes = row * width, .reads_in_backward = false});
  for (int i = 0; i < num_blocks; ++i) {
    const std::string path = "blocks." + std::to_string(i);
    const int block = model.add_module(path, "Block", root, true);
    model.enter(block);
    const auto layer = [&](const std::string& name, std::int64_t inputs, std::int64_t outputs) {
      const int module = model.add_module(path + "." + name, "Linear", block);
      const int weight = model.add_parameter(module, path + "." + name + ".weight", inputs * outputs);
      const int bias = model.add_parameter(module, path + "." + name + ".bias", outputs);
      model.call(module, {.parameters = {weight, bias}, .output_bytes = row * outputs});
    };
    const auto plain = [&](std::int64_t outputs, std::int64_t workspace) {
      model.run({.parameters = {}, .output_bytes = row * outputs, .workspace_bytes = workspace});
    };
    layer("norm1", 1, width);
    layer("qkv", width, 3 * width);
    plain(width, row * 64);  // attention
    layer("out", width, width);
    plain(width, 0);  // residual
    layer("norm2", 1, width);
    layer("up", width, 4 * width);
    plain(4 * width, 0);  // activation
    layer("down", 4 * width, width);
    plain(width, 0);  // residual
    model.exit(block);
  }
  const int norm = model.add_module("norm", "LayerNorm", root);
  const int scale = model.add_parameter(norm, "norm.weight", width);
  model.call(norm, {.parameters = {scale}, .output_bytes = row * width});
  model.run({.parameters = {table}, .output_bytes = row * vocabulary, .workspace_bytes = 4096});
  model.exit(root);
  return model;
}

}  // namespace shoal::test
