#include "fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace ncclog::fuzz {

#include "fuzz/target_declarations.inc"

namespace {

constexpr Target kTargets[] = {
#include "fuzz/targets.inc"
};

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(kTargets, name, &Target::name);
  return found == std::end(kTargets) ? nullptr : found;
}

void require(bool holds, std::source_location where) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: does not hold\n", where.file_name(), where.line());
  std::abort();
}

void require_equal(const std::string& found, const std::string& wanted,
                   std::source_location where) {
  if (found == wanted) return;
  std::fprintf(stderr, "== found\n%s\n== wanted\n%s\n", found.c_str(), wanted.c_str());
  require(false, where);
}

uint8_t take_byte(std::string_view& bytes) {
  if (bytes.empty()) return 0;
  const auto first = static_cast<uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  return first;
}

std::vector<std::string_view> parts_of(std::string_view bytes, char separator, size_t most) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < most) {
    const size_t end = bytes.find(separator);
    if (end == bytes.npos) break;
    parts.push_back(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
  }
  parts.push_back(bytes);
  return parts;
}

MemoryFile::MemoryFile(std::string_view bytes) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
  require(descriptor_ >= 0);
  require(write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  path_ = "/proc/self/fd/" + std::to_string(descriptor_);
}

MemoryFile::~MemoryFile() { close(descriptor_); }

}  // namespace ncclog::fuzz
