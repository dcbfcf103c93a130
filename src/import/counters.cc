#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "import/import.h"
#include "log/address.h"
#include "log/event.h"
#include "log/moments.h"

namespace ncclog {
namespace {

/// More than the tree of any host holds, twice.
constexpr size_t kMaxCounters = 65536;

/// Bytes that are kept of a name, and of a line.
constexpr size_t kMaxCounterName = 64;
constexpr size_t kMaxCounterText = 256;

/// A total; nullopt: no number, or one below 0.
std::optional<int64_t> total_in(std::string_view word) {
  if (word.empty() || !std::ranges::all_of(word, is_digit)) return std::nullopt;
  return parse_int(word);
}

bool is_counter_char(char c) { return is_alnum(c) || c == '_' || c == '.' || c == '-'; }

/// The longest run of such characters at the beginning.
std::string_view counter_name_at(std::string_view text) {
  const auto* const end = std::ranges::find_if_not(text, is_counter_char);
  return text.substr(0, static_cast<size_t>(end - text.begin()));
}

/// What stands behind `word` up to a blank or slash: "mlx5_1" in "…/infiniband/mlx5_1/ports/1".
std::string_view part_behind(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  return at == text.npos ? std::string_view() : counter_name_at(text.substr(at + word.size()));
}

/// The name of a folder before `end`: "mlx5_1" before "/ports/1/counters/…".
std::string_view folder_before(std::string_view path, size_t end) {
  const std::string_view before = path.substr(0, end);
  const size_t slash = before.find_last_of("/ \t");
  return slash == before.npos ? before : before.substr(slash + 1);
}

/// Where in /sys a counter stands: "…/mlx5_1/ports/1/hw_counters/out_of_sequence".
struct SysPath {
  std::string_view device;  ///< Empty where the path begins below it.
  int port = -1;
  std::string_view name;
  std::string_view rest;  ///< Of the line, behind the name.
  size_t begin = 0;       ///< Of the device, else of the folder with counters.
};

std::optional<SysPath> sys_path_in(std::string_view text) {
  for (const std::string_view folder : {"hw_counters/", "counters/", "aer_dev_"}) {
    const size_t at = text.find(folder);
    if (at == text.npos) continue;
    const bool is_aer = folder == "aer_dev_";
    SysPath path{.begin = at};
    path.name = counter_name_at(text.substr(is_aer ? at : at + folder.size()));
    if (path.name.empty()) return std::nullopt;
    path.rest = text.substr(static_cast<size_t>(path.name.data() - text.data()) + path.name.size());
    const size_t ports = text.substr(0, at).rfind("ports/");
    if (ports != text.npos) {
      path.port =
          static_cast<int>(total_in(part_behind(text.substr(ports), "ports/")).value_or(-1));
    }
    const size_t end = ports != text.npos ? ports : at;
    if (end > 0) path.device = folder_before(text, end - 1);
    if (!path.device.empty()) path.begin = static_cast<size_t>(path.device.data() - text.data());
    return path;
  }
  return std::nullopt;
}

/// "node-a" in "==== node-a ====": a line that names a host, or a moment, and nothing else; empty:
/// another line.
std::string_view word_of_heading(std::string_view line) {
  constexpr std::string_view kDecoration = "=#-* \t";
  if (!line.starts_with("==") && !line.starts_with("##") && !line.starts_with("--")) return {};
  const size_t begin = line.find_first_not_of(kDecoration);
  if (begin == line.npos) return {};
  const std::string_view word = line.substr(begin, line.find_last_not_of(kDecoration) + 1 - begin);
  const bool is_name = std::ranges::all_of(word, is_host_char) && is_alpha(word.front());
  return is_name ? word : std::string_view();
}

class CounterReader {
 public:
  CounterReader(uint64_t unit, std::string_view source) {
    now_.where.unit = unit;
    now_.source = source;
  }

