#include "app/completion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "app/commands.h"
#include "base/text.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using testing::Outcome;
using testing::TempDir;
using Words = std::vector<std::string>;

constexpr const char* kShells[] = {"bash", "zsh", "fish"};

/// What is offered in place of the last word, without what it is, in the order in which it is.
std::string offered(const Words& words) {
  Words lines;
  for (const std::string_view line : split(completions(declared_commands(), words), '\n')) {
    if (!line.empty()) lines.emplace_back(line.substr(0, line.find('\t')));
  }
  return join(lines, " ");
}

TEST(Completion, OffersEveryCommandAndFlagWithItsHelp) {
  const CommandRow root = declared_commands();
  for (const CommandRow* command : all_commands(root)) {
    Words words;
    for (const std::string_view word : split_blanks(command->path)) words.emplace_back(word);
    words.emplace_back("");
    const std::string below = "\n" + completions(root, words);
    for (const CommandRow& each : command->commands) {
      EXPECT_NE(below.find("\n" + last_word(each) + "\t" + each.help + "\n"), below.npos)
          << each.path << " in" << below;
    }
    words.back() = "-";
    const std::string flags = "\n" + completions(root, words);
    for (const FlagRow& flag : command->flags) {
      for (const std::string& name : flag.names) {
        EXPECT_NE(flags.find("\n" + name + "\t" + flag.help + "\n"), flags.npos)
            << command->path << " " << name;
      }
    }
  }
}

TEST(Completion, OffersWhatMayStandThere) {
  struct Row {
    Words words;
    std::string offered;
  };
  const Row kRows[] = {
      {{"completion", ""}, "bash zsh fish"},
      {{"completion", "z"}, "bash zsh fish"},  // Shells pick.
      {{"analyze", "--fail-on", ""}, "error warning info never"},
      {{"analyze", "--fail-on=w"}, "error warning info never"},
      {{"analyze", "--fail-on=info", ""}, ":files"},
      {{"analyze", "--quiet", ""}, ":files"},
      {{"analyze", "--quiet="}, ""},
      {{"analyze", "-"}, offered({"analyze", "--frob"})},
      {{"analyze", "a.log", "b"}, ":files"},
      {{"analyze", "--rules", ""}, ":folders"},
      {{"analyze", "--threads", ""}, ""},
      {{"export", "-o", ""}, ":files"},
      {{"show", "ranks", ""}, ":files"},
      {{"show", "--threads", "4", "--", "ranks", ""}, ":files"},
      {{"count", "--cut=exact", "--by", "rank,op,s"},
       "rank,op,size rank,op,comm rank,op,host rank,op,iteration rank,op,step-pattern :more"},
      {{"completion", "zsh", ""}, ""},
      {{"no-such-command", "--fail-on", ""}, offered({""})},
  };
  for (const Row& row : kRows) EXPECT_EQ(offered(row.words), row.offered) << join(row.words, " ");
  EXPECT_EQ(offered({}), offered({""}));
  EXPECT_EQ(offered({"help", ""}), offered({""}));
  EXPECT_NE(offered({"explain", ""}).find(" shm-no-space "), std::string::npos);
  EXPECT_EQ(offered({"explain", ""}), offered({"rules", "show", ""}));
  EXPECT_NE(offered({"show", ""}).find(" flight-recorder"), std::string::npos);
  const std::string profiles = offered({"analyze", "--expect", ""});
  EXPECT_NE(profiles.find("dgx-h100 "), std::string::npos) << profiles;
  EXPECT_TRUE(profiles.ends_with(" :files")) << profiles;
}

TEST(Completion, IsAskedForWithHalfACommandLine) {
  Console console;
  const Words words = {"__complete", "--config=/no/such", "rules", "--help",
                       "show",       "--nonsense",        "n"};
  EXPECT_EQ(run_command_line(words, console), ExitStatus::Fine);
  EXPECT_NE(console.out.find("\nshm-no-space\n"), std::string::npos) << console.out;
  EXPECT_EQ(console.err, "");
}

