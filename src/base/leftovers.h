// What must not be left behind where a signal, or a lack of memory, ends the process?
//
//   /tmp/ncclog-Xk2f9a, with the logs as they came      /home/ana/.ncclog-4711-0, half a report
//
// Destructors remove them; but nothing is unwound where a signal ends the process. So who makes such
// a thing says so before, and SIGINT, SIGTERM and SIGHUP remove what is there. What SIGKILL leaves
// nobody can take away.

#pragma once

#include <signal.h>

#include <string_view>

namespace ncclog {

/// A file or a folder that goes if the process is ended while this lives. Made before the file is.
class Leftover {
 public:
  Leftover() = default;
  explicit Leftover(std::string_view path);
  Leftover(Leftover&& other) noexcept;
  Leftover& operator=(Leftover&& other) noexcept;
  ~Leftover();

 private:
  int slot_ = -1;  ///< -1: none, or no room for it.
};

/// From now on these signals remove leftovers before they end the process. Signals that are ignored,
/// as nohup does with SIGHUP, stay so. For main.
void remove_leftovers_at_signals();

/// Removes all of them, and keeps to what a signal handler may do.
void remove_leftovers() noexcept;

/// Says that there is no memory, without any, removes leftovers and exits with 2.
[[noreturn]] void end_without_memory() noexcept;

/// Removes a file, or a folder with all that is in it; allocates nothing.
void remove_all_of(const char* path) noexcept;

/// Holds SIGINT, SIGTERM and SIGHUP back: for steps of which both are done or neither.
class HeldBack {
 public:
  HeldBack();
  ~HeldBack();
  HeldBack(const HeldBack&) = delete;
  HeldBack& operator=(const HeldBack&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace ncclog
