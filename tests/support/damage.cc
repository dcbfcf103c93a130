#include "support/damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <regex>
#include <utility>

#include "base/text.h"

namespace ncclog::testing {
namespace {

/// Of one file.
struct Lines {
  std::vector<std::string> all;
  bool ends_with_newline = true;
};

Lines lines_of(std::string_view text) {
  Lines lines;
  lines.ends_with_newline = text.ends_with('\n');
  if (lines.ends_with_newline) text.remove_suffix(1);
  if (text.empty()) return lines;
  for (const std::string_view line : split(text, '\n')) lines.all.emplace_back(line);
  return lines;
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines.all) text += line + "\n";
  if (!lines.ends_with_newline && !text.empty()) text.pop_back();
  return text;
}

/// Collectors and terminals handle lines; dumps are copied as they are.
bool is_log(std::string_view text) {
  return !text.empty() && std::string_view("{[<\x80").find(text.front()) == text.npos &&
         text.substr(0, 4096).find('\0') == text.npos;
}

template <typename Change>
void change_all(DamagedRun& run, Change change) {
  int number = 0;
  for (auto& [name, text] : run.files) {
    if (!is_log(text)) continue;
    Lines lines = lines_of(text);
    change(lines, number++);
    text = text_of(lines);
  }
}

std::string* one_log(DamagedRun& run, Seeded& seeded) {
  std::vector<std::string*> logs;
  for (auto& [name, text] : run.files) {
    if (is_log(text) && !lines_of(text).all.empty()) logs.push_back(&text);
  }
  return logs.empty() ? nullptr : logs[seeded.below(logs.size())];
}

template <typename Change>
void change_one(DamagedRun& run, Seeded& seeded, Change change) {
  std::string* text = one_log(run, seeded);
  if (text == nullptr) return;
  Lines lines = lines_of(*text);
  change(lines);
  *text = text_of(lines);
}

/// A line, one of NCCL's more often than there are.
size_t some_line(const Lines& lines, Seeded& seeded) {
  const size_t count = lines.all.size();
  size_t place = seeded.below(count);
  for (int i = 0; i < 4 && lines.all[place].find("NCCL") == std::string::npos; ++i) {
    place = seeded.below(count);
  }
  return place;
}

using Place = std::ptrdiff_t;

/// Some lines in a row.
std::pair<Place, Place> some_block(const Lines& lines, Seeded& seeded) {
  const auto begin = static_cast<Place>(seeded.below(lines.all.size()));
  const Place end = begin + seeded.between(2, 40);
  return {begin, std::min(end, std::ssize(lines.all))};
}

constexpr int kPercents[] = {1, 5, 20};

// What is lost.

void lose_line(DamagedRun& run, Seeded& seeded) {
  change_one(run, seeded, [&](Lines& lines) {
    const auto line = lines.all.begin() + static_cast<Place>(some_line(lines, seeded));
    run.touched.push_back(*line);
    lines.all.erase(line);
  });
}

void lose_lines(DamagedRun& run, Seeded& seeded) {
  const int percent = seeded.pick<int>(kPercents);
  change_all(run, [&](Lines& lines, int) {
    std::erase_if(lines.all, [&](const std::string& line) {
      const bool is_lost = seeded.chance(percent);
      if (is_lost) run.touched.push_back(line);
      return is_lost;
    });
  });
}

void lose_block(DamagedRun& run, Seeded& seeded) {
  change_one(run, seeded, [&](Lines& lines) {
    const auto [begin, end] = some_block(lines, seeded);
    run.touched.assign(lines.all.begin() + begin, lines.all.begin() + end);
    lines.all.erase(lines.all.begin() + begin, lines.all.begin() + end);
  });
}

/// The file was rotated.
void lose_beginning(DamagedRun& run, Seeded& seeded) {
  change_one(run, seeded, [&](Lines& lines) {
    const auto end = static_cast<Place>(seeded.below(lines.all.size()));
    run.touched.assign(lines.all.begin(), lines.all.begin() + end);
    lines.all.erase(lines.all.begin(), lines.all.begin() + end);
  });
}

void cut_text(DamagedRun& run, std::string& text, size_t at) {
  const size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  const Lines lost = lines_of(std::string_view(text).substr(line));
  run.touched.insert(run.touched.end(), lost.all.begin(), lost.all.end());
  text.resize(at);
}

void cut_tail(DamagedRun& run, Seeded& seeded) {
  std::string* text = one_log(run, seeded);
  if (text != nullptr) cut_text(run, *text, seeded.below(text->size()));
}

/// All files were copied while the job ran.
void cut_tails(DamagedRun& run, Seeded& seeded) {
  const bool at_once = seeded.chance(50);
  const uint64_t part = seeded.below(1000);
  for (auto& [name, text] : run.files) {
    if (!is_log(text)) continue;
    cut_text(run, text, at_once ? text.size() * part / 1000 : seeded.below(text.size()));
  }
}

void tear_last_record(DamagedRun& run, Seeded& seeded) {
  std::string* text = one_log(run, seeded);
  if (text == nullptr) return;
  if (text->ends_with('\n')) text->pop_back();
  const size_t line = text->rfind('\n') + 1;
  cut_text(run, *text, line + seeded.below(text->size() - line + 1));
}

void lose_last_bytes(DamagedRun& run, Seeded& seeded) {
  const auto bytes = static_cast<size_t>(seeded.between(1, 4));
  for (auto& [name, text] : run.files) {
    if (is_log(text)) cut_text(run, text, text.size() - std::min(bytes, text.size()));
  }
}

// What comes twice.

void double_line(DamagedRun& run, Seeded& seeded) {
  change_one(run, seeded, [&](Lines& lines) {
    const size_t place = some_line(lines, seeded);
    const std::string line = lines.all[place];
    run.touched.push_back(line);
    lines.all.insert(lines.all.begin() + static_cast<Place>(place), line);
  });
}

void double_lines(DamagedRun& run, Seeded& seeded) {
  const int percent = seeded.pick<int>(kPercents);
  change_all(run, [&](Lines& lines, int) {
    std::vector<std::string> all;
    for (std::string& line : lines.all) {
      if (seeded.chance(percent)) {
        run.touched.push_back(line);
        all.push_back(line);
      }
      all.push_back(std::move(line));
    }
    lines.all = std::move(all);
  });
}

void double_block(DamagedRun& run, Seeded& seeded) {
  change_one(run, seeded, [&](Lines& lines) {
    const auto [begin, end] = some_block(lines, seeded);
    run.touched.assign(lines.all.begin() + begin, lines.all.begin() + end);
    lines.all.insert(lines.all.begin() + end, run.touched.begin(), run.touched.end());
  });
}

// What has another form.

constexpr int kNarrow = 80;
constexpr int kWide = 160;

void cut_columns(DamagedRun& run, Seeded& seeded) {
  const auto width = static_cast<size_t>(seeded.between(kNarrow, kWide));
  change_all(run, [&](Lines& lines, int) {
    for (std::string& line : lines.all) {
      if (line.size() <= width) continue;
      run.touched.push_back(line);
      line.resize(width);
    }
  });
}

void wrap_lines(DamagedRun& run, Seeded& seeded) {
  const auto width = static_cast<size_t>(seeded.between(kNarrow, kWide));
  change_all(run, [&](Lines& lines, int) {
    std::vector<std::string> all;
    for (std::string_view line : lines.all) {
      if (line.size() > width) run.touched.emplace_back(line);
      for (; line.size() > width; line.remove_prefix(width))
        all.emplace_back(line.substr(0, width));
      all.emplace_back(line);
    }
    lines.all = std::move(all);
  });
}

void end_with_crlf(DamagedRun& run, Seeded&) {
  change_all(run, [](Lines& lines, int) {
    for (std::string& line : lines.all) line += '\r';
  });
}

template <bool kIsBigEndian>
void write_utf16(DamagedRun& run, Seeded& seeded) {
  const bool has_mark = seeded.chance(70);
  for (auto& [name, text] : run.files) {
    if (is_log(text)) text = utf16_of(text, kIsBigEndian, has_mark);
  }
}

/// What stands before each line of a file.
std::string prefix_of(int form, int number) {
  switch (form) {
    case 0:
      return fmt::format("{}: ", number);
    case 1:
      return fmt::format("[1,{}]<stdout>:", number);
    case 2:
      return fmt::format("node{}: ", number + 1);
    default:
      return fmt::format("2026-01-05T12:00:{:02}.123456789Z ", number % 60);
  }
}
constexpr int kForms = 4;
constexpr int kNodeForm = 2;

void add_prefixes(int form, DamagedRun& run) {
  change_all(run, [&](Lines& lines, int number) {
    const std::string prefix = prefix_of(form, number);
    for (std::string& line : lines.all) line.insert(0, prefix);
    if (form == kNodeForm) run.added_hosts.push_back(fmt::format("node{}", number + 1));
  });
}

template <int kForm>
void add_prefix(DamagedRun& run, Seeded&) {
  add_prefixes(kForm, run);
}

void end_with_prefix(DamagedRun& run, Seeded& seeded) {
  const auto form = static_cast<int>(seeded.below(kForms));
  const bool everywhere = seeded.chance(50);
  if (everywhere) add_prefixes(form, run);
  change_all(run, [&](Lines& lines, int number) {
    lines.all.push_back(prefix_of(form, number));
    lines.ends_with_newline = false;
  });
}

void collect_as_json(DamagedRun& run, Seeded&) {
  // The collector's clock orders nothing: it would say that short files ended first.
  change_all(run, [](Lines& lines, int) {
    for (std::string& line : lines.all) {
      std::string json = "{\"log\":";
      append_json_string(json, line + "\n");
      json += R"(,"stream":"stdout","time":"2026-01-05T12:00:00.000000001Z"})";
      line = std::move(json);
    }
  });
}

void shuffle_lines(DamagedRun& run, Seeded& seeded) {
  constexpr int kWithin[] = {3, 10, 50};
  const auto within = static_cast<uint64_t>(seeded.pick<int>(kWithin));
  run.all_touched = true;
  change_all(run, [&](Lines& lines, int) {
    std::vector<std::pair<uint64_t, std::string>> order;
    for (size_t i = 0; i < lines.all.size(); ++i) {
      order.emplace_back(i + seeded.below(within), std::move(lines.all[i]));
    }
    std::ranges::stable_sort(order, {}, &std::pair<uint64_t, std::string>::first);
    for (size_t i = 0; i < order.size(); ++i) lines.all[i] = std::move(order[i].second);
  });
}

void replace_heads(DamagedRun& run, const char* with) {
  static const std::regex kHead(R"(([\w.-]+):(\d+):(\d+) (?=\[\S+\] |NCCL))");
  run.all_touched = true;
  change_all(run, [&](Lines& lines, int) {
    for (std::string& line : lines.all) {
      if (line.find(" NCCL ") == std::string::npos) continue;
      line = std::regex_replace(line, kHead, with, std::regex_constants::format_first_only);
    }
  });
}

void give_one_pid(DamagedRun& run, Seeded&) { replace_heads(run, "$1:77:77 "); }
void remove_hosts(DamagedRun& run, Seeded&) { replace_heads(run, "$2:$3 "); }

/// Lines of both, in their order.
std::vector<std::string> interleaved(std::vector<std::string> a, std::vector<std::string> b,
                                     Seeded& seeded) {
  std::vector<std::string> all;
  size_t i = 0;
  size_t k = 0;
  while (i < a.size() || k < b.size()) {
    const bool from_a = seeded.below(a.size() - i + b.size() - k) < a.size() - i;
    for (int burst = seeded.between(1, 4); burst > 0; --burst) {
      if (from_a && i < a.size()) all.push_back(std::move(a[i++]));
      if (!from_a && k < b.size()) all.push_back(std::move(b[k++]));
    }
  }
  return all;
}

/// Takes the logs out of the files.
std::vector<std::string> as_one(RunFiles& files, Seeded& seeded) {
  std::vector<std::string> all;
  for (const auto& [name, text] : files) {
    if (is_log(text)) all = interleaved(std::move(all), lines_of(text).all, seeded);
  }
  std::erase_if(files, [](const auto& file) { return is_log(file.second); });
  return all;
}

/// Replaced in damaged(), which knows another job.
void mix_with_another_job(DamagedRun&, Seeded&) {}

constexpr Damage kDamages[] = {
    {"a line is lost", lose_line},
    {"some lines are lost", lose_lines},
    {"lines in a row are lost", lose_block},
    {"the beginning of a file is lost", lose_beginning},
    {"a file is cut", cut_tail},
    {"all files are cut", cut_tails},
    {"the last record is torn", tear_last_record},
    {"the last bytes are lost", lose_last_bytes},
    {"a line came twice", double_line},
    {"some lines came twice", double_lines},
    {"lines in a row came twice", double_block},
    {"lines are cut at a column", cut_columns},
    {"lines are wrapped", wrap_lines},
    {"lines end with CRLF", end_with_crlf},
    {"UTF-16, little-endian", write_utf16<false>},
    {"UTF-16, big-endian", write_utf16<true>},
    {"a number before each line", add_prefix<0>},
    {"mpirun's tags", add_prefix<1>},
    {"a node before each line", add_prefix<kNodeForm>},
    {"a bare prefix at the end", end_with_prefix},
    {"a collector's JSON", collect_as_json},
    {"lines are shuffled", shuffle_lines},
    {"all lines of one pid", give_one_pid},
    {"no host", remove_hosts},
    {"two jobs in one stream", mix_with_another_job},
};
static_assert(std::size(kDamages) == 25);

}  // namespace