  void add(std::string_view line, uint64_t number) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    now_.where.line = number;
    now_.text = line.substr(0, kMaxCounterText);
    const std::string_view text = trim(line);
    if (text.empty() || read_value_of_path(text) || read_context(text)) return;
    if (read_state(line, text) || read_json(text) || read_path(text) || read_port_line(text) ||
        read_link(text) || read_pair(text))
      return;
    const std::string_view heading = word_of_heading(text);
    if (!heading.empty() && !moment_rank(heading)) {
      now_.host = heading.substr(0, kMaxCounterName);
    } else if (time_of_line(line).known()) {
      now_.stamp = line.substr(0, kMaxCounterName);
      timed_ = all_.size();
    } else if (!heading.empty() && timed_ != all_.size()) {
      now_.stamp = line.substr(0, kMaxCounterName);
    }
  }

  std::vector<PortCounter> take() { return std::move(all_); }

 private:
  enum class Form { None, Pairs, Links, Objects, States };

  void keep(std::string_view name, int64_t value) {
    if (all_.size() == kMaxCounters) return;
    names_list_ = false;
    PortCounter& counter = all_.emplace_back(now_);
    counter.name = name.substr(0, kMaxCounterName);
    counter.value = value;
  }

  void set_device(std::string_view device, int port, Form form) {
    now_.device = device.substr(0, kMaxCounterName);
    now_.port = port;
    form_ = form;
  }

  /// The number below a path: head, tail -n +1, find -print -exec cat.
  bool read_value_of_path(std::string_view text) {
    const std::string name = std::exchange(waiting_, {});
    if (name.empty()) return false;
    const auto value = total_in(text);
    if (value) keep(name, *value);
    return value.has_value();
  }

  /// Lines that say of which device those below are.
  bool read_context(std::string_view text) {
    if (const std::string_view name = part_behind(text, "ethtool -S "); !name.empty()) {
      set_device(name, -1, Form::Pairs);
      names_list_ = true;
      return true;
    }
    if (text.find("perfquery") != text.npos) {
      asked_ = part_behind(text, "-C ");
      return false;
    }
    if (text == "NIC statistics:") {
      // A list below another one, without a command of its own, is of any device.
      if (!std::exchange(names_list_, false)) set_device("", -1, Form::Pairs);
      return true;
    }
    if (text.starts_with("# Port") && text.find("counters:") != text.npos) {
      const std::string_view port = part_behind(text, " port ");
      const std::string lid = "lid " + std::string(part_behind(text, "Lid "));
      set_device(asked_.empty() ? lid : asked_, static_cast<int>(total_in(port).value_or(-1)),
                 Form::Pairs);
      return true;
    }
    // "GPU 00000000:1B:00.0" of nvidia-smi -q, and "gpuId 0:" of dcgmi nvlink -s.
    if (text.starts_with("GPU ") && bus_number(text.substr(4))) {
      set_device(text, -1, Form::States);
      section_.clear();
      return true;
    }
    if (text.starts_with("gpuId ")) {
      set_device("GPU " + std::string(counter_name_at(text.substr(6))), -1, Form::Links);
      return true;
    }
    // A switch's ports need not be wired.
    if (text == "NvSwitches:") set_device("", -1, Form::None);
    const size_t gpu = text.find("GPU ");
    const std::string_view number = gpu == text.npos ? "" : counter_name_at(text.substr(gpu + 4));
    // "GPU 0: NVIDIA H100 …" of nvidia-smi, "| GPU 0 … |" of dcgmi.
    if ((gpu == 0 || text.starts_with('|')) && total_in(number)) {
      set_device(text.substr(gpu, 4 + number.size()), -1, Form::Links);
      return true;
    }
    return false;
  }

  /// "    HW Slowdown                       : Not Active" of nvidia-smi -q, below the heading of a
  /// section; an excerpt by grep names no GPU. Numbers have units, and times that add up are passed
  /// over.
  bool read_state(std::string_view line, std::string_view text) {
    const size_t colon = text.find(" : ");
    const size_t indent = line.find(text.front());
    if (colon == text.npos) {
      const bool is_section = form_ == Form::States && indent > 0 && text.find(':') == text.npos;
      if (is_section) {
        section_ = text.substr(0, kMaxCounterName / 2);
        section_indent_ = indent;
      }
      return is_section;
    }
    if (form_ != Form::States && (form_ != Form::None || text.find("  : ") == text.npos))
      return false;
    if (form_ == Form::None) set_device("a GPU", -1, Form::States);
    if (indent <= section_indent_) section_.clear();
    const std::string_view value = trim(text.substr(colon + 3));
    const std::string_view digits = value.substr(0, value.find_first_of(". "));
    auto number = total_in(digits);
    if (value == "Yes" || value == "Active") number = 1;
    if (value == "No" || value == "Not Active") number = 0;
    if (!number || value.ends_with(" us")) return false;
    const std::string_view key = trim(text.substr(0, colon));
    keep(section_.empty() ? std::string(key) : section_ + "/" + std::string(key), *number);
    return true;
  }

