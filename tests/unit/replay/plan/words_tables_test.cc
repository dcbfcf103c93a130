// Law: every row of the tables of sentences names only conditions and texts that its code defines. A
// misspelt one would show only where the row is printed.

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/paths.h"

namespace ncclog {
namespace {

using Names = std::set<std::string>;

std::string source(const std::string& file) {
  return testing::read_file(testing::source_dir() / "src/replay" / file);
}

struct WordsRow {
  std::string part;
  std::string kind;
  std::string conditions;
  std::string sentence;
};

std::vector<WordsRow> rows_of(const std::string& table) {
  static const std::regex kRow(R"((\S+)  +(\S+)  +(\S+(?: \S+)*)  +(\S.*))");
  std::vector<WordsRow> rows;
  std::istringstream stream(source(table));
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::smatch cells;
    EXPECT_TRUE(std::regex_match(line, cells, kRow)) << line;
    if (!cells.empty()) rows.push_back({cells[1], cells[2], cells[3], cells[4]});
  }
  EXPECT_FALSE(rows.empty()) << table;
  return rows;
}

/// What the first group of the pattern matches in the text.
Names found(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  Names names;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    names.insert((*at)[1]);
  }
  return names;
}

/// The text from `begin` to the end of the function or type that it begins.
std::string definition(const std::string& text, const std::string& begin) {
  const size_t at = text.find(begin);
  EXPECT_NE(at, std::string::npos) << begin;
  return at == std::string::npos ? "" : text.substr(at, text.find("\n}", at) - at);
}

/// The statements that refuse a plan for that reason.
std::string refusals(const std::string& sources, const std::string& why) {
  static const std::regex kStatement(R"(refuse_plan\([^;]*;)");
  std::string statements;
  for (std::sregex_iterator at(sources.begin(), sources.end(), kStatement), end; at != end; ++at) {
    if (at->str().find('"' + why + '"') != std::string::npos) statements += at->str();
  }
  return statements;
}

struct Defined {
  Names conditions;
  Names texts;
};

/// What the code that says a part of a table defines.
Defined defined_in(const std::string& code) {
  Defined defined;
  Names counts = found(code, R"re(add_count\(\s*"(\w+)")re");
  counts.merge(found(code, R"re(\{"(\w+)", 0\})re"));
  defined.conditions = found(code, R"re(\{"([\w-]+)",)re");
  defined.texts = found(code, R"re([.]add\(\s*"(\w+)")re");
  for (const std::string& count : counts) {
    defined.conditions.insert(count);
    for (const char* form : {"", "_a", "_s", "_es", "_is", "_it", "_its"}) {
      defined.texts.insert(count + form);
    }
  }
  return defined;
}

void expect_defined(const WordsRow& row, const Defined& defined) {
  for (const std::string& name : found(row.conditions, R"(([\w][\w-]*))")) {
    EXPECT_TRUE(defined.conditions.contains(name)) << row.part << ": " << name;
  }
  for (const std::string& name : found(row.sentence, R"(\{([^}]*)\})")) {
    EXPECT_TRUE(defined.texts.contains(name)) << row.part << ": {" << name << "}";
  }
}

TEST(WordsTables, SentencesOfPlansNameWhatIsDefined) {
  const std::string frame = source("plan/plan_frame.cc");
  const std::string fit = source("plan/fit_plan.cc");
  const std::string sources = source("plan/build_plan.cc") + frame + fit;
  const Defined losses = defined_in(definition(frame, "std::vector<std::string> plan_losses("));
  const Defined limits = defined_in(definition(frame, "std::vector<std::string> plan_limits("));
  const Defined shrunk = defined_in(definition(fit, "struct Shrinking {") +
                                    definition(fit, "std::vector<std::string> loss_sentences("));
  const Names always = defined_in(definition(frame, "void refuse_plan(")).texts;
  Names refused;
  Names hinted;
  for (const WordsRow& row : rows_of("plan/plan_words.table")) {
    if (row.part == "job" || row.part == "loss") {
      expect_defined(row, losses);
    } else if (row.part == "limit") {
      expect_defined(row, limits);
    } else if (row.part == "shrunk") {
      expect_defined(row, shrunk);
    } else {
      const std::string statements = refusals(sources, row.kind);
      EXPECT_TRUE(row.kind == "*" || !statements.empty()) << row.kind;
      Names texts = found(statements, R"re(\{"(\w+)",)re");
      texts.insert(always.begin(), always.end());
      expect_defined(row, {{}, texts});
      if (row.part == "refusal") refused.insert(row.kind);
      if (row.part == "hint") hinted.insert(row.kind);
    }
  }
  EXPECT_EQ(refused, hinted);
  for (const std::string& why : found(sources, R"re(refuse_plan\("([\w-]+)")re")) {
    EXPECT_TRUE(refused.contains(why)) << why;
  }
}

TEST(WordsTables, SentencesOfVerdictsNameWhatIsDefined) {
  const std::string words = source("judge/verdict.cc");
  const Defined telling =
      defined_in(definition(words, "void add_phrases(") + definition(words, "Telling telling_of("));
  const Defined limits = defined_in(definition(words, "std::vector<std::string> verdict_limits("));
  for (const WordsRow& row : rows_of("judge/verdict_words.table")) {
    expect_defined(row, row.part == "limit" ? limits : telling);
  }
}

}  // namespace
}  // namespace ncclog
