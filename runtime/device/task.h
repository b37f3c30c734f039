#pragma once

#include <cstdint>

#include "shoal/runtime/base/inline_function.h"

namespace shoal {

/// The threads that one host task may spread over: the rank's own workers.
class Workers {
 public:
  virtual ~Workers() = default;

  /// Threads that parallel_for may use, this one included; at least 1.
  virtual int count() const = 0;

  /// A polled task that is not done, but has got further, or has seen a peer get further, says so here: deadlines of
  /// this device's streams count from then on.
  virtual void note_progress() = 0;

  /// Calls body(chunk, worker) once for every chunk in [0, num_chunks), on any of the workers, in any order; returns
  /// when all are done. `worker` is in [0, count()) and no two calls with the same worker run at once. An exception in
  /// a body is rethrown here after the others have ended. A body must not call parallel_for. Chunks that other workers
  /// have begun are waited for without a deadline, as the caller's own are: `body` lives on the caller's stack.
  template <typename Body>
  void parallel_for(std::int64_t num_chunks, const Body& body) {
    if (num_chunks == 1 || count() == 1) {
      for (std::int64_t chunk = 0; chunk < num_chunks; ++chunk) body(chunk, 0);
      return;
    }
    spread(
        num_chunks,
        [](const void* context, std::int64_t chunk, int worker) {
          (*static_cast<const Body*>(context))(chunk, worker);
        },
        &body);
  }

 protected:
  virtual void spread(std::int64_t num_chunks, void (*call)(const void* context, std::int64_t chunk, int worker),
                      const void* context) = 0;
};

/// Work on host memory that one operation does when its turn comes. Destroyed right after it ran.
using Task = InlineFunction<void(Workers&), 1536>;

enum class Progress { Pending, Done };

/// Work that may have to be tried again, because it depends on another rank. Each try returns without blocking, in
/// bounded time.
using PolledTask = InlineFunction<Progress(Workers&), 512>;

}  // namespace shoal
