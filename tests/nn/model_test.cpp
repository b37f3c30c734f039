#include "shoal/nn/model.h"

#include <gtest/gtest.h>

#include "shoal/nn/activation.h"
#include "shoal/nn/linear.h"
#include "shoal/tests/support/model_check.h"

namespace shoal::test {
namespace {

/// The module of module.h's example, as a user would write it.
struct Body : nn::Module {
  Body(nn::Module* parent, std::string name) : Module(parent, std::move(name), "Body") {}
  nn::Linear up{this, "up", 6, 16}, down{this, "down", 16, 3};
  nn::Variable forward(nn::Context& ctx, const nn::Variable& x) override {
    return down(ctx, nn::relu(ctx, up(ctx, x)));
  }
};

struct OwnModel : nn::Model {
  OwnModel() : Model("OwnModel") {}
  Body body{this, "body"};
  nn::Variable predict(nn::Context& ctx, const Tensor& inputs) override { return body(ctx, nn::constant(inputs)); }
};

TEST(Model, OfOnesOwn_TrainsWithTheDefaultLoss) {
  OwnModel model;
  check_model(model, {.batch = {.inputs = {8, 6}, .targets = {8}}, .id_bound = 3, .lr = 0.3});
}

}  // namespace
}  // namespace shoal::test
