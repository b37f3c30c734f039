#include "shoal/collectives/threads/host_wait.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "shoal/collectives/threads/threads_communicator.h"
#include "shoal/tests/collectives/collective_rig.h"

// How the threads backend waits on the host, with the moments chosen by the test.

namespace shoal::threads {
namespace {

using test::DeviceArray;
using test::wait_until;

std::shared_ptr<ThreadGroup> make_group(int size, std::chrono::milliseconds deadline = std::chrono::minutes(1)) {
  collectives::CommOptions options;
  options.deadline = deadline;
  return std::make_shared<ThreadGroup>(size, options, "world");
}

TEST(BusyCount, EveryLoopOfTheTimeHasEnded_OnceTheCountWasZero) {
  BusyCount busy;
  const std::uint64_t idle = busy.look();
  busy.enter();
  EXPECT_TRUE(busy.has_been_idle_since(idle));
  busy.enter();
  const std::uint64_t two = busy.look();
  busy.leave();
  busy.enter();
  busy.leave();
  EXPECT_FALSE(busy.has_been_idle_since(two));  // one of the two may still run
  EXPECT_FALSE(busy.is_idle());
  busy.leave();
  EXPECT_TRUE(busy.is_idle());
  EXPECT_TRUE(busy.has_been_idle_since(two));
  busy.enter();
  EXPECT_TRUE(busy.has_been_idle_since(two));  // both have ended; this is a later one
  const std::uint64_t later = busy.look();
  EXPECT_FALSE(busy.has_been_idle_since(later));
}

TEST(HostWait, PeerThatComesAndLeavesWhileOthersAreLookedAt_WasNotMissed) {
  const auto group = make_group(2);
  const Member member(group, 0);
  int num_looks = 0;
  await_on_host(member, "split", [&](int peer) {
    if (peer == 0) return true;
    group->rank(1).has_left.store(true);  // right after it was found missing
    return ++num_looks > 1;
  });
  EXPECT_FALSE(group->failure().is_set());
}

TEST(HostWait, PeerThatLeavesWithoutHavingCome_IsACommFailure) {
  const auto group = make_group(2);
  const Member member(group, 0);
  group->rank(1).has_left.store(true);
  try {
    await_on_host(member, "split", [](int peer) { return peer == 0; });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::CommFailure);
    EXPECT_NE(std::string(error.what()).find("rank 1, which has left"), std::string::npos) << error.what();
  }
}

// Rank 1 is always in some loop or other, so the group is never idle: rank 0 can go nevertheless.
TEST(HostWait, LoopsThatBeginLater_AreNotWaitedFor) {
  const auto group = make_group(3);
  const Member one(group, 1);
  const Member two(group, 2);
  auto first = std::make_unique<BusyScope>(one);
  std::atomic<bool> has_waited{false};
  std::thread leaver([&] {
    EXPECT_TRUE(await_running_loops_on_host(*group));
    has_waited = true;
  });
  EXPECT_TRUE(wait_until([&] {
    // Some loop runs at every moment.
    auto other = std::make_unique<BusyScope>(two);
    first.reset();
    first = std::make_unique<BusyScope>(one);
    other.reset();
    return has_waited.load();
  }));
  leaver.join();
}

// A copy that takes longer than the deadline: the group fails, which ends it, and only then may the shard go.
TEST(HostWait, RankThatLeaves_DoesNotLeaveAReaderBehind) {
  const auto device = Runtime().open_device(DeviceKind::Host);
  const auto group = make_group(2, std::chrono::milliseconds(20));
  auto leaver = std::make_unique<ThreadsCommunicator>(group, 0, "world");
  auto peer = std::make_unique<ThreadsCommunicator>(group, 1, "world");
  DeviceArray a(*device, 10, DType::F32);
  DeviceArray b(*device, 10, DType::F32);
  std::thread exposes([&] { peer->expose(b.tensor()); });
  leaver->expose(a.tensor());
  exposes.join();

  std::atomic<bool> is_reading{false};
  std::atomic<bool> has_ended{false};
  std::atomic<bool> is_over{false};
  std::thread reader([&] {
    const Member member(group, 1);
    const BusyScope scope(member);
    is_reading = true;
    EXPECT_TRUE(wait_until([&] { return !scope.may_run() || is_over; }));
    has_ended = true;
  });
  EXPECT_TRUE(wait_until([&] { return is_reading.load(); }));
  leaver.reset();
  EXPECT_TRUE(has_ended);
  is_over = true;
  reader.join();
  ASSERT_TRUE(group->failure().is_set());
  EXPECT_THROW(group->failure().raise("gather"), Error);
}

}  // namespace
}  // namespace shoal::threads
