#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shoal/runtime/fsdp/trace.h"

namespace shoal::test {

/// One operation of a scripted model: y = f(x, parameters), where x is the result of the operation before it.
struct SyntheticOp {
  std::vector<int> parameters;
  std::int64_t output_bytes = 256;
  std::int64_t workspace_bytes = 0;
  bool reads_in_backward = true;  // the backward reads the parameters' values again
};

/// A model written down as data, and the traces that running it would leave: modules and parameters, and a forward as
/// a sequence of marks and operations. Activations live until their operation's backward has run.
class SyntheticModel {
 public:
  /// `parent` -1 makes the root, which comes first.
  int add_module(const std::string& path, const std::string& type, int parent, bool is_unit = false);
  int add_parameter(int module, const std::string& name, std::int64_t numel, bool is_trainable = true);

  void enter(int module) { steps_.push_back({Step::Kind::Enter, module, {}, is_recording_}); }
  void exit(int module) { steps_.push_back({Step::Kind::Exit, module, {}, is_recording_}); }
  void run(SyntheticOp op) { steps_.push_back({Step::Kind::Run, -1, std::move(op), is_recording_}); }
  /// enter, run, exit.
  void call(int module, SyntheticOp op);
  /// A new state buffer, whose statistics a training forward observes here.
  void stage_state(std::int64_t numel);
  /// Whether what follows is recorded for the backward.
  void set_recording(bool is_recording) { is_recording_ = is_recording; }

  const fsdp::ModelSpec& spec() const { return spec_; }
  fsdp::ModelSpec& spec() { return spec_; }
  fsdp::Trace train_trace() const;
  fsdp::Trace evaluate_trace() const;

 private:
  struct Step {
    enum class Kind { Enter, Exit, Run, Stage } kind;
    int module;  // or state buffer
    SyntheticOp op;
    bool is_recorded;
  };

  fsdp::ModelSpec spec_;
  std::vector<Step> steps_;
  bool is_recording_ = true;
};

/// `num_units` units of `numel` elements each under a root without parameters, one operation each.
SyntheticModel make_chain(int num_units, std::int64_t numel, std::int64_t activation_bytes = 256);

/// Transformer blocks of the given width with an embedding that is tied to the head, in the root, and a final norm that
/// becomes a leaf unit of its own. Operations and activations as in GPT-2.
SyntheticModel make_tied_transformer(int num_blocks, std::int64_t width, std::int64_t vocabulary, std::int64_t tokens);

}  // namespace shoal::test
