// Ctrl-C and its like as something to be polled for, so that a run can be ended in order.
//
//   StopSignals stops;   SIGINT, SIGTERM and SIGHUP no longer end this process
//   poll(stops.descriptor()) … take_stop_signal(stops.descriptor())   →  SIGINT

#pragma once

#include <csignal>

namespace ncclog {

/// Invariant: the signals are blocked as long as it lives, and as before when it goes. Made before
/// any thread is started.
class StopSignals {
 public:
  /// Throws Error.
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  /// A signalfd that does not block.
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  sigset_t before_;
};

/// Takes the signal that has come there; 0: none has, or `descriptor` is -1.
int take_stop_signal(int descriptor);

}  // namespace ncclog
