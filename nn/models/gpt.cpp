#include "shoal/nn/models/gpt.h"

#include <fmt/format.h>

#include <cmath>

#include "shoal/nn/add.h"
#include "shoal/nn/attention.h"
#include "shoal/runtime/base/error.h"

namespace shoal::nn {
namespace {

constexpr Init kNormalInit{Init::Kind::Normal, 0.02f};
constexpr Init kZeroInit{Init::Kind::Constant, 0};

LinearOptions plain_options() { return {.weight_init = kNormalInit, .bias_init = kZeroInit}; }

/// For the layers whose output is added to the residual stream: 2 per block, so the stream's variance stays put.
LinearOptions residual_options(const GptConfig& config) {
  const double deviation = 0.02 / std::sqrt(2.0 * static_cast<double>(config.layers));
  return {.weight_init = Init{Init::Kind::Normal, static_cast<float>(deviation)}, .bias_init = kZeroInit};
}

LinearOptions gelu_options() {
  LinearOptions options = plain_options();
  options.epilogue = kernels::Epilogue::Gelu;
  return options;
}

const GptConfig& checked(const GptConfig& config) {
  if (config.layers < 1 || config.width < 1 || config.heads < 1 || config.context < 1 || config.vocabulary < 1) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[nn::Gpt] {} layers of width {}, {} heads, context {}, vocabulary {}; all must be positive",
                     config.layers, config.width, config.heads, config.context, config.vocabulary));
  }
  if (config.width % config.heads != 0) {
    fail(ErrorCode::InvalidArgument, fmt::format("[nn::Gpt] {} heads do not divide the width {}; width / 64 = {} would "
                                                 "be usual",
                                                 config.heads, config.width, config.width / 64));
  }
  return config;
}

}  // namespace

GptBlock::GptBlock(Module* parent, std::string name, const GptConfig& config)
    : Module(parent, std::move(name), "Block"),
      heads_(config.heads),
      norm1_(this, "norm1", config.width),
      qkv_(this, "qkv", config.width, 3 * config.width, plain_options()),
      out_(this, "out", config.width, config.width, residual_options(config)),
      norm2_(this, "norm2", config.width),
      up_(this, "up", config.width, 4 * config.width, gelu_options()),
      down_(this, "down", 4 * config.width, config.width, residual_options(config)) {}

Variable GptBlock::forward(Context& ctx, const Variable& x) {
  Variable y = norm1_(ctx, x);
  y = qkv_(ctx, y);
  y = causal_attention(ctx, y, heads_);
  y = out_(ctx, y);
  const Variable middle = add(ctx, x, std::move(y));
  y = norm2_(ctx, middle);
  y = up_(ctx, y);
  y = down_(ctx, y);
  return add(ctx, middle, std::move(y));
}

Gpt::Gpt(const GptConfig& config)
    : Model("Gpt"),
      config_(checked(config)),
      tok_(this, "tok", config.vocabulary, config.width, kNormalInit),
      pos_(this, "pos", config.context, config.width, kNormalInit),
      norm_(this, "norm", config.width) {
  for (std::int64_t layer = 0; layer < config.layers; ++layer) blocks_.add(config).mark_unit();
  norm_.mark_unit();
}

Variable Gpt::predict(Context& ctx, const Tensor& inputs) {
  Variable x = embedding(ctx, inputs, tok_.weight(), &pos_.weight());
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) x = blocks_[layer](ctx, x);
  x = norm_(ctx, x);
  return linear(ctx, x, tok_.weight());
}

}  // namespace shoal::nn
