#include "report/difference_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"

namespace ncclog {
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
