#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <new>

#include "shoal/tests/runtime/device/device_factories.h"
#include "shoal/tests/support/counted_calls.h"

// Once a device and its streams exist, operations need no allocation and no mutex, on whichever thread.

namespace shoal {
namespace {

class SteadyState : public ::testing::TestWithParam<test::DeviceFactory> {};

INSTANTIATE_TEST_SUITE_P(Devices, SteadyState, ::testing::ValuesIn(test::device_factories()),
                         [](const auto& info) { return info.param.name; });

// What is counted, to know that it is.
TEST(CountedCalls, EveryFormOfNewAndOfAMutex_Counts) {
  struct alignas(256) Wide {
    char bytes[256];
  };
  std::mutex mutex;
  const test::CountedCalls counted;
  const auto plain = std::make_unique<int>(1);
  const auto array = std::make_unique<int[]>(3);
  const auto wide = std::make_unique<Wide>();
  const std::unique_ptr<int> no_throw(new (std::nothrow) int);
  const std::unique_ptr<Wide> wide_no_throw(new (std::nothrow) Wide);
  EXPECT_EQ(test::CountedCalls::num_allocations(), 5);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(test::CountedCalls::num_mutex_locks(), 1);
}

TEST_P(SteadyState, Operations_AllocateNothingAndTakeNoMutex) {
  const auto device = GetParam().open({}, 0);
  const auto gather = device->make_stream(StreamRole::Gather, "gather");
  const auto compute = device->make_stream(StreamRole::Compute, "compute");
  const auto gathered = device->make_event("gathered");
  const auto used = device->make_event("used");
  int value = 0;
  std::atomic<int> sum{0};
  auto step = [&](int num_rounds) {
    compute->record(*used);
    for (int i = 0; i < num_rounds; ++i) {
      gather->wait(*used);
      gather->run_polled("gather", {}, {{&value, 4}}, [&value, tries = 0](Workers&) mutable {
        if (++tries < 3) return Progress::Pending;
        ++value;
        return Progress::Done;
      });
      gather->record(*gathered);
      compute->wait(*gathered);
      compute->run("use", {{&value, 4}}, {},
                   [&](Workers& workers) { workers.parallel_for(4, [&](std::int64_t, int) { sum.fetch_add(1); }); });
      compute->record(*used);
    }
    compute->synchronize();
  };
  step(10);
  {
    const test::CountedCalls counted;
    step(200);
    EXPECT_EQ(test::CountedCalls::num_allocations(), 0);
    EXPECT_EQ(test::CountedCalls::num_mutex_locks(), 0);
  }
  EXPECT_EQ(value, 210);
  EXPECT_EQ(sum, 840);
}

}  // namespace
}  // namespace shoal
