#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shoal/nn/batch_norm.h"
#include "shoal/nn/conv2d.h"
#include "shoal/nn/linear.h"
#include "shoal/nn/model.h"
#include "shoal/nn/module_list.h"

namespace shoal::nn {

struct ConvBlockOptions {
  Conv2dOptions conv = {};
  bool relu = true;
  int pool = 1;  // a max-pool of this window follows
};

/// Convolution, batch norm, ReLU, max-pool.
class ConvBlock : public Module {
 public:
  ConvBlock(Module* parent, std::string name, std::int64_t in, std::int64_t out, const ConvBlockOptions& options = {});

  Variable forward(Context& ctx, const Variable& x) override;

 private:
  int pool_;
  Conv2d conv_;
  BatchNorm bn_;
};

/// max(0, bn(conv(max(0, bn(conv(x))))) + shortcut(x)), 3 x 3 convolutions; the shortcut is x itself, or a 1 x 1
/// convolution with batch norm where the stride or the width changes (He et al. 2016, figure 2).
class Residual : public Module {
 public:
  Residual(Module* parent, std::string name, std::int64_t in, std::int64_t out, std::int64_t stride = 1);

  Variable forward(Context& ctx, const Variable& x) override;

 private:
  Conv2d conv1_;
  BatchNorm bn1_;
  Conv2d conv2_;
  BatchNorm bn2_;
  std::unique_ptr<ConvBlock> shortcut_;
};

struct ImageConfig {
  std::int64_t channels = 3;
  std::int64_t classes = 10;
};

/// A small residual network for small images (the form of DAWNBench's fast CIFAR entries): a stem of `width` channels;
/// 2, 4 and 8 times the width, each followed by a max-pool of 2; residual blocks after the first and the last; global
/// average pool; a linear classifier. Images of at least 8 x 8. Every block is a unit.
class ResNet9 : public Model {
 public:
  ResNet9(const ImageConfig& images, std::int64_t width);

  Variable predict(Context& ctx, const Tensor& inputs) override;

 private:
  ConvBlock stem_;
  ConvBlock layer1_;
  Residual residual1_;
  ConvBlock layer2_;
  ConvBlock layer3_;
  Residual residual3_;
  Linear head_;
};

/// ResNet-18 in its CIFAR form: a 3 x 3 stem of 64 channels without max-pool, eight residual blocks of 64 to 512
/// channels, global average pool, a linear classifier. Every block is a unit.
class ResNet18 : public Model {
 public:
  explicit ResNet18(const ImageConfig& images);

  Variable predict(Context& ctx, const Tensor& inputs) override;

 private:
  ConvBlock stem_;
  ModuleList<Residual> stages_{this, "stages"};
  Linear head_;
};

}  // namespace shoal::nn
