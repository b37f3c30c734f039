#include "shoal/runtime/train/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "shoal/runtime/base/counter_rng.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/hash.h"
#include "shoal/runtime/train/text_dataset.h"

namespace shoal::train {

std::int64_t pick_index(std::span<const float> logits, double temperature, double uniform) {
  const bool has_nan = std::any_of(logits.begin(), logits.end(), [](float logit) { return std::isnan(logit); });
  if (logits.empty() || has_nan || !(temperature >= 0)) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[generate] {} logits{} at temperature {}; numbers and a temperature of at least 0 are needed",
                     logits.size(), has_nan ? ", some NaN," : "", temperature));
  }
  const auto largest = std::max_element(logits.begin(), logits.end());
  if (temperature == 0) return largest - logits.begin();
  double total = 0;
  for (const float logit : logits) total += std::exp((static_cast<double>(logit) - *largest) / temperature);
  double left = uniform * total;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    left -= std::exp((static_cast<double>(logits[i]) - *largest) / temperature);
    if (left < 0) return static_cast<std::int64_t>(i);
  }
  return largest - logits.begin();  // rounding left something over
}

std::string generate_text(fsdp::ShardedModel& model, const Tensor& window, const GenerateOptions& options) {
  const auto context = static_cast<std::size_t>(window.shape()[1]);
  std::string text = options.prompt.empty() ? "\n" : options.prompt;
  const std::size_t prompt_size = text.size();
  const std::uint64_t sequence = hash_text("generate");
  for (std::int64_t i = 0; i < options.length; ++i) {
    const std::size_t seen = std::min(context, text.size());
    auto* ids = window.as<std::int32_t>();
    // Ids after the last byte change nothing before them: attention is causal.
    std::fill_n(ids, context, 0);
    for (std::size_t at = 0; at < seen; ++at) ids[at] = static_cast<unsigned char>(text[text.size() - seen + at]);
    const std::vector<float> logits = model.predict(window);
    const std::size_t vocabulary = logits.size() / context;
    const auto num_bytes = std::min<std::size_t>(vocabulary, kNumBytes);
    const std::span<const float> last(logits.data() + (seen - 1) * vocabulary, num_bytes);
    const double uniform = counter_uniform(options.seed, sequence, static_cast<std::uint64_t>(i));
    text += static_cast<char>(pick_index(last, options.temperature, uniform));
  }
  return text.substr(prompt_size);
}

}  // namespace shoal::train
