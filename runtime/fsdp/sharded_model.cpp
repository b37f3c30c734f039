#include "shoal/runtime/fsdp/sharded_model.h"

#include <fmt/core.h>

#include <cmath>
#include <exception>
#include <limits>

#include "shoal/kernels/step_block.h"
#include "shoal/nn/tape.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/fsdp/batch_check.h"
#include "shoal/runtime/fsdp/initial_shards.h"
#include "shoal/runtime/fsdp/parameter_reader.h"
#include "shoal/runtime/fsdp/pass_executor.h"
#include "shoal/runtime/fsdp/planned_allocator.h"
#include "shoal/runtime/fsdp/planned_model.h"
#include "shoal/runtime/fsdp/rank_agreement.h"
#include "shoal/runtime/fsdp/rank_state.h"
#include "shoal/runtime/fsdp/trace_cursor.h"
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
    if (planned.evaluate) options.edit_plan(planned.evaluate->plan);
    if (planned.predict) options.edit_plan(planned.predict->plan);
  }
  return planned;
}

/// A power of two near 1 / (items in the global batch): exact, and the same for every split of the batch over ranks.
double gradient_seed(std::int64_t num_items) {
  if (num_items < 1) return 1.0;
  return std::exp2(-std::floor(std::log2(static_cast<double>(num_items)) + 0.5));
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

  void mark_units();
  nn::Context make_context(nn::Tape* recording, bool uses_batch_statistics);
  void enter_root(nn::Phase phase) {
    if (rank.units.unit_of_module[0] >= 0) binding.enter(model, phase);
  }
  void exit_root(nn::Phase phase) {
    if (rank.units.unit_of_module[0] >= 0) binding.exit(model, phase);
  }
  void begin_pass(PassExecutor& executor, const Plan& plan, bool stages_statistics);
  void end_pass(PassExecutor& executor);
  void forward_backward(const nn::Batch& batch);
  template <typename Forward>
  void run_forward(PassExecutor& executor, const Plan& plan, const Forward& forward);
  void update();
  void read_back(std::size_t slot);
  void use_spare_block();
  void settle();
  void check_usable() const;
  void give_up();
  template <typename Body>
  auto guarded(const Body& body);

  nn::Model& model;
  Device& device;
  std::unique_ptr<optim::Rule> rule;
  ShardOptions options;
  PlannedModel planned;
  RankState rank;
  TraceCursor cursor;
  UnitBinding binding;
  Lingering<PlannedAllocator> allocator;
  nn::Tape tape;
  PassExecutor train;
  PassExecutor updater;
  std::unique_ptr<PassExecutor> evaluator;
  std::unique_ptr<PassExecutor> predictor;
  std::unique_ptr<Event> step_end;
  std::int64_t step = 0;
  bool has_pending_report = false;
  double seed = 1;
  std::exception_ptr failure;  // why this object is of no more use
};

ShardedModel::Impl::Impl(nn::Model& model_of_rank, Device& device_of_rank, collectives::Communicator& world,
                         std::unique_ptr<optim::Rule> rule_of_rank, ShardOptions shard_options)
    : model(model_of_rank),
      device(device_of_rank),
      rule(std::move(rule_of_rank)),
      options(std::move(shard_options)),
      planned(plan_for(model, device, world, *rule, options)),
      rank(device, world, planned.model, planned.units,
           {.strategy = options.policies.strategy, .arena_bytes = planned.arena_bytes, .padding = options.padding}),
      binding(rank, model.parameters(), cursor),
      allocator(new PlannedAllocator(device, rank.arena, cursor)),
      train(planned.train.plan, rank),
      updater(planned.update.plan, rank),
      step_end(device.make_event("step_end")) {
  rank.rule = rule.get();
  if (planned.evaluate) evaluator = std::make_unique<PassExecutor>(planned.evaluate->plan, rank);
  if (planned.predict) predictor = std::make_unique<PassExecutor>(planned.predict->plan, rank);
  seed = gradient_seed(agree(rank, facts_of(planned, options, *rule)));
  make_initial_shards(rank, model, options, planned.train.plan.staged_states);
  mark_units();
}

