#include "app/message_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/error.h"
#include "log/known_messages.h"
#include "log/message_file.h"

namespace ncclog {
namespace {

std::vector<std::string> find_files(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_regular_file(path, error)) return {path};
  if (!fs::is_directory(path, error)) throw Error("no such file or folder of messages", path);
  std::vector<std::string> files;
  fs::recursive_directory_iterator entry(path, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().extension() == ".messages" && entry->is_regular_file(ignored))
      files.push_back(entry->path());
  }
  if (error) throw Error("the folder cannot be read: " + error.message(), path);
  if (files.empty()) throw Error("no message file (*.messages) in this folder", path);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

size_t use_message_files(const std::vector<std::string>& paths) {
  std::vector<KindText> kinds;
  size_t count = 0;
  std::set<std::string> seen;  // A file may lie in a folder that is named, too.
  for (const std::string& path : paths) {
    for (const std::string& file : find_files(path)) {
      std::error_code ignored;
      if (!seen.insert(std::filesystem::weakly_canonical(file, ignored)).second) continue;
      std::ifstream stream(file, std::ios::binary);
      if (!stream) throw Error("cannot be read", file);
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      for (KindText& kind : parse_message_file(text, file)) kinds.push_back(std::move(kind));
      ++count;
    }
  }
  if (!kinds.empty()) add_messages(kinds);
  return count;
}

}  // namespace ncclog
