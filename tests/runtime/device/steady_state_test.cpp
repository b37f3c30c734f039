#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "shoal/tests/runtime/device/device_factories.h"

// Once a device and its streams exist, operations need no allocation, on whichever thread.

namespace {

std::atomic<bool> is_counting{false};
std::atomic<int> num_allocations{0};

}  // namespace

// Not inlined, so that the compiler does not take the pair for mismatched.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (is_counting.load(std::memory_order_relaxed)) num_allocations.fetch_add(1);
  if (void* data = std::malloc(bytes == 0 ? 1 : bytes)) return data;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::size_t /*bytes*/) noexcept { std::free(data); }

namespace shoal {
namespace {

class SteadyState : public ::testing::TestWithParam<test::DeviceFactory> {};

INSTANTIATE_TEST_SUITE_P(Devices, SteadyState, ::testing::ValuesIn(test::device_factories()),
                         [](const auto& info) { return info.param.name; });

TEST_P(SteadyState, Operations_AllocateNothing) {
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
  num_allocations = 0;
  is_counting = true;
  step(200);
  is_counting = false;
  EXPECT_EQ(num_allocations, 0);
  EXPECT_EQ(value, 210);
  EXPECT_EQ(sum, 840);
}

}  // namespace
}  // namespace shoal
