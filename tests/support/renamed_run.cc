#include "support/renamed_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/text.h"
#include "log/address.h"
#include "support/paths.h"

namespace ncclog::testing {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPidShift = 50000;
constexpr int64_t kPortShift = 137;

bool is_name_char(char c) { return is_word(c) || c == '-'; }

/// A word of a text, with all that stands before and behind it.
struct PlacedWord {
  std::string_view before;
  std::string_view word;
  std::string_view after;
};

/// `text` with every word replaced by what `change` makes of it.
std::string each_word(std::string_view text,
                      const std::function<std::string(const PlacedWord&)>& change) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_name_char(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    out += change({text.substr(0, at), text.substr(at, end - at), text.substr(end)});
    at = end;
  }
  return out;
}

std::string shifted(std::string_view number, int64_t shift) {
  const auto value = parse_int(number);
  return value ? std::to_string(*value + shift) : std::string(number);
}

/// Pointers and ids: other digits, the same length or one more.
std::string other_hex(std::string_view digits) {
  const auto value = parse_hex(digits);
  return value && *value != 0 ? fmt::format("0x{:x}", *value ^ 0x1f35a790) : std::string(digits);
}

bool begins_address(const PlacedWord& placed) {
  if (placed.before.ends_with('.') || !parse_int(placed.word)) return false;
  const size_t end = placed.after.find_first_not_of("0123456789.");
  return parse_ipv4(std::string(placed.word) + std::string(placed.after.substr(0, end)))
      .has_value();
}

/// "vn542a10" → "vn713a10": interfaces of virtual machines are numbered as they come.
std::string renumbered(std::string_view interface) {
  std::string name(interface);
  return name.replace(name.find("54"), 3, "713");
}

class Renamer {
 public:
  explicit Renamer(const std::vector<std::string>& hosts) : hosts_(hosts) {}

  std::string text(std::string_view all) const {
    return each_word(all, [&](const PlacedWord& placed) { return changed(placed); });
  }

  std::string file_name(std::string_view name) const {
    return each_word(name, [&](const PlacedWord& placed) {
      const std::string_view word = placed.word;
      if (is_host(word)) return host(word);
      constexpr int64_t kLeastPid = 100;  // Smaller ones are ranks.
      const auto number = parse_int(word);
      return number && *number >= kLeastPid ? shifted(word, kPidShift) : std::string(word);
    });
  }

 private:
  bool is_host(std::string_view word) const {
    return std::find(hosts_.begin(), hosts_.end(), word) != hosts_.end();
  }

  std::string host(std::string_view word) const {
    const auto place = std::find(hosts_.begin(), hosts_.end(), word) - hosts_.begin();
    return fmt::format("rack7-h{:03}", place + 40);
  }

  /// "host:" or "host:pid:" stands before the word: it is a pid or a thread.
  bool is_after_host(std::string_view before) const {
    for (int colons = 0; colons < 2 && before.ends_with(':'); ++colons) {
      before.remove_suffix(1);
      size_t begin = before.size();
      while (begin > 0 && is_name_char(before[begin - 1])) --begin;
      if (is_host(before.substr(begin))) return true;
      if (!parse_int(before.substr(begin))) return false;
      before = before.substr(0, begin);
    }
    return false;
  }

  std::string changed(const PlacedWord& placed) const {
    const auto& [before, word, after] = placed;
    if (is_host(word)) return host(word);
    if (is_after_host(before)) return shifted(word, kPidShift);
    if (word.starts_with("0x")) return other_hex(word);
    if (before.ends_with("busId ") || before.ends_with("GPU/0-") || before.ends_with("PCI/0-")) {
      const auto value = parse_hex(word);
      return value ? fmt::format("{:x}", *value + 0x100) : std::string(word);
    }
    if (begins_address(placed)) return "198";
    if (word.starts_with("brn54") || word.starts_with("vn54")) return renumbered(word);
    if (word.starts_with("2026-")) return "2027" + std::string(word.substr(4));
    const bool is_port = before.ends_with('<') && word != "0";
    return is_port ? shifted(word, kPortShift) : std::string(word);
  }

  const std::vector<std::string>& hosts_;
};

}  // namespace

RunFiles sample_files(const std::string& name) {
  RunFiles files;
  const fs::path folder = sample_logs(name);
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string ending = entry.path().extension();
    if (ending != ".txt" && ending != ".log") continue;
    files.emplace_back(entry.path().lexically_relative(folder), read_file(entry.path()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

RunFiles renamed(const RunFiles& files, const std::vector<std::string>& hosts) {
  const Renamer renamer(hosts);
  RunFiles changed;
  for (const auto& [name, text] : files) {
    changed.emplace_back(renamer.file_name(name), renamer.text(text));
  }
  return changed;
}

}  // namespace ncclog::testing
