#include "log/wording/headed_tables.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "log/line/scanner.h"
#include "log/line/words.h"

namespace ncclog {
namespace {

constexpr size_t kLongestHeading = 600;

/// A row of headed_tables.table; a column that is none does not compile.
struct ColumnWord {
  std::string_view word;
  BandwidthColumn is = BandwidthColumn::Other;

  consteval ColumnWord(const char* text, std::string_view column) : word(text) {
    constexpr std::string_view kNames[] = {"Other", "Op",    "Ranks", "Size",
                                           "Time",  "Algbw", "Busbw", "Bandwidth"};
    size_t at = 0;
    while (kNames[at] != column) ++at;
    is = static_cast<BandwidthColumn>(at);
  }
};

constexpr ColumnWord kColumnWords[] = {
#include "log/wording/headed_tables.inc"
};

/// The unit in parentheses, or behind an underscore, a blank or a slash: "size(MB)", "time_ms",
/// "size/MB". A view of `name` or of a literal.
std::string_view unit_in(std::string_view name) {
  const size_t open = name.find_first_of("([");
  if (open != name.npos) {
    const size_t close = name.find_first_of(")]", open);
    return trim(name.substr(open + 1, close == name.npos ? close : close - open - 1));
  }
  constexpr std::string_view kUnits[] = {"us",   "ms",   "s",     "usec",  "msec", "B",    "bytes",
                                         "kb",   "mb",   "gb",    "KB",    "MB",   "GB",   "KiB",
                                         "MiB",  "GiB",  "mib",   "gib",   "GBps", "gbps", "Gbps",
                                         "GB/s", "MB/s", "MiB/s", "GiB/s", "Gb/s"};
  std::string_view longest;  // "busbw GB/s" ends with "s" as well.
  for (const std::string_view unit : kUnits) {
    const bool is_behind =
        name.size() > unit.size() && name.ends_with(unit) &&
        std::string_view("_ /").find(name[name.size() - unit.size() - 1]) != std::string_view::npos;
    // Samples are counted by the second.
    const bool is_rate = is_behind && unit == "s" && name.ends_with("/s");
    if (is_behind && !is_rate && unit.size() > longest.size()) longest = unit;
  }
  return longest;
}

BandwidthColumn column_of(std::string_view name) {
  std::string plain = lower_case(name);
  std::erase_if(plain, [](char c) { return is_blank(c) || c == '_' || c == '*' || c == '`'; });
  const auto* const found = std::ranges::find_if(
      kColumnWords, [&](const ColumnWord& row) { return plain.find(row.word) != plain.npos; });
  return found == std::end(kColumnWords) ? BandwidthColumn::Other : found->is;
}

/// What people put around a cell in Markdown.
std::string_view without_marks(std::string_view cell) {
  while (!cell.empty() && (cell.front() == '*' || cell.front() == '`' || is_blank(cell.front())))
    cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == '*' || cell.back() == '`' || is_blank(cell.back())))
    cell.remove_suffix(1);
  return cell;
}

/// "KB", "(us)", "GB/s": what stands behind the number or the name before it, not alone.
bool is_unit(std::string_view cell) {
  constexpr std::string_view kUnits[] = {"B",  "KB", "MB", "GB",   "KiB",  "MiB",  "GiB",
                                         "us", "ms", "s",  "GB/s", "GBps", "Gbps", "Gb/s"};
  return cell.starts_with('(') || cell.starts_with('[') || equals_one_of(cell, kUnits);
}

/// The cells between `separator`; empty ones count, but before the first and behind the last.
Columns cells_between(std::string_view text, char separator) {
  text = trim(text);
  if (text.starts_with(separator)) text.remove_prefix(1);
  if (text.ends_with(separator)) text.remove_suffix(1);
  Columns columns;
  for (size_t begin = 0; begin <= text.size() && columns.count < Columns::kMost;) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    columns.cells[columns.count++] = without_marks(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return columns;
}

/// The cells between blanks; where a heading has names of several words, two part them.
Columns cells_between_blanks(std::string_view text) {
  const Columns words = columns_of(text);
  Columns columns;
  for (size_t i = 0; i < words.count; ++i) {
    const std::string_view word = words[i];
    if (columns.count == 0 || !is_unit(word)) {
      columns.cells[columns.count++] = word;
      continue;
    }
    std::string_view& before = columns.cells[columns.count - 1];
    before = {before.data(), static_cast<size_t>(word.data() + word.size() - before.data())};
  }
  return columns;
}

}  // namespace

