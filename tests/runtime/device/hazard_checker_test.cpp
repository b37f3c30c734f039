#include "shoal/runtime/device/hazard_checker.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/runtime.h"

namespace shoal {
namespace {

char bytes[4096];

ByteRange at(int begin, std::int64_t count) { return {bytes + begin, count}; }

class HazardCheckerTest : public ::testing::Test {
 protected:
  void read(int stream, ByteRange range, const char* name = "reader") {
    checker_.run(stream, name, nullptr, {range}, {});
  }
  void write(int stream, ByteRange range, const char* name = "writer") {
    checker_.run(stream, name, nullptr, {}, {range});
  }
  void order(int from, int to) {
    checker_.record(from, clock_);
    checker_.wait(to, clock_);
  }
  template <typename Call>
  static std::string report_of(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Internal);
      return error.what();
    }
    return "";
  }

  HazardChecker checker_;
  HazardChecker::Clock clock_;
  int a_ = checker_.add_stream("stream_a");
  int b_ = checker_.add_stream("stream_b");
  int c_ = checker_.add_stream("stream_c");
};

TEST_F(HazardCheckerTest, MissingWait_NamesBothOperationsStreamsScopesAndRanges) {
  checker_.run(a_, "all_gather", "block.3", {}, {at(64, 100)});
  const std::string report = report_of([&] { checker_.run(b_, "linear", "block.4", {at(100, 8)}, {}); });
  for (const char* word : {"'linear' (block.4) on stream 'stream_b' reads",
                           "'all_gather' (block.3) on stream 'stream_a' "
                           "writes",
                           "+100)", "+8)"}) {
    EXPECT_NE(report.find(word), std::string::npos) << word << " in: " << report;
  }
}

TEST_F(HazardCheckerTest, EveryPairButReadRead_Conflicts) {
  write(a_, at(0, 10));
  EXPECT_NE(report_of([&] { read(b_, at(0, 10)); }), "");   // read after write
  EXPECT_NE(report_of([&] { write(b_, at(9, 10)); }), "");  // write after write
  read(a_, at(100, 10));
  EXPECT_NE(report_of([&] { write(b_, at(109, 1)); }), "");  // write after read
  EXPECT_EQ(report_of([&] { read(b_, at(100, 10)); }), "");
  EXPECT_NE(report_of([&] { write(a_, at(100, 10)); }), "");  // the second reader counts, too
}

TEST_F(HazardCheckerTest, Neighbours_DoNotConflict) {
  write(a_, at(10, 10));
  EXPECT_EQ(report_of([&] { write(b_, at(0, 10)); }), "");
  EXPECT_EQ(report_of([&] { write(b_, at(20, 10)); }), "");
  EXPECT_NE(report_of([&] { write(b_, at(19, 1)); }), "");
  EXPECT_NE(report_of([&] { write(b_, at(10, 1)); }), "");
}

TEST_F(HazardCheckerTest, RecordAndWait_Order) {
  write(a_, at(0, 10));
  order(a_, b_);
  EXPECT_EQ(report_of([&] { read(b_, at(0, 10)); }), "");
  EXPECT_NE(report_of([&] { write(a_, at(0, 10)); }), "");  // the way back needs its own edge
  order(b_, a_);
  EXPECT_EQ(report_of([&] { write(a_, at(0, 10)); }), "");
}

TEST_F(HazardCheckerTest, Order_IsTransitive) {
  write(a_, at(0, 10));
  order(a_, b_);
  order(b_, c_);
  EXPECT_EQ(report_of([&] { write(c_, at(0, 10)); }), "");
}

TEST_F(HazardCheckerTest, WaitForAnEarlierRecord_DoesNotCoverWhatFollowed) {
  write(a_, at(0, 10));
  checker_.record(a_, clock_);
  write(a_, at(20, 10));
  checker_.wait(b_, clock_);
  EXPECT_EQ(report_of([&] { read(b_, at(0, 10)); }), "");
  EXPECT_NE(report_of([&] { read(b_, at(20, 10)); }), "");
}

