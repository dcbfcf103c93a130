// What one loop waits for at once: whatever comes first wakes it.
//
//   PollList polled;
//   polled.add(listener.descriptor());    a rank connects
//   polled.add(connection);               it speaks, or takes what was kept for it
//   polled.wait(30s);

#pragma once

#include <poll.h>

#include <chrono>
#include <vector>

#include "replay/exec/connection.h"

namespace ncclog {

/// Descriptors that are waited for; made anew for every wait.
struct PollList {
  std::vector<pollfd> polled;

  /// Until something can be read from it; -1 is left out.
  void add(int descriptor);

  /// Until something can be read from it, or written if bytes are kept for it; left out if closed.
  void add(const Connection& connection);

  /// Returns when something has come, or after `most`: not at all if that is over, and an hour at
  /// most.
  void wait(std::chrono::milliseconds most);
};

}  // namespace ncclog
