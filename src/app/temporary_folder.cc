#include "app/temporary_folder.h"

#include <stdlib.h>

#include <cstring>
#include <string>
#include <system_error>

#include "base/error.h"

namespace ncclog {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "ncclog-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) {
    throw Error("no temporary folder can be made", name,
                "set TMPDIR to a folder that can be written");
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

WorkingFolder::WorkingFolder(const fs::path& path) : before_(fs::current_path()) {
  fs::current_path(path);
}

WorkingFolder::~WorkingFolder() {
  std::error_code ignored;
  fs::current_path(before_, ignored);
}

}  // namespace ncclog