TEST_F(HazardCheckerTest, WriterMustFollowEveryReader) {
  write(a_, at(0, 10));
  order(a_, b_);
  order(a_, c_);
  read(b_, at(0, 4));
  read(c_, at(2, 8));
  order(b_, a_);
  EXPECT_EQ(report_of([&] { write(a_, at(0, 2)); }), "");
  EXPECT_NE(report_of([&] { write(a_, at(3, 1)); }), "");
  EXPECT_NE(report_of([&] { write(a_, at(5, 5)); }), "");
  order(c_, a_);
  EXPECT_EQ(report_of([&] { write(a_, at(0, 10)); }), "");
}

TEST_F(HazardCheckerTest, HostSynchronize_OrdersEverythingLater) {
  write(a_, at(0, 10));
  checker_.host_synchronize(a_);
  EXPECT_EQ(report_of([&] { write(b_, at(0, 10)); }), "");
  const int late = checker_.add_stream("late");
  EXPECT_NE(report_of([&] { read(late, at(0, 10)); }), "");  // of b, which the host has not seen end
  checker_.host_synchronize(b_);
  EXPECT_EQ(report_of([&] { read(late, at(0, 10)); }), "");
  const int later = checker_.add_stream("later");
  EXPECT_EQ(report_of([&] { read(later, at(0, 10)); }), "");
}

TEST_F(HazardCheckerTest, RetiredStream_IsDoneAndItsIdComesBack) {
  write(a_, at(0, 10));
  checker_.retire_stream(a_);
  EXPECT_EQ(report_of([&] { read(b_, at(0, 10)); }), "");
  const int again = checker_.add_stream("again");
  EXPECT_EQ(again, a_);
  write(again, at(50, 10));
  EXPECT_NE(report_of([&] { read(b_, at(50, 10)); }).find("'again'"), std::string::npos);
}

TEST_F(HazardCheckerTest, Forget_DropsTheHistoryOfExactlyThoseBytes) {
  write(a_, at(0, 100));
  checker_.forget(bytes + 20, 30);
  EXPECT_EQ(report_of([&] { write(b_, at(20, 30)); }), "");
  EXPECT_NE(report_of([&] { read(b_, at(19, 1)); }), "");
  EXPECT_NE(report_of([&] { read(b_, at(50, 1)); }), "");
  checker_.forget(bytes, 4096);
  EXPECT_EQ(checker_.num_intervals(), 0U);
}

TEST_F(HazardCheckerTest, ReportedOperation_LeavesNoMark) {
  write(a_, at(0, 10));
  EXPECT_NE(report_of([&] { checker_.run(b_, "both", nullptr, {at(50, 10)}, {at(0, 10)}); }), "");
  EXPECT_EQ(report_of([&] { write(c_, at(50, 10)); }), "");
  EXPECT_EQ(report_of([&] { write(a_, at(0, 10)); }), "");
}

TEST_F(HazardCheckerTest, OneOperation_MayReadAndWriteTheSameBytes) {
  EXPECT_EQ(report_of([&] { checker_.run(a_, "in_place", nullptr, {at(0, 64), at(10, 10)}, {at(0, 64)}); }), "");
  EXPECT_EQ(report_of([&] { checker_.run(a_, "in_place", nullptr, {at(0, 64)}, {at(0, 32), at(16, 64)}); }), "");
}

TEST_F(HazardCheckerTest, SteadyUse_KeepsTheHistorySmall) {
  for (int round = 0; round < 100; ++round) {
    for (int part = 0; part < 8; ++part) read(a_, at(part * 16, 16));
    write(a_, at(0, 128));
  }
  EXPECT_EQ(checker_.num_intervals(), 1U);
}

