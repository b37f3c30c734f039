// Trains a module of one's own: which points of a square lie in a ring? Parameters, gradients and optimizer state are
// sharded over two ranks, which are threads of this program. Expected output (the last digits may differ by machine):
//
//   step   1  loss 0.704  accuracy 0.44
//   step 100  loss 0.236  accuracy 0.93
//   step 200  loss 0.078  accuracy 0.98
//   step 300  loss 0.071  accuracy 0.98
//   step 400  loss 0.054  accuracy 0.98
#include <atomic>
#include <cstdio>
#include <exception>
#include <thread>
#include <vector>

#include "shoal/collectives/factory.h"
#include "shoal/nn/activation.h"
#include "shoal/nn/linear.h"
#include "shoal/nn/model.h"
#include "shoal/optim/adamw.h"
#include "shoal/runtime/base/counter_rng.h"
#include "shoal/runtime/device/runtime.h"
#include "shoal/runtime/fsdp/sharded_model.h"

namespace {

constexpr int kRanks = 2;
constexpr std::int64_t kBatch = 128;  // points per rank and step
constexpr std::int64_t kSteps = 400;

// A model is its parameters and a forward; the backward follows from it. The loss is softmax cross-entropy by default.
struct RingModel : shoal::nn::Model {
  RingModel() : Model("RingModel") {
    for (shoal::nn::Module* layer : children()) layer->mark_unit();  // each layer is gathered just before its use
  }

  shoal::nn::Variable predict(shoal::nn::Context& ctx, const shoal::Tensor& points) override {
    shoal::nn::Variable x = shoal::nn::relu(ctx, up(ctx, shoal::nn::constant(points)));
    x = shoal::nn::relu(ctx, across(ctx, x));
    return down(ctx, x);
  }

  shoal::nn::Linear up{this, "up", 2, 64}, across{this, "across", 64, 64}, down{this, "down", 64, 2};
};

// Memory for one rank's part of a batch, and what fills it: every point is a function of its place in the run.
struct Batch {
  explicit Batch(shoal::Device& device)
      : points(device.allocate(kBatch * 2 * 4, shoal::MemoryTag::Inputs)),
        classes(device.allocate(kBatch * 4, shoal::MemoryTag::Inputs)) {}

  shoal::nn::Batch fill(std::int64_t step, int rank) {
    auto* xy = static_cast<float*>(points.data());
    auto* in_ring = static_cast<std::int32_t*>(classes.data());
    for (std::int64_t i = 0; i < kBatch; ++i) {
      const auto index = static_cast<std::uint64_t>((step * kRanks + rank) * kBatch + i);
      xy[2 * i] = 2 * shoal::counter_uniform(1, 0, index) - 1;
      xy[2 * i + 1] = 2 * shoal::counter_uniform(1, 1, index) - 1;
      const float squared_radius = xy[2 * i] * xy[2 * i] + xy[2 * i + 1] * xy[2 * i + 1];
      in_ring[i] = squared_radius > 0.2f && squared_radius < 0.7f ? 1 : 0;
    }
    return {.inputs = {xy, {kBatch, 2}, shoal::DType::F32}, .targets = {in_ring, {kBatch}, shoal::DType::I32}};
  }

  shoal::Buffer points, classes;
};

void print(const shoal::fsdp::StepReport& report) {
  if (report.step != 1 && report.step % 100 != 0) return;
  std::printf("step %3d  loss %.3f  accuracy %.2f\n", static_cast<int>(report.step), report.mean_loss(),
              report.correct / report.count);
}

void train(const shoal::Runtime& runtime, shoal::collectives::Communicator& world) {
  const auto device = runtime.open_device(shoal::DeviceKind::Host, world.rank());
  RingModel model;
  shoal::fsdp::ShardOptions options;
  options.train_batch = {.inputs = {kBatch, 2}, .targets = {kBatch}};
  shoal::fsdp::ShardedModel sharded(model, *device, world, shoal::optim::make_adamw(), options);

  // A step's report comes with the next step, so its batch must stay until then: two take turns.
  Batch batches[] = {Batch(*device), Batch(*device)};
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const auto report = sharded.train_step(batches[step % 2].fill(step, world.rank()), {.lr = 0.005, .max_norm = 1});
    if (report && world.rank() == 0) print(*report);
  }
  const auto last = sharded.finish();
  if (last && world.rank() == 0) print(*last);
}

}  // namespace

int main() {
  const shoal::Runtime runtime;
  const auto worlds = shoal::collectives::make_threads(kRanks);
  std::atomic<bool> has_failed = false;
  std::vector<std::thread> ranks;
  for (const auto& world : worlds) {
    ranks.emplace_back([&] {
      try {
        train(runtime, *world);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", world->rank(), error.what());
        world->abort(error.what());  // the others learn of it at once
        has_failed = true;
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return has_failed ? 1 : 0;
}
