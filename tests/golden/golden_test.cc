// Does the program still print what was once reviewed? One test a folder of tests/golden/.

#include <gtest/gtest.h>

#include <cstdlib>

#include "golden/golden_case.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace ncclog::testing {

/// gtest prints the parameter of a failed case.
void PrintTo(const GoldenCase& golden, std::ostream* out) { *out << golden.folder.filename(); }

namespace {

class Golden : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, PrintsWhatWasReviewed) {
  bool update = std::getenv("NCCLOG_UPDATE_GOLDEN") != nullptr;
  std::string difference = check_golden_case(GetParam(), update);
  EXPECT_TRUE(difference.empty()) << GetParam().folder << "\n" << difference;
}

/// A test's name holds letters, digits and '_' only.
std::string test_name(const ::testing::TestParamInfo<GoldenCase>& golden) {
  std::string name = golden.param.folder.filename().string();
  for (char& c : name) c = isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Folders, Golden,
                         ::testing::ValuesIn(load_golden_cases(source_dir() / "tests/golden")),
                         test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Golden);

TEST(GoldenParts, EndWhereAnotherPartBegins) {
  constexpr const char* kMarkdown =
      "## CLEAN\nfine\n### Job\nnone\n<details>\n<summary>Ranks</summary>\n0\n</details>\n";
  EXPECT_EQ(parts_of(kMarkdown, "### Job\n## C"), "### Job\nnone\n## CLEAN\nfine\n");
  EXPECT_EQ(parts_of(kMarkdown, "<summary>R"), "<summary>Ranks</summary>\n0\n");
  EXPECT_EQ(parts_of("{\n  \"a\": {\n    \"b\": 1\n  },\n  \"c\": 2\n}", "  \"a\"\n"),
            "  \"a\": {\n    \"b\": 1\n  },\n");
  constexpr const char* kPage =
      "<!DOCTYPE html>\n<section id=\"a\">\n<details>1\n</details>\n</section>\n<p>2</p>\n";
  EXPECT_EQ(parts_of(kPage, "<section id=\"a\"\n<section id=\"b\""),
            "missing: <section id=\"b\"\n<section id=\"a\">\n<details>1\n</details>\n");
}

TEST(GoldenCases, FailUntilTheyAreRewritten) {
  const TempDir root;
  root.add("all/args", "analyze --format json odd.log");
  root.add("all/odd.log", "n1:1:1 [0] NCCL WARN out of words\n");
  root.add("difference/args", "analyze --format json --fail-on never ../all/odd.log");
  root.add("difference/base", "all\n");
  root.add("parts/args", "analyze --format json ../all/odd.log");
  root.add("parts/parts", "  \"verdict\"\n");
  const std::vector<GoldenCase> cases = load_golden_cases(root.path());
  ASSERT_EQ(cases.size(), 3U);
  for (const GoldenCase& golden : cases) {
    EXPECT_NE(check_golden_case(golden, /*update=*/false), "") << golden.folder;
    EXPECT_EQ(check_golden_case(golden, /*update=*/true), "") << golden.folder;
    EXPECT_EQ(check_golden_case(golden, /*update=*/false), "") << golden.folder;
  }
  const std::string difference = read_file(root.path() / "difference/expected.diff");
  EXPECT_NE(difference.find("\n+           \"file\": \"../all/odd.log\""), difference.npos)
      << difference;
  EXPECT_EQ(difference.find("schema"), difference.npos) << difference;
  for (const char* file :
       {"all/expected.json", "difference/expected.diff", "parts/expected.json"}) {
    root.add(file, read_file(root.path() / file) + "more\n");
  }
  for (const GoldenCase& golden : cases) {
    EXPECT_NE(check_golden_case(golden, /*update=*/false), "") << golden.folder;
  }
}

TEST(GoldenArguments, AreSplitAsAShellDoes) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(split_arguments("analyze a.log\n"), (Words{"analyze", "a.log"}));
  EXPECT_EQ(split_arguments("show 'two words' \"it's\" x''y ''\n"),
            (Words{"show", "two words", "it's", "xy", ""}));
  EXPECT_THROW(split_arguments("open 'quote"), std::runtime_error);
}

}  // namespace
}  // namespace ncclog::testing
