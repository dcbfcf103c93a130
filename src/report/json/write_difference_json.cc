// What differs between two runs, for scripts: JSON, schema ncclog.diff/1, and that schema.

#include <fmt/format.h>

#include "report/difference/difference_report.h"
#include "report/json/json_fields.h"
#include "report/json/schemas.h"

namespace ncclog {
namespace {

constexpr Key<DifferenceSide> kSide[] = {
    {"value", kNameOrNull<&DifferenceSide::value, type::text>,
     "Null: the run has nothing of the sort, or it is not known."},
    {"unknown", kNameOrNull<&DifferenceSide::gap, type::text>,
     "Why it is not known; null where it is."},
    {"evidence", kObjects<&DifferenceSide::evidence, kEvidence>},
};

/// A row among the others.
struct RowOf {
  const DifferenceReport* report;
  const DifferenceRow* row;
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

constexpr Key<RowOf> kRow[] = {
    {"id",
     {type::text, [](const Job&, const RowOf& of) -> Json { return id_of(*of.row); }},
     "Topic and name: once in each list where the name is not null."},
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
    {"status", kWord<&Verdict::status, kVerdictStatus>},
    {"headline", kText<&Verdict::headline>},
};

struct ReadRun {
  const std::string* path;
  const Report* report;
  const Job* job;
};

constexpr Key<ReadRun> kRun[] = {
    {"path",
     {type::text, [](const Job&, const ReadRun& run) -> Json { return to_valid_utf8(*run.path); }},
     "As it was given."},
    {"nranks", kOf<&ReadRun::job, kOptionalNumber<&Job::nranks>>},
    {"nhosts", kOf<&ReadRun::job, kValue<&Job::nhosts>>},
    {"nccl_versions", kOf<&ReadRun::job, kTexts<&Job::nccl_versions>>},
    {"network",
     {type::nullable<type::text>,
      [](const Job& job, const ReadRun&) { return write_name(job.network.name); }}},
    {"verdict",
     {type::object<kVerdictOfRun>,
      [](const Job& job, const ReadRun& run) {
        return write_object(job, kVerdictOfRun, run.report->diagnosis.verdict);
      }}},
};

Json write_run(const std::string& path, const Report& report) {
  return write_object(report.job, kRun, ReadRun{&path, &report, &report.job});
}

constexpr Key<RunDifference> kVerdict[] = {
    {"status",
     {type::one_of<"same|different|cannot_compare">,
      [](const Job&, const RunDifference& of) -> Json { return to_string(status_of(of)); }},
     "Notes and what is not comparable make no difference."},
    {"headline",
     {type::text,
      [](const Job&, const RunDifference& of) -> Json { return to_valid_utf8(headline_of(of)); }}},
};

constexpr Key<DifferenceReport> kDifference[] = {
    {"schema",
     {type::constant<"ncclog.diff/1">,
      [](const Job&, const DifferenceReport&) -> Json { return "ncclog.diff/1"; }}},
    {"tool",
     {type::object<kTool>,
      [](const Job& job, const DifferenceReport& report) {
        return write_object(job, kTool, report.good.tool);
      }}},
    {"verdict", kObject<&DifferenceReport::difference, kVerdict>},
    {"good",
     {type::object<kRun>,
      [](const Job&, const DifferenceReport& of) { return write_run(of.good_path, of.good); }}},
    {"bad",
     {type::object<kRun>,
      [](const Job&, const DifferenceReport& of) { return write_run(of.bad_path, of.bad); }}},
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
  return write_object(report.good.job, kDifference, report).dump(2) + "\n";
}

std::string difference_schema() {
  return document_schema("urn:ncclog:diff:1", "ncclog.diff/1",
                         "What `ncclog diff --format json` prints. Keys that are not required may "
                         "be added; what is here stays.",
                         kDifference);
}

}  // namespace ncclog