void ShardedModel::Impl::mark_units() {
  for (nn::Module* module : model.modules()) {
    const int unit = rank.units.unit_of_module[static_cast<std::size_t>(module->index())];
    module->set_marked(unit >= 0 && module->parent() != nullptr);
  }
}

nn::Context ShardedModel::Impl::make_context(nn::Tape* recording, bool uses_batch_statistics) {
  return {.stream = *rank.streams.compute,
          .allocator = *allocator,
          .binding = binding,
          .tape = recording,
          .uses_batch_statistics = uses_batch_statistics,
          .block = rank.block};
}

void ShardedModel::Impl::begin_pass(PassExecutor& executor, const Plan& plan, bool stages_statistics) {
  cursor.begin(plan);
  allocator->begin(plan);
  binding.begin(executor, stages_statistics);
  executor.reach(OpKind::PassBegin);
}

void ShardedModel::Impl::end_pass(PassExecutor& executor) {
  allocator->end();
  if (!cursor.is_at_end()) {
    fail(ErrorCode::Unsupported,
         fmt::format("[plan] the pass ends where the traced one {}; a forward must do the same on every call",
                     cursor.describe_next(rank.units)));
  }
  executor.reach(OpKind::PassEnd);
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
  end_pass(train);
}

/// A pass between steps, without gradients. What `forward(ctx)` returns, if anything, is copied to rank.host.values.
template <typename Forward>
void ShardedModel::Impl::run_forward(PassExecutor& executor, const Plan& plan, const Forward& forward) {
  use_spare_block();
  begin_pass(executor, plan, false);
  nn::Context ctx = make_context(nullptr, false);
  enter_root(nn::Phase::Forward);
  {
    const nn::Variable result = forward(ctx);
    exit_root(nn::Phase::Forward);
    executor.reach(OpKind::ForwardEnd);
    if (result.is_defined()) {
      rank.host.values.resize(static_cast<std::size_t>(result.value().numel()));
      ctx.stream.copy(rank.host.values.data(), result.value().data(), result.value().num_bytes());
    }
  }
  end_pass(executor);
}

void ShardedModel::Impl::update() {
  updater.reach(OpKind::PassBegin);
  updater.reach(OpKind::PassEnd);
}

/// Copies the block to the host on a stream of its own, so that the host can wait for just this.
void ShardedModel::Impl::read_back(std::size_t slot) {
  rank.streams.compute->record(*step_end);
  rank.streams.readback->wait(*step_end);
  rank.streams.readback->copy(&rank.host.reports[slot], rank.blocks[slot].data(), sizeof(kernels::StepBlock));
}

/// For a pass between steps: the block whose report has been read, since the last step's may be pending.
void ShardedModel::Impl::use_spare_block() {
  rank.block = rank.blocks[(step + 1) % 2];
  kernels::begin_step(*rank.streams.compute, {}, rank.block);
}

/// All that is enqueued has run. A pending report stays pending. Window gathers are one-sided, so a peer might still be
/// reading this rank's shards, but every plan that gathers is followed by AwaitReaders, in itself or in the update.
void ShardedModel::Impl::settle() {
  for (const StreamRole role : RankStreams::kRoles) rank.streams.of(role).synchronize();
}

void ShardedModel::Impl::check_usable() const {
  if (failure) std::rethrow_exception(failure);
}

/// After an exception in the middle of a pass: peers have been promised collectives that will not come, so neither this
/// object nor theirs can go on. They are told the cause, and nothing that the pass held lingers.
void ShardedModel::Impl::give_up() {
  failure = std::current_exception();
  try {
    throw;
  } catch (const std::exception& error) {
    rank.abort(error.what());
  } catch (...) {
    rank.abort("an exception of unknown type");
  }
  tape.clear();
  allocator->drop_leases();
  rank.drop_leases();
  device.set_scope(nullptr);  // it may name a unit of this model
}

/// Runs what enqueues work; an exception makes every later call throw the same.
template <typename Body>
auto ShardedModel::Impl::guarded(const Body& body) {
  check_usable();
  try {
    return body();
  } catch (...) {
    give_up();
    throw;
  }
}

ShardedModel::ShardedModel(nn::Model& model, Device& device, collectives::Communicator& world,
                           std::unique_ptr<optim::Rule> rule, ShardOptions options)
    : impl_(std::make_unique<Impl>(model, device, world, std::move(rule), std::move(options))) {}

