#include "replay/exec/stop_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace ncclog {

StopSignals::StopSignals() {
  sigset_t stops;
  sigemptyset(&stops);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stops, number);
  sigprocmask(SIG_BLOCK, &stops, &before_);
  descriptor_ = signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ >= 0) return;
  const int error = errno;
  sigprocmask(SIG_SETMASK, &before_, nullptr);
  throw Error(std::string("signals cannot be watched: ") + std::strerror(error));
}

StopSignals::~StopSignals() {
  close(descriptor_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace ncclog
