#include "base/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace ncclog {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// Fixed places, because a handler may neither wait nor allocate.
struct Slot {
  std::atomic<bool> is_taken = false;
  std::atomic<bool> is_set = false;
  std::array<char, PATH_MAX> path{};
};

constinit std::array<Slot, 16> slots;
constinit std::atomic<pid_t> owner = 0;

void remove_entry(int folder, const char* name, int depth) noexcept;

/// True if something was removed.
bool remove_entries(int folder, int depth) noexcept {
  alignas(dirent64) std::array<char, 4096> block;  // opendir() would allocate.
  bool any = false;
  lseek(folder, 0, SEEK_SET);
  for (ssize_t count; (count = getdents64(folder, block.data(), block.size())) > 0;) {
    for (ssize_t at = 0; at < count;) {
      const auto* entry = reinterpret_cast<const dirent64*>(block.data() + at);
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      remove_entry(folder, entry->d_name, depth);
      any = true;
    }
  }
  return any;
}

void remove_entry(int folder, const char* name, int depth) noexcept {
  constexpr int kDeepest = 64;
  if (unlinkat(folder, name, 0) == 0 || errno == ENOENT || depth == kDeepest) return;
  const int inside = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inside >= 0) {
    // What is read on after a removal may miss entries.
    for (int n = 0; n < kDeepest && remove_entries(inside, depth + 1); ++n) {
    }
    close(inside);
  }
  unlinkat(folder, name, AT_REMOVEDIR);
}

void end_by(int signal) {
  remove_leftovers();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

sigset_t all_signals() {
  sigset_t all;
  sigemptyset(&all);
  for (const int signal : kSignals) sigaddset(&all, signal);
  return all;
}

}  // namespace

void remove_leftovers() noexcept {
  // A child between fork and exec has the slots, too.
  if (getpid() != owner) return;
  for (Slot& slot : slots) {
    if (slot.is_set) remove_all_of(slot.path.data());
  }
}

void remove_all_of(const char* path) noexcept { remove_entry(AT_FDCWD, path, 0); }

void end_without_memory() noexcept {
  constexpr std::string_view kText =
      "ncclog: out of memory\n"
      "  hint: read fewer logs at once, with fewer threads: --threads 1\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
  remove_leftovers();
  _exit(2);
}

void remove_leftovers_at_signals() {
  owner = getpid();
  for (const int signal : kSignals) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_handler = end_by;
    action.sa_mask = all_signals();
    sigaction(signal, &action, nullptr);
  }
}

Leftover::Leftover(std::string_view path) {
  std::error_code error;
  // The working directory may be another one when it is removed.
  const std::string whole = std::filesystem::absolute(path, error).native();
  if (error || whole.size() >= PATH_MAX) return;
  for (size_t i = 0; i < slots.size() && slot_ < 0; ++i) {
    if (slots[i].is_taken.exchange(true)) continue;
    slots[i].path[whole.copy(slots[i].path.data(), whole.size())] = '\0';
    slots[i].is_set = true;
    slot_ = static_cast<int>(i);
  }
}

Leftover::Leftover(Leftover&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

Leftover& Leftover::operator=(Leftover&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

Leftover::~Leftover() {
  if (slot_ < 0) return;
  Slot& slot = slots[slot_];
  slot.is_set = false;
  slot.is_taken = false;
}

HeldBack::HeldBack() {
  const sigset_t all = all_signals();
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}

HeldBack::~HeldBack() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace ncclog
