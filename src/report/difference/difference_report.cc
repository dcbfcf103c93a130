#include "report/difference/difference_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "model/job.h"
#include "report/markdown/markdown_text.h"
#include "report/text_layout.h"
#include "rules/evaluate.h"

namespace ncclog {
namespace {

constexpr int kValueColumns = 90;  ///< Of a value inside a sentence.

const TopicRow& words_of(Topic topic) { return topic_rows()[static_cast<size_t>(topic)]; }

std::string clipped(const std::string& value) { return clip(printable(value), kValueColumns); }

/// The run that alone has something, where the other one is known to have nothing of the sort.
std::string_view only_run(const DifferenceRow& row) {
  const auto has = [](const DifferenceSide& side) {
    return !side.value.empty() || !side.evidence.empty();
  };
  if (has(row.good) == has(row.bad)) return {};
  return has(row.good) ? "GOOD" : "BAD";
}

std::string in_both(const DifferenceRow& row) {
  return fmt::format("{}: {} in GOOD, {} in BAD", clipped(title_of(row)),
                     clipped(side_text(row, row.good)), clipped(side_text(row, row.bad)));
}

/// "NCCL_ALGO is not set in GOOD and Ring in BAD", "BAD alone has finding shm-no-space".
std::string clause(const DifferenceRow& row) {
  const std::string_view only = only_run(row);
  const std::string name = clipped(row.name);
  if (row.topic == Topic::Setting) {
    return fmt::format("{} is {} in GOOD and {} in BAD", name, clipped(side_text(row, row.good)),
                       clipped(side_text(row, row.bad)));
  }
  if (only.empty()) return in_both(row);
  if (row.topic == Topic::Finding) return fmt::format("{} alone has finding {}", only, name);
  if (row.topic == Topic::Warning) return fmt::format("{} alone warns \"{}\"", only, name);
  return in_both(row);
}

std::vector<size_t> effects_of(const RunDifference& difference, size_t root) {
  std::vector<size_t> effects;
  for (size_t i = 0; i < difference.rows.size(); ++i) {
    const bool differs = difference.rows[i].state == RowState::Differs;
    if (differs && i != root && root_of(difference, i) == root) effects.push_back(i);
  }
  return effects;
}

}  // namespace

std::vector<size_t> shown_order(const RunDifference& difference) {
  std::vector<std::pair<size_t, std::vector<size_t>>> roots;
  for (size_t i = 0; i < difference.rows.size(); ++i) {
    const DifferenceRow& row = difference.rows[i];
    if (row.state == RowState::Differs && row.causes.empty()) {
      roots.emplace_back(i, effects_of(difference, i));
    }
  }
  std::stable_sort(roots.begin(), roots.end(), [&](const auto& a, const auto& b) {
    const auto key = [&](const auto& root) {
      return std::tuple(difference.rows[root.first].topic, -std::ssize(root.second));
    };
    return key(a) < key(b);
  });
  std::vector<size_t> order;
  for (const auto& [root, effects] : roots) {
    order.push_back(root);
    order.insert(order.end(), effects.begin(), effects.end());
  }
  return order;
}

namespace {

std::string count_of_others(size_t effects, size_t others) {
  if (others == 1) return "the other difference";
  if (effects == others) return fmt::format("all {} other differences", others);
  return fmt::format("{} of the {} other differences", effects, others);
}

std::string headline_of_differences(const RunDifference& difference) {
  const std::vector<size_t> order = shown_order(difference);
  const DifferenceRow& first = difference.rows[order.front()];
  const std::vector<size_t> effects = effects_of(difference, order.front());
  const size_t others = order.size() - 1;
  if (!effects.empty()) {
    return fmt::format("{}; that may explain {}, first of all: {}.", clause(first),
                       count_of_others(effects.size(), others),
                       clause(difference.rows[effects.front()]));
  }
  if (others == 0) return clause(first) + "; nothing else differs in what these logs show.";
  return fmt::format("{}; {}.", clause(first), plural(others, "other difference"));
}

}  // namespace

std::string_view to_string(DifferenceStatus status) {
  constexpr std::string_view kNames[] = {"same", "different", "cannot_compare"};
  return kNames[static_cast<size_t>(status)];
}

namespace {

/// "all ranks", "ranks 1,3"; empty if it names none.
std::string ranks_of(const Finding& finding, const Job& job) {
  const bool all = job.nranks && finding.ranks.size() == static_cast<size_t>(*job.nranks);
  return all ? "all ranks" : ranks_phrase(finding.ranks);
}

FactValue fact_of(const Finding& finding, const Job& job) {
  const std::string_view severity = to_string(finding.severity);
  FactValue fact{.value = fmt::format("{} {}", severity, ranks_of(finding, job)),
                 .what = fmt::format("{}: {}", severity, first_sentence(finding.message)),
                 .evidence = finding.evidence,
                 .of = finding.id,
                 .minor = finding.severity == Severity::Info};
  fact.evidence.resize(std::min(fact.evidence.size(), kMostShown));
  return fact;
}

ComparedRun compared_run(const Report& report, const std::set<int>& ranks) {
  ComparedRun run{report.job, compared_facts(report.job, ranks)};
  for (const Finding& finding : report.diagnosis.findings) {
    run.facts.try_emplace({Topic::Finding, finding.id}, fact_of(finding, report.job));
    run.explained[finding.id] = finding.explains;
  }
  return run;
}

}  // namespace

RunDifference difference_of(const Report& good, const Report& bad) {
  std::set<int> ranks;
  if (good.job.nranks == bad.job.nranks) {
    // Who lacks a file in one run is no difference in settings.
    const std::set<int> a = ranks_with_settings(good.job);
    const std::set<int> b = ranks_with_settings(bad.job);
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                          std::inserter(ranks, ranks.end()));
  }
  return compare_runs(compared_run(good, ranks), compared_run(bad, ranks));
}

