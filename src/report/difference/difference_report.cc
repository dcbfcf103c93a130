#include "report/difference/difference_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/safe_json.h"
#include "base/text.h"
#include "diagnose/perf/late/late_ranks.h"
#include "diagnose/perf/verdict/perf_words.h"
#include "model/job.h"
#include "report/json/json_fields.h"
#include "report/text_layout.h"
#include "rules/headline.h"

namespace ncclog {
namespace {

constexpr int kValueColumns = 90;  ///< Of a value inside a sentence.

std::string clipped(const std::string& value) { return clip(printable(value), kValueColumns); }

/// "setting NCCL_ALGO", "transport within a host", "finding shm-no-space".
std::string title_of(const DifferenceRow& row) {
  const std::string_view title = row_of(row.topic).title;
  if (row.name.empty()) return std::string(to_string(row.topic));
  return title.empty() ? row.name : fmt::format("{} {}", title, row.name);
}

/// The run that alone has something, where the other one is known to have nothing of the sort.
std::string_view only_run(const DifferenceRow& row) {
  const auto has = [](const FactValue& side) {
    return !side.what.empty() || !side.evidence.empty();
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
  // What explains that one run is slower comes first.
  const auto rank_of = [&](const auto& root) {
    const auto causes =
        difference.speed ? std::span(difference.speed->causes) : std::span<const SpeedCause>();
    return std::ranges::find_if(causes,
                                [&](const SpeedCause& cause) {
                                  return cause.row == root.first ||
                                         std::ranges::count(root.second, cause.row) > 0;
                                }) -
           causes.begin();
  };
  std::ranges::stable_sort(roots, [&](const auto& a, const auto& b) {
    const auto key = [&](const auto& root) {
      return std::tuple(rank_of(root), difference.rows[root.first].topic, -std::ssize(root.second));
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

/// "BAD is 2.8 times slower than GOOD (AllReduce at 8 GiB: 33.1 instead of 93.2 GB/s)"
std::string speed_text(const SpeedDifference& speed) {
  const SpeedSide& slower = speed.bad_is_slower ? speed.bad : speed.good;
  const SpeedSide& faster = speed.bad_is_slower ? speed.good : speed.bad;
  const bool by_bandwidth = slower.busbw > 0 && faster.busbw > 0;
  const std::string values =
      by_bandwidth ? fmt::format("{} instead of {} GB/s", bandwidth_text(slower.busbw),
                                 bandwidth_text(faster.busbw))
      : speed.bytes < 0
          ? fmt::format("{} instead of {}", late_time_text(slower.time_us),
                        late_time_text(faster.time_us))
          : fmt::format("{:.0f} instead of {:.0f} us", slower.time_us, faster.time_us);
  const std::string ranks =
      slower.nranks == faster.nranks || slower.nranks < 0 || faster.nranks < 0
          ? ""
          : fmt::format(", {} instead of {} ranks", slower.nranks, faster.nranks);
  constexpr double kWhole = 10;
  constexpr double kNearOne = 1.15;
  const int decimals = speed.ratio >= kWhole ? 0 : speed.ratio < kNearOne ? 2 : 1;
  return fmt::format("{} is {:.{}f} times slower than {} ({}{}: {}{})",
                     speed.bad_is_slower ? "BAD" : "GOOD", speed.ratio, decimals,
                     speed.bad_is_slower ? "GOOD" : "BAD", clipped(speed.op),
                     speed.bytes < 0 ? "" : " at " + bytes_text(speed.bytes), values, ranks);
}

std::string headline_of_speed(const RunDifference& difference) {
  const SpeedDifference& speed = *difference.speed;
  if (speed.causes.empty()) {
    return speed_text(speed) + "; nothing in which these logs differ explains that.";
  }
  const SpeedCause& first = speed.causes.front();
  const std::string what = clause(difference.rows[first.row]);
  if (first.likelihood == SpeedLikelihood::Partly) {
    return fmt::format("{}; what differs explains a part at most: {}.", speed_text(speed), what);
  }
  return fmt::format("{}, {} because {}: {}.", speed_text(speed),
                     first.likelihood == SpeedLikelihood::Likely ? "likely" : "possibly", what,
                     first.why);
}

std::string headline_of_differences(const RunDifference& difference) {
  if (difference.speed) return headline_of_speed(difference);
  const std::vector<size_t> order = shown_order(difference);
  const DifferenceRow& first = difference.rows[order.front()];
  const std::vector<size_t> effects = effects_of(difference, order.front());
  const size_t others = order.size() - 1;
  if (!effects.empty()) {
    const std::string explained =
        others == 1 ? "the other difference"
        : effects.size() == others
            ? fmt::format("all {} other differences", others)
            : fmt::format("{} of the {} other differences", effects.size(), others);
    return fmt::format("{}; that may explain {}, first of all: {}.", clause(first), explained,
                       clause(difference.rows[effects.front()]));
  }
  if (others == 0) return clause(first) + "; nothing else differs in what these logs show.";
  return fmt::format("{}; {}.", clause(first), plural(others, "other difference"));
}

/// "all ranks", "ranks 1,3"; empty if it names none.
std::string ranks_of(const Finding& finding, const Job& job) {
  const bool all = job.nranks && finding.ranks.size() == static_cast<size_t>(*job.nranks);
  return all ? "all ranks" : ranks_phrase(finding.ranks);
}

FactValue fact_of(const Finding& finding, const Job& job) {
  const std::string_view severity = to_string(finding.severity);
  FactValue fact{.value = fmt::format("{} {}", severity, ranks_of(finding, job)),
                 .what = fmt::format("{}: {}", severity, headline_of(finding)),
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
  if (difference.speed || count_rows(difference, RowState::Differs) > 0) {
    return DifferenceStatus::Different;
  }
  return difference.alike > 0 ? DifferenceStatus::Same : DifferenceStatus::CannotCompare;
}

std::string headline_of(const RunDifference& difference) {
  const size_t unknown = count_rows(difference, RowState::NotComparable);
  const DifferenceStatus status = status_of(difference);
  if (status == DifferenceStatus::Different) return headline_of_differences(difference);
  if (status == DifferenceStatus::CannotCompare) {
    return "The logs of the two runs tell nothing about the same thing.";
  }
  return std::string("Nothing differs in what the logs of both runs show.") +
         (unknown == 0 ? "" : " What one of them does not show stands below.");
}

std::string side_text(const DifferenceRow& row, const FactValue& side) {
  if (!side.why.empty()) return "not known: " + side.why;
  if (!side.what.empty()) return side.what;
  const bool is_there = !side.evidence.empty();
  return is_there ? "empty" : std::string(row_of(row.topic).missing);
}

std::string row_sentence(const DifferenceRow& row) {
  if (row.state != RowState::NotComparable) {
    const std::string_view only = only_run(row);
    const bool by_name = row.topic == Topic::Finding || row.topic == Topic::UnknownLine;
    return by_name && !only.empty() ? fmt::format("{} only in {}", clipped(title_of(row)), only)
                                    : in_both(row);
  }
  const bool good_tells = row.good.why.empty();
  const FactValue& known = good_tells ? row.good : row.bad;
  return fmt::format("{}: {} in {}; not known of {}: {}", title_of(row),
                     clipped(side_text(row, known)), good_tells ? "GOOD" : "BAD",
                     good_tells ? "BAD" : "GOOD", good_tells ? row.bad.why : row.good.why);
}

namespace {

constexpr int kTitleColumns = 90;
constexpr int kHeadlineColumns = 100;
constexpr int kSideColumns = 180;  ///< About two lines on the screen.

/// "4 ranks on 1 host, NCCL 2.28.9, network Socket".
std::string run_text(const Job& job) {
  std::vector<std::string> parts;
  std::string size = job.nranks ? plural(*job.nranks, "rank") : "";
  if (job.nhosts > 0) size += (size.empty() ? "" : " on ") + plural(job.nhosts, "host");
  if (!size.empty()) parts.push_back(std::move(size));
  if (!job.nccl_versions.empty())
    parts.push_back(fmt::format("{} {}", library_name(job), join(job.nccl_versions, ", ")));
  if (!job.network.name.empty()) parts.push_back("network " + job.network.name);
  if (job.runs > 1) parts.push_back(fmt::format("{} runs in one", job.runs));
  return parts.empty() ? "no line of NCCL" : join(parts, ", ");
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
  return effects.empty() ? "" : fmt::format("; may explain {}", ranges_text(effects));
}

Labelled side_block(std::string label, const Job& job, const DifferenceRow& row,
                    const FactValue& side) {
  std::string text = clip(printable(side_text(row, side)), kSideColumns);
  if (!side.evidence.empty()) {
    text += fmt::format("  ({})", place_name(job, side.evidence.front().where));
  }
  return {std::move(label), std::move(text)};
}

/// "likely: fewer NICs carry the same data"; empty: the row does not explain that a run is slower.
std::string speed_reason(const RunDifference& difference, size_t row) {
  if (!difference.speed) return {};
  const auto& causes = difference.speed->causes;
  const auto cause = std::ranges::find(causes, row, &SpeedCause::row);
  if (cause == causes.end()) return {};
  const std::string_view how = cause->likelihood == SpeedLikelihood::Partly
                                   ? "explains a part at most"
                                   : to_string(cause->likelihood);
  return fmt::format("{}: {}", how, cause->why);
}

/// What stands below the rows that are shown.
std::string rest_text(const RunDifference& difference, std::span<const size_t> rest) {
  std::map<Topic, int> counts;
  for (const size_t row : rest) ++counts[difference.rows[row].topic];
  std::vector<std::string> parts;
  for (const auto& [topic, count] : counts) {
    parts.push_back(fmt::format("{} ({})", to_string(topic), count));
  }
  return fmt::format("… and {} more: {}. --format json lists all.", rest.size(), join(parts, ", "));
}

/// Each row that no other explains begins a section, with those that may follow from it.
void add_rows(const DifferenceReport& report, size_t most, Document& document) {
  const RunDifference& difference = report.difference;
  const std::vector<size_t> order = shown_order(difference);
  const size_t shown = std::min(order.size(), most);
  Numbers numbers;
  for (const size_t row : order) numbers.emplace(row, static_cast<int>(numbers.size()) + 1);
  Section lines{.heading = "The lines that show it", .id = "lines", .folds = true};
  for (const size_t index : std::span(order).first(shown)) {
    const DifferenceRow& row = difference.rows[index];
    std::string title =
        fmt::format("{:<2} {}{}", numbers.at(index), clip(printable(title_of(row)), kTitleColumns),
                    relation(difference, index, numbers));
    Quotes quotes;
    for (const auto& [job, side] :
         {std::pair(&report.good.job, &row.good), std::pair(&report.bad.job, &row.bad)}) {
      for (const Evidence& line : side->evidence) {
        quotes.quotes.push_back({place_name(*job, line.where), line.text});
      }
    }
    if (!quotes.quotes.empty()) lines.parts.push_back({title, {std::move(quotes)}});
    if (row.causes.empty()) {
      document.sections.push_back({std::move(title), {}});
    } else {
      document.sections.back().blocks.push_back(Statement{.word = std::move(title)});
    }
    std::vector<Block>& blocks = document.sections.back().blocks;
    blocks.push_back(side_block("good", report.good.job, row, row.good));
    blocks.push_back(side_block("bad", report.bad.job, row, row.bad));
    if (std::string why = speed_reason(difference, index); !why.empty()) {
      blocks.push_back(Labelled{"speed", std::move(why)});
    }
  }
  if (shown < order.size()) {
    add_section(document, "", {Paragraph{rest_text(difference, std::span(order).subspan(shown))}});
  }
  if (!lines.parts.empty()) document.sections.push_back(std::move(lines));
}

/// The rows of one state, a sentence each.
void add_sentences(const RunDifference& difference, RowState state, std::string heading,
                   size_t most, Document& document) {
  std::vector<std::string> sentences;
  for (const DifferenceRow& row : difference.rows) {
    if (row.state == state) sentences.push_back(row_sentence(row) + ".");
  }
  if (sentences.size() > most) {
    const std::string more = fmt::format("… and {} more", sentences.size() - most);
    sentences.resize(most);
    sentences.push_back(more);
  }
  add_points(document, std::move(heading), std::move(sentences));
}

}  // namespace

Document difference_document(const DifferenceReport& report, Reader reader) {
  const RunDifference& difference = report.difference;
  const size_t rows = reader == Reader::Page ? 60 : 8;
  const size_t sentences = reader == Reader::Page ? 20 : 4;  // Of notes, of what is not comparable.
  constexpr const char* kWords[] = {"SAME", "DIFFERENT", "CANNOT COMPARE"};
  Document document{.lead = {.word = kWords[static_cast<size_t>(status_of(difference))],
                             .text = headline_of(difference),
                             .main = true},
                    .signature = signature_of(report.good.tool)};
  add_section(document, "",
              {run_block("GOOD", report.good_path, report.good),
               run_block("BAD", report.bad_path, report.bad)});
  add_rows(report, rows, document);
  add_sentences(difference, RowState::Note, "Of no consequence", sentences, document);
  add_sentences(difference, RowState::NotComparable, "Not comparable", sentences, document);
  return document;
}

// For scripts: JSON, schema ncclog.diff/1, and that schema.

namespace {

constexpr Key<FactValue> kSide[] = {
    {"value", kNameOrNull<&FactValue::what, type::text>,
     "Null: the run has nothing of the sort, or it is not known."},
    {"unknown", kNameOrNull<&FactValue::why, type::text>, "Why it is not known; null where it is."},
    {"evidence", kObjects<&FactValue::evidence, kEvidence>},
};

/// A row among the others.
struct RowOf {
  const DifferenceReport* report;
  const DifferenceRow* row;
  const SpeedCause* cause = nullptr;  ///< Where it explains that a run is slower.
};

std::string id_of(const DifferenceRow& row) {
  return to_valid_utf8(fmt::format("{}/{}", to_string(row.topic), row.name));
}

Json write_causes(const Job&, const RowOf& of) {
  Json causes = Json::array();
  for (const size_t cause : of.row->causes) {
    causes.push_back(id_of(of.report->difference.rows[cause]));
  }
  return causes;
}

constexpr auto kTopic = type::one_of<
    "setting|version|network|interface|shape|topology|transport|channels|algorithm|"
    "timing|calls|warning|unknown_line|finding">;

constexpr Value<RowOf> kRowId = {
    type::text, [](const Job&, const RowOf& of) -> Json { return id_of(*of.row); }};

constexpr Key<RowOf> kRow[] = {
    {"id", kRowId, "Topic and name: once in each list where the name is not null."},
    {"topic", kOf<&RowOf::row, kWord<&DifferenceRow::topic, kTopic>>},
    {"name", kOf<&RowOf::row, kNameOrNull<&DifferenceRow::name, type::text>>,
     "Null: several of the topic, which the known side lists."},
    {"good",
     {type::object<kSide>,
      [](const Job&, const RowOf& of) {
        return write_object(of.report->good.job, kSide, of.row->good);
      }}},
    {"bad",
     {type::object<kSide>,
      [](const Job&, const RowOf& of) {
        return write_object(of.report->bad.job, kSide, of.row->bad);
      }}},
    {"may_follow_from",
     {type::list<type::text>, write_causes},
     "Ids of differences that may explain this one."},
};

template <RowState state>
Json write_rows(const Job& job, const DifferenceReport& report) {
  Json list = Json::array();
  for (const DifferenceRow& row : report.difference.rows) {
    if (row.state == state) list.push_back(write_object(job, kRow, RowOf{&report, &row}));
  }
  return list;
}

Json write_differences(const Job& job, const DifferenceReport& report) {
  Json list = Json::array();
  for (const size_t row : shown_order(report.difference)) {
    list.push_back(write_object(job, kRow, RowOf{&report, &report.difference.rows[row]}));
  }
  return list;
}

constexpr Key<Verdict> kVerdictOfRun[] = {
    {"status", kWord<&Verdict::status>},
    {"headline", kText<&Verdict::headline>},
};

const Report& good_of(const Job&, const DifferenceReport& of) { return of.good; }
const Report& bad_of(const Job&, const DifferenceReport& of) { return of.bad; }

/// One of the two runs.
template <auto path, auto run>
constexpr Key<DifferenceReport> kRun[] = {
    {"path", kText<path>, "As it was given."},
    {"nranks", kVia<run, kOf<&Report::job, kOptional<&Job::nranks>>>},
    {"nhosts", kVia<run, kOf<&Report::job, kValue<&Job::nhosts>>>},
    {"nccl_versions", kVia<run, kOf<&Report::job, kTexts<&Job::nccl_versions>>>},
    {"network",
     kVia<run, kOf<&Report::job, kOf<&Job::network, kNameOrNull<&Network::name, type::text>>>>},
    {"verdict", kVia<run, kOf<&Report::diagnosis, kObject<&Diagnosis::verdict, kVerdictOfRun>>>},
};

constexpr auto& kGood = kRun<&DifferenceReport::good_path, good_of>;
constexpr auto& kBad = kRun<&DifferenceReport::bad_path, bad_of>;

constexpr Key<RunDifference> kVerdict[] = {
    {"status",
     {type::word<DifferenceStatus>,
      [](const Job&, const RunDifference& of) -> Json { return to_string(status_of(of)); }},
     "Notes and what is not comparable make no difference."},
    {"headline",
     {type::text,
      [](const Job&, const RunDifference& of) -> Json { return to_valid_utf8(headline_of(of)); }}},
};

constexpr Key<SpeedSide> kSpeedSide[] = {
    {"busbw_gbs", kNumberOrNull<&SpeedSide::busbw, type::number>, "Bus bandwidth, GB/s."},
    {"time_us", kNumberOrNull<&SpeedSide::time_us, type::number>},
    {"nranks", kNumberOrNull<&SpeedSide::nranks>},
    {"evidence", kObject<&SpeedSide::line, kEvidence>},
};

constexpr Key<RowOf> kSpeedCause[] = {
    {"id", kRowId, "Of a difference."},
    {"likelihood", kOf<&RowOf::cause, kWord<&SpeedCause::likelihood>>,
     "Partly: it does not slow down by as much as was seen."},
    {"why", kOf<&RowOf::cause, kText<&SpeedCause::why>>},
};

const SpeedDifference& speed_of(const Job&, const DifferenceReport& report) {
  return *report.difference.speed;
}

constexpr Key<DifferenceReport> kSpeed[] = {
    {"op", kVia<speed_of, kText<&SpeedDifference::op>>},
    {"bytes", kVia<speed_of, kNumberOrNull<&SpeedDifference::bytes>>,
     "Of the buffer; null: steps of the training were timed."},
    {"slower",
     {type::one_of<"good|bad">,
      [](const Job&, const DifferenceReport& of) -> Json {
        return of.difference.speed->bad_is_slower ? "bad" : "good";
      }}},
    {"ratio", kVia<speed_of, kValue<&SpeedDifference::ratio, type::number>>,
     "How many times slower."},
    {"good",
     {type::object<kSpeedSide>,
      [](const Job&, const DifferenceReport& of) {
        return write_object(of.good.job, kSpeedSide, of.difference.speed->good);
      }}},
    {"bad",
     {type::object<kSpeedSide>,
      [](const Job&, const DifferenceReport& of) {
        return write_object(of.bad.job, kSpeedSide, of.difference.speed->bad);
      }}},
    {"causes",
     {type::objects<kSpeedCause>,
      [](const Job& job, const DifferenceReport& of) {
        Json list = Json::array();
        for (const SpeedCause& cause : of.difference.speed->causes) {
          list.push_back(
              write_object(job, kSpeedCause, RowOf{&of, &of.difference.rows[cause.row], &cause}));
        }
        return list;
      }},
     "Differences that may explain it, the likeliest first."},
};

constexpr Key<DifferenceReport> kDifference[] = {
    {"schema", kSchemaName<DifferenceReport, "ncclog.diff/1">},
    {"tool", kVia<good_of, kObject<&Report::tool, kTool>>},
    {"verdict", kObject<&DifferenceReport::difference, kVerdict>},
    {"good",
     {type::object<kGood>,
      [](const Job&, const DifferenceReport& of) { return write_object(of.good.job, kGood, of); }}},
    {"bad",
     {type::object<kBad>,
      [](const Job&, const DifferenceReport& of) { return write_object(of.bad.job, kBad, of); }}},
    {"speed",
     {type::nullable<type::object<kSpeed>>,
      [](const Job& job, const DifferenceReport& of) -> Json {
        return of.difference.speed ? write_object(job, kSpeed, of) : Json(nullptr);
      }},
     "Null: not both measured, or they are as fast."},
    {"alike", kOf<&DifferenceReport::difference, kValue<&RunDifference::alike>>,
     "How many things were compared and found alike."},
    {"differences",
     {type::objects<kRow>, write_differences},
     "In the order of their importance; behind each the ones that may follow from it."},
    {"notes",
     {type::objects<kRow>, write_rows<RowState::Note>},
     "Differences that do not matter, such as the number of iterations."},
    {"not_comparable",
     {type::objects<kRow>, write_rows<RowState::NotComparable>},
     "What one of the runs shows and the other one's logs do not tell."},
};

}  // namespace

std::string write_difference_json(const DifferenceReport& report) {
  return safe_json(write_object(report.good.job, kDifference, report).dump(2)) + "\n";
}

std::string difference_schema() {
  return document_schema("urn:ncclog:diff:1", "ncclog.diff/1",
                         "What `ncclog diff --format json` prints. Keys that are not required may "
                         "be added; what is here stays.",
                         kDifference);
}

}  // namespace ncclog
