#include "app/run/dump_pipes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <vector>

#include "base/posix.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".pipe";

std::vector<fs::path> pipes_of(const std::string& stem) {
  std::vector<fs::path> pipes;
  std::error_code error;
  const std::string name = fs::path(stem).filename();
  for (fs::directory_iterator it(fs::path(stem).parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string one = it->path().filename();
    std::error_code ignored;
    if (one.starts_with(name) && one.ends_with(kEnding) &&
        fs::is_fifo(it->symlink_status(ignored))) {
      pipes.push_back(it->path());
    }
  }
  return pipes;
}

}  // namespace

std::string new_pipe_stem() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) return {};
  std::random_device random;
  const std::string stem =
      folder / fmt::format("ncclog-run-{:08x}{:08x}-rank-", random(), random());
  const std::string trial = fmt::format("{}trial{}", stem, kEnding);
  if (mkfifo(trial.c_str(), 0600) != 0) return {};
  unlink(trial.c_str());
  return stem;
}

int ask_for_dumps(const std::string& stem) {
  int asked = 0;
  for (const fs::path& path : pipes_of(stem)) {
    // Without a reader this fails instead of waiting for one.
    const Descriptor pipe(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    asked += pipe.is_open() && write(pipe.get(), "1", 1) == 1;
  }
  return asked;
}

void remove_pipes(const std::string& stem) {
  if (stem.empty()) return;
  for (const fs::path& path : pipes_of(stem)) unlink(path.c_str());
}

}  // namespace ncclog
