#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "shoal/runtime/fsdp/sharded_model.h"

namespace shoal::train {

struct GenerateOptions {
  std::string prompt = "\n";
  std::int64_t length = 0;   // bytes to write after the prompt
  double temperature = 0.8;  // 0: always the likeliest byte
  std::uint64_t seed = 0;
};

/// The index that `uniform` in [0, 1) picks from softmax(logits / temperature); the first largest at temperature 0.
/// Throws InvalidArgument where there are no logits, one is NaN or the temperature is negative.
std::int64_t pick_index(std::span<const float> logits, double temperature, double uniform);

/// Text that a byte-level language model writes after the prompt, which is not repeated. `window` (1, T) I32 is host
/// memory of the form that the model's predict_batch named; it holds the last T bytes. Byte number i depends on (seed,
/// i) and what comes before it, so it is the same on every rank. Collective: every rank must call it alike.
std::string generate_text(fsdp::ShardedModel& model, const Tensor& window, const GenerateOptions& options);

}  // namespace shoal::train
