#include "shoal/runtime/fsdp/sharded_model.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "shoal/kernels/fill.h"
#include "shoal/kernels/step_block.h"
#include "shoal/nn/initial_values.h"
#include "shoal/nn/tape.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/fsdp/parameter_reader.h"
#include "shoal/runtime/fsdp/pass_executor.h"
#include "shoal/runtime/fsdp/planned_allocator.h"
#include "shoal/runtime/fsdp/planned_model.h"
#include "shoal/runtime/fsdp/rank_state.h"
#include "shoal/runtime/fsdp/unit_binding.h"

namespace shoal::fsdp {
namespace {

PlannedModel plan_for(nn::Model& model, Device& device, const collectives::Communicator& world, const optim::Rule& rule,
                      const ShardOptions& options) {
  PlannedModel planned = plan_model(model, options, world.size(), device.num_workers(), rule.num_state_tensors());
  for (const ParameterSpec& parameter : planned.model.parameters) {
    if (rule.needs({parameter.name, parameter.shape, parameter.decays}) == optim::Needs::Elementwise) continue;
    fail(ErrorCode::Unsupported,
         fmt::format("[shard] rule '{}' needs more than slices of '{}'; only elementwise rules are sharded so far",
                     rule.name(), parameter.name));
  }
  if (options.edit_plan) {
    options.edit_plan(planned.train.plan);
    options.edit_plan(planned.update.plan);
  }
  return planned;
}

/// A power of two near 1 / (items in the global batch): exact, and the same for every split of the batch over ranks.
double gradient_seed(const nn::BatchSpec& batch, int world_size) {
  const auto items = static_cast<double>(batch.targets.numel()) * world_size;
  return items < 1 ? 1.0 : std::exp2(-std::floor(std::log2(items) + 0.5));
}

StepReport report_of(const kernels::StepBlock& block) {
  return {.step = block.step,
          .loss_sum = block.loss_sum,
          .count = block.count,
          .correct = block.correct,
          .grad_norm = block.grad_norm,
          .clip_factor = block.clip_factor,
          .is_skipped = block.is_skipped != 0};
}

}  // namespace

struct ShardedModel::Impl {
  Impl(nn::Model& model_of_rank, Device& device_of_rank, collectives::Communicator& world,
       std::unique_ptr<optim::Rule> rule_of_rank, ShardOptions shard_options);

  void materialise();
  void mark_units();
  nn::Context make_context(nn::Tape* recording, bool uses_batch_statistics);
  void enter_root(nn::Phase phase) {
    if (rank.units.unit_of_module[0] >= 0) binding.enter(model, phase);
  }
  void exit_root(nn::Phase phase) {
    if (rank.units.unit_of_module[0] >= 0) binding.exit(model, phase);
  }
  void begin_pass(PassExecutor& executor, const Plan& plan, bool stages_statistics);
  void forward_backward(const nn::Batch& batch);
  void update();
  void read_back(std::size_t slot);
  void use_spare_block();
  void await_peers();
  template <typename Body>
  auto guarded(const Body& body);

