// Any bytes as a log, through the whole analysis and into each format and table.

#include "report/report.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "fuzz/fuzz.h"
#include "log/known_messages.h"
#include "model/derive/build_job.h"
#include "report/anonymise/leak_check.h"
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

/// A page that names nobody but one host: its other words are our own.
constexpr std::string_view kOnlyHost = "host-1";

const std::string& own_page() {
  static const std::string kPage = [] {
    const Report report = report_on("host-1:313:313 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n");
    return find_report_kind("html")->write(report, {});
  }();
  return kPage;
}

const std::vector<std::string>& own_words() {
  static const std::vector<std::string> kWords = [] {
    const auto joins = [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; };
    std::set<std::string> words;
    std::string word;
    for (const char c : own_page() + " ") {
      if (joins(c)) {
        word += c;
        continue;
      }
      const bool is_word = word.size() > 1 && is_alpha(word.front()) && is_alnum(word.back());
      if (is_word && word != kOnlyHost) words.insert(word);
      word.clear();
    }
    return std::vector<std::string>(words.begin(), words.end());
  }();
  return kWords;
}

}  // namespace

void fuzz_own_words(std::string_view bytes) {
  const size_t number = take_byte(bytes) * 256 + take_byte(bytes);
  const std::string& word = own_words()[number % own_words().size()];
  LeakCheck check(message_words(), {word});
  check.set_own_pages(find_report_kind("html")->write(Report(), {}));
  check.read(word + ":313:313 [0] NCCL INFO Init\npython /home/" + word +
             "/train.py --job-name=" + word + "\n" + std::string(bytes));
  const std::vector<Leak> leaks = check.find("report.html", own_page(), /*is_own=*/true);
  require_equal(leaks.empty() ? "" : leaks.front().place + ' ' + leaks.front().name, "");
}

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