// The same through the devices.
class HazardsOfDevice : public ::testing::TestWithParam<DeviceKind> {
 protected:
  static RuntimeOptions checking() {
    RuntimeOptions options;
    options.check_hazards = true;
    return options;
  }
  std::unique_ptr<Device> device_ = Runtime(checking()).open_device(GetParam());
  std::unique_ptr<Stream> gather_ = device_->make_stream(StreamRole::Gather, "gather");
  std::unique_ptr<Stream> compute_ = device_->make_stream(StreamRole::Compute, "compute");
  std::unique_ptr<Event> event_ = device_->make_event("event");
};

INSTANTIATE_TEST_SUITE_P(Kinds, HazardsOfDevice, ::testing::Values(DeviceKind::Host, DeviceKind::Sim),
                         [](const auto& info) { return info.param == DeviceKind::Host ? "Host" : "Sim"; });

TEST_P(HazardsOfDevice, MissingWait_IsThrownAtTheSecondCall_AndTheWaitCuresIt) {
  const Buffer buffer = device_->allocate(256, MemoryTag::UnshardedParameters);
  const Buffer other = device_->allocate(256, MemoryTag::Inputs);
  device_->set_scope("block.1");
  gather_->fill(buffer.data(), 1, 256);
  gather_->record(*event_);
  device_->set_scope("block.2");
  auto use = [&] { compute_->copy(other.data(), buffer.data(), 256); };
  try {
    use();
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Internal);
    const std::string text = error.what();
    for (const char* word : {"'copy' (block.2)", "'compute'", "'fill' (block.1)", "'gather'"}) {
      EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
    }
  }
  compute_->wait(*event_);
  use();
  compute_->synchronize();
  EXPECT_EQ(compute_->error(), nullptr);
}

TEST_P(HazardsOfDevice, SynchronizeOfTheHost_Orders) {
  const Buffer buffer = device_->allocate(256, MemoryTag::Inputs);
  auto declare = [&](Stream& stream) { stream.run("writes", {}, {{buffer.data(), 256}}, [](Workers&) {}); };
  declare(*gather_);
  EXPECT_THROW(declare(*compute_), Error);
  gather_->synchronize();
  declare(*compute_);
}

// The streams take turns unordered, and that is no conflict even where the system hands out the same address again: it
// does for blocks this large. Sim never does.
TEST_P(HazardsOfDevice, FreedMemory_StartsAnew) {
  constexpr std::int64_t kBytes = 1 << 22;
  std::set<const void*> addresses;
  constexpr int kRounds = 12;
  for (int round = 0; round < kRounds; ++round) {
    const Buffer buffer = device_->allocate(kBytes, MemoryTag::Inputs);
    addresses.insert(buffer.data());
    Stream& stream = round % 2 == 0 ? *gather_ : *compute_;
    stream.run("write", {}, {{buffer.data(), kBytes}}, [](Workers&) {});
  }
  gather_->synchronize();
  compute_->synchronize();
  if (GetParam() == DeviceKind::Sim) {
    EXPECT_EQ(addresses.size(), static_cast<std::size_t>(kRounds));
  } else if (addresses.size() == static_cast<std::size_t>(kRounds)) {
    GTEST_SKIP() << "the system did not hand out any memory again";
  }
}

TEST_P(HazardsOfDevice, PolledOperations_AreCheckedToo) {
  const Buffer buffer = device_->allocate(64, MemoryTag::Inputs);
  gather_->run_polled("all_gather", {}, {{buffer.data(), 64}}, [](Workers&) { return Progress::Done; });
  EXPECT_THROW(compute_->run("use", {{buffer.data(), 64}}, {}, [](Workers&) {}), Error);
}

TEST_P(HazardsOfDevice, DestroyedStream_IsOrderedBeforeEverythingLater) {
  const Buffer buffer = device_->allocate(64, MemoryTag::Inputs);
  gather_->fill(buffer.data(), 0, 64);
  gather_.reset();
  compute_->fill(buffer.data(), 1, 64);
  compute_->synchronize();
}

}  // namespace
}  // namespace shoal
