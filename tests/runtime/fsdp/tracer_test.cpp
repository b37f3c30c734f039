#include "shoal/runtime/fsdp/tracer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "shoal/nn/linear.h"
#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

using fsdp::Trace;
using fsdp::TracedPass;
using fsdp::TraceEvent;
using fsdp::TraceKind;

const nn::BatchSpec kTokens{{2, 12}, DType::I32, {2, 12}, DType::I32};

std::unique_ptr<nn::Model> gpt() { return small_workload("gpt").make_model(); }

int count(const Trace& trace, TraceKind kind) {
  return static_cast<int>(std::ranges::count_if(trace.events, [kind](const TraceEvent& e) { return e.kind == kind; }));
}

TEST(Tracer, DescribeModel_KeepsTreeAndDeclaredOrder) {
  const auto model = gpt();
  const fsdp::ModelSpec spec = fsdp::describe_model(*model);
  EXPECT_EQ(spec.modules[0].path, "");
  EXPECT_EQ(spec.modules[0].parent, -1);
  ASSERT_EQ(spec.parameters.size(), model->parameters().size());
  for (std::size_t i = 0; i < spec.parameters.size(); ++i)
    EXPECT_EQ(spec.parameters[i].name, model->parameters()[i]->name);
  int num_units = 0;
  std::size_t num_owned = 0;
  for (std::size_t i = 1; i < spec.modules.size(); ++i) {
    EXPECT_LT(spec.modules[i].parent, static_cast<int>(i));
    num_units += spec.modules[i].is_unit ? 1 : 0;
    num_owned += spec.modules[i].own_parameters.size();
  }
  EXPECT_EQ(num_units, 3);  // two blocks and the last norm
  EXPECT_EQ(num_owned + spec.modules[0].own_parameters.size(), spec.parameters.size());
}

TEST(Tracer, TrainTrace_IsBalanced) {
  const auto model = gpt();
  const Trace trace = fsdp::trace_model(*model, kTokens, TracedPass::Train, 1);
  EXPECT_TRUE(trace.has_backward);
  EXPECT_GT(count(trace, TraceKind::UseParameter), 20);
  EXPECT_EQ(count(trace, TraceKind::Acquire), count(trace, TraceKind::Release));
  EXPECT_EQ(count(trace, TraceKind::EnterForward), count(trace, TraceKind::ExitForward));
  EXPECT_EQ(count(trace, TraceKind::EnterBackward), count(trace, TraceKind::ExitBackward));
  EXPECT_EQ(count(trace, TraceKind::EnterForward), count(trace, TraceKind::EnterBackward));
  EXPECT_EQ(count(trace, TraceKind::ForwardEnd), 1);
  std::map<int, bool> is_live;
  for (const TraceEvent& event : trace.events) {
    if (event.kind == TraceKind::Acquire) {
      EXPECT_EQ(event.id, static_cast<int>(is_live.size()));
      is_live[event.id] = true;
    } else if (event.kind == TraceKind::Release) {
      EXPECT_TRUE(is_live[event.id]);
      is_live[event.id] = false;
    }
  }
  for (const auto& [id, live] : is_live) EXPECT_FALSE(live) << "lease " << id << " is never given back";
}

TEST(Tracer, EveryTrainableParameter_GetsAGradient) {
  const auto model = gpt();
  const Trace trace = fsdp::trace_model(*model, kTokens, TracedPass::Train, 1);
  std::map<int, int> writes;
  for (const TraceEvent& event : trace.events) {
    if (event.kind == TraceKind::WriteGradient) ++writes[event.id];
  }
  EXPECT_EQ(writes.size(), model->parameters().size());
}

TEST(Tracer, EvaluateAndPredict_HaveNoBackward) {
  const auto model = gpt();
  for (const TracedPass pass : {TracedPass::Evaluate, TracedPass::Predict}) {
    const Trace trace = fsdp::trace_model(*model, kTokens, pass, 1);
    EXPECT_FALSE(trace.has_backward);
    EXPECT_EQ(trace.has_loss, pass == TracedPass::Evaluate);
    EXPECT_EQ(count(trace, TraceKind::WriteGradient), 0);
    EXPECT_EQ(count(trace, TraceKind::Acquire), count(trace, TraceKind::Release));
  }
}

TEST(Tracer, Predictions_AreHeldToTheEnd) {
  const auto model = gpt();
  const Trace trace = fsdp::trace_model(*model, kTokens, TracedPass::Predict, 1);
  EXPECT_EQ(trace.events.back().kind, TraceKind::Release);
  EXPECT_EQ(trace.events[trace.events.size() - 2].kind, TraceKind::ForwardEnd);
}

TEST(Tracer, Marks_AreAsBeforeAfterwards) {
  const auto model = gpt();
  model->children()[0]->set_marked(true);
  fsdp::trace_model(*model, kTokens, TracedPass::Train, 1);
  EXPECT_TRUE(model->children()[0]->is_marked());
  for (nn::Module* module : model->modules()) {
    EXPECT_EQ(module->is_marked(), module == model->children()[0]) << module->path();
  }
}

/// Keeps what it computed.
class Hoarder final : public nn::Model {
 public:
  Hoarder() : Model("Hoarder") {}
  nn::Variable predict(nn::Context& ctx, const Tensor& inputs) override {
    return kept_ = layer_(ctx, nn::constant(inputs));
  }

 private:
  nn::Linear layer_{this, "layer", 4, 4};
  nn::Variable kept_;
};

TEST(Tracer, AVariableKeptByAModule_IsRefusedByName_AndMayGoLater) {
  Hoarder model;
  for (int repeat = 0; repeat < 2; ++repeat) {
    try {
      fsdp::trace_model(model, {{2, 4}, DType::F32, {2}, DType::I32}, TracedPass::Evaluate, 1);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Unsupported);
      EXPECT_NE(std::string(error.what()).find("still held at the end of the pass"), std::string::npos) << error.what();
    }
  }
}

TEST(Tracer, ObservedStatistics_AreInATrainingTraceOnly) {
  const auto model = small_workload("resnet_odd").make_model();
  const nn::BatchSpec images{{2, 9, 9, 1}, DType::F32, {2}, DType::I32};
  const Trace trace = fsdp::trace_model(*model, images, TracedPass::Train, 1);
  EXPECT_EQ(count(trace, TraceKind::StageState), static_cast<int>(model->state_buffers().size()));
  EXPECT_EQ(count(fsdp::trace_model(*model, images, TracedPass::Evaluate, 1), TraceKind::StageState), 0);
}

TEST(Tracer, TwoTraces_AreEqual) {
  const auto model = gpt();
  const Trace a = fsdp::trace_model(*model, kTokens, TracedPass::Train, 2);
  const Trace b = fsdp::trace_model(*model, kTokens, TracedPass::Train, 2);
  ASSERT_EQ(a.events.size(), b.events.size());
  for (std::size_t i = 0; i < a.events.size(); ++i) {
    EXPECT_EQ(a.events[i].kind, b.events[i].kind);
    EXPECT_EQ(a.events[i].id, b.events[i].id);
    EXPECT_EQ(a.events[i].bytes, b.events[i].bytes);
  }
}

}  // namespace
}  // namespace shoal::test