std::optional<CellNumber> quantity_of(std::string_view cell) {
  cell = without_marks(cell);
  const size_t end = std::min(cell.find_first_not_of("0123456789."), cell.size());
  const auto number = parse_decimal(cell.substr(0, end));
  if (!number) return std::nullopt;
  return CellNumber{*number, trim(cell.substr(end))};
}

Columns headed_cells(std::string_view text) {
  text = trim(text);
  if (text.starts_with('#')) text = trim(text.substr(1));
  if (text.starts_with('|')) return cells_between(text, '|');
  if (std::ranges::count(text, ',') >= 2) return cells_between(text, ',');
  return cells_between_blanks(text);
}

HeadedColumns headed_columns(std::string_view heading) {
  const Columns cells = headed_cells(heading);
  HeadedColumns result;
  result.count = cells.count;
  unsigned seen = 0;
  for (size_t i = 0; i < cells.count; ++i) {
    const BandwidthColumn is = column_of(cells[i]);
    const unsigned bit = 1U << static_cast<unsigned>(is);
    if ((seen & bit) != 0) continue;
    seen |= bit;
    result.columns[i] = {is, unit_in(cells[i])};
  }
  return result;
}

bool recognise_bandwidth_columns(std::string_view text, Message& message) {
  // Those of nccl-tests and of DeepSpeed's logger have rows of their own.
  Message other;
  if (text.size() > kLongestHeading || !holds_one_of(text, listed_words("bandwidth-column")) ||
      text.starts_with("Comm. Op") || recognise_by<kNcclTestsColumns>(text, other))
    return false;
  const HeadedColumns named = headed_columns(text);
  bool has_bandwidth = false;
  bool has_size = false;
  bool has_time = false;
  for (const HeadedColumn& column : named.columns) {
    has_bandwidth |= column.is >= BandwidthColumn::Algbw;
    has_size |= column.is == BandwidthColumn::Size;
    has_time |= column.is == BandwidthColumn::Time;
  }
  // Sentences speak of bandwidth, too, and rows of other tables.
  const Columns cells = headed_cells(text);
  constexpr size_t kLongestName = 40;
  const bool are_names = std::ranges::all_of(
      cells.cells.begin(), cells.cells.begin() + static_cast<std::ptrdiff_t>(cells.count),
      [](std::string_view cell) {
        return cell.size() <= kLongestName && !quantity_of(cell) &&
               cell.find_first_of(":=\"") == cell.npos;
      });
  constexpr size_t kFewest = 2;
  const bool has_two = (has_bandwidth && (has_size || has_time)) || (has_size && has_time);
  if (!has_two || !are_names || cells.count < kFewest) return false;
  return message.fill({{"columns", text}});
}

bool recognise_bandwidth_row(std::string_view text, Message& message) {
  if (text.size() > kLongestHeading) return false;
  const Columns cells = headed_cells(text);
  size_t numbers = 0;
  for (size_t i = 0; i < cells.count; ++i) numbers += quantity_of(cells[i]) ? 1 : 0;
  // The operation, the type; behind a size also what was chosen: the algorithm, the protocol.
  const size_t most_words = numbers > 0 && quantity_of(cells[0]) ? 4 : 2;
  if (numbers < 2 || numbers + most_words < cells.count) return false;
  return message.fill({{"cells", text}});
}

bool recognise_bandwidth_line(std::string_view text, Message& message) {
  // What should be, and what was not measured.
  constexpr std::string_view kWished[] = {"expect", "target", "theor", "peak",     "should",
                                          "thresh", "want",   "below", "at least", "limit"};
  return text.size() <= kLongestHeading && holds_one_of(text, listed_words("bandwidth-column")) &&
         !holds_one_of(lower_case(text), kWished) && recognise_by<kBandwidthLine>(text, message);
}

}  // namespace ncclog
