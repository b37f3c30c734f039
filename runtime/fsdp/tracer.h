#pragma once

#include "shoal/nn/model.h"
#include "shoal/runtime/fsdp/trace.h"

namespace shoal::fsdp {

/// The module tree of `root` as data, in the order of its finalize().
ModelSpec describe_model(nn::Module& root);

/// What of a model one pass runs.
enum class TracedPass { Train, Evaluate, Predict };

/// Runs the model once on the sim device, shapes only: no storage, no math. `num_workers` is the worker count of the
/// device that will run it, since workspaces depend on it. Every module is marked while tracing; marks are as before
/// afterwards. Train: loss and backward; Evaluate: loss without gradients; Predict: predictions for spec.inputs, held
/// to the end. Throws Unsupported, by name, where memory of the pass is still held after it: a variable that a module
/// keeps.
Trace trace_model(nn::Model& model, const nn::BatchSpec& spec, TracedPass pass, int num_workers);

}  // namespace shoal::fsdp
