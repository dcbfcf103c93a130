#include "model/file_names.h"

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr std::string_view kPackings[] = {".gz", ".xz", ".zst", ".bz2"};

std::string_view without_packing(std::string_view path) {
  for (const std::string_view ending : kPackings) {
    if (path.ends_with(ending)) path.remove_suffix(ending.size());
  }
  return path;
}

/// The last `parts` parts of the path.
std::string_view last_parts(std::string_view path, int parts) {
  if (path.empty()) return path;
  size_t at = path.size();
  for (; parts > 0 && at != path.npos && at > 0; --parts) at = path.rfind('/', at - 1);
  return at == path.npos ? path : path.substr(path[at] == '/' ? at + 1 : at);
}

/// Where `word` stands as a word of its own; npos if nowhere or twice.
size_t only_place(std::string_view text, std::string_view word) {
  size_t found = text.npos;
  if (word.empty()) return found;
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool joined = (at > 0 && is_word(text[at - 1]) && text[at - 1] != '_') ||
                        (end < text.size() && is_word(text[end]) && text[end] != '_');
    if (joined) continue;
    if (found != text.npos) return text.npos;
    found = at;
  }
  return found;
}

/// "gpu-node-#" for gpu-node-01 and gpu-node-17: names of one kind of machine.
std::string shape(std::string_view host) {
  std::string text;
  for (const char c : host) {
    if (!is_digit(c)) {
      text += c;
    } else if (text.empty() || text.back() != '#') {
      text += '#';
    }
  }
  return text;
}

std::optional<NamePattern> learn_from(std::string_view name, const FileWriter& writer) {
  const std::string pid = std::to_string(writer.pid);
  NamePattern pattern;
  const size_t host_at = only_place(name, writer.host);
  pattern.has_host = host_at != name.npos;
  const size_t host_end = pattern.has_host ? host_at + writer.host.size() : 0;
  std::string rest(name);
  if (pattern.has_host) rest.replace(host_at, writer.host.size(), writer.host.size(), '/');
  const size_t pid_at = only_place(rest, pid);
  if (pid_at == rest.npos) return std::nullopt;
  const size_t pid_end = pid_at + pid.size();
  pattern.pid_first = pattern.has_host && pid_at < host_at;
  const size_t first = pattern.has_host ? std::min(host_at, pid_at) : pid_at;
  const size_t last = pattern.has_host ? std::max(host_end, pid_end) : pid_end;
  pattern.before = name.substr(0, first);
  pattern.after = name.substr(last);
  if (pattern.has_host) {
    const size_t from = pattern.pid_first ? pid_end : host_end;
    pattern.between = name.substr(from, (pattern.pid_first ? host_at : pid_at) - from);
    pattern.host_shape = shape(writer.host);
  }
  return pattern;
}

/// `text` cut in two at the `between` beside the digits, which are the pid.
std::optional<FileWriter> split_both(const NamePattern& pattern, std::string_view text) {
  const auto is_digit_at = [&](size_t i) { return is_digit(text[i]); };
  size_t digits = 0;
  while (digits < text.size() &&
         is_digit_at(pattern.pid_first ? digits : text.size() - 1 - digits)) {
    ++digits;
  }
  const std::string_view number =
      pattern.pid_first ? text.substr(0, digits) : text.substr(text.size() - digits);
  std::string_view rest =
      pattern.pid_first ? text.substr(digits) : text.substr(0, text.size() - digits);
  const bool fits =
      pattern.pid_first ? rest.starts_with(pattern.between) : rest.ends_with(pattern.between);
  const auto pid = parse_int(number);
  if (!pid || !fits || pattern.between.empty()) return std::nullopt;
  if (pattern.pid_first) {
    rest.remove_prefix(pattern.between.size());
  } else {
    rest.remove_suffix(pattern.between.size());
  }
  if (shape(rest) != pattern.host_shape) return std::nullopt;
  return FileWriter{std::string(rest), *pid};
}

}  // namespace

std::optional<NamePattern> learn_pattern(std::string_view path, const FileWriter& writer) {
  if (writer.host.empty() || writer.pid < 0) return std::nullopt;
  path = without_packing(path);
  const auto alone = learn_from(last_parts(path, 1), writer);
  if (alone && alone->has_host) return alone;
  const auto both = learn_from(last_parts(path, 2), writer);
  return both && both->has_host ? both : alone;
}

std::optional<FileWriter> match_pattern(const NamePattern& pattern, std::string_view path) {
  const bool two =
      (pattern.before + pattern.between + pattern.after).find('/') != std::string::npos;
  std::string_view name = last_parts(without_packing(path), two ? 2 : 1);
  const size_t around = pattern.before.size() + pattern.after.size();
  const bool fits =
      name.size() > around && name.starts_with(pattern.before) && name.ends_with(pattern.after);
  if (!fits) return std::nullopt;
  name = name.substr(pattern.before.size(), name.size() - around);
  if (pattern.has_host) return split_both(pattern, name);
  const bool digits = std::all_of(name.begin(), name.end(), is_digit);
  const auto pid = digits ? parse_int(name) : std::nullopt;
  return pid ? std::optional(FileWriter{{}, *pid}) : std::nullopt;
}

std::optional<TorchrunFile> parse_torchrun_file(std::string_view path) {
  constexpr std::string_view kAttempt = "attempt_";
  path = without_packing(path);
  const std::vector<std::string_view> parts = split(path, '/');
  if (parts.size() < 3) return std::nullopt;
  const std::string_view file = parts.back();
  const std::string_view rank = parts[parts.size() - 2];
  const std::string_view attempt = parts[parts.size() - 3];
  const auto number = [](std::string_view text) {
    const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
    return digits && text.size() < 7 ? parse_int(text) : std::nullopt;
  };
  if ((file != "stdout.log" && file != "stderr.log") || !attempt.starts_with(kAttempt)) {
    return std::nullopt;
  }
  const auto local_rank = number(rank);
  const auto count = number(attempt.substr(kAttempt.size()));
  if (!local_rank || !count) return std::nullopt;
  TorchrunFile result;
  result.folder = path.substr(0, path.size() - file.size() - 1);
  result.run = path.substr(0, static_cast<size_t>(attempt.data() - path.data()));
  result.attempt = static_cast<int>(*count);
  result.local_rank = static_cast<int>(*local_rank);
  return result;
}

}  // namespace ncclog
