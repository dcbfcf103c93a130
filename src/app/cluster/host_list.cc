#include "app/cluster/host_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"

namespace ncclog {
namespace {

constexpr size_t kMaxNameBytes = 253;  // Of DNS.

[[noreturn]] void refuse(std::string_view list, const std::string& flag, std::string_view why) {
  constexpr size_t kShown = 80;
  throw Error(fmt::format("{}: '{}'", why, printable(list.substr(0, kShown))), flag,
              "as Slurm writes it: n[01-16,20],login1");
}

/// "n[1,2],m" → "n[1,2]", "m": commas inside brackets part nothing.
std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if ((c != ',' || depth > 0) && i < list.size()) continue;
    parts.push_back(trim(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
}

/// "01-03" → "01", "02", "03"; false if it is no range.
bool add_range(std::string_view range, std::vector<std::string>& numbers) {
  const size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const std::string_view last = dash == range.npos ? first : range.substr(dash + 1);
  const auto is_number = [](std::string_view text) {
    constexpr size_t kMostDigits = 9;
    return !text.empty() && text.size() <= kMostDigits && std::ranges::all_of(text, is_digit);
  };
  if (!is_number(first) || !is_number(last)) return false;
  const int64_t begin = parse_int(first).value_or(0);
  const int64_t end = parse_int(last).value_or(-1);
  if (end < begin || static_cast<size_t>(end - begin) >= kMostHosts) return false;
  for (int64_t i = begin; i <= end; ++i) numbers.push_back(fmt::format("{:0{}}", i, first.size()));
  return true;
}

/// "n[1-2]-ib[0,1]" → the four of them; false if it is none.
bool expand(std::string_view part, std::vector<std::string>& names) {
  const size_t open = part.find('[');
  if (open == part.npos) {
    names.emplace_back(part);
    return true;
  }
  const size_t close = part.find(']', open);
  if (close == part.npos) return false;
  std::vector<std::string> numbers;
  for (const std::string_view range : split(part.substr(open + 1, close - open - 1), ',')) {
    if (!add_range(trim(range), numbers) || numbers.size() > kMostHosts) return false;
  }
  std::vector<std::string> behind;
  if (!expand(part.substr(close + 1), behind)) return false;
  if (numbers.size() * behind.size() > kMostHosts) return false;
  for (const std::string& number : numbers) {
    for (const std::string& rest : behind) {
      names.push_back(fmt::format("{}{}{}", part.substr(0, open), number, rest));
    }
  }
  return true;
}

}  // namespace

bool is_host_name(std::string_view name) {
  const auto fits = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxNameBytes && name.front() != '-' && name != "." &&
         name != ".." && std::ranges::all_of(name, fits);
}

std::vector<std::string> expand_host_list(std::string_view list, const std::string& flag) {
  std::vector<std::string> hosts;
  std::set<std::string> seen;
  for (const std::string_view part : parts_of(list)) {
    std::vector<std::string> names;
    if (part.empty() || !expand(part, names)) refuse(list, flag, "not a list of hosts");
    for (std::string& name : names) {
      if (!is_host_name(name)) refuse(name, flag, "not the name of a host");
      if (!seen.insert(name).second) continue;
      hosts.push_back(std::move(name));
      if (hosts.size() > kMostHosts) refuse(list, flag, "more hosts than any job has");
    }
  }
  return hosts;
}

std::string folded_hosts(std::span<const std::string> hosts) {
  // What stands before the number at the end, and how long that is: "n01" → n, 2.
  std::map<std::pair<std::string, size_t>, std::set<int64_t>> families;
  std::vector<std::string> parts;
  for (const std::string& host : hosts) {
    const size_t end = host.find_last_not_of("0123456789") + 1;
    const auto number = parse_int(std::string_view(host).substr(end));
    if (number) {
      families[{host.substr(0, end), host.size() - end}].insert(*number);
    } else {
      parts.push_back(host);
    }
  }
  for (const auto& [family, numbers] : families) {
    const auto& [name, width] = family;
    std::vector<std::string> ranges;
    for (auto it = numbers.begin(); it != numbers.end();) {
      const int64_t first = *it;
      int64_t last = first;
      while (++it != numbers.end() && *it == last + 1) ++last;
      ranges.push_back(fmt::format("{:0{}}", first, width));
      if (last > first) ranges.back() += fmt::format("-{:0{}}", last, width);
    }
    const std::string all = join(ranges, ",");
    parts.push_back(numbers.size() == 1 ? name + all : fmt::format("{}[{}]", name, all));
  }
  return join(parts, ",");
}

std::string with_host(std::string_view pattern, std::string_view host) {
  std::string text(pattern);
  for (size_t at = 0; (at = text.find("%h", at)) != text.npos; at += host.size()) {
    text.replace(at, 2, host);
  }
  return text;
}

std::string with_open_host(std::string_view text, std::string_view host) {
  std::string open(text);
  const auto ends_name = [&](size_t at) { return at >= open.size() || !is_alnum(open[at]); };
  for (size_t at = 0; (at = open.find(host, at)) != open.npos; at += 2) {
    const bool is_name = (at == 0 || ends_name(at - 1)) && ends_name(at + host.size());
    if (is_name) open.replace(at, host.size(), "%h");
  }
  return open;
}

std::string own_host_name() {
  for (const std::string& name : {environment_variable("SLURMD_NODENAME"), host_name()}) {
    if (is_host_name(name)) return name;
  }
  return "localhost";
}

}  // namespace ncclog
