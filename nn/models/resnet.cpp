#include "shoal/nn/models/resnet.h"

#include "shoal/nn/add.h"
#include "shoal/nn/pooling.h"

namespace shoal::nn {

ConvBlock::ConvBlock(Module* parent, std::string name, std::int64_t in, std::int64_t out,
                     const ConvBlockOptions& options)
    : Module(parent, std::move(name), "ConvBlock"),
      pool_(options.pool),
      conv_(this, "conv", in, out, options.conv),
      bn_(this, "bn", out, {.relu = options.relu}) {}

Variable ConvBlock::forward(Context& ctx, const Variable& x) {
  Variable y = conv_(ctx, x);
  y = bn_(ctx, y);
  return pool_ > 1 ? max_pool(ctx, y, pool_) : y;
}

Residual::Residual(Module* parent, std::string name, std::int64_t in, std::int64_t out, std::int64_t stride)
    : Module(parent, std::move(name), "Residual"),
      conv1_(this, "conv1", in, out, {.stride = stride}),
      bn1_(this, "bn1", out, {.relu = true}),
      conv2_(this, "conv2", out, out),
      bn2_(this, "bn2", out) {
  if (stride == 1 && in == out) return;
  const ConvBlockOptions options{.conv = {.kernel = 1, .stride = stride, .padding = 0}, .relu = false};
  shortcut_ = std::make_unique<ConvBlock>(this, "shortcut", in, out, options);
}

Variable Residual::forward(Context& ctx, const Variable& x) {
  Variable y = conv1_(ctx, x);
  y = bn1_(ctx, y);
  y = conv2_(ctx, y);
  y = bn2_(ctx, y);
  if (shortcut_ == nullptr) return add(ctx, x, std::move(y), true);
  const Variable short_cut = (*shortcut_)(ctx, x);
  return add(ctx, short_cut, std::move(y), true);
}

ResNet9::ResNet9(const ImageConfig& images, std::int64_t width)
    : Model("ResNet9"),
      stem_(this, "stem", images.channels, width),
      layer1_(this, "layer1", width, 2 * width, {.pool = 2}),
      residual1_(this, "residual1", 2 * width, 2 * width),
      layer2_(this, "layer2", 2 * width, 4 * width, {.pool = 2}),
      layer3_(this, "layer3", 4 * width, 8 * width, {.pool = 2}),
      residual3_(this, "residual3", 8 * width, 8 * width),
      head_(this, "head", 8 * width, images.classes) {
  for (Module* child : children()) child->mark_unit();
}

Variable ResNet9::predict(Context& ctx, const Tensor& inputs) {
  Variable x = stem_(ctx, constant(inputs));
  x = layer1_(ctx, x);
  x = residual1_(ctx, x);
  x = layer2_(ctx, x);
  x = layer3_(ctx, x);
  x = residual3_(ctx, x);
  x = global_average_pool(ctx, x);
  return head_(ctx, x);
}

ResNet18::ResNet18(const ImageConfig& images)
    : Model("ResNet18"), stem_(this, "stem", images.channels, 64), head_(this, "head", 512, images.classes) {
  std::int64_t in = 64;
  for (const std::int64_t out : {64, 128, 256, 512}) {
    stages_.add(in, out, in == out ? 1 : 2).mark_unit();
    stages_.add(out, out).mark_unit();
    in = out;
  }
  stem_.mark_unit();
  head_.mark_unit();
}

Variable ResNet18::predict(Context& ctx, const Tensor& inputs) {
  Variable x = stem_(ctx, constant(inputs));
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) x = stages_[stage](ctx, x);
  x = global_average_pool(ctx, x);
  return head_(ctx, x);
}

}  // namespace shoal::nn