  /// "/sys/class/infiniband/mlx5_1/ports/1/counters/link_downed:3", also behind a host's name.
  bool read_path(std::string_view text) {
    const auto path = sys_path_in(text);
    if (!path) return false;
    now_.device = path->device.substr(0, kMaxCounterName);
    now_.port = path->port;
    const size_t colon = text.substr(0, path->begin).find(": ");
    if (colon != text.npos && std::ranges::all_of(text.substr(0, colon), is_host_char)) {
      now_.host = text.substr(0, std::min(colon, kMaxCounterName));
    }
    std::string_view rest = path->rest;
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t:="), rest.size()));
    const std::vector<std::string_view> words = split_blanks(rest);
    if (words.empty() || rest.starts_with('<')) {
      waiting_ = path->name.substr(0, kMaxCounterName);
    } else if (const auto value = total_in(words.front()); value && words.size() == 1) {
      keep(path->name, *value);
    } else if (words.size() == 2 && total_in(words[1])) {
      keep(words[0], *total_in(words[1]));  // aer_dev_fatal:TOTAL_ERR_FATAL 0
    }
    return true;
  }

  /// "link mlx5_0/1 rx_write_requests 81234567 …" of rdma statistic; with -p the pairs stand below.
  bool read_port_line(std::string_view text) {
    const size_t at = text.starts_with("link ") ? 0 : text.find(": link ");
    if (at == text.npos) return false;
    const std::vector<std::string_view> words = split_blanks(text.substr(at == 0 ? 0 : at + 2));
    const size_t slash = words.size() < 2 ? std::string_view::npos : words[1].find('/');
    const auto port =
        slash == std::string_view::npos ? std::nullopt : total_in(words[1].substr(slash + 1));
    if (!port) return false;
    if (at != 0) now_.host = text.substr(0, std::min(at, kMaxCounterName));
    set_device(words[1].substr(0, slash), static_cast<int>(*port), Form::Pairs);
    for (size_t w = 2; w + 1 < words.size(); w += 2) {
      const auto value = total_in(words[w + 1]);
      if (value) keep(words[w], *value);
    }
    return true;
  }

  /// [{"ifname":"mlx5_0","port":1,"rx_write_requests":812,…}] of rdma -j statistic, on one line or on
  /// many.
  bool read_json(std::string_view text) {
    if (form_ != Form::Objects && text.find("\"ifname\"") == text.npos) return false;
    constexpr std::string_view kMarks = "[]{}\",:";
    std::string plain(text);
    std::ranges::replace_if(
        plain, [&](char c) { return kMarks.find(c) != kMarks.npos; }, ' ');
    const std::vector<std::string_view> words = split_blanks(plain);
    for (size_t w = 0; w + 1 < words.size(); w += 2) {
      const auto value = total_in(words[w + 1]);
      if (words[w] == "ifname") {
        set_device(words[w + 1], -1, Form::Objects);
      } else if (words[w] == "port") {
        now_.port = static_cast<int>(std::min<int64_t>(value.value_or(-1), 1024));
      } else if (value && words[w] != "ifindex") {
        keep(words[w], *value);
      }
    }
    return form_ == Form::Objects && words.size() % 2 == 0;
  }

