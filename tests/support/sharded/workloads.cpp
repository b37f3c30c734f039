#include "shoal/tests/support/sharded/workloads.h"

#include <stdexcept>

#include "shoal/nn/activation.h"
#include "shoal/nn/add.h"
#include "shoal/nn/embedding.h"
#include "shoal/nn/layer_norm.h"
#include "shoal/nn/linear.h"
#include "shoal/nn/models/chain.h"
#include "shoal/nn/models/gpt.h"
#include "shoal/nn/models/mlp.h"
#include "shoal/nn/models/registry.h"
#include "shoal/nn/models/resnet.h"
#include "shoal/optim/adamw.h"
#include "shoal/optim/sgd.h"

namespace shoal::test {
namespace {

constexpr int kGlobalBatch = 12;  // divides by 1, 2, 3 and 4
constexpr std::int64_t kAwkwardSequence = 5;
constexpr int kAwkwardVocabulary = 7;

std::unique_ptr<optim::Rule> adamw() { return optim::make_adamw({.weight_decay = 0.1}); }
std::unique_ptr<optim::Rule> sgd() {
  return optim::make_sgd({.momentum = 0.9, .weight_decay = 5e-4, .is_nesterov = true});
}

Workload gpt(const std::string& name, const nn::GptConfig& config) {
  return {name, [=] { return std::make_unique<nn::Gpt>(config); }, adamw,
          [=](std::int64_t step) {
            return random_tokens(static_cast<std::uint64_t>(step), kGlobalBatch, config.context,
                                 static_cast<int>(config.vocabulary));
          }};
}

Workload resnet9(const std::string& name, std::int64_t width, std::int64_t side, std::int64_t channels) {
  return {name,
          [=] { return std::make_unique<nn::ResNet9>(nn::ImageConfig{.channels = channels, .classes = 10}, width); },
          sgd,
          [=](std::int64_t step) {
            return random_images(static_cast<std::uint64_t>(step), kGlobalBatch, {side, side, channels}, 10);
          }};
}

Workload vectors(const std::string& spec, std::int64_t features) {
  const nn::ModelInputs inputs{.features = features};
  const bool is_chain = nn::model_input_kind(spec, inputs) == nn::InputKind::Vectors && spec.starts_with("chain");
  return {spec, [=] { return nn::make_model(spec, inputs); }, adamw,
          [=](std::int64_t step) {
            HostBatch batch = random_vectors(static_cast<std::uint64_t>(step), kGlobalBatch, features);
            if (!is_chain) {
              const HostBatch classes = random_images(static_cast<std::uint64_t>(step), kGlobalBatch, {1, 1, 1}, 10);
              batch.targets = classes.targets;
              batch.targets_shape = classes.targets_shape;
              batch.targets_dtype = DType::I32;
            }
            return batch;
          }};
}

/// y = scale * table[ids] through a norm and a linear of odd width, back onto the table.
class Awkward final : public nn::Model {
 public:
  Awkward() : Model("Awkward") {
    inner_.mark_unit();
    frozen_.weight().is_trainable = false;
    frozen_.mark_unit();
  }

  nn::Variable predict(nn::Context& ctx, const Tensor& inputs) override {
    nn::Variable x = nn::embedding(ctx, inputs, table_.weight());
    x = frozen_(ctx, x);
    x = inner_(ctx, x);
    return nn::linear(ctx, x, table_.weight());
  }

 private:
  class Inner final : public nn::Module {
   public:
    Inner(nn::Module* parent, std::string name) : Module(parent, std::move(name), "Inner") {
      add_parameter("empty", {0, 4}, {nn::Init::Kind::Constant, 1}, true);
      add_parameter("unused", {3, 5}, {nn::Init::Kind::Normal, 1}, true);
      add_parameter("scalar", {}, {nn::Init::Kind::Constant, 0.5F}, false);
    }
    nn::Variable forward(nn::Context& ctx, const nn::Variable& x) override {
      return nn::add(ctx, x, down_(ctx, nn::relu(ctx, up_(ctx, norm_(ctx, x)))));
    }

   private:
    nn::LayerNorm norm_{this, "norm", 9};
    nn::Linear up_{this, "up", 9, 13};
    nn::Linear down_{this, "down", 13, 9};
  };

  nn::Embedding table_{this, "table", kAwkwardVocabulary, 9};
  nn::Linear frozen_{this, "frozen", 9, 9, false};
  Inner inner_{this, "inner"};
};

std::vector<Workload> make_workloads() {
  std::vector<Workload> made;
  made.push_back(gpt("gpt", {.layers = 2, .width = 32, .heads = 2, .context = 12, .vocabulary = 31}));
  made.push_back(gpt("gpt_odd", {.layers = 3, .width = 24, .heads = 3, .context = 7, .vocabulary = 17}));
  made.push_back(gpt("gpt_wide", {.layers = 1, .width = 64, .heads = 1, .context = 16, .vocabulary = 256}));
  made.push_back(resnet9("resnet", 4, 16, 3));
  made.push_back(resnet9("resnet_odd", 3, 9, 1));
  made.push_back(resnet9("resnet_wide", 8, 8, 1));
  made.push_back(vectors("mlp", 10));
  made.push_back(vectors("chain-9x16", 16));
  made.push_back(vectors("chain-3x7", 7));
  made.push_back({"awkward", make_awkward_model, adamw, [](std::int64_t step) {
                    return random_tokens(static_cast<std::uint64_t>(step), kGlobalBatch, kAwkwardSequence,
                                         kAwkwardVocabulary);
                  }});
  return made;
}

}  // namespace

std::unique_ptr<nn::Model> make_awkward_model() { return std::make_unique<Awkward>(); }

const std::vector<Workload>& small_workloads() {
  static const std::vector<Workload> workloads = make_workloads();
  return workloads;
}

const Workload& small_workload(const std::string& name) {
  for (const Workload& workload : small_workloads()) {
    if (workload.name == name) return workload;
  }
  throw std::invalid_argument("no small workload is called " + name);
}

ShardedRun run_of(const Workload& workload, int ranks) {
  ShardedRun run;
  run.make_model = workload.make_model;
  run.make_rule = workload.make_rule;
  run.make_batch = workload.make_batch;
  run.ranks = ranks;
  return run;
}

}  // namespace shoal::test
