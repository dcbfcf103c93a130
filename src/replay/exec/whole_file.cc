#include "replay/exec/whole_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/error.h"

namespace ncclog {

namespace fs = std::filesystem;

std::optional<std::string> read_whole_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_whole_file(const fs::path& path, const std::string& text) {
  const fs::path part = fmt::format("{}.{}.part", path.native(), getpid());
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (!file) throw Error("cannot be written", part.native());
  file.close();
  fs::rename(part, path);
}

}  // namespace ncclog
