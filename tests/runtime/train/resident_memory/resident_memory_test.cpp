#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <stop_token>
#include <string>

#include "shoal/runtime/train/data_registry.h"
#include "shoal/runtime/train/trainer.h"

namespace shoal::train {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::int64_t kWitnessStep = 3;

// Bytes of this process that lie in memory, as the kernel counts them.
std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t all_pages = 0;
  std::int64_t resident_pages = 0;
  statm >> all_pages >> resident_pages;
  return resident_pages * ::sysconf(_SC_PAGESIZE);
}

// Looks at the process before the model's first byte and once all of step 3 has run; that is the end of the run.
class ResidentListener final : public TrainListener {
 public:
  void on_start(const StartEvent&) override { at_start = resident_bytes(); }
  void on_step(const StepEvent& event) override {
    if (event.step != kWitnessStep) return;
    at_witness_step = resident_bytes();
    stop.request_stop();
  }
  void on_eval(const EvalEvent&) override {}
  void on_warning(std::string_view) override {}
  void on_done(const TrainSummary&) override {}

  std::stop_source stop;
  std::int64_t at_start = 0;
  std::int64_t at_witness_step = 0;
};

struct WitnessCase {
  std::string model;
  std::string data;
  std::int64_t batch;
  std::string strategy;
  int ranks;
};

void PrintTo(const WitnessCase& c, std::ostream* stream) {
  *stream << c.model << " batch " << c.batch << ' ' << c.strategy << " over " << c.ranks << " ranks";
}

class ResidentMemory : public testing::TestWithParam<WitnessCase> {
 protected:
  // Freed blocks go back to the system at once, so that no case finds pages that an earlier one has touched. A fixed
  // threshold also keeps the allocator from raising it.
  void SetUp() override {
    ASSERT_EQ(::mallopt(M_MMAP_THRESHOLD, 64 << 10), 1);
    ::malloc_trim(0);
  }
};

TEST_P(ResidentMemory, GrowsByWhatWasPredicted) {
  TrainConfig config;
  config.model = GetParam().model;
  config.data = GetParam().data;
  config.batch = GetParam().batch;
  config.strategy = GetParam().strategy;
  config.ranks = GetParam().ranks;
  config.threads = 1;
  config.steps = 1000;
  config.clip_norm = 0.5;
  config = resolve_config(config);
  ResidentListener listener;
  TrainOptions options;
  options.stop = listener.stop.get_token();
  const TrainSummary summary =
      run_training(config, load_data(config.data, config.model, config.seed), listener, options);

  std::int64_t predicted = 0;
  for (std::size_t rank = 0; rank < summary.predicted_bytes.size(); ++rank) {
    EXPECT_EQ(summary.predicted_bytes[rank].total, summary.peak_bytes[rank].total) << "rank " << rank;
    predicted += summary.predicted_bytes[rank].total;
  }
  const std::int64_t grown = listener.at_witness_step - listener.at_start;
  RecordProperty("predicted_bytes", std::to_string(predicted));
  RecordProperty("grown_bytes", std::to_string(grown));
  EXPECT_LE(grown, predicted + predicted / 20 + 32 * kMebibyte) << "predicted " << predicted;
  EXPECT_GE(grown, predicted - predicted / 10) << "predicted " << predicted << ", and less was touched";
}

std::vector<WitnessCase> witness_cases() {
  std::vector<WitnessCase> cases = {{"gpt-4x256", "text", 12, "full", 2}};
  for (const int ranks : {1, 2, 3, 4}) {
    for (const char* strategy : {"none", "full"}) {
      cases.push_back({"gpt-2x128", "text", 12, strategy, ranks});
      cases.push_back({"resnet9", "fashion-mnist", 96, strategy, ranks});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Runs, ResidentMemory, testing::ValuesIn(witness_cases()));

}  // namespace
}  // namespace shoal::train