TEST(Completion, ShellsFindNoFaultInTheirScripts) {
  const TempDir folder;
  EXPECT_FALSE(completion_script("tcsh"));
  for (const char* shell : kShells) {
    const auto script = completion_script(shell);
    ASSERT_TRUE(script) << shell;
    const std::string file = folder.add(shell, std::string(*script));
    const Outcome found = testing::run_command({.arguments = {"which", shell}});
    if (found.exit_code != 0) continue;
    const Outcome checked = testing::run_command({.arguments = {shell, "-n", file}});
    EXPECT_EQ(checked.exit_code, 0) << shell << ": " << checked.standard_error;
    EXPECT_EQ(checked.standard_error, "") << shell;
  }
}

/// Completes in a shell of its own, in a folder that holds `site.yaml`, `site/` and `a b.log`.
class ShellCompletion : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.add("site.yaml", "");
    folder_.add("a b.log", "");
    folder_.add("site/x.yaml", "");
    for (const char* shell : kShells) scripts_.add(shell, std::string(*completion_script(shell)));
  }

  static bool has(const char* shell) {
    return testing::run_command({.arguments = {"which", shell}}).exit_code == 0;
  }

  std::string script(const char* shell) const { return (scripts_.path() / shell).string(); }

  /// The lines that a shell prints, sorted, without what stands after a tab.
  std::string printed(Words arguments, std::string_view between) const {
    const char* path = std::getenv("PATH");
    const Outcome outcome = testing::run_command(
        {.arguments = std::move(arguments),
         .folder = folder_.path().string(),
         .environment = {{"PATH", testing::build_dir().string() + ":" + (path ? path : "")},
                         {"HOME", scripts_.path().string()}}});
    EXPECT_EQ(outcome.standard_error, "");
    Words lines;
    for (const std::string_view line : split(outcome.standard_output, '\n')) {
      if (!line.empty()) lines.emplace_back(line.substr(0, line.find('\t')));
    }
    std::sort(lines.begin(), lines.end());
    return join(lines, between);
  }

  static std::string quoted(const Words& words) {
    std::string text;
    for (const std::string& word : words) text += "'" + word + "' ";
    return text;
  }

  /// What bash offers for the last of `words`, with blanks between; files with "|" between.
  std::string in_bash(const Words& words, std::string_view between = " ") const {
    const std::string program = "source '" + script("bash") + "'; COMP_WORDS=(" + quoted(words) +
                                "); COMP_CWORD=" + std::to_string(words.size() - 1) +
                                "; _ncclog; printf '%s\\n' \"${COMPREPLY[@]}\"";
    return printed({"bash", "--norc", "-u", "-c", program}, between);
  }

  std::string in_fish(const std::string& line, std::string_view between = " ") const {
    const std::string program = "source '" + script("fish") + "'; complete -C \"" + line + "\"";
    return printed({"fish", "--no-config", "-c", program}, between);
  }

  /// What the script hands to zsh's own functions, which need a terminal: these stand in for them.
  std::string in_zsh(const Words& words) const {
    const std::string program =
        "compdef() { :; }; compset() { [[ $PREFIX == --*=* ]] && PREFIX=${PREFIX#--*=}; }\n"
        "_describe() { local each; for each in ${(P)2}; do\n"
        "  [[ $each == $PREFIX* ]] && print -r -- ${${each/:/$'\\t'}//\\\\:/:}; done;\n"
        "  shift 2; print -r -- \"${(q)@}\" }\n"
        "_files() { print -r -- \"files${1-}\" }\n"
        "source '" +
        script("zsh") + "'; words=(" + quoted(words) +
        "); CURRENT=" + std::to_string(words.size()) + "; PREFIX=$words[-1]; _ncclog";
    return printed({"zsh", "-f", "-c", program}, " ");
  }

 private:
  TempDir folder_;
  TempDir scripts_;
};

