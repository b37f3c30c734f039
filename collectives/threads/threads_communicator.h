#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shoal/collectives/factory.h"
#include "shoal/collectives/threads/member.h"
#include "shoal/collectives/threads/operation.h"

namespace shoal::threads {

/// See collectives::make_threads.
std::vector<std::unique_ptr<collectives::Communicator>> make_communicators(int world_size,
                                                                           const collectives::CommOptions& options,
                                                                           const std::string& name);

/// One rank among threads of this process. Calls number the operation and enqueue a polled task; the tasks meet in the
/// ThreadGroup.
class ThreadsCommunicator final : public collectives::Communicator {
 public:
  ThreadsCommunicator(std::shared_ptr<ThreadGroup> group, int rank, std::string name);
  /// Tells peers, so that they fail at once where they would need this rank again. Operations that its streams still
  /// hold go on. Waits until no peer reads an exposed shard; where that takes longer than the deadline, the group
  /// fails, which ends the loop that reads it.
  ~ThreadsCommunicator() override;

  std::unique_ptr<Communicator> split(int color, int key, std::string name) override;
  void abort(const std::string& reason) override;

 private:
  void do_all_gather(Stream& stream, const Tensor& shard, const Tensor& full) override;
  void do_reduce_scatter(Stream& stream, const Tensor& full, const Tensor& shard, collectives::Fold fold) override;
  void do_all_reduce(Stream& stream, const Tensor& in, const Tensor& out, collectives::Fold fold) override;
  void do_broadcast(Stream& stream, const Tensor& data, int root) override;
  void do_all_to_all(Stream& stream, const Tensor& send, const Tensor& recv) override;
  void do_send_recv(Stream& stream, const Tensor& send, int to, const Tensor& recv, int from) override;
  void do_barrier(Stream& stream) override;
  collectives::Window do_expose(const Tensor& shard) override;
  void do_publish(Stream& stream, collectives::Window window, std::uint64_t version) override;
  void do_gather(Stream& stream, collectives::Window window, const Tensor& full, std::uint64_t version) override;
  void do_await_readers(Stream& stream) override;

  struct Call {
    ByteRanges reads;
    ByteRanges writes;
    collectives::Fingerprint fingerprint;
    const void* send = nullptr;
    const void* recv = nullptr;
    int receives_from = -1;
  };
  /// Numbers the operation and puts it on the stream.
  template <typename Work>
  void enqueue(Stream& stream, const Call& call, Work work);
  void check_not_failed(const char* operation) const;

  std::shared_ptr<Member> member_;
  std::vector<WindowRecord*> windows_;
  std::uint64_t num_issued_ = 0;
  std::uint64_t num_gathers_ = 0;
  std::size_t num_splits_ = 0;
};

}  // namespace shoal::threads
