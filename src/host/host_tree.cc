#include "host/host_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"

namespace ncclog {

namespace {

/// Reasons that say that there is no such thing.
constexpr int kAbsent[] = {ENOENT, ENOTDIR, ENODEV, ENXIO};

HostAnswer without_answer(std::string_view why) {
  const bool is_absent =
      std::ranges::any_of(kAbsent, [&](int error) { return why == std::strerror(error); });
  return {is_absent ? HostAnswer::State::Absent : HostAnswer::State::Refused, {}, std::string(why)};
}

}  // namespace

HostAnswer no_answer(int error) { return without_answer(std::strerror(error)); }

namespace {

constexpr size_t kMaxFileBytes = size_t{256} << 10;
constexpr size_t kMaxNames = 4096;

HostAnswer here(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return {HostAnswer::State::Here, std::move(text), {}};
}

HostAnswer answer_file(const std::string& path) { return read_host_file(path, kMaxFileBytes); }

/// A table of mounts names those of others, with their options, too.
HostAnswer answer_mount(const std::string& path) {
  HostAnswer answer = answer_file(path);
  std::string wanted;
  for (const std::string_view line : split(answer.text, '\n')) {
    if (line.find(" /dev/shm ") == line.npos) continue;
    wanted += (wanted.empty() ? "" : "\n") + std::string(line);
  }
  answer.text = std::move(wanted);
  return answer;
}

HostAnswer answer_list(const std::string& path) {
  const size_t slash = path.rfind('/');
  const bool is_pattern = path.ends_with('*') && slash != path.npos;
  const std::string folder = is_pattern ? path.substr(0, slash + 1) : path;
  const std::string start =
      is_pattern ? path.substr(slash + 1, path.size() - slash - 2) : std::string();
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  if (!open) return no_answer(errno);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || !name.starts_with(start)) continue;
    names.push_back(name);
    if (names.size() == kMaxNames) break;
  }
  std::ranges::sort(names);
  return here(join(names, "\n"));
}

HostAnswer answer_link(const std::string& path) {
  char target[4096];
  const ssize_t size = readlink(path.c_str(), target, sizeof(target));
  return size < 0 ? no_answer(errno) : here(std::string(target, static_cast<size_t>(size)));
}

HostAnswer answer_mode(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return no_answer(errno);
  return here(fmt::format("{:o} {} {} {}", status.st_mode & 07777U, status.st_uid, status.st_gid,
                          status.st_size));
}

HostAnswer answer_space(const std::string& path) {
  struct statvfs space = {};
  if (statvfs(path.c_str(), &space) != 0) return no_answer(errno);
  return here(fmt::format("size {}\navailable {}", uint64_t{space.f_blocks} * space.f_frsize,
                          uint64_t{space.f_bavail} * space.f_frsize));
}

HostAnswer answer_access(const std::string& path) {
  if (access(path.c_str(), W_OK | X_OK) == 0) return here("writable");
  // What cannot be written to is an answer.
  return errno == ENOENT ? no_answer(errno) : here(std::strerror(errno));
}

/// How questions of a kind are answered.
struct AnswerKind {
  std::string_view name;
  HostAnswer (*below_root)(const std::string& path) = nullptr;  ///< Of a file.
  HostAnswer (*of_this_host)() = nullptr;                       ///< Of the running system.
};

constexpr AnswerKind kAnswerKinds[] = {
    {"file", answer_file},
    {"mount", answer_mount},
    {"list", answer_list},
    {"link", answer_link},
    {"mode", answer_mode},
    {"space", answer_space},
    {"access", answer_access},
    {"segments", answer_segments},
    {"acs", answer_acs},
    {"elf", answer_elf},
    {"addresses", nullptr, answer_addresses},
    {"mempolicy", nullptr, answer_mempolicy},
    {"environment", nullptr, answer_environment},
    {"xids", nullptr, answer_xids},
    {"nvml", nullptr, answer_nvml},
};

const AnswerKind* find_kind(std::string_view name) {
  const auto* found = std::ranges::find(kAnswerKinds, name, &AnswerKind::name);
  return found == std::end(kAnswerKinds) ? nullptr : found;
}

/// The path on this machine; empty: there is none.
std::string real_path(const std::string& root, const std::string& path) {
  if (!path.starts_with("~/")) return root + path;
  const char* home = std::getenv("HOME");
  return root.empty() && home != nullptr && *home == '/' ? home + path.substr(1) : std::string();
}