TEST_F(ShellCompletion, BashOffersCommandsFlagsAndValues) {
  struct Row {
    Words words;
    const char* offered;
  };
  const Row kRows[] = {
      {{"ncclog", "ana"}, "analyze"},
      {{"ncclog", "--vers"}, "--version"},
      {{"ncclog", "rules", "n"}, "new"},
      {{"ncclog", "rules", "new", "--a"}, "--area"},
      {{"ncclog", "show", "ra"}, "ranks ras"},
      {{"ncclog", "show", "--threads", "4", "ra"}, "ranks ras"},
      {{"ncclog", "explain", "shm-no-s"}, "shm-no-space"},
      {{"ncclog", "analyze", "--fail-on", ""}, "error info never warning"},
      {{"ncclog", "analyze", "--fail-on", "=", "w"}, "warning"},
      {{"ncclog", "analyze", "--fail-on", "="}, "error info never warning"},
      {{"ncclog", "count", "--by", "op,r"}, "op,rank"},
      {{"ncclog", "count", "--by", "it"}, "iteration"},
      {{"ncclog", "completion", "z"}, "zsh"},
      {{"ncclog", "help", "anal"}, "analyze"},
      {{"ncclog", "expect", "show", "dgx-h1"}, "dgx-h100"},
      {{"ncclog", "analyze", "--threads", ""}, ""},
      {{"ncclog", "analyze", "--frob"}, ""},
      {{testing::ncclog_binary().string(), "ana"}, "analyze"},
      {{"an-alias", "ana"}, "analyze"},
  };
  for (const Row& row : kRows) EXPECT_EQ(in_bash(row.words), row.offered) << join(row.words, " ");
}

TEST_F(ShellCompletion, BashOffersFilesAndFolders) {
  EXPECT_EQ(in_bash({"ncclog", "analyze", ""}, "|"), "a b.log|site|site.yaml");
  EXPECT_EQ(in_bash({"ncclog", "analyze", "site.yaml", "a"}, "|"), "a b.log");
  EXPECT_EQ(in_bash({"ncclog", "show", "ranks", "site"}, "|"), "site|site.yaml");
  EXPECT_EQ(in_bash({"ncclog", "analyze", "--rules", "site"}, "|"), "site");
  EXPECT_EQ(in_bash({"ncclog", "expect", "check", "site"}, "|"), "site|site.yaml");
  EXPECT_EQ(in_bash({"ncclog", "--config", "site."}, "|"), "site.yaml");
}

TEST_F(ShellCompletion, FishOffersCommandsFlagsValuesAndFiles) {
  if (!has("fish")) GTEST_SKIP() << "no fish here";
  struct Row {
    const char* line;
    const char* offered;
  };
  const Row kRows[] = {
      {"ncclog ana", "analyze"},
      {"ncclog --vers", "--version"},
      {"ncclog rules new --ar", "--area"},
      {"ncclog show ra", "ranks|ras"},
      {"ncclog show --threads 4 ra", "ranks|ras"},
      {"ncclog explain shm-no-s", "shm-no-space"},
      {"ncclog analyze --fail-on ", "error|info|never|warning"},
      {"ncclog analyze --fail-on=w", "--fail-on=warning"},
      {"ncclog count --by op,r", "op,rank"},
      {"ncclog analyze ", "a b.log|site.yaml|site/"},
      {"ncclog analyze --rules ", "site/"},
      {"ncclog analyze --config=site.", "--config=site.yaml"},
      {"ncclog analyze --threads ", ""},
  };
  for (const Row& row : kRows) EXPECT_EQ(in_fish(row.line, "|"), row.offered) << row.line;
}

TEST_F(ShellCompletion, ZshOffersCommandsFlagsValuesAndFiles) {
  if (!has("zsh")) GTEST_SKIP() << "no zsh here";
  struct Row {
    Words words;
    const char* offered;
  };
  const Row kRows[] = {
      {{"ncclog", "ana"}, "analyze"},
      {{"ncclog", "--vers"}, "--version"},
      {{"ncclog", "rules", "new", "--ar"}, "--area"},
      {{"ncclog", "show", "--threads", "4", "ra"}, "ranks ras"},
      {{"ncclog", "explain", "shm-no-s"}, "shm-no-space"},
      {{"ncclog", "analyze", "--fail-on", ""}, "error info never warning"},
      {{"ncclog", "analyze", "--fail-on=w"}, "warning"},
      {{"ncclog", "count", "--by", "op,r"}, "-S '' op,rank"},
      {{"ncclog", "analyze", "a"}, "files"},
      {{"ncclog", "analyze", "--rules", ""}, "files-/"},
      {{"ncclog", "analyze", "--expect", "dgx-h1"}, "dgx-h100 files"},
      {{"ncclog", "analyze", "--threads", ""}, ""},
  };
  for (const Row& row : kRows) EXPECT_EQ(in_zsh(row.words), row.offered) << join(row.words, " ");
}

}  // namespace
}  // namespace ncclog
