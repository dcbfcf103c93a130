// Law: every known failure is covered. rules/catalogue.tsv names them: each has a rule of its name, or
// a reason why no log can show it. The table in rules/README.md is made from both:
//
//   NCCLOG_UPDATE_GOLDEN=1 build/dev/tests/ncclog_tests --gtest_filter='Catalogue.*'

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "base/text.h"
#include "rules/load_rules.h"
#include "support/paths.h"

namespace ncclog::testing {
namespace {

struct KnownFailure {
  std::string area;
  std::string id;
  std::string reason;  ///< Why no log shows it; empty: a rule finds it.
};

std::filesystem::path manual() { return source_dir() / "rules" / "README.md"; }

std::vector<KnownFailure> known_failures() {
  std::vector<KnownFailure> failures;
  const std::string text = read_file(source_dir() / "rules" / "catalogue.tsv");
  const std::vector<std::string_view> lines =
      split(std::string_view(text).substr(0, text.rfind('\n')), '\n');
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string_view> columns = split(lines[i], '\t');
    EXPECT_EQ(columns.size(), 3u) << lines[i];
    if (columns.size() != 3) continue;
    failures.push_back({std::string(columns[0]), std::string(columns[1]), std::string(columns[2])});
  }
  return failures;
}

/// "[shm-no-space](shared_memory/README.md#shm-no-space) | error, certain | /dev/shm is full".
std::string cells(const Rule& rule) {
  const size_t begin = rule.path.find('/') + 1;
  const std::string area = rule.path.substr(begin, rule.path.rfind('/') - begin);
  return fmt::format("[{0}]({1}/README.md#{0}) | {2}, {3} | {4}", rule.id, area,
                     to_string(rule.severity), to_string(rule.confidence), rule.title);
}

std::string known_table(const Rulebook& rulebook) {
  std::string table = "| area | failure | grade | what is found |\n|---|---|---|---|\n";
  for (const KnownFailure& failure : known_failures()) {
    const Rule* rule = find_rule(rulebook, failure.id);
    table += rule != nullptr ? fmt::format("| {} | {} |\n", failure.area, cells(*rule))
                             : fmt::format("| {} | {} | no rule | {} |\n", failure.area, failure.id,
                                           failure.reason);
  }
  return table;
}

std::string further_table(const Rulebook& rulebook) {
  std::set<std::string> known;
  for (const KnownFailure& failure : known_failures()) known.insert(failure.id);
  std::set<std::string> rows;
  for (const Rule& rule : rulebook.rules) {
    if (!known.contains(rule.id)) rows.insert(fmt::format("| {} |\n", cells(rule)));
  }
  return fmt::format("| further rules | grade | what is found |\n|---|---|---|\n{}",
                     fmt::join(rows, ""));
}

TEST(Catalogue, EachKnownFailureHasARuleOrAReason) {
  const Rulebook rulebook = load_rulebook();
  const std::vector<KnownFailure> failures = known_failures();
  EXPECT_GE(failures.size(), 166u);
  for (const KnownFailure& failure : failures) {
    EXPECT_NE(find_rule(rulebook, failure.id) != nullptr, !failure.reason.empty()) << failure.id;
  }
}

TEST(Catalogue, IsTheTableInTheManual) {
  constexpr std::string_view kBegin = "<!-- generated: catalogue -->\n";
  constexpr std::string_view kEnd = "<!-- end -->\n";
  std::string text = read_file(manual());
  const size_t begin = text.find(kBegin) + kBegin.size();
  const size_t end = text.find(kEnd, begin);
  ASSERT_NE(end, text.npos);
  const Rulebook rulebook = load_rulebook();
  const std::string table = known_table(rulebook) + "\n" + further_table(rulebook);
  if (std::getenv("NCCLOG_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(manual(), std::ios::binary) << text.replace(begin, end - begin, table);
    return;
  }
  EXPECT_EQ(text.substr(begin, end - begin), table);
}

}  // namespace
}  // namespace ncclog::testing
