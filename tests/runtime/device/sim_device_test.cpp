#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/operation_sink.h"
#include "shoal/runtime/device/runtime.h"

namespace shoal {
namespace {

class SimDevice : public ::testing::Test {
 protected:
  std::unique_ptr<Device> device_ = Runtime().open_device(DeviceKind::Sim);
  std::unique_ptr<Stream> stream_ = device_->make_stream(StreamRole::Compute, "compute");
  std::unique_ptr<Event> event_ = device_->make_event("event");
};

TEST_F(SimDevice, Tasks_AreDroppedUnrun) {
  auto state = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = state;
  bool has_run = false;
  stream_->run("task", {}, {}, [&has_run, state = std::move(state)](Workers&) { has_run = true; });
  stream_->run_polled("polled", {}, {}, [&has_run](Workers&) {
    has_run = true;
    return Progress::Pending;
  });
  EXPECT_TRUE(watch.expired());
  stream_->synchronize();
  EXPECT_FALSE(has_run);
  EXPECT_EQ(stream_->error(), nullptr);
}

TEST_F(SimDevice, Addresses_AreNeverNullNorReused) {
  std::uintptr_t last_end = 0;
  for (const std::int64_t bytes : {1, 64, 100, 1 << 20, 7}) {
    const Buffer buffer = device_->allocate(bytes, MemoryTag::Activations);
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data());
    EXPECT_NE(begin, 0U);
    EXPECT_EQ(begin % 64, 0U);
    EXPECT_GE(begin, last_end);
    last_end = begin + static_cast<std::uintptr_t>(bytes);
  }
}

TEST_F(SimDevice, HugeModels_CostNothing) {
  const Buffer buffer = device_->allocate(std::int64_t{1} << 45, MemoryTag::Parameters);
  EXPECT_EQ(device_->ledger().live().total, std::int64_t{1} << 45);
}

TEST_F(SimDevice, Events_FollowTheRules) {
  EXPECT_FALSE(event_->is_complete());
  EXPECT_THROW(stream_->wait(*event_), Error);
  stream_->record(*event_);
  EXPECT_TRUE(event_->is_complete());
  stream_->wait(*event_);
  const auto other = Runtime().open_device(DeviceKind::Sim, 1);
  const auto foreign = other->make_event("foreign");
  const auto foreign_stream = other->make_stream(StreamRole::Compute, "foreign");
  EXPECT_THROW(stream_->record(*foreign), Error);
  foreign_stream->record(*foreign);
  EXPECT_THROW(stream_->wait(*foreign), Error);
}

TEST_F(SimDevice, Sink_HearsEveryOperationWithItsDeclaration) {
  struct Heard {
    std::string stream;
    std::string name;
    std::string scope;
    int num_reads;
    int num_writes;
    bool operator==(const Heard&) const = default;
  };
  std::vector<Heard> heard;
  const Buffer buffer = device_->allocate(256, MemoryTag::Inputs);
  auto* data = static_cast<char*>(buffer.data());
  set_operation_sink(
      *device_, [&](const Stream& stream, const char* name, const ByteRanges& reads, const ByteRanges& writes) {
        const char* scope = stream.device().scope();
        heard.push_back({stream.name(), name, scope == nullptr ? "" : scope, reads.count(), writes.count()});
      });
  stream_->run("linear", {{data, 64}, {data + 64, 64}}, {{data + 128, 64}}, [](Workers&) {});
  device_->set_scope("block.7");
  stream_->copy(data, data + 64, 64);
  stream_->fill(data, 0, 64);
  stream_->copy(data, data + 64, 0);
  stream_->run_polled("all_gather", {}, {}, [](Workers&) { return Progress::Done; });
  set_operation_sink(*device_, {});
  stream_->fill(data, 0, 64);
  EXPECT_EQ(heard, (std::vector<Heard>{{"compute", "linear", "", 2, 1},
                                       {"compute", "copy", "block.7", 1, 1},
                                       {"compute", "fill", "block.7", 0, 1},
                                       {"compute", "all_gather", "block.7", 0, 0}}));
}

TEST_F(SimDevice, AddressesThatRunOut_AreOutOfMemory) {
  std::uintptr_t last = 0;
  bool has_thrown = false;
  for (int i = 0; i < 5 && !has_thrown; ++i) {
    try {
      const Buffer buffer = device_->reserve(std::int64_t{1} << 62);
      EXPECT_GT(reinterpret_cast<std::uintptr_t>(buffer.data()), last);
      last = reinterpret_cast<std::uintptr_t>(buffer.data());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::OutOfMemory) << error.what();
      has_thrown = true;
    }
  }
  EXPECT_TRUE(has_thrown);
}

TEST_F(SimDevice, Sink_OfAnotherKindOfDevice_IsInvalidArgument) {
  const auto host = Runtime().open_device(DeviceKind::Host);
  EXPECT_THROW(set_operation_sink(*host, {}), Error);
}

}  // namespace
}  // namespace shoal