std::span<const Damage> all_damages() { return kDamages; }

DamagedRun damaged(const RunFiles& files, const RunFiles& other, uint64_t seed) {
  Seeded seeded(seed);
  DamagedRun run{.files = files};
  const Damage& damage = kDamages[seed % std::size(kDamages)];
  if (damage.apply == mix_with_another_job) {
    RunFiles others = other;
    std::vector<std::string> theirs = as_one(others, seeded);
    std::vector<std::string> own = as_one(run.files, seeded);
    const auto both = interleaved(std::move(own), std::move(theirs), seeded);
    run.files.emplace_back("all.log", text_of({both}));
  } else {
    damage.apply(run, seeded);
  }
  return run;
}

std::string utf16_of(std::string_view text, bool is_big_endian, bool has_mark) {
  std::string bytes;
  const auto add = [&](uint32_t unit) {
    const char high = static_cast<char>(unit >> 8);
    const char low = static_cast<char>(unit & 0xFF);
    bytes += is_big_endian ? high : low;
    bytes += is_big_endian ? low : high;
  };
  if (has_mark) add(0xFEFF);
  const std::string valid = to_valid_utf8(text);
  for (size_t at = 0; at < valid.size();) {
    const auto first = static_cast<uint8_t>(valid[at]);
    const int more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    uint32_t code = more == 0 ? first : first & (0x3Fu >> more);
    for (int i = 1; i <= more; ++i) {
      code = code << 6 | (static_cast<uint8_t>(valid[at + static_cast<size_t>(i)]) & 0x3F);
    }
    at += static_cast<size_t>(more) + 1;
    if (code < 0x10000) {
      add(code);
    } else {
      add(0xD800 + ((code - 0x10000) >> 10));
      add(0xDC00 + ((code - 0x10000) & 0x3FF));
    }
  }
  return bytes;
}

}  // namespace ncclog::testing