DifferenceStatus status_of(const RunDifference& difference) {
  if (count_rows(difference, RowState::Differs) > 0) return DifferenceStatus::Different;
  return difference.alike > 0 ? DifferenceStatus::Same : DifferenceStatus::CannotCompare;
}

std::string headline_of(const RunDifference& difference) {
  const size_t unknown = count_rows(difference, RowState::NotComparable);
  switch (status_of(difference)) {
    case DifferenceStatus::Different:
      return headline_of_differences(difference);
    case DifferenceStatus::CannotCompare:
      return "The logs of the two runs tell nothing about the same thing.";
    case DifferenceStatus::Same:
      break;
  }
  const std::string gaps =
      unknown == 0 ? "" : fmt::format(" What one of them does not show stands below.");
  return "Nothing differs in what the logs of both runs show." + gaps;
}

std::string title_of(const DifferenceRow& row) {
  const std::string_view title = words_of(row.topic).title;
  if (row.name.empty()) return std::string(to_string(row.topic));
  return title.empty() ? row.name : fmt::format("{} {}", title, row.name);
}

std::string side_text(const DifferenceRow& row, const DifferenceSide& side) {
  if (!side.gap.empty()) return "not known: " + side.gap;
  if (!side.value.empty()) return side.value;
  const bool is_there = !side.evidence.empty();
  return is_there ? "empty" : std::string(words_of(row.topic).missing);
}

std::string row_sentence(const DifferenceRow& row) {
  if (row.state != RowState::NotComparable) {
    const std::string_view only = only_run(row);
    const bool by_name = row.topic == Topic::Finding || row.topic == Topic::UnknownLine;
    return by_name && !only.empty() ? fmt::format("{} only in {}", clipped(title_of(row)), only)
                                    : in_both(row);
  }
  const bool good_tells = row.good.gap.empty();
  const DifferenceSide& known = good_tells ? row.good : row.bad;
  return fmt::format("{}: {} in {}; not known of {}: {}", title_of(row),
                     clipped(side_text(row, known)), good_tells ? "GOOD" : "BAD",
                     good_tells ? "BAD" : "GOOD", good_tells ? row.bad.gap : row.good.gap);
}

