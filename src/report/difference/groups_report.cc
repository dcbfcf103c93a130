#include "report/difference/groups_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/safe_json.h"
#include "base/text.h"
#include "report/difference/difference_report.h"
#include "report/json/json_fields.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

constexpr int kFactColumns = 90;

/// "NCCL_P2P_DISABLE=1", "transport within a host SHM/direct", "no NCCL_ALGO".
std::string fact_words(const FactOfFailures& fact) {
  const std::string_view title = row_of(fact.topic).title;
  const std::string name = fact.topic == Topic::Setting || title.empty()
                               ? fact.name
                               : fmt::format("{} {}", title, fact.name);
  const std::string words = fact.value.empty()             ? "no " + name
                            : fact.topic == Topic::Setting ? name + "=" + fact.value
                                                           : name + " " + fact.value;
  return clip(printable(words), kFactColumns);
}

std::string failed_words(const FailedOf& of) { return fmt::format("{} of {}", of.failed, of.runs); }

/// "1 of 126 cases".
std::string chance_words(double chance) {
  constexpr double kOften = 0.5;
  if (chance > kOften) return "more often than not";
  return fmt::format("in 1 of {:.0f} cases", 1 / chance);
}

std::string advice_words(const FactOfFailures& fact) {
  if (fact.is_enough()) return "enough to try a run without it";
  if (fact.more_runs < 0) return "not enough, and no hundred runs like these would tell";
  return fmt::format(
      "not enough; {} more runs that go on like these, half of them with it, would tell",
      fact.more_runs);
}

std::string bounds_words(const FailedOf& of) {
  constexpr double kPercent = 100;
  const ShareBounds bounds = share_bounds(of);
  return fmt::format("{} failed: {:.0f} to {:.0f} %", failed_words(of), bounds.least * kPercent,
                     bounds.most * kPercent);
}

void add_runs(std::string label, const std::vector<GroupedRun>& runs, std::vector<Block>& blocks) {
  std::vector<std::string> paths;
  for (const GroupedRun& run : runs) paths.push_back(printable(run.path));
  blocks.push_back(Labelled{std::move(label), few_of(paths, kMostNamed, ", ")});
}

std::vector<ComparedRun> compared(const std::vector<GroupedRun>& runs) {
  std::vector<ComparedRun> result;
  for (const GroupedRun& run : runs) {
    result.push_back({run.report.job, compared_facts(run.report.job, {})});
  }
  return result;
}

}  // namespace

GroupsReport grouped(std::vector<GroupedRun> good, std::vector<GroupedRun> bad) {
  FactsOfFailures facts = facts_of_failures(compared(good), compared(bad));
  return {std::move(good), std::move(bad), std::move(facts)};
}

GroupsStatus status_of(const FactsOfFailures& facts) {
  if (facts.compared == 0) return GroupsStatus::CannotCompare;
  if (facts.rows.empty()) return GroupsStatus::Same;
  return facts.rows.front().is_enough() ? GroupsStatus::Different : GroupsStatus::NotEnough;
}

std::string headline_of(const GroupsReport& report) {
  const FactsOfFailures& facts = report.facts;
  switch (status_of(facts)) {
    case GroupsStatus::CannotCompare:
      return "The logs of these runs tell nothing about the same thing.";
    case GroupsStatus::Same:
      return fmt::format(
          "Nothing sets the bad runs apart: of {} compared, {} vary, and none goes "
          "along with the failures.",
          plural(facts.compared, "fact"), facts.varied);
    case GroupsStatus::Different:
    case GroupsStatus::NotEnough:
      break;
  }
  const FactOfFailures& first = facts.rows.front();
  const std::string failed = fmt::format("{} failed with it, {} without it",
                                         failed_words(first.with), failed_words(first.without));
  if (first.is_enough()) {
    return fmt::format("{} goes along with the failures: {}; by chance {}.", fact_words(first),
                       failed, chance_words(first.chance));
  }
  return fmt::format("{} goes along with the failures ({}), and by chance would {}: {}.",
                     fact_words(first), failed, chance_words(first.chance), advice_words(first));
}

