#include "report/difference_markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"
#include "report/markdown_text.h"

namespace ncclog {
namespace {

constexpr size_t kRowsShown = 60;       ///< An issue holds 65,536 characters.
constexpr size_t kLinesShown = 40;      ///< Quoted, of both runs together.
constexpr size_t kSentencesShown = 20;  ///< Of notes, and of what is not comparable.
constexpr size_t kCellBytes = 240;
constexpr size_t kLineBytes = 300;

std::string cell(std::string_view text) {
  return markdown_text(shortened(text, kCellBytes), MarkdownPlace::TableCell);
}

std::string code_cell(std::string_view text) {
  return markdown_code(shortened(text, kCellBytes), MarkdownPlace::TableCell);
}

std::string runs_table(const DifferenceReport& report) {
  const Verdict& good = report.good.diagnosis.verdict;
  const Verdict& bad = report.bad.diagnosis.verdict;
  return fmt::format(
      "| | GOOD | BAD |\n|---|---|---|\n| logs | {} | {} |\n| run | {} | {} |\n"
      "| by itself | {} | {} |\n",
      code_cell(report.good_path), code_cell(report.bad_path), cell(run_text(report.good.job)),
      cell(run_text(report.bad.job)), cell(good.headline), cell(bad.headline));
}

std::string causes_text(const DifferenceReport& report, size_t row,
                        const std::map<size_t, size_t>& numbers) {
  if (report.difference.rows[row].causes.empty()) return {};
  return std::to_string(numbers.at(root_of(report.difference, row)));
}

std::string differences_table(const DifferenceReport& report, const std::vector<size_t>& order) {
  if (order.empty()) return {};
  std::map<size_t, size_t> numbers;
  for (const size_t row : order) numbers.emplace(row, numbers.size() + 1);
  std::string out =
      "\n| # | what differs | GOOD | BAD | may follow from |\n|---|---|---|---|---|\n";
  for (size_t i = 0; i < std::min(order.size(), kRowsShown); ++i) {
    const DifferenceRow& row = report.difference.rows[order[i]];
    out += fmt::format("| {} | {} | {} | {} | {} |\n", i + 1, cell(title_of(row)),
                       cell(side_text(row, row.good)), cell(side_text(row, row.bad)),
                       causes_text(report, order[i], numbers));
  }
  if (order.size() > kRowsShown) {
    out += fmt::format("\n… and {} more; `--format json` lists all.\n", order.size() - kRowsShown);
  }
  return out;
}

void add_lines(const Job& job, const DifferenceSide& side, std::vector<std::string>& lines) {
  for (const Evidence& line : side.evidence) {
    const FileLine place = file_line(job, line.where);
    lines.push_back(
        fmt::format("{}:{}: {}", place.path, place.line, shortened(line.text, kLineBytes)));
  }
}

/// A folded section with one block of lines for each difference.
std::string quoted_lines(const DifferenceReport& report, const std::vector<size_t>& order) {
  std::string out;
  size_t shown = 0;
  for (size_t i = 0; i < order.size() && shown < kLinesShown; ++i) {
    const DifferenceRow& row = report.difference.rows[order[i]];
    std::vector<std::string> lines;
    add_lines(report.good.job, row.good, lines);
    add_lines(report.bad.job, row.bad, lines);
    if (lines.empty()) continue;
    shown += lines.size();
    out += fmt::format("\n{}. {}\n\n{}", i + 1, markdown_text(shortened(title_of(row), kCellBytes)),
                       markdown_fence(lines, ""));
  }
  if (out.empty()) return {};
  return "\n<details><summary>The lines that show it</summary>\n" + out + "\n</details>\n";
}

std::string sentences(const RunDifference& difference, RowState state, std::string_view heading) {
  std::string out;
  size_t count = 0;
  for (const DifferenceRow& row : difference.rows) {
    if (row.state != state || ++count > kSentencesShown) continue;
    out += fmt::format("- {}.\n", markdown_text(row_sentence(row)));
  }
  if (count == 0) return {};
  if (count > kSentencesShown) out += fmt::format("- … and {} more\n", count - kSentencesShown);
  return fmt::format("\n### {}\n\n{}", heading, out);
}

std::string_view heading_of(DifferenceStatus status) {
  switch (status) {
    case DifferenceStatus::Same:
      return "Nothing differs";
    case DifferenceStatus::Different:
      return "The runs differ";
    case DifferenceStatus::CannotCompare:
      return "The runs cannot be compared";
  }
  return {};
}

}  // namespace

std::string write_difference_markdown(const DifferenceReport& report) {
  const RunDifference& difference = report.difference;
  const std::vector<size_t> order = shown_order(difference);
  return fmt::format("## {}\n\n{}\n\n", heading_of(status_of(difference)),
                     markdown_text(headline_of(difference))) +
         runs_table(report) + differences_table(report, order) + quoted_lines(report, order) +
         sentences(difference, RowState::Note, "Of no consequence") +
         sentences(difference, RowState::NotComparable, "Not comparable") +
         fmt::format("\nncclog {}\n", report.good.tool.version);
}

}  // namespace ncclog
