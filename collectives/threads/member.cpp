#include "shoal/collectives/threads/member.h"

#include <algorithm>
#include <cstring>

#include "shoal/runtime/base/int_math.h"
#include "shoal/runtime/device/progress_gate.h"

namespace shoal::threads {
namespace {

constexpr std::int64_t kSpreadBytes = 1 << 20;  // smaller work stays on one thread
constexpr std::int64_t kMinPieceBytes = 1 << 16;
constexpr std::int64_t kPiecesPerWorker = 4;  // so that a worker that comes late does not hold up the others
constexpr std::int64_t kAlignElements = 64;

std::int64_t piece_numel(const Member& member, std::int64_t numel, std::int64_t element_bytes, int num_workers) {
  std::int64_t bytes = member.group().options().chunk_bytes;
  if (num_workers > 1) {
    const std::int64_t even = ceil_div(numel * element_bytes, kPiecesPerWorker * num_workers);
    bytes = std::min(bytes, std::max(kMinPieceBytes, even));
  }
  return std::max(kAlignElements, bytes / element_bytes / kAlignElements * kAlignElements);
}

/// body(begin, end) over [0, numel) in pieces, until the group fails.
template <typename Body>
bool run_pieces(const BusyScope& scope, Workers& workers, std::int64_t numel, std::int64_t element_bytes,
                const Body& body) {
  const Member& member = scope.member();
  const int num_workers = numel * element_bytes < kSpreadBytes ? 1 : workers.count();
  const std::int64_t piece = piece_numel(member, numel, element_bytes, num_workers);
  const auto run_piece = [&](std::int64_t index, int /*worker*/) {
    if (!scope.may_run()) return;
    body(index * piece, std::min(numel, (index + 1) * piece));
    member.state().progress.fetch_add(1, std::memory_order_relaxed);
    workers.note_progress();
  };
  const std::int64_t num_pieces = ceil_div(numel, piece);
  if (num_workers > 1) {
    workers.parallel_for(num_pieces, run_piece);
  } else {
    for (std::int64_t index = 0; index < num_pieces; ++index) run_piece(index, 0);
  }
  return scope.may_run();
}

}  // namespace

void Member::advance() const {
  state().progress.fetch_add(1, std::memory_order_relaxed);
  process_gate().notify();
}

BusyScope::BusyScope(const Member& member) : member_(member) { member_.state().busy.enter(); }

BusyScope::~BusyScope() {
  member_.state().busy.leave();
  if (!may_run()) process_gate().notify();
}

bool copy_pieces(const BusyScope& scope, Workers& workers, void* dst, const void* src, std::int64_t bytes) {
  return run_pieces(scope, workers, bytes, 1, [=](std::int64_t begin, std::int64_t end) {
    std::memcpy(static_cast<std::byte*>(dst) + begin, static_cast<const std::byte*>(src) + begin,
                static_cast<std::size_t>(end - begin));
  });
}

bool sum_pieces(const BusyScope& scope, Workers& workers, const collectives::RankOrderSum& sum, std::int64_t begin,
                std::int64_t end) {
  return run_pieces(scope, workers, end - begin, dtype_bytes(sum.dtype),
                    [&, begin](std::int64_t from, std::int64_t to) { sum.run(begin + from, begin + to); });
}

}  // namespace shoal::threads
