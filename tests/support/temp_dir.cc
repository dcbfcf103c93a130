#include "support/temp_dir.h"

#include <stdlib.h>

#include <stdexcept>

#include "support/paths.h"

namespace ncclog::testing {

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "ncclog-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::add(const std::filesystem::path& name, std::string_view text) const {
  write_file(path_ / name, text);
  return (path_ / name).string();
}

}  // namespace ncclog::testing
