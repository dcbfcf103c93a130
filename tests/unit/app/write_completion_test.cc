#include "app/write_completion.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/commands.h"
#include "base/text.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using testing::Outcome;
using testing::TempDir;

struct Shell {
  const char* name;
  std::string (*write)(const CommandRow& root);
};

constexpr Shell kShells[] = {{"bash", write_bash_completion},
                             {"zsh", write_zsh_completion},
                             {"fish", write_fish_completion}};

/// A flag as the shell's script writes it.
std::string spelt(const Shell& shell, const std::string& flag) {
  if (std::string_view(shell.name) != "fish") return flag;
  return flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
}

TEST(Completion, EveryScriptNamesEveryCommandAndFlag) {
  const CommandRow root = declared_commands();
  for (const Shell& shell : kShells) {
    const std::string script = shell.write(root);
    for (const CommandRow* command : all_commands(root)) {
      const std::string name = command->path.substr(command->path.rfind(' ') + 1);
      EXPECT_NE(script.find(name), std::string::npos) << shell.name << " " << command->path;
      for (const FlagRow& flag : command->flags) {
        for (const std::string& each : flag.names) {
          EXPECT_NE(script.find(spelt(shell, each)), std::string::npos) << shell.name << each;
        }
      }
    }
    EXPECT_NE(script.find("shm-no-space"), std::string::npos) << shell.name;
    EXPECT_NE(script.find("flight-recorder"), std::string::npos) << shell.name;
  }
}

TEST(Completion, ShellsFindNoFaultInTheirScripts) {
  const TempDir folder;
  for (const Shell& shell : kShells) {
    const std::string file = folder.add(shell.name, shell.write(declared_commands()));
    const Outcome found = testing::run_command({.arguments = {"which", shell.name}});
    if (found.exit_code != 0) continue;
    const Outcome checked = testing::run_command({.arguments = {shell.name, "-n", file}});
    EXPECT_EQ(checked.exit_code, 0) << shell.name << ": " << checked.standard_error;
    EXPECT_EQ(checked.standard_error, "") << shell.name;
  }
}

/// Completes in a bash of its own, in a folder that holds `site.yaml`, `site/` and `a b.log`.
class BashCompletion : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.add("site.yaml", "");
    folder_.add("a b.log", "");
    folder_.add("site/x.yaml", "");
    script_ = scripts_.add("ncclog.bash", write_bash_completion(declared_commands()));
  }

  /// What bash offers for the last of `words`, sorted, with blanks between; files with "|" between.
  std::string offered(const std::vector<std::string>& words, std::string_view between = " ") {
    std::string program = "source '" + script_ + "'; COMP_WORDS=(";
    for (const std::string& word : words) program += "'" + word + "' ";
    program += "); COMP_CWORD=" + std::to_string(words.size() - 1) +
               "; _ncclog; printf '%s\\n' \"${COMPREPLY[@]}\"";
    const Outcome outcome = testing::run_command(
        {.arguments = {"bash", "--norc", "-u", "-c", program}, .folder = folder_.path().string()});
    EXPECT_EQ(outcome.standard_error, "");
    std::vector<std::string> lines;
    for (const std::string_view line : split(outcome.standard_output, '\n')) {
      if (!line.empty()) lines.emplace_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return join(lines, between);
  }

  TempDir folder_;
  TempDir scripts_;
  std::string script_;
};

TEST_F(BashCompletion, OffersCommandsFlagsAndValues) {
  struct Row {
    std::vector<std::string> words;
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
  };
  for (const Row& row : kRows) EXPECT_EQ(offered(row.words), row.offered) << join(row.words, " ");
}

TEST_F(BashCompletion, OffersFilesAndFolders) {
  EXPECT_EQ(offered({"ncclog", "analyze", ""}, "|"), "a b.log|site|site.yaml");
  EXPECT_EQ(offered({"ncclog", "analyze", "site.yaml", "a"}, "|"), "a b.log");
  EXPECT_EQ(offered({"ncclog", "show", "ranks", "site"}, "|"), "site|site.yaml");
  EXPECT_EQ(offered({"ncclog", "analyze", "--rules", "site"}, "|"), "site");
  EXPECT_EQ(offered({"ncclog", "expect", "check", "site"}, "|"), "site|site.yaml");
  EXPECT_EQ(offered({"ncclog", "--config", "site."}, "|"), "site.yaml");
}

}  // namespace
}  // namespace ncclog
