// A library to be preloaded: calls of the C library fail, in the order in which a program makes them.
//
//   NCCLOG_FAULT="write ENOSPC 3"    the third write and all after it find the disk full
//   NCCLOG_FAULT="read SHORT 1"      from the first on, reads give fewer bytes than were asked for
//   NCCLOG_FAULT="any SIGTERM 12"    the signal comes before the twelfth call of any sort
//   NCCLOG_FAULT="memory NONE 900"   the allocation with that number and all after it get nothing
//
// Sorts are write, read, sync, rename, open, folder, memory and any (all but memory). EINTR and SHORT
// come at every second call, the other errors at each. What is written to standard error is left
// alone: there the program says what failed. With NCCLOG_FAULT_COUNT a file gets a line for each sort
// when the program ends, "write 17", and whether the fault came: "hit 1".

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum Sort { kWrite, kRead, kSync, kRename, kOpen, kFolder, kMemory, kAny };
constexpr const char* kSorts[] = {"write", "read",   "sync",   "rename",
                                  "open",  "folder", "memory", "any"};

constexpr struct {
  const char* name;
  int value;
} kErrors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EINTR", EINTR}, {"EMFILE", EMFILE},
               {"EACCES", EACCES}, {"EDQUOT", EDQUOT}, {"EROFS", EROFS}};
constexpr struct {
  const char* name;
  int value;
} kSignals[] = {{"SIGINT", SIGINT}, {"SIGTERM", SIGTERM}, {"SIGHUP", SIGHUP}};

constinit std::array<std::atomic<long>, 8> counts{};
constinit std::atomic<int> hits = 0;
constinit std::atomic<bool> is_ready = false;
constinit int sort = -1, error = 0, signal_number = 0;
constinit bool is_short = false;
constinit long from = 0;
constinit char count_file[4096] = "";

/// At the first call, which may come from the constructor of another library.
void read_settings() {
  const char* counted = std::getenv("NCCLOG_FAULT_COUNT");
  if (counted != nullptr) std::strncpy(count_file, counted, sizeof(count_file) - 1);
  const char* fault = std::getenv("NCCLOG_FAULT");
  char what[16] = "", how[16] = "";
  if (fault == nullptr || std::sscanf(fault, "%15s %15s %ld", what, how, &from) != 3) return;
  for (const auto& one : kErrors) error = std::strcmp(how, one.name) == 0 ? one.value : error;
  for (const auto& one : kSignals)
    signal_number = std::strcmp(how, one.name) == 0 ? one.value : signal_number;
  is_short = std::strcmp(how, "SHORT") == 0;
  for (int i = 0; i < 8; ++i) sort = std::strcmp(what, kSorts[i]) == 0 ? i : sort;
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Counts a call; true if it is to fail, errno says how. `bytes` is cut where few are to be given.
bool fails(Sort own, size_t* bytes = nullptr) {
  if (environ == nullptr) return false;  // The C library is not ready, either.
  if (!is_ready.exchange(true)) read_settings();
  const long number = ++counts[own];
  const long any = own == kMemory ? 0 : ++counts[kAny];
  if (sort == kAny && signal_number != 0 && any == from) {
    hits = 1;
    raise(signal_number);
  }
  if (sort != own || number < from) return false;
  if (is_short) {
    if (bytes != nullptr && *bytes > 1 && number % 2 == 0) *bytes = 1 + *bytes * 2 / 3;
    hits = 1;
    return false;
  }
  if (error == EINTR && number % 2 == 0) return false;
  if (own == kMemory || error != 0) hits = 1;
  errno = error;
  return own == kMemory || error != 0;
}

__attribute__((destructor)) void write_counts() {
  if (*count_file == '\0') return;
  sort = -1;
  const int file =
      next<int(const char*, int, mode_t)>("open")(count_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < 8; ++i) dprintf(file, "%s %ld\n", kSorts[i], counts[i].load());
  dprintf(file, "hit %d\n", hits.load());
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t count) {
  static const auto real = next<ssize_t(int, const void*, size_t)>("write");
  return file != STDERR_FILENO && fails(kWrite, &count) ? -1 : real(file, bytes, count);
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
  static const auto real = next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return fails(kWrite, &count) ? -1 : real(file, bytes, count, at);
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
  return pwrite64(file, bytes, count, at);
}

ssize_t writev(int file, const struct iovec* parts, int count) {
  static const auto real = next<ssize_t(int, const struct iovec*, int)>("writev");
  size_t shown = static_cast<size_t>(count);
  return fails(kWrite, &shown) ? -1 : real(file, parts, static_cast<int>(shown));
}

ssize_t read(int file, void* bytes, size_t count) {
  static const auto real = next<ssize_t(int, void*, size_t)>("read");
  return fails(kRead, &count) ? -1 : real(file, bytes, count);
}

ssize_t pread64(int file, void* bytes, size_t count, off64_t at) {
  static const auto real = next<ssize_t(int, void*, size_t, off64_t)>("pread64");
  return fails(kRead, &count) ? -1 : real(file, bytes, count, at);
}

ssize_t pread(int file, void* bytes, size_t count, off_t at) {
  return pread64(file, bytes, count, at);
}

int fsync(int file) {
  static const auto real = next<int(int)>("fsync");
  return fails(kSync) ? -1 : real(file);
}

int rename(const char* one, const char* other) {
  static const auto real = next<int(const char*, const char*)>("rename");
  return fails(kRename) ? -1 : real(one, other);
}

int mkdir(const char* path, mode_t mode) {
  static const auto real = next<int(const char*, mode_t)>("mkdir");
  return fails(kFolder) ? -1 : real(path, mode);
}

char* mkdtemp(char* path) {
  static const auto real = next<char*(char*)>("mkdtemp");
  return fails(kFolder) ? nullptr : real(path);
}

int open64(const char* path, int flags, ...) {
  static const auto real = next<int(const char*, int, ...)>("open64");
  va_list rest;
  va_start(rest, flags);
  const auto mode =
      static_cast<mode_t>((flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, int) : 0);
  va_end(rest);
  return fails(kOpen) ? -1 : real(path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode =
      static_cast<mode_t>((flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, int) : 0);
  va_end(rest);
  return open64(path, flags, mode);
}

/// operator new of the program calls it.
void* malloc(size_t bytes) {
  static const auto real = next<void*(size_t)>("malloc");
  if (!fails(kMemory)) return real(bytes);
  errno = ENOMEM;
  return nullptr;
}

}  // extern "C"
