// Any bytes as a log, through the whole analysis and into each format and table.

#include "report/report.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "fuzz/fuzz.h"
#include "model/derive/build_job.h"
#include "report/document/document.h"
#include "report/tables/tables.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "support/markdown_check.h"
#include "support/markup_check.h"

namespace ncclog::fuzz {
namespace {

const Rulebook& rulebook() {
  static const Rulebook kRulebook = load_rulebook();
  return kRulebook;
}

Report report_on(std::string_view bytes) {
  static const LineMatcher kMatcher = make_line_matcher(rulebook());
  Report report;
  report.job = job_from_text(bytes, kMatcher);
  report.diagnosis = evaluate(rulebook(), report.job);
  report.tool = {.version = "1.0.0", .rulebook = rulebook().hash};
  return report;
}

}  // namespace

void fuzz_report(std::string_view bytes) {
  const Report report = report_on(bytes);
  for (const ReportKind& kind : report_kinds()) {
    const std::string text = kind.write(report, {});
    require(text.ends_with('\n'));
    if (kind.name == "json") {
      require(nlohmann::json::accept(text));
    } else if (kind.name == "html") {
      require_equal(testing::markup_faults(text), "");
    } else if (kind.name == "markdown") {
      require(text.size() < kMaxMarkdown);
      require_equal(join(testing::check_markdown(text), "\n"), "");
    } else {
      require_equal(testing::find_hidden_character(text), "");
    }
  }
}

void fuzz_shown_tables(std::string_view bytes) {
  const Report report = report_on(bytes);
  for (const TableKind& kind : table_kinds()) {
    const Table table = kind.build(report.job);
    require_equal(testing::find_hidden_character(write_table_text(table, {}, true)), "");
    require(nlohmann::json::accept(written(write_table_json, table)));
    written(write_table_csv, table);
  }
}

}  // namespace ncclog::fuzz
