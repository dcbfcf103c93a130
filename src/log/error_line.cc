#include "log/error_line.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace ncclog {
namespace {

/// A number follows, or a signal's name; 0 is no error.
constexpr std::string_view kEnds[] = {
    "xited with exit code",  // srun, mpirun, Docker; "Exited" and "exited"
    "xited with code",        "xited with status",  "xited with error",     "xited on signal",
    "returned non-zero exit", "non-zero exit code", "non-zero exit status", "died from signal",
    "died with signal",       "illed by signal",    "erminated by signal",  "xited by signal",
};

/// Enough by themselves.
constexpr std::string_view kFailures[] = {
    "NCCL WARN ",
    "NCCL ERROR ",
    "ncclUnhandledCudaError",
    "ncclSystemError",
    "ncclInternalError",
    "ncclInvalidArgument",
    "ncclInvalidUsage",
    "ncclRemoteError",
    "rcclUnhandledHipError",
    "unhandled cuda error",
    "unhandled system error",
    "gai error:",
    "NCCL error",
    "NCCL failure",
    "NET/OFI Unable",
    "NET/OFI Failed",
    "(core dumped)",
    "dumped core",
};

constexpr size_t kNeedles = std::size(kEnds) + std::size(kFailures);

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "exited with exit code 0": the number right behind the words is zero.
bool is_zero(std::string_view behind) {
  const size_t at = behind.find_first_not_of(" :=(");
  if (at == behind.npos || behind[at] != '0') return false;
  return at + 1 == behind.size() || !(is_digit(behind[at + 1]) || behind[at + 1] == 'x');
}

bool reports_end(std::string_view line, std::string_view words) {
  const size_t at = line.find(words);
  return at != line.npos && !is_zero(line.substr(at + words.size()));
}

/// Source code in a traceback, and text that explains an error, name it without reporting one.
bool is_mention(std::string_view line) {
  constexpr std::string_view kCode[] = {"raise ", "except ", "if ", "case ", "#", "//", "* "};
  const std::string_view text = trim(line);
  return std::any_of(std::begin(kCode), std::end(kCode),
                     [&](std::string_view begin) { return text.starts_with(begin); });
}

}  // namespace

std::span<const std::string_view> error_needles() {
  static const auto needles = [] {
    std::array<std::string_view, kNeedles> all{};
    const auto end = std::copy(std::begin(kEnds), std::end(kEnds), all.begin());
    std::copy(std::begin(kFailures), std::end(kFailures), end);
    return all;
  }();
  return needles;
}

bool looks_like_error(std::string_view line) {
  const bool holds =
      std::any_of(std::begin(kFailures), std::end(kFailures),
                  [&](std::string_view words) { return line.find(words) != line.npos; }) ||
      std::any_of(std::begin(kEnds), std::end(kEnds),
                  [&](std::string_view words) { return reports_end(line, words); });
  return holds && !is_mention(line);
}

}  // namespace ncclog