constexpr std::string_view kIndent = "  ";
constexpr std::string_view kReason = " ! ";

/// The question and the reason for which it has no answer, as a line of a record has them.
void read_question(std::string_view line, const std::string& where,
                   std::pair<std::string, std::string>& question, HostAnswer& answer) {
  const size_t reason = line.rfind(kReason);
  answer.state = HostAnswer::State::Here;
  if (reason != line.npos) {
    answer = without_answer(line.substr(reason + kReason.size()));
    line = line.substr(0, reason);
  }
  const size_t blank = std::min(line.find(' '), line.size());
  question = {std::string(line.substr(0, blank)), std::string(trim(line.substr(blank)))};
  if (find_kind(question.first) == nullptr) {
    throw Error(fmt::format("no question of a host: '{}'", printable(line)), where);
  }
}

}  // namespace

HostAnswer read_host_file(const std::string& path, size_t most) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return no_answer(errno);
  struct stat status = {};
  std::string text;
  int error = 0;
  // A device or a pipe of that name is not read.
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    error = EINVAL;
  } else {
    char block[4096];
    while (text.size() < most) {
      const ssize_t count = read(file.get(), block, std::min(sizeof(block), most - text.size()));
      if (count < 0) error = errno;
      if (count <= 0) break;
      text.append(block, static_cast<size_t>(count));
    }
  }
  return error != 0 && text.empty() ? no_answer(error) : here(std::move(text));
}

HostTree HostTree::live(std::string root) {
  HostTree tree;
  tree.is_live_ = true;
  while (root.ends_with('/')) root.pop_back();
  tree.root_ = std::move(root);
  return tree;
}

HostTree HostTree::recorded(std::string_view text, const std::string& path) {
  HostTree tree;
  HostAnswer* last = nullptr;
  bool is_first_line = true;
  const auto lines = split(text, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string where = fmt::format("{}:{}", path, i + 1);
    if (i == 0) {
      if (line != kHostRecordHead) {
        throw Error("not a record of a host", path,
                    fmt::format("a record begins with '{}'", kHostRecordHead));
      }
    } else if (line.starts_with(kIndent) && last != nullptr) {
      if (!is_first_line) last->text += '\n';
      last->text += line.substr(kIndent.size());
      is_first_line = false;
    } else if (!trim(line).empty() && !line.starts_with('#')) {
      std::pair<std::string, std::string> question;
      HostAnswer answer;
      read_question(line, where, question, answer);
      last = &tree.known_.insert_or_assign(question, std::move(answer)).first->second;
      is_first_line = true;
    }
  }
  return tree;
}

const HostAnswer& HostTree::ask(std::string_view kind, const std::string& path) {
  const std::pair<std::string, std::string> question(kind, path);
  const auto found = known_.find(question);
  if (found != known_.end()) return found->second;
  HostAnswer answer;
  const AnswerKind* known = find_kind(kind);
  if (is_live_ && known != nullptr) {
    const std::string real = real_path(root_, path);
    if (known->below_root != nullptr && !real.empty()) answer = known->below_root(real);
    if (known->of_this_host != nullptr && root_.empty()) answer = known->of_this_host();
  }
  return known_.emplace(question, std::move(answer)).first->second;
}

std::string HostTree::record() const {
  std::string text = std::string(kHostRecordHead) + "\n";
  for (const auto& [question, answer] : known_) {
    const auto& [kind, path] = question;
    // Libraries are looked for in a dozen folders: what is in none of them is not recorded.
    const bool says_nothing = kind == "elf" && answer.is_absent();
    if (answer.state == HostAnswer::State::Unasked || says_nothing) continue;
    text += kind + (path.empty() ? "" : " " + printable(path));
    if (!answer.is_here()) text += std::string(kReason) + printable(answer.why);
    text += '\n';
    if (!answer.is_here() || answer.text.empty()) continue;
    for (const std::string_view line : split(answer.text, '\n')) {
      text += std::string(kIndent) + printable(line) + "\n";
    }
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> HostTree::refused() const {
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& [question, answer] : known_) {
    if (answer.state != HostAnswer::State::Refused) continue;
    const auto& [kind, path] = question;
    list.emplace_back(path.empty() ? kind : path, answer.why);
  }
  return list;
}

}  // namespace ncclog
