#pragma once

#include <cstdint>
#include <string>

#include "shoal/nn/embedding.h"
#include "shoal/nn/layer_norm.h"
#include "shoal/nn/linear.h"
#include "shoal/nn/model.h"
#include "shoal/nn/module_list.h"

namespace shoal::nn {

struct GptConfig {
  std::int64_t layers = 2;
  std::int64_t width = 128;
  std::int64_t heads = 2;         // divides the width
  std::int64_t context = 256;     // longest sequence
  std::int64_t vocabulary = 256;  // ids are below it
};

/// One pre-norm transformer block: x + out(attention(qkv(norm1(x)))), then + down(gelu(up(norm2(.)))).
class GptBlock : public Module {
 public:
  GptBlock(Module* parent, std::string name, const GptConfig& config);

  Variable forward(Context& ctx, const Variable& x) override;

 private:
  std::int64_t heads_;
  LayerNorm norm1_;
  Linear qkv_;
  Linear out_;
  LayerNorm norm2_;
  Linear up_;
  Linear down_;
};

/// GPT-2 (Radford et al. 2019): learned positions, pre-norm blocks, tanh GELU, and a head that is the token table.
/// Inputs ids (B, T) I32, T up to the context. Weights start normal with deviation 0.02, those that write to the
/// residual stream with 0.02 / sqrt(2 layers). Blocks and the last norm are units; the token table, used at both ends,
/// and the positions are left to the root.
class Gpt : public Model {
 public:
  /// Throws InvalidArgument where heads do not divide the width or a number is not positive.
  explicit Gpt(const GptConfig& config);

  Variable predict(Context& ctx, const Tensor& inputs) override;

  const GptConfig& config() const { return config_; }

 private:
  GptConfig config_;
  Embedding tok_;
  Embedding pos_;
  ModuleList<GptBlock> blocks_{this, "blocks"};
  LayerNorm norm_;
};

}  // namespace shoal::nn
