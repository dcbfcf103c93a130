#include "report/difference/difference_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "model/job.h"
#include "report/markdown/markdown_text.h"
#include "report/text_layout.h"
#include "rules/verdict.h"

namespace ncclog {
namespace {

constexpr int kValueColumns = 90;  ///< Of a value inside a sentence.

/// How a topic is worded.
struct TopicWords {
  std::string_view title;    ///< In front of the trait's name; empty: that says it all.
  std::string_view missing;  ///< Where a run has nothing of the sort.
};

TopicWords words_of(Topic topic) {
  switch (topic) {
    case Topic::Setting:
      return {"setting", "not set"};
    case Topic::Version:
      return {"version of", "none"};
    case Topic::Network:
      return {"", "none"};
    case Topic::Interface:
      return {"interfaces:", "none"};
    case Topic::Shape:
      return {"", "none"};
    case Topic::Transport:
      return {"transport", "no connection"};
    case Topic::Channels:
      return {"channels:", "none"};
    case Topic::Topology:
      return {"topology:", "none"};
    case Topic::Algorithm:
      return {"algorithm of", "not called"};
    case Topic::Timing:
      return {"time:", "not printed"};
    case Topic::Calls:
      return {"calls:", "not called"};
    case Topic::Warning:
      return {"warning", "not printed"};
    case Topic::UnknownLine:
      return {"unknown line", "not printed"};
    case Topic::Finding:
      return {"finding", "not found"};
  }
  return {};
}

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

/// Rows that differ, as they are shown: each that no other explains, behind it those that may
/// follow from it. Into RunDifference::rows.
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
  switch (status) {
    case DifferenceStatus::Same:
      return "same";
    case DifferenceStatus::Different:
      return "different";
    case DifferenceStatus::CannotCompare:
      return "cannot_compare";
  }
  return {};
}

RunDifference difference_of(const Report& good, const Report& bad) {
  std::set<int> ranks;
  if (good.job.nranks == bad.job.nranks) {
    // Who lacks a file in one run is no difference in settings.
    const std::set<int> a = ranks_with_settings(good.job);
    const std::set<int> b = ranks_with_settings(bad.job);
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                          std::inserter(ranks, ranks.end()));
  }
  const auto traits = [&](const Report& report) {
    std::vector<Trait> all = traits_of(report.job, ranks);
    std::vector<Trait> findings = finding_traits(report.diagnosis, report.job);
    all.insert(all.end(), std::make_move_iterator(findings.begin()),
               std::make_move_iterator(findings.end()));
    std::sort(all.begin(), all.end(), [](const Trait& a, const Trait& b) {
      return std::tie(a.topic, a.name) < std::tie(b.topic, b.name);
    });
    return all;
  };
  return compare_runs({good.job, traits(good)}, {bad.job, traits(bad)});
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
constexpr int kValueLines = 2;          ///< On the screen, about.

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
  return hang(lead, tone_of(status), printable(headline_of(difference)), style);
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
  const size_t shown = std::min(order.size(), kScreenRows);
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
    if (row.state != state || ++count > kScreenSentences) continue;
    out += hang("  - ", printable(row_sentence(row)) + ".", style);
  }
  if (count == 0) return {};
  if (count > kScreenSentences) out += fmt::format("  - … and {} more\n", count - kScreenSentences);
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

namespace {

using Json = nlohmann::ordered_json;

Json text(std::string_view value) {
  return value.empty() ? Json(nullptr) : Json(to_valid_utf8(value));
}

Json texts(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push_back(to_valid_utf8(value));
  return list;
}

std::string id_of(const DifferenceRow& row) {
  return to_valid_utf8(fmt::format("{}/{}", to_string(row.topic), row.name));
}

Json evidence_json(const Job& job, const DifferenceSide& side) {
  Json list = Json::array();
  for (const Evidence& line : side.evidence) {
    const FileLine place = file_line(job, line.where);
    list.push_back({{"file", to_valid_utf8(place.path)},
                    {"line", place.line},
                    {"text", to_valid_utf8(line.text)}});
  }
  return list;
}

Json side_json(const Job& job, const DifferenceSide& side) {
  return {{"value", text(side.value)},
          {"unknown", text(side.gap)},
          {"evidence", evidence_json(job, side)}};
}

Json row_json(const DifferenceReport& report, const DifferenceRow& row) {
  Json causes = Json::array();
  for (const size_t cause : row.causes) causes.push_back(id_of(report.difference.rows[cause]));
  return {{"id", id_of(row)},
          {"topic", to_string(row.topic)},
          {"name", text(row.name)},
          {"good", side_json(report.good.job, row.good)},
          {"bad", side_json(report.bad.job, row.bad)},
          {"may_follow_from", std::move(causes)}};
}

Json differences_json(const DifferenceReport& report) {
  Json list = Json::array();
  for (const size_t row : shown_order(report.difference)) {
    list.push_back(row_json(report, report.difference.rows[row]));
  }
  return list;
}

Json rows_json(const DifferenceReport& report, RowState state) {
  Json list = Json::array();
  for (const DifferenceRow& row : report.difference.rows) {
    if (row.state == state) list.push_back(row_json(report, row));
  }
  return list;
}

Json run_json(const std::string& path, const Report& report) {
  const Job& job = report.job;
  const Verdict& verdict = report.diagnosis.verdict;
  return {{"path", to_valid_utf8(path)},
          {"nranks", job.nranks ? Json(*job.nranks) : Json(nullptr)},
          {"nhosts", job.nhosts},
          {"nccl_versions", texts(job.nccl_versions)},
          {"network", text(job.network.name)},
          {"verdict",
           {{"status", to_string(verdict.status)}, {"headline", to_valid_utf8(verdict.headline)}}}};
}

}  // namespace

std::string write_difference_json(const DifferenceReport& report) {
  const Json json = {{"schema", "ncclog.diff/1"},
                     {"tool",
                      {{"name", report.good.tool.name},
                       {"version", report.good.tool.version},
                       {"rulebook", report.good.tool.rulebook}}},
                     {"verdict",
                      {{"status", to_string(status_of(report.difference))},
                       {"headline", to_valid_utf8(headline_of(report.difference))}}},
                     {"good", run_json(report.good_path, report.good)},
                     {"bad", run_json(report.bad_path, report.bad)},
                     {"alike", report.difference.alike},
                     {"differences", differences_json(report)},
                     {"notes", rows_json(report, RowState::Note)},
                     {"not_comparable", rows_json(report, RowState::NotComparable)}};
  return json.dump(2) + "\n";
}

}  // namespace ncclog
