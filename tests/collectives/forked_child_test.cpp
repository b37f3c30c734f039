#include "shoal/tests/support/forked_child.h"

#include "shoal/tests/collectives/collective_rig.h"

namespace shoal::test {
namespace {

// The stream is the child's own, so it is the communicator that refuses.
TEST(ForkedChild, EveryCallOfAParentsCommunicator_IsRefusedByName) {
  for (const BackendWorld& world : backend_worlds()) {
    if (world.world_size != 1) continue;
    auto communicators = world.backend->make(1, {});
    collectives::Communicator& comm = *communicators[0];
    const auto refused = [&](const std::string& word, const std::function<void(Stream&, const Tensor&)>& call) {
      EXPECT_EQ(status_of_child([&] {
                  const auto device = Runtime().open_device(DeviceKind::Host);
                  const auto stream = device->make_stream(StreamRole::Gather, "the child's");
                  DeviceArray x(*device, 4, DType::F32);
                  return zero_if_refused([&] { call(*stream, x.tensor()); }, word);
                }),
                0)
          << word << " of " << world.backend->name;
    };
    using collectives::Fold;
    refused("[all_reduce] communicator", [&](Stream& s, const Tensor& x) { comm.all_reduce(s, x, x, Fold::Replace); });
    refused("[all_gather] communicator", [&](Stream& s, const Tensor& x) { comm.all_gather(s, x, x); });
    refused("[barrier] communicator", [&](Stream& s, const Tensor&) { comm.barrier(s); });
    refused("[expose] communicator", [&](Stream&, const Tensor& x) { comm.expose(x); });
    refused("[await_readers] communicator", [&](Stream& s, const Tensor&) { comm.await_readers(s); });
    refused("[split] communicator", [&](Stream&, const Tensor&) { comm.split(0, 0, "part"); });
    refused("[abort] communicator", [&](Stream&, const Tensor&) { comm.abort("over"); });
  }
}

}  // namespace
}  // namespace shoal::test
