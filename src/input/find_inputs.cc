// Two rounds: everything that is reached without links, then what only a link leads to. So
// `latest -> run3` adds nothing beside `run3`, whichever of the two sorts first.

#include "input/find_inputs.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

/// Device and inode: the same for every name of a file.
using FileId = std::pair<dev_t, ino_t>;

struct Search {
  bool is_one_enough = false;      ///< Whether there is any file is all that is asked.
  std::set<FileId> seen;           ///< Files and folders already taken.
  std::vector<std::string> links;  ///< Links met in folders, for the second round.
  std::vector<std::string> found;

  bool is_over() const { return is_one_enough && !found.empty(); }
};

void take(const std::string& path, const struct stat& file, Search& search);

bool is_new(const struct stat& file, Search& search) {
  return search.seen.emplace(file.st_dev, file.st_ino).second;
}

/// The visible entries of `folder`; `error` is set if it cannot be listed.
std::vector<std::string> entries(const std::string& folder, std::error_code& error) {
  std::vector<std::string> paths;
  fs::directory_iterator it(folder, error);
  while (!error && it != fs::directory_iterator()) {
    const fs::path& path = it->path();
    if (!path.filename().native().starts_with('.')) paths.push_back(path.native());
    it.increment(error);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// What ncclog-replay writes beside the logs of its runs, which are those of another job.
std::string outcome_in(const std::string& folder) { return folder + "/outcome.json"; }

bool is_of_a_replay(const std::string& folder) {
  constexpr std::string_view kBegin = "{\n  \"schema\": \"ncclog.replay-outcome/";
  std::ifstream file(outcome_in(folder), std::ios::binary);
  std::string begin(kBegin.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kBegin;
}

void visit_entry(const std::string& path, Search& search) {
  struct stat entry {};
  if (lstat(path.c_str(), &entry) != 0) {
    search.found.push_back(path);
  } else if (S_ISLNK(entry.st_mode)) {
    search.links.push_back(path);
  } else if (S_ISDIR(entry.st_mode) && is_of_a_replay(path)) {
    search.found.push_back(outcome_in(path));
  } else if (S_ISREG(entry.st_mode) || S_ISDIR(entry.st_mode)) {
    take(path, entry, search);
  }
}

void visit(const std::string& path, Search& search) {
  struct stat file {};
  if (stat(path.c_str(), &file) == 0) return take(path, file, search);
  search.found.push_back(path);
}

/// `file` is what `path` leads to.
void take(const std::string& path, const struct stat& file, Search& search) {
  if (!is_new(file, search)) return;
  if (!S_ISDIR(file.st_mode)) {
    search.found.push_back(path);
    return;
  }
  std::error_code error;
  for (const std::string& entry : entries(path, error)) {
    if (search.is_over()) return;
    visit_entry(entry, search);
  }
  if (error) search.found.push_back(path);
}

/// Links are followed only when nothing else is left; following one may find more of them.
void follow_links(Search& search) {
  while (!search.links.empty() && !search.is_over()) {
    std::vector<std::string> links = std::exchange(search.links, {});
    std::sort(links.begin(), links.end());
    for (const std::string& link : links) {
      struct stat target {};
      const bool readable = stat(link.c_str(), &target) == 0;
      if (!readable || S_ISREG(target.st_mode) || S_ISDIR(target.st_mode)) visit(link, search);
    }
  }
}

std::vector<std::string> expand_glob(const std::string& pattern) {
  glob_t matches{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &matches) == 0) {
    paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  globfree(&matches);
  if (paths.empty()) {
    throw Error("no file matches this pattern", pattern, "list the folder to see what is there");
  }
  return paths;
}

/// An existing path is meant literally, even if it holds a '*'.
std::vector<std::string> expand(const std::string& argument) {
  if (argument == kStdinPath) return {argument};
  std::error_code error;
  const fs::file_status status = fs::status(argument, error);
  if (fs::exists(status)) return {argument};
  if (error && status.type() != fs::file_type::not_found) {
    throw Error(error.message(), argument, "check the permissions of the folders above it");
  }
  if (argument.find_first_of("*?[") != argument.npos) return expand_glob(argument);
  throw Error("no such file or folder", argument, "check the spelling, or quote a pattern");
}

/// Sorted and without repetition, before anything is visited: the order given decides nothing.
std::vector<std::string> expand_all(std::span<const std::string> arguments) {
  if (arguments.empty()) {
    throw Error("no input given", {}, "name files or folders, or - for standard input");
  }
  std::set<std::string> paths;
  for (const std::string& argument : arguments) {
    for (std::string& path : expand(argument)) paths.insert(std::move(path));
  }
  return {paths.begin(), paths.end()};
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

/// A pipe behind a link is read at once: that is how a shell passes `<(zcat x)`.
bool is_link_to_file_or_folder(const std::string& path) {
  std::error_code error;
  return fs::is_symlink(fs::symlink_status(path, error)) &&
         (fs::is_regular_file(path, error) || fs::is_directory(path, error));
}

/// A folder in which nothing can be found is a mistake in the request, not an empty log.
void require_files(const std::string& argument) {
  Search search{.is_one_enough = true};
  std::error_code error;
  entries(argument, error);
  if (error) throw Error(error.message(), argument, "check the permissions of this folder");
  visit(argument, search);
  follow_links(search);
  if (search.found.empty()) {
    throw Error("no files in this folder", argument,
                "hidden entries are left out; name a file itself to read it");
  }
}

}  // namespace

std::vector<std::string> find_inputs(std::span<const std::string> arguments) {
  Search search;
  for (const std::string& path : expand_all(arguments)) {
    if (path == kStdinPath) {
      search.found.push_back(path);
      continue;
    }
    if (is_folder(path)) require_files(path);
    if (is_link_to_file_or_folder(path)) {
      search.links.push_back(path);
    } else {
      visit(path, search);
    }
  }
  follow_links(search);
  std::sort(search.found.begin(), search.found.end());
  return search.found;
}

}  // namespace ncclog
