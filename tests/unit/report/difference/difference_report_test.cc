// What differs between two runs, in every format: the same statements, valid, and inert whatever
// bytes the logs hold.

#include "report/difference/difference_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/document/document.h"
#include "report/report.h"
#include "support/json_schema.h"
#include "support/sample_report.h"

namespace ncclog {
namespace {

using nlohmann::json;

std::string line(std::string_view message) {
  return fmt::format("node-a:41:41 [0] NCCL INFO {}\n", message);
}

std::string init_line(std::string_view phase) {
  return line(
      fmt::format("ncclCommInitRank comm 0x7f10 rank 0 nranks 1 cudaDev 0 nvmlDev 0 busId "
                  "1000 commId 0x9c1b - Init {}",
                  phase));
}

/// A run that reads the settings of `middle`.
std::string run(std::string_view middle) {
  return line("NCCL version 2.28.9+cuda13.0") + line("Comm config Blocking set to 1") +
         init_line("START") + std::string(middle) + init_line("COMPLETE");
}

std::string setting(std::string_view name, std::string_view value) {
  return line(fmt::format("{} set by environment to {}", name, value));
}

/// Two reports, and what differs between them.
struct Pair {
  Report good;
  Report bad;
  DifferenceReport difference;

  Pair(std::string_view good_log, std::string_view bad_log)
      : good(testing::report_on_text(good_log)),
        bad(testing::report_on_text(bad_log)),
        difference{"good.txt", "bad.txt", good, bad, difference_of(good, bad)} {}
  Pair(const Pair&) = delete;
};

json difference_json_schema() { return json::parse(difference_schema()); }

TEST(DifferenceText, PutsTheSentenceFirstAndNumbersWhatFollows) {
  const Pair pair(run(setting("NCCL_ALGO", "Ring")), run(setting("NCCL_ALGO", "Tree")));
  EXPECT_EQ(render_text(difference_document(pair.difference), {.width = 80}),
            "DIFFERENT NCCL_ALGO is Ring in GOOD and Tree in BAD; nothing else differs in\n"
            "          what these logs show.\n"
            "\n"
            "  GOOD    good.txt: 1 rank on 1 host, NCCL 2.28.9; nothing found\n"
            "  BAD     bad.txt: 1 rank on 1 host, NCCL 2.28.9; nothing found\n"
            "\n"
            "1  setting NCCL_ALGO\n"
            "  good    Ring (log.txt:4)\n"
            "  bad     Tree (log.txt:4)\n");
}

TEST(DifferenceText, SaysThatNothingDiffers) {
  const Pair pair(run(""), run(""));
  EXPECT_TRUE(render_text(difference_document(pair.difference), {})
                  .starts_with("SAME      Nothing differs"));
  EXPECT_EQ(status_of(pair.difference.difference), DifferenceStatus::Same);
}

TEST(DifferenceText, SaysThatNothingCanBeCompared) {
  const Pair pair(run(""), "");
  EXPECT_EQ(status_of(pair.difference.difference), DifferenceStatus::CannotCompare);
  EXPECT_TRUE(render_text(difference_document(pair.difference), {}).starts_with("CANNOT COMPARE"));
}

TEST(DifferenceText, StaysOnOneScreen) {
  std::string many;
  for (int i = 0; i < 60; ++i) many += setting(fmt::format("NCCL_TEST_{}", i), "1");
  const Pair pair(run(""), run(many));
  const std::string text = render_text(difference_document(pair.difference), {});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 50) << text;
  EXPECT_NE(text.find("… and 52 more: setting (52). --format json lists all."), std::string::npos)
      << text;
}

TEST(DifferenceJson, FitsItsSchema) {
  const Pair pairs[] = {{run(setting("NCCL_ALGO", "Ring")), run(setting("NCCL_ALGO", "Tree"))},
                        {run(""), run("")},
                        {run(""), ""},
                        {run(""), line("Using network Socket")}};
  for (const Pair& pair : pairs) {
    const json written = json::parse(write_difference_json(pair.difference));
    EXPECT_EQ(join(testing::schema_errors(difference_json_schema(), written), "\n"), "")
        << written.dump(2);
  }
  json wrong = json::parse(write_difference_json(pairs[0].difference));
  wrong["verdict"]["status"] = "unsure";
  EXPECT_FALSE(testing::schema_errors(difference_json_schema(), wrong).empty());
}

TEST(DifferenceJson, QuotesTheLinesOfBothSides) {
  const Pair pair(run(setting("NCCL_ALGO", "Ring")), run(setting("NCCL_ALGO", "Tree")));
  const json written = json::parse(write_difference_json(pair.difference));
  ASSERT_EQ(written["differences"].size(), 1u);
  const json& row = written["differences"][0];
  EXPECT_EQ(row["id"], "setting/NCCL_ALGO");
  EXPECT_EQ(row["good"]["value"], "Ring");
  EXPECT_EQ(row["bad"]["evidence"][0]["line"], 4);
  EXPECT_EQ(row["bad"]["evidence"][0]["text"],
            "node-a:41:41 [0] NCCL INFO NCCL_ALGO set by environment to Tree");
}

const char* const kHostileText = "\x1b[31m<script>alert(1)</script> | `x` ]]> \u202e \xff";

TEST(DifferenceText, HostileBytesStayInert) {
  const Pair pair(run(""), run(setting("NCCL_NET", kHostileText)));
  const std::string text = render_text(difference_document(pair.difference), {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(text.find("\u202e"), std::string::npos) << text;
  EXPECT_TRUE(is_valid_utf8(text));
}

TEST(DifferencePages, SayAllAndStayInert) {
  std::string many = setting("NCCL_NET", kHostileText);
  for (int i = 0; i < 20; ++i) many += setting(fmt::format("NCCL_TEST_{}", i), "1");
  const Pair pair(run(""), run(many));
  const Document document = difference_document(pair.difference, Reader::Page);
  EXPECT_EQ(render_html(document).find("<script>alert"), std::string::npos);
  for (const std::string& page : {render_markdown(document), render_html(document)}) {
    EXPECT_NE(page.find("NCCL_TEST_19"), std::string::npos) << page;
    EXPECT_NE(page.find("The lines that show it"), std::string::npos) << page;
    EXPECT_EQ(page.find('\x1b'), std::string::npos);
    EXPECT_TRUE(is_valid_utf8(page));
  }
}

TEST(DifferenceJson, HostileBytesStayInStrings) {
  const Pair pair(run(""), run(setting("NCCL_NET", kHostileText)));
  const json written = json::parse(write_difference_json(pair.difference));
  EXPECT_EQ(join(testing::schema_errors(difference_json_schema(), written), "\n"), "");
}

TEST(DifferenceText, LongWordsAreCut) {
  const Pair pair(run(""), run(setting("NCCL_NET", std::string(100000, 'x'))));
  EXPECT_LT(render_text(difference_document(pair.difference), {}).size(), 4000u);
}

}  // namespace
}  // namespace ncclog
