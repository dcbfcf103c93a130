#include "report/difference_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

constexpr size_t kRowsShown = 8;
constexpr size_t kSentencesShown = 4;  ///< Of notes, and of what is not comparable.
constexpr int kValueLines = 2;         ///< On the screen, about.

std::string_view word_of(DifferenceStatus status) {
  switch (status) {
    case DifferenceStatus::Same:
      return "SAME";
    case DifferenceStatus::Different:
      return "DIFFERENT";
    case DifferenceStatus::CannotCompare:
      return "CANNOT COMPARE";
  }
  return {};
}

Tone tone_of(DifferenceStatus status) {
  if (status == DifferenceStatus::Same) return Tone::Good;
  return status == DifferenceStatus::Different ? Tone::Warning : Tone::Strong;
}

std::string verdict_block(const RunDifference& difference, const TextStyle& style) {
  const DifferenceStatus status = status_of(difference);
  const std::string lead = pad(word_of(status), kMargin - 1) + " ";
  std::string out = hang(lead, printable(headline_of(difference)), style);
  return out.replace(0, lead.size(), paint(lead, tone_of(status), style));
}

std::string run_block(std::string_view name, const std::string& path, const Report& report,
                      const TextStyle& style) {
  const Verdict& verdict = report.diagnosis.verdict;
  const std::string judged = verdict.status == VerdictStatus::Clean ? "clean"
                             : verdict.status == VerdictStatus::NothingFound
                                 ? "nothing found"
                                 : clip(printable(verdict.headline), style.width);
  return labelled(name, fmt::format("{}: {}; {}", path, run_text(report.job), judged), style);
}

/// Numbers of the rows on the screen, by their place in the difference.
using Numbers = std::map<size_t, int>;

/// "; may explain 2-6", "; may follow from 1".
std::string relation(const RunDifference& difference, size_t row, const Numbers& numbers) {
  const auto& causes = difference.rows[row].causes;
  if (!causes.empty()) {
    return fmt::format("; may follow from {}", numbers.at(root_of(difference, row)));
  }
  std::vector<int> effects;
  for (const auto& [other, number] : numbers) {
    if (other != row && root_of(difference, other) == row) effects.push_back(number);
  }
  return effects.empty() ? "" : fmt::format("; may explain {}", ranges_text(std::move(effects)));
}

std::string place_text(const Job& job, const DifferenceSide& side) {
  if (side.evidence.empty()) return {};
  const FileLine place = file_line(job, side.evidence.front().where);
  return fmt::format("  ({}:{})", place.path, place.line);
}

std::string side_line(std::string_view name, const Job& job, const DifferenceRow& row,
                      const DifferenceSide& side, const TextStyle& style) {
  const std::string value =
      clip(printable(side_text(row, side)), kValueLines * (style.width - kMargin));
  return labelled(name, value + place_text(job, side), style);
}

std::string row_block(const DifferenceReport& report, size_t index, const Numbers& numbers,
                      const TextStyle& style) {
  const DifferenceRow& row = report.difference.rows[index];
  const std::string title = clip(printable(title_of(row)), style.width - kMargin);
  const bool is_root = row.causes.empty();
  return fmt::format("{}{}{}\n", is_root ? "\n" : "",
                     paint(fmt::format("{:<2} {}", numbers.at(index), title), Tone::Strong, style),
                     relation(report.difference, index, numbers)) +
         side_line("good", report.good.job, row, row.good, style) +
         side_line("bad", report.bad.job, row, row.bad, style);
}

/// "… and 3 more: warning (2), finding (1). --format json lists all."
std::string more_line(const RunDifference& difference, std::span<const size_t> rows,
                      const TextStyle& style) {
  if (rows.empty()) return {};
  std::map<Topic, int> counts;
  for (const size_t row : rows) ++counts[difference.rows[row].topic];
  std::vector<std::string> parts;
  for (const auto& [topic, count] : counts) {
    parts.push_back(fmt::format("{} ({})", to_string(topic), count));
  }
  return "\n" + hang("",
                     fmt::format("… and {} more: {}. --format json lists all.", rows.size(),
                                 join(parts, ", ")),
                     style);
}

std::string rows_block(const DifferenceReport& report, const TextStyle& style) {
  const std::vector<size_t> order = shown_order(report.difference);
  const size_t shown = std::min(order.size(), kRowsShown);
  Numbers numbers;
  for (const size_t row : order) numbers.emplace(row, static_cast<int>(numbers.size()) + 1);
  std::string out;
  for (size_t i = 0; i < shown; ++i) out += row_block(report, order[i], numbers, style);
  return out + more_line(report.difference, std::span(order).subspan(shown), style);
}

/// The rows of one state, a sentence each, below a heading.
std::string sentences_block(const RunDifference& difference, RowState state,
                            std::string_view heading, const TextStyle& style) {
  std::string out;
  size_t count = 0;
  for (const DifferenceRow& row : difference.rows) {
    if (row.state != state || ++count > kSentencesShown) continue;
    out += hang("  - ", printable(row_sentence(row)) + ".", style);
  }
  if (count == 0) return {};
  if (count > kSentencesShown) out += fmt::format("  - … and {} more\n", count - kSentencesShown);
  return "\n" + paint(heading, Tone::Strong, style) + "\n" + out;
}

}  // namespace

std::string write_difference_text(const DifferenceReport& report, const TextStyle& style) {
  return verdict_block(report.difference, style) + "\n" +
         run_block("GOOD", report.good_path, report.good, style) +
         run_block("BAD", report.bad_path, report.bad, style) + rows_block(report, style) +
         sentences_block(report.difference, RowState::Note, "Of no consequence", style) +
         sentences_block(report.difference, RowState::NotComparable, "Not comparable", style);
}

}  // namespace ncclog