namespace {

constexpr size_t kScreenRows = 8;
constexpr size_t kScreenSentences = 4;  ///< Of notes, and of what is not comparable.
constexpr int kTitleColumns = 90;
constexpr int kHeadlineColumns = 100;
constexpr int kSideColumns = 180;  ///< About two lines on the screen.

/// "4 ranks on 1 host, NCCL 2.28.9, network Socket".
std::string run_text(const Job& job) {
  std::vector<std::string> parts;
  std::string size = job.nranks ? plural(static_cast<uint64_t>(*job.nranks), "rank") : "";
  if (job.nhosts > 0) {
    size += (size.empty() ? "" : " on ") + plural(static_cast<uint64_t>(job.nhosts), "host");
  }
  if (!size.empty()) parts.push_back(std::move(size));
  if (!job.nccl_versions.empty())
    parts.push_back(fmt::format("{} {}", library_name(job), join(job.nccl_versions, ", ")));
  if (!job.network.name.empty()) parts.push_back("network " + job.network.name);
  if (job.runs.size() > 1) parts.push_back(fmt::format("{} runs in one", job.runs.size()));
  return parts.empty() ? "no line of NCCL" : join(parts, ", ");
}

std::string_view word_of(DifferenceStatus status) {
  constexpr std::string_view kWords[] = {"SAME", "DIFFERENT", "CANNOT COMPARE"};
  return kWords[static_cast<size_t>(status)];
}

Labelled run_block(std::string label, const std::string& path, const Report& report) {
  const Verdict& verdict = report.diagnosis.verdict;
  const std::string judged = verdict.status == VerdictStatus::Clean ? "clean"
                             : verdict.status == VerdictStatus::NothingFound
                                 ? "nothing found"
                                 : clip(printable(verdict.headline), kHeadlineColumns);
  return {std::move(label), fmt::format("{}: {}; {}", path, run_text(report.job), judged)};
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

Labelled side_block(std::string label, const Job& job, const DifferenceRow& row,
                    const DifferenceSide& side) {
  return {std::move(label),
          clip(printable(side_text(row, side)), kSideColumns) + place_text(job, side)};
}

/// Each row that no other explains begins a section, with those that may follow from it.
void add_rows(const DifferenceReport& report, Document& document) {
  const RunDifference& difference = report.difference;
  const std::vector<size_t> order = shown_order(difference);
  const size_t shown = std::min(order.size(), kScreenRows);
  Numbers numbers;
  for (const size_t row : order) numbers.emplace(row, static_cast<int>(numbers.size()) + 1);
  for (const size_t index : std::span(order).first(shown)) {
    const DifferenceRow& row = difference.rows[index];
    std::string title =
        fmt::format("{:<2} {}{}", numbers.at(index), clip(printable(title_of(row)), kTitleColumns),
                    relation(difference, index, numbers));
    if (row.causes.empty()) {
      document.sections.push_back({std::move(title), {}});
    } else {
      document.sections.back().blocks.push_back(Statement{.word = std::move(title)});
    }
    std::vector<Block>& blocks = document.sections.back().blocks;
    blocks.push_back(side_block("good", report.good.job, row, row.good));
    blocks.push_back(side_block("bad", report.bad.job, row, row.bad));
  }
  if (shown == order.size()) return;
  std::map<Topic, int> counts;
  for (const size_t row : std::span(order).subspan(shown)) ++counts[difference.rows[row].topic];
  std::vector<std::string> parts;
  for (const auto& [topic, count] : counts) {
    parts.push_back(fmt::format("{} ({})", to_string(topic), count));
  }
  add_section(document, "",
              {Paragraph{fmt::format("… and {} more: {}. --format json lists all.",
                                     order.size() - shown, join(parts, ", "))}});
}

/// The rows of one state, a sentence each.
void add_sentences(const RunDifference& difference, RowState state, std::string heading,
                   Document& document) {
  std::vector<std::string> sentences;
  for (const DifferenceRow& row : difference.rows) {
    if (row.state == state) sentences.push_back(row_sentence(row) + ".");
  }
  if (sentences.size() > kScreenSentences) {
    const std::string more = fmt::format("… and {} more", sentences.size() - kScreenSentences);
    sentences.resize(kScreenSentences);
    sentences.push_back(more);
  }
  add_points(document, std::move(heading), std::move(sentences));
}

}  // namespace

Document difference_document(const DifferenceReport& report) {
  const RunDifference& difference = report.difference;
  const DifferenceStatus status = status_of(difference);
  Document document;
  add_section(
      document, "",
      {Statement{
          .word = std::string(word_of(status)), .text = headline_of(difference), .main = true}});
  add_section(document, "",
              {run_block("GOOD", report.good_path, report.good),
               run_block("BAD", report.bad_path, report.bad)});
  add_rows(report, document);
  add_sentences(difference, RowState::Note, "Of no consequence", document);
  add_sentences(difference, RowState::NotComparable, "Not comparable", document);
  return document;
}

namespace {

constexpr size_t kIssueRows = 60;       ///< An issue holds 65,536 characters.
constexpr size_t kIssueLines = 40;      ///< Quoted, of both runs together.
constexpr size_t kIssueSentences = 20;  ///< Of notes, and of what is not comparable.
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
  for (size_t i = 0; i < std::min(order.size(), kIssueRows); ++i) {
    const DifferenceRow& row = report.difference.rows[order[i]];
    out += fmt::format("| {} | {} | {} | {} | {} |\n", i + 1, cell(title_of(row)),
                       cell(side_text(row, row.good)), cell(side_text(row, row.bad)),
                       causes_text(report, order[i], numbers));
  }
  if (order.size() > kIssueRows) {
    out += fmt::format("\n… and {} more; `--format json` lists all.\n", order.size() - kIssueRows);
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
  for (size_t i = 0; i < order.size() && shown < kIssueLines; ++i) {
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
    if (row.state != state || ++count > kIssueSentences) continue;
    out += fmt::format("- {}.\n", markdown_text(row_sentence(row)));
  }
  if (count == 0) return {};
  if (count > kIssueSentences) out += fmt::format("- … and {} more\n", count - kIssueSentences);
  return fmt::format("\n### {}\n\n{}", heading, out);
}

std::string_view heading_of(DifferenceStatus status) {
  constexpr std::string_view kHeadings[] = {"Nothing differs", "The runs differ",
                                            "The runs cannot be compared"};
  return kHeadings[static_cast<size_t>(status)];
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