ShardedModel::~ShardedModel() {
  // What is still enqueued refers to events and memory that go next. An error has been reported by the call that met
  // it; where nothing moves any more, peers need not wait for it too.
  impl_->device.set_scope(nullptr);  // it may name a unit of this model
  for (const StreamRole role : RankStreams::kRoles) {
    try {
      impl_->rank.streams.of(role).synchronize();
    } catch (const std::exception& error) {
      impl_->rank.abort(error.what());
    }
  }
}

std::optional<StepReport> ShardedModel::train_step(const nn::Batch& batch, const StepSettings& settings) {
  Impl& impl = *impl_;
  impl.check_usable();
  check_batch("train_step", batch, impl.options.train_batch);
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
      previous = report_of(impl.rank.host.reports[1 - slot]);
    }
    impl.read_back(slot);
    impl.has_pending_report = true;
    return previous;
  });
}

std::optional<StepReport> ShardedModel::finish() {
  Impl& impl = *impl_;
  return impl.guarded([&]() -> std::optional<StepReport> {
    impl.settle();
    if (!std::exchange(impl.has_pending_report, false)) return std::nullopt;
    return report_of(impl.rank.host.reports[static_cast<std::size_t>(impl.step % 2)]);
  });
}

StepReport ShardedModel::evaluate(const nn::Batch& batch) {
  Impl& impl = *impl_;
  impl.check_usable();
  if (!impl.evaluator) fail(ErrorCode::InvalidArgument, "[evaluate] ShardOptions named no evaluate_batch");
  check_batch("evaluate", batch, *impl.options.evaluate_batch);
  return impl.guarded([&] {
    impl.run_forward(*impl.evaluator, impl.planned.evaluate->plan, [&](nn::Context& ctx) {
      impl.model.loss(ctx, batch);
      return nn::Variable();
    });
    Stream& compute = *impl.rank.streams.compute;
    compute.copy(&impl.rank.host.sums, impl.rank.block.data(), sizeof(kernels::StepBlock));
    compute.synchronize();
    impl.rank.streams.gather->synchronize();
    return report_of(impl.rank.host.sums);
  });
}

std::vector<float> ShardedModel::predict(const Tensor& inputs) {
  Impl& impl = *impl_;
  impl.check_usable();
  if (!impl.predictor) fail(ErrorCode::InvalidArgument, "[predict] ShardOptions named no predict_batch");
  check_inputs("predict", inputs, *impl.options.predict_batch);
  return impl.guarded([&] {
    impl.run_forward(*impl.predictor, impl.planned.predict->plan,
                     [&](nn::Context& ctx) { return impl.model.predict(ctx, inputs); });
    impl.rank.streams.compute->synchronize();
    impl.rank.streams.gather->synchronize();
    return impl.rank.host.values;
  });
}

std::vector<float> ShardedModel::read_parameter(const std::string& name) {
  Impl& impl = *impl_;
  impl.check_usable();
  const ParameterPlace place = find_parameter(impl.rank.units, name);
  return impl.guarded([&] {
    impl.settle();
    return fsdp::read_parameter(impl.rank, place);
  });
}

ShardedModel::Hashes ShardedModel::hashes() {
  Impl& impl = *impl_;
  return impl.guarded([&]() -> Hashes {
    impl.settle();
    const StateHashes hashes = hash_state(impl.rank, impl.model.state_buffers());
    return {hashes.weights, hashes.state};
  });
}

MemoryBytes ShardedModel::predicted_bytes() const { return impl_->planned.predicted; }
std::int64_t ShardedModel::arena_bytes() const { return impl_->planned.arena_bytes; }
std::string ShardedModel::describe() const { return impl_->planned.describe(); }
std::uint64_t ShardedModel::plan_fingerprint() const { return impl_->planned.fingerprint(); }
std::int64_t ShardedModel::num_parameters() const { return impl_->planned.num_parameters(); }
ShardedModel::Traffic ShardedModel::traffic() const {
  return {impl_->rank.gather_comm->counters(), impl_->rank.reduce_comm->counters()};
}

}  // namespace shoal::fsdp