Document groups_document(const GroupsReport& report, Reader reader) {
  constexpr const char* kWords[] = {"SAME", "DIFFERENT", "NOT ENOUGH", "CANNOT COMPARE"};
  const size_t most = reader == Reader::Page ? 60 : 5;
  const std::vector<FactOfFailures>& rows = report.facts.rows;
  Document document{.lead = {.word = kWords[static_cast<size_t>(status_of(report.facts))],
                             .text = headline_of(report),
                             .main = true},
                    .signature = signature_of(report.good.front().report.tool)};
  std::vector<Block> runs;
  add_runs("good", report.good, runs);
  add_runs("bad", report.bad, runs);
  add_section(document, "", std::move(runs));
  for (size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const FactOfFailures& fact = rows[i];
    Section section{fmt::format("{:<2} {}", i + 1, fact_words(fact)), {}};
    section.blocks.push_back(Labelled{"with", bounds_words(fact.with) + " (at 95 %)"});
    section.blocks.push_back(Labelled{"without", bounds_words(fact.without)});
    section.blocks.push_back(
        Labelled{"chance", fmt::format("{}; {}", chance_words(fact.chance), advice_words(fact))});
    if (!fact.alike.empty()) {
      section.blocks.push_back(Labelled{
          "also", "the same runs have " +
                      clip(printable(few_of(fact.alike, kMostNamed, ", ")), 2 * kFactColumns)});
    }
    document.sections.push_back(std::move(section));
  }
  if (rows.size() > most) {
    add_section(
        document, "",
        {Paragraph{fmt::format("… and {} more. --format json lists all.", rows.size() - most)}});
  }
  add_section(
      document, "",
      {Paragraph{fmt::format(
          "{} compared, {} of them vary. Going along is no cause: of twenty facts that have "
          "nothing to do with the failures one does by chance.",
          plural(report.facts.compared, "fact"), report.facts.varied)}});
  return document;
}

namespace {

constexpr Key<FailedOf> kFailedOf[] = {
    {"failed", kValue<&FailedOf::failed>},
    {"runs", kValue<&FailedOf::runs>},
    {"least",
     {type::number, [](const Job&, const FailedOf& of) -> Json { return share_bounds(of).least; }},
     "The share of failures that these allow, at 95 %."},
    {"most",
     {type::number, [](const Job&, const FailedOf& of) -> Json { return share_bounds(of).most; }}},
};

constexpr Key<FactOfFailures> kFact[] = {
    {"topic",
     {type::text,
      [](const Job&, const FactOfFailures& of) -> Json { return to_string(of.topic); }}},
    {"name", kText<&FactOfFailures::name>},
    {"value", kNameOrNull<&FactOfFailures::value, type::text>, "Null: nothing of the sort."},
    {"with", kObject<&FactOfFailures::with, kFailedOf>},
    {"without", kObject<&FactOfFailures::without, kFailedOf>},
    {"chance", kValue<&FactOfFailures::chance, type::number>,
     "Fisher's exact test, one-sided: how likely it goes along with the failures for no reason."},
    {"more_runs",
     {type::nullable<type::count>,
      [](const Job&, const FactOfFailures& of) -> Json {
        return of.more_runs < 0 ? Json(nullptr) : Json(of.more_runs);
      }},
     "That would suffice if they go on like these; null: more than a hundred."},
    {"alike", kTexts<&FactOfFailures::alike>, "What the same runs have, too."},
};

template <auto runs>
Json paths_of(const Job&, const GroupsReport& report) {
  Json paths = Json::array();
  for (const GroupedRun& run : report.*runs) paths.push_back(to_valid_utf8(run.path));
  return paths;
}

constexpr Key<GroupsReport> kGroups[] = {
    {"schema", kSchemaName<GroupsReport, "ncclog.diff-groups/1">},
    {"status",
     {type::word<GroupsStatus>,
      [](const Job&, const GroupsReport& of) -> Json { return to_string(status_of(of.facts)); }}},
    {"headline",
     {type::text,
      [](const Job&, const GroupsReport& of) -> Json { return to_valid_utf8(headline_of(of)); }}},
    {"good", {type::list<type::text>, paths_of<&GroupsReport::good>}, "As they were given."},
    {"bad", {type::list<type::text>, paths_of<&GroupsReport::bad>}},
    {"compared", kOf<&GroupsReport::facts, kValue<&FactsOfFailures::compared>>},
    {"varied", kOf<&GroupsReport::facts, kValue<&FactsOfFailures::varied>>},
    {"facts", kOf<&GroupsReport::facts, kObjects<&FactsOfFailures::rows, kFact>>,
     "The least likely to go along by chance first."},
};

}  // namespace

std::string write_groups_json(const GroupsReport& report) {
  const Job& any = report.good.front().report.job;
  return safe_json(write_object(any, kGroups, report).dump(2)) + "\n";
}

std::string groups_schema() {
  return document_schema(
      "urn:ncclog:diff-groups:1", "ncclog.diff-groups/1",
      "What `ncclog diff GOOD… --bad BAD… --format json` prints. Keys that are not "
      "required may be added; what is here stays.",
      kGroups);
}

}  // namespace ncclog