  nn::Model& model;
  Device& device;
  std::unique_ptr<optim::Rule> rule;
  ShardOptions options;
  PlannedModel planned;
  RankState rank;
  UnitBinding binding;
  PlannedAllocator allocator;
  nn::Tape tape;
  PassExecutor train;
  PassExecutor updater;
  std::unique_ptr<PassExecutor> evaluator;
  std::unique_ptr<PassExecutor> predictor;
  std::unique_ptr<Event> step_end;
  kernels::StepBlock reports[2] = {};
  std::int64_t step = 0;
  bool has_pending_report = false;
  double seed;
};

ShardedModel::Impl::Impl(nn::Model& model_of_rank, Device& device_of_rank, collectives::Communicator& world,
                         std::unique_ptr<optim::Rule> rule_of_rank, ShardOptions shard_options)
    : model(model_of_rank),
      device(device_of_rank),
      rule(std::move(rule_of_rank)),
      options(std::move(shard_options)),
      planned(plan_for(model, device, world, *rule, options)),
      rank(device, world, planned.model, planned.units, planned.arena_bytes),
      binding(rank, model.parameters()),
      allocator(device, rank.arena),
      train(planned.train.plan, rank),
      updater(planned.update.plan, rank),
      step_end(device.make_event("step_end")),
      seed(gradient_seed(options.train_batch, world.size())) {
  rank.rule = rule.get();
  rank.padding = options.padding;
  if (planned.evaluate) evaluator = std::make_unique<PassExecutor>(planned.evaluate->plan, rank);
  if (planned.predict) predictor = std::make_unique<PassExecutor>(planned.predict->plan, rank);
  materialise();
  mark_units();
}

void ShardedModel::Impl::materialise() {
  Stream& stream = *rank.streams.compute;
  const bool is_sharded = rank.is_sharded(options.policies.strategy);
  const std::vector<nn::Parameter*> parameters = model.parameters();
  for (const FlatParameter& flat : rank.units.flats) {
    FlatState state;
    state.storage = std::make_unique<FlatStorage>(device, stream, flat,
                                                  FlatStorage::Options{.rank = rank.rank,
                                                                       .is_sharded = is_sharded,
                                                                       .num_state_tensors = rule->num_state_tensors(),
                                                                       .padding = options.padding});
    state.storage->materialise([&](int index, std::int64_t first, const Tensor& values) {
      const nn::Parameter& parameter = *parameters[static_cast<std::size_t>(index)];
      if (options.initial_values) {
        // Values of the caller's own are needed on the host once; they are copied before the call returns.
        std::vector<float> own(static_cast<std::size_t>(values.numel()));
        options.initial_values(parameter, first, own);
        stream.copy(values.data(), own.data(), values.num_bytes());
        stream.synchronize();
      } else {
        nn::fill_initial(stream, parameter, options.seed, first, values);
      }
    });
    state.slices = state.storage->update_slices(*rule);
    if (is_sharded) {
      state.window = rank.gather_comm->expose(state.storage->weights());
      rank.gather_comm->publish(stream, state.window, ++state.version);
    } else {
      state.values = state.storage->weights();
      state.gradients = state.storage->gradients();
    }
    rank.flats.push_back(std::move(state));
  }
  rank.state = std::make_unique<StateStorage>(device, stream, model.state_buffers());
  stream.synchronize();
}

void ShardedModel::Impl::mark_units() {
  for (nn::Module* module : model.modules()) {
    const int unit = rank.units.unit_of_module[static_cast<std::size_t>(module->index())];
    module->set_marked(unit >= 0 && module->parent() != nullptr);
  }
}

nn::Context ShardedModel::Impl::make_context(nn::Tape* recording, bool uses_batch_statistics) {
  return {.stream = *rank.streams.compute,
          .allocator = allocator,
          .binding = binding,
          .tape = recording,
          .uses_batch_statistics = uses_batch_statistics,
          .block = rank.block};
}

void ShardedModel::Impl::begin_pass(PassExecutor& executor, const Plan& plan, bool stages_statistics) {
  allocator.begin(plan);
  binding.begin(executor, stages_statistics);
  executor.reach(OpKind::PassBegin);
}

void ShardedModel::Impl::forward_backward(const nn::Batch& batch) {
  begin_pass(train, planned.train.plan, true);
  nn::Context ctx = make_context(&tape, true);
  enter_root(nn::Phase::Forward);
  model.loss(ctx, batch);
  exit_root(nn::Phase::Forward);
  train.reach(OpKind::ForwardEnd);
  enter_root(nn::Phase::Backward);
  tape.backward(ctx);
  exit_root(nn::Phase::Backward);
  train.reach(OpKind::PassEnd);
}

void ShardedModel::Impl::update() {
  updater.reach(OpKind::PassBegin);
  updater.reach(OpKind::PassEnd);
}

/// Copies the block to the host on a stream of its own, so that the host can wait for just this.
void ShardedModel::Impl::read_back(std::size_t slot) {
  const Tensor& block = rank.blocks[slot];
  kernels::StepBlock* report = &reports[slot];
  rank.streams.compute->record(*step_end);
  rank.streams.readback->wait(*step_end);
  rank.streams.readback->copy(report, block.data(), sizeof(kernels::StepBlock));
}

/// For a pass between steps: the block whose report has been read, since the last step's may be pending.
void ShardedModel::Impl::use_spare_block() {
  rank.block = rank.blocks[(step + 1) % 2];
  kernels::begin_step(*rank.streams.compute, {}, rank.block);
}

/// Window gathers are one-sided: a peer may still be reading this rank's shards when this rank has come to the end of a
/// pass, and they may go next.
void ShardedModel::Impl::await_peers() {
  rank.gather_comm->await_readers(*rank.streams.gather);
  rank.streams.gather->synchronize();
}

/// After an exception nothing that the pass held may linger.
template <typename Body>
auto ShardedModel::Impl::guarded(const Body& body) {
  try {
    return body();
  } catch (...) {
    tape.clear();
    throw;
  }
}

ShardedModel::ShardedModel(nn::Model& model, Device& device, collectives::Communicator& world,
                           std::unique_ptr<optim::Rule> rule, ShardOptions options)
    : impl_(std::make_unique<Impl>(model, device, world, std::move(rule), std::move(options))) {}

ShardedModel::~ShardedModel() {
  // What is still enqueued refers to events and memory that go next. An error has been reported by the call that met
  // it.
  for (const StreamRole role : {StreamRole::Gather, StreamRole::Reduce, StreamRole::Compute, StreamRole::Copy}) {
    try {
      impl_->rank.streams.of(role).synchronize();
    } catch (const std::exception&) {
      continue;
    }
  }
}

std::optional<StepReport> ShardedModel::train_step(const nn::Batch& batch, const StepSettings& settings) {
  Impl& impl = *impl_;
  return impl.guarded([&]() -> std::optional<StepReport> {
    const std::int64_t step = ++impl.step;
    const auto slot = static_cast<std::size_t>(step % 2);
    impl.rank.block = impl.rank.blocks[slot];
    kernels::begin_step(
        *impl.rank.streams.compute,
        {.seed = impl.seed,
         .lr = settings.lr,
         .step = step,
         .max_norm = settings.max_norm > 0 ? settings.max_norm : std::numeric_limits<double>::infinity()},
        impl.rank.block);
    impl.forward_backward(batch);
    impl.update();
    // The report before this one was enqueued a step ago, so waiting for it here costs nothing of this step.
    std::optional<StepReport> previous;
    if (impl.has_pending_report) {
      impl.rank.streams.readback->synchronize();
      previous = report_of(impl.reports[1 - slot]);
    }
    impl.read_back(slot);
    impl.has_pending_report = true;
    return previous;
  });
}

std::optional<StepReport> ShardedModel::finish() {
  Impl& impl = *impl_;
  for (const StreamRole role : {StreamRole::Reduce, StreamRole::Compute, StreamRole::Copy}) {
    impl.rank.streams.of(role).synchronize();
  }
  impl.await_peers();
  if (!std::exchange(impl.has_pending_report, false)) return std::nullopt;
  return report_of(impl.reports[static_cast<std::size_t>(impl.step % 2)]);
}

StepReport ShardedModel::evaluate(const nn::Batch& batch) {
  Impl& impl = *impl_;
  if (!impl.evaluator) fail(ErrorCode::InvalidArgument, "[evaluate] ShardOptions named no evaluate_batch");
  return impl.guarded([&] {
    Stream& compute = *impl.rank.streams.compute;
    impl.use_spare_block();
    impl.begin_pass(*impl.evaluator, impl.planned.evaluate->plan, false);
    nn::Context ctx = impl.make_context(nullptr, false);
    impl.enter_root(nn::Phase::Forward);
    impl.model.loss(ctx, batch);
    impl.exit_root(nn::Phase::Forward);
    impl.evaluator->reach(OpKind::ForwardEnd);
    impl.evaluator->reach(OpKind::PassEnd);
    kernels::StepBlock sums;
    compute.copy(&sums, impl.rank.block.data(), sizeof sums);
    compute.synchronize();
    impl.await_peers();
    return report_of(sums);
  });
}

std::vector<float> ShardedModel::predict(const Tensor& inputs) {
  Impl& impl = *impl_;
  if (!impl.predictor) fail(ErrorCode::InvalidArgument, "[predict] ShardOptions named no predict_batch");
  return impl.guarded([&] {
    Stream& compute = *impl.rank.streams.compute;
    impl.use_spare_block();
    impl.begin_pass(*impl.predictor, impl.planned.predict->plan, false);
    nn::Context ctx = impl.make_context(nullptr, false);
    impl.enter_root(nn::Phase::Forward);
    const nn::Variable predictions = impl.model.predict(ctx, inputs);
    impl.exit_root(nn::Phase::Forward);
    impl.predictor->reach(OpKind::ForwardEnd);
    impl.predictor->reach(OpKind::PassEnd);
    std::vector<float> values(static_cast<std::size_t>(predictions.value().numel()));
    compute.copy(values.data(), predictions.value().data(), predictions.value().num_bytes());
    compute.synchronize();
    impl.await_peers();
    return values;
  });
}

std::vector<float> ShardedModel::read_parameter(const std::string& name) {
  finish();
  return fsdp::read_parameter(impl_->rank, impl_->options.policies.strategy, name);
}

ShardedModel::Hashes ShardedModel::hashes() {
  finish();
  const StateHashes hashes = hash_state(impl_->rank, impl_->options.policies.strategy, impl_->model.state_buffers());
  return {hashes.weights, hashes.state};
}

MemoryBytes ShardedModel::predicted_bytes() const { return impl_->planned.predicted; }
std::int64_t ShardedModel::arena_bytes() const { return impl_->planned.arena_bytes; }
std::string ShardedModel::describe() const { return impl_->planned.describe(); }
std::uint64_t ShardedModel::plan_fingerprint() const { return impl_->planned.fingerprint(); }
std::int64_t ShardedModel::num_parameters() const { return impl_->planned.num_parameters(); }
const Plan& ShardedModel::train_plan() const { return impl_->planned.train.plan; }
ShardedModel::Traffic ShardedModel::traffic() const {
  return {impl_->rank.gather_comm->counters(), impl_->rank.reduce_comm->counters()};
}

}  // namespace shoal::fsdp
