#include <gtest/gtest.h>

#include "shoal/collectives/factory.h"
#include "shoal/tests/support/rank_threads.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

using collectives::Communicator;
using collectives::Fold;
using collectives::Window;

/// Does what another communicator does, and looks at the ledger when it goes.
class Watched final : public Communicator {
 public:
  Watched(std::unique_ptr<Communicator> inner, const MemoryLedger& ledger, std::vector<std::int64_t>& held)
      : Communicator(inner->rank(), inner->size(), inner->name()),
        inner_(std::move(inner)),
        ledger_(ledger),
        held_(held) {}
  ~Watched() override { held_.push_back(ledger_.live()[MemoryTag::Parameters]); }

  std::unique_ptr<Communicator> split(int color, int key, std::string name) override {
    return std::make_unique<Watched>(inner_->split(color, key, std::move(name)), ledger_, held_);
  }
  void abort(const std::string& reason) override { inner_->abort(reason); }

 protected:
  void do_all_gather(Stream& s, const Tensor& shard, const Tensor& full) override {
    inner_->all_gather(s, shard, full);
  }
  void do_reduce_scatter(Stream& s, const Tensor& full, const Tensor& shard, Fold fold) override {
    inner_->reduce_scatter(s, full, shard, fold);
  }
  void do_all_reduce(Stream& s, const Tensor& in, const Tensor& out, Fold fold) override {
    inner_->all_reduce(s, in, out, fold);
  }
  void do_broadcast(Stream& s, const Tensor& data, int root) override { inner_->broadcast(s, data, root); }
  void do_all_to_all(Stream& s, const Tensor& send, const Tensor& recv) override { inner_->all_to_all(s, send, recv); }
  void do_send_recv(Stream& s, const Tensor& send, int to, const Tensor& recv, int from) override {
    inner_->send_recv(s, send, to, recv, from);
  }
  void do_barrier(Stream& s) override { inner_->barrier(s); }
  Window do_expose(const Tensor& shard) override { return inner_->expose(shard); }
  void do_publish(Stream& s, Window window, std::uint64_t version) override { inner_->publish(s, window, version); }
  void do_gather(Stream& s, Window window, const Tensor& full, std::uint64_t version) override {
    inner_->gather(s, window, full, version);
  }
  void do_await_readers(Stream& s) override { inner_->await_readers(s); }

 private:
  std::unique_ptr<Communicator> inner_;
  const MemoryLedger& ledger_;
  std::vector<std::int64_t>& held_;
};

TEST(Teardown, Communicators_GoBeforeTheShardsThatPeersReadThroughThem) {
  auto worlds = collectives::make_threads(2);
  run_ranks(2, [&](int rank, Device& device) {
    const Workload& workload = small_workload("mlp");
    std::vector<std::int64_t> held;  // bytes of shards when a communicator went
    std::int64_t shard_bytes = 0;
    Watched world(std::move(worlds[static_cast<std::size_t>(rank)]), device.ledger(), held);
    {
      const std::unique_ptr<nn::Model> model = workload.make_model();
      fsdp::ShardOptions options;
      options.train_batch = {{6, 10}, DType::F32, {6}, DType::I32};
      const fsdp::ShardedModel sharded(*model, device, world, workload.make_rule(), options);
      shard_bytes = device.ledger().live()[MemoryTag::Parameters];
    }
    EXPECT_GT(shard_bytes, 0);
    EXPECT_EQ(device.ledger().live().total, 0);
    ASSERT_EQ(held.size(), 2U);  // for gathers and for reductions
    for (const std::int64_t bytes : held) EXPECT_EQ(bytes, shard_bytes);
  });
}

}  // namespace
}  // namespace shoal::test
