#include "shoal/runtime/fsdp/unit_binding.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <thread>

#include "shoal/nn/linear.h"
#include "shoal/nn/model.h"
#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

/// Uses the weight of its second layer before that layer is entered.
class Impatient final : public nn::Model {
 public:
  Impatient() : Model("Impatient") {
    first_.mark_unit();
    second_.mark_unit();
  }
  nn::Variable predict(nn::Context& ctx, const Tensor& inputs) override {
    nn::Variable x = nn::constant(inputs);
    if (is_impatient) (void)ctx.binding.value(second_.weight());
    x = first_(ctx, x);
    return second_(ctx, x);
  }
  bool is_impatient = false;

 private:
  nn::Linear first_{this, "first", 8, 8};
  nn::Linear second_{this, "second", 8, 8};
};

/// Uses a parameter of the root, which is entered all along, earlier than it did when it was traced.
class Meddling final : public nn::Model {
 public:
  Meddling() : Model("Meddling") { inner_.mark_unit(); }
  nn::Variable predict(nn::Context& ctx, const Tensor& inputs) override {
    if (meddles) (void)ctx.binding.value(*first_.own_parameters().back());
    const nn::Variable x = inner_(ctx, first_(ctx, nn::constant(inputs)));
    return first_(ctx, x);
  }
  bool meddles = false;

 private:
  nn::Linear first_{this, "first", 8, 8};
  nn::Linear inner_{this, "inner", 8, 8};
};

/// Calls its layers the other way round when told to.
class Fickle final : public nn::Model {
 public:
  Fickle() : Model("Fickle") {
    first_.mark_unit();
    second_.mark_unit();
  }
  nn::Variable predict(nn::Context& ctx, const Tensor& inputs) override {
    const nn::Variable x = nn::constant(inputs);
    return is_swapped ? first_(ctx, second_(ctx, x)) : second_(ctx, first_(ctx, x));
  }
  bool is_swapped = false;

 private:
  nn::Linear first_{this, "first", 8, 8};
  nn::Linear second_{this, "second", 8, 8};
};

template <typename ModelType>
std::string error_of(bool ModelType::*flag, int prefetch) {
  std::map<std::thread::id, ModelType*> models;  // each rank's, by its thread
  std::mutex turn;
  ShardedRun run = run_of(small_workload("mlp"), 2);
  run.make_batch = [](std::int64_t step) {
    HostBatch batch = random_vectors(static_cast<std::uint64_t>(step), 4, 8);
    batch.targets.assign(4, 1);
    batch.targets_shape = {4};
    batch.targets_dtype = DType::I32;
    return batch;
  };
  run.make_model = [&] {
    auto model = std::make_unique<ModelType>();
    const std::lock_guard lock(turn);
    models[std::this_thread::get_id()] = model.get();
    return model;
  };
  run.inspect = [&](fsdp::ShardedModel&, Device&) {
    const std::lock_guard lock(turn);
    models[std::this_thread::get_id()]->*flag = true;
  };
  run.policies.prefetch = prefetch;
  try {
    run_sharded(run);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(UnitBinding, AParameterUsedOutsideItsUnit_RaisesByName_EvenWhereItsGatherIsOnTheWay) {
  for (const int prefetch : {0, 1, 2}) {
    const std::string text = error_of(&Impatient::is_impatient, prefetch);
    EXPECT_NE(text.find("'second.weight' is used while it is not gathered"), std::string::npos) << text;
    EXPECT_NE(text.find("unit 'second'"), std::string::npos) << text;
  }
}

TEST(UnitBinding, AUseThatWasNotTraced_Raises_WhereItsUnitIsEntered) {
  const std::string text = error_of(&Meddling::meddles, 1);
  EXPECT_NE(text.find("'first.bias' is used where the traced pass"), std::string::npos) << text;
}

TEST(UnitBinding, UnitsInAnotherOrderThanTraced_RaiseNamingBoth) {
  const std::string text = error_of(&Fickle::is_swapped, 0);
  EXPECT_NE(text.find("'second'"), std::string::npos) << text;
  EXPECT_NE(text.find("'first'"), std::string::npos) << text;
}

}  // namespace
}  // namespace shoal::test