  /// "Link 3: Replay Errors: 17", "Link 0, CRC Errors: 2", "Link 5: <inactive>", "Link 6: 25
  /// GB/s"; in dcgmi's table
  /// "| Link 3 | Replay Error | 17 |".
  bool read_link(std::string_view text) {
    if (form_ != Form::Links) return false;
    std::string plain(text);
    std::ranges::replace_if(
        plain, [](char c) { return c == '|' || c == ':' || c == ','; }, ' ');
    std::vector<std::string_view> words = split_blanks(plain);
    if (words.empty()) return false;
    // "U U D X", one letter a link: up, down, disabled; dcgmi nvlink -s.
    const auto is_letter = [](std::string_view word) {
      return word.size() == 1 && std::string_view("UDX_").find(word) != word.npos;
    };
    if (std::ranges::all_of(words, is_letter)) {
      for (size_t w = 0; w < words.size(); ++w) {
        now_.port = static_cast<int>(w);
        if (words[w] == "U" || words[w] == "D") keep("inactive", words[w] == "D" ? 1 : 0);
      }
      return true;
    }
    if (words.size() > 2 && words[0] == "Link") {
      const auto link = total_in(words[1]);
      if (!link) return false;
      now_.port = static_cast<int>(std::min<int64_t>(*link, 1024));
      words.erase(words.begin(), words.begin() + 2);
      // What is up shows its speed.
      if (words.front() == "<inactive>") keep("inactive", 1);
      if (words.size() == 2 && words.back() == "GB/s") keep("inactive", 0);
    }
    // Of dcgmi, lines of the same link may leave it out.
    const auto value = words.size() < 2 ? std::nullopt : total_in(words.back());
    if (!value || now_.port < 0)
      return now_.port >= 0 && (words.front() == "<inactive>" || words.back() == "GB/s");
    std::string name(words.front());
    for (size_t w = 1; w + 1 < words.size(); ++w) name += " " + std::string(words[w]);
    keep(name, *value);
    return true;
  }

  /// "rx_discards_phy: 1201" of ethtool, "PortRcvErrors:...................12" of perfquery, and
  /// "out_of_sequence 5123".
  bool read_pair(std::string_view text) {
    const std::string_view name = text.substr(0, text.find_first_of(": \t"));
    // An excerpt of ethtool -S need not name the device.
    const bool is_excerpt =
        form_ == Form::None && (name.starts_with("rx_") || name.starts_with("tx_"));
    if (form_ != Form::Pairs && !is_excerpt) return false;
    std::string_view rest = text.substr(name.size());
    const size_t begin = rest.find_first_not_of(":. \t");
    const auto value = begin == rest.npos ? std::nullopt : total_in(rest.substr(begin));
    if (name.empty() || !value) return false;
    keep(name, *value);
    return true;
  }

  std::vector<PortCounter> all_;
  PortCounter now_;              ///< What is known of the next one.
  std::string waiting_;          ///< The counter whose path stood on the line before.
  std::string asked_;            ///< The device that a perfquery before asked.
  bool names_list_ = false;      ///< An ethtool before asked a device, and no counter came yet.
  std::optional<size_t> timed_;  ///< Counters that there were at the last line with a time.
  Form form_ = Form::None;
  std::string section_;        ///< Of nvidia-smi -q; empty: not of one.
  size_t section_indent_ = 0;  ///< Blanks before its heading.
};

}  // namespace

Imported<std::vector<PortCounter>> import_counters(std::string_view bytes, uint64_t unit,
                                                   std::string_view path) {
  CounterReader reader(unit, path);
  uint64_t number = 0;
  for (const std::string_view line : split(bytes, '\n')) reader.add(line, ++number);
  Imported<std::vector<PortCounter>> result{reader.take(), {}};
  if (result.value.empty()) result.problem = "it holds no counter with a number";
  return result;
}

std::optional<PortCounter> import_counter_file(std::string_view bytes, uint64_t unit,
                                               std::string_view path) {
  const auto place = sys_path_in(path);
  const std::string_view number = bytes.substr(0, bytes.find_last_not_of(" \t\r\n") + 1);
  const auto value = place ? total_in(number) : std::nullopt;
  // A file of its own is named by all of its path.
  if (!value || !place->rest.empty() || place->device.empty()) return std::nullopt;
  PortCounter counter;
  counter.source = path.substr(0, place->begin);
  counter.device = place->device.substr(0, kMaxCounterName);
  counter.port = place->port;
  counter.name = place->name.substr(0, kMaxCounterName);
  counter.value = *value;
  counter.where = {unit, 1};
  counter.text = number;
  return counter;
}

}  // namespace ncclog
