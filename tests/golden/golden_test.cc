// Does the program still print what was once reviewed? One test a folder of tests/golden/.

#include <gtest/gtest.h>

#include <cstdlib>

#include "golden/golden_case.h"
#include "support/paths.h"

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

TEST(GoldenArguments, AreSplitAsAShellDoes) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(split_arguments("analyze a.log\n"), (Words{"analyze", "a.log"}));
  EXPECT_EQ(split_arguments("show 'two words' \"it's\" x''y ''\n"),
            (Words{"show", "two words", "it's", "xy", ""}));
  EXPECT_THROW(split_arguments("open 'quote"), std::runtime_error);
}

}  // namespace
}  // namespace ncclog::testing
