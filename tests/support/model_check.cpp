#include "shoal/tests/support/model_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "shoal/kernels/gradient_norm.h"
#include "shoal/kernels/sgd.h"
#include "shoal/nn/direct_binding.h"
#include "shoal/runtime/base/exact_sum.h"
#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/nn_world.h"

namespace shoal::test {
namespace {

/// A model being trained on one batch.
class Training {
 public:
  Training(nn::Model& model, const ModelCheck& check, DeviceKind kind)
      : model_(model), check_(check), world_(kind), binding_(world_.stream(), model, 5) {
    batch_.inputs = random(check.batch.inputs, check.batch.inputs_dtype, 1);
    batch_.targets = random(check.batch.targets, check.batch.targets_dtype, 2);
    words_ = world_.make({ExactSum::kWords}, DType::I64);
  }

  NnWorld& world() { return world_; }
  nn::DirectBinding& binding() { return binding_; }

  void forward_backward() {
    world_.allocator().restart();
    nn::Context ctx = world_.context(binding_);
    model_.loss(ctx, batch_);
    world_.tape().backward(ctx);
  }

  /// One step of SGD; the mean loss before it.
  double step() {
    binding_.zero_gradients();
    kernels::begin_step(world_.stream(),
                        {.seed = 1, .lr = check_.lr, .step = 1, .max_norm = std::numeric_limits<double>::infinity()},
                        world_.block());
    forward_backward();
    world_.stream().fill(words_.data(), 0, words_.num_bytes());
    const auto parameters = model_.parameters();
    for (const nn::Parameter* parameter : parameters) {
      kernels::add_sum_squares(world_.stream(), flat(binding_.gradient_so_far(*parameter)), words_);
    }
    kernels::finish_gradient_norm(world_.stream(), words_, world_.block());
    for (const nn::Parameter* parameter : parameters) {
      kernels::SgdUpdate update;
      update.w = flat(binding_.value(*parameter));
      update.g = flat(binding_.gradient_so_far(*parameter));
      update.block = world_.block();
      kernels::sgd_update(world_.stream(), update);
    }
    binding_.update_running_statistics();
    const kernels::StepBlock block = world_.step_block();
    return block.loss_sum / block.count;
  }

  double evaluate() {
    world_.begin_step();
    nn::Context ctx = world_.context(binding_, false);
    ctx.uses_batch_statistics = false;
    model_.loss(ctx, batch_);
    const kernels::StepBlock block = world_.step_block();
    return block.loss_sum / block.count;
  }

 private:
  static Tensor flat(const Tensor& tensor) { return tensor.reshaped({tensor.numel()}); }

  Tensor random(const Shape& shape, DType dtype, std::uint64_t seed) {
    if (dtype == DType::I32) return world_.upload(shape, index_values(shape.numel(), seed, check_.id_bound));
    return world_.upload(shape, normal_values(shape.numel(), seed));
  }

  nn::Model& model_;
  const ModelCheck& check_;
  NnWorld world_;
  nn::DirectBinding binding_;
  nn::Batch batch_;
  Tensor words_;
};

}  // namespace

void check_model(nn::Model& model, const ModelCheck& check) {
  Training host(model, check, DeviceKind::Host);
  const double first = host.step();
  const std::vector<AllocationEvent> events = host.world().allocator().events();
  EXPECT_EQ(host.world().allocator().num_held(), 0);
  for (const nn::Parameter* parameter : model.parameters()) {
    const auto gradient = host.world().download(host.binding().gradient_so_far(*parameter));
    EXPECT_TRUE(std::any_of(gradient.begin(), gradient.end(), [](float g) { return g != 0; })) << parameter->name;
  }
  double last = first;
  for (int step = 1; step < check.steps; ++step) last = host.step();
  EXPECT_LT(last, first);
  EXPECT_EQ(host.world().allocator().events(), events) << "passes differ";

  EXPECT_TRUE(std::isfinite(host.evaluate()));
  EXPECT_EQ(host.world().allocator().num_held(), 0);

  Training sim(model, check, DeviceKind::Sim);
  sim.forward_backward();
  EXPECT_EQ(sim.world().allocator().events(), events) << "the sim device's leases differ";
}

std::int64_t num_parameters(nn::Module& root) {
  std::int64_t sum = 0;
  for (const nn::Parameter* parameter : root.parameters()) sum += parameter->shape.numel();
  return sum;
}

}  // namespace shoal::test
