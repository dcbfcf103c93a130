#include "app/help.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "app/command_line.h"
#include "base/text.h"
#include "report/text_layout.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

TEST(Help, FitsEightyColumns) {
  const CommandRow root = declared_commands();
  for (const CommandRow* command : all_commands(root)) {
    const std::string help = write_help(*command);
    for (const std::string_view line : split(help, '\n')) {
      EXPECT_LE(display_width(line), 80) << typed_name(*command) << ": " << line;
      EXPECT_EQ(line, line.substr(0, line.find_last_not_of(' ') + 1)) << "blanks at the end";
    }
  }
}

TEST(Help, NamesEveryFlagArgumentAndCommand) {
  const CommandRow root = declared_commands();
  for (const CommandRow* command : all_commands(root)) {
    const std::string help = write_help(*command, kHelpColumns, Listed::All);
    for (const FlagRow& flag : command->flags) {
      EXPECT_NE(help.find(typed_flag(flag)) == std::string::npos, !flag.is_hidden) << help;
    }
    for (const FlagRow& argument : command->arguments) {
      EXPECT_NE(help.find("\n  " + typed_flag(argument)), std::string::npos) << help;
    }
    for (const CommandRow& below : command->commands) {
      if (below.task.empty()) continue;
      EXPECT_NE(help.find(below.help.substr(0, 20)), std::string::npos) << help;
    }
  }
}

TEST(Help, GroupsWhatBelongsTogether) {
  const CommandRow command{
      .path = "look",
      .help = "look at it",
      .arguments = {{.value = "PATH", .help = "where", .repeats = true}},
      .flags = {{.names = {"--far"},
                 .value = "N",
                 .help = "how far",
                 .group = "Looking",
                 .fallback = "3"},
                {.names = {"-q", "--quiet"}, .help = "say nothing", .group = kGeneralFlags},
                {.names = {"--near"},
                 .help = "or near (default: far)",
                 .group = "Looking",
                 .fallback = "far"}},
      .notes = "Examples:\n  ncclog look    here\n\nThe end."};
  EXPECT_EQ(write_help(command),
            "usage: ncclog look [FLAG...] PATH...\n\n"
            "Look at it.\n\n"
            "  PATH...      where\n\n"
            "Looking:\n"
            "  --far N      how far (default: 3)\n"
            "  --near       or near (default: far)\n\n"
            "General:\n"
            "  -q, --quiet  say nothing\n\n"
            "Examples:\n"
            "  ncclog look    here\n\n"
            "The end.\n");
}

TEST(Help, LinesOfAListGoOnUnderTheirSecondColumn) {
  const CommandRow command{.help = "x",
                           .notes = "Tables:\n  ranks    one two three four five six seven"};
  const std::string help = write_help(command, 40);
  EXPECT_NE(help.find("\nTables:\n  ranks    one two three four five six\n           seven\n"),
            std::string::npos)
      << help;
}

TEST(Help, GroupsCommandsByTask) {
  const CommandRow root{.help = "does it",
                        .commands = {{.path = "a", .help = "first", .task = "One"},
                                     {.path = "b", .help = "second", .task = "Two"},
                                     {.path = "c", .help = "third", .task = "One"}}};
  EXPECT_EQ(write_help(root),
            "usage: ncclog COMMAND [FLAG...]\n\nDoes it.\n\n"
            "One:\n  a  first\n  c  third\n\nTwo:\n  b  second\n");
}

TEST(Help, PagesFitTheWidthWithoutMarks) {
  EXPECT_EQ(
      page_on_screen(
          "# Title\n\nOne **two**\nthree.\n\n- a point\n  goes on\n\n    code  as it is\n", 40),
      "Title\n\nOne two three.\n\n- a point goes on\n\n    code  as it is\n");
  EXPECT_EQ(
      page_on_screen(
          "| level | costs |\n|---|---|\n| `light` | one two three four five six seven |\n", 40),
      "  level    costs\n  `light`  one two three four five six\n           seven\n");
  for (const EmbeddedFile& page : help_pages()) {
    const std::string text = page_on_screen(page.text, 80);
    for (const std::string_view line : split(text, '\n')) {
      EXPECT_TRUE(display_width(line) <= 80 || line.starts_with("    ")) << line;
      EXPECT_FALSE(line.starts_with("#") || line.starts_with("|")) << line;
    }
  }
}

TEST(Help, IsNarrowerInANarrowTerminal) {
  EXPECT_EQ(help_columns({}), 80);
  EXPECT_EQ(help_columns({.is_terminal = true, .columns = 60}), 60);
  EXPECT_EQ(help_columns({.is_terminal = true, .columns = 200}), 80);
  EXPECT_EQ(help_columns({.is_terminal = false, .columns = 60}), 80);
}

TEST(Help, IsTheSameByFlagAndByCommand) {
  Console by_flag;
  Console by_command;
  EXPECT_EQ(run_command_line({"rules", "new", "--help"}, by_flag), ExitStatus::Fine);
  EXPECT_EQ(run_command_line({"help", "rules", "new"}, by_command), ExitStatus::Fine);
  EXPECT_EQ(by_flag.out, by_command.out);
  EXPECT_EQ(by_flag.out.find("usage: ncclog rules new [FLAG...] RULE\n"), 0U) << by_flag.out;
}

using testing::Outcome;
using testing::TempDir;

std::vector<ManPage> all_pages() {
  return write_man_pages(declared_commands(), "1.2.3", "2026-11-21");
}

/// Text in which roff's escapes mean what they print.
std::string plain(std::string text) {
  const std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"\\-", "-"}, {"\\(aq", "'"}, {"\\(ga", "`"}, {"\\(ha", "^"}, {"\\(ti", "~"},
      {"\\fB", ""}, {"\\fI", ""},   {"\\fR", ""},   {"\\e", "\\"}};
  for (const auto& [from, to] : kEscapes) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

bool is_there(const std::string& program) {
  return testing::run_command({.arguments = {"which", program}}).exit_code == 0;
}

TEST(ManPages, ThereIsOneForEachCommand) {
  const std::vector<ManPage> pages = all_pages();
  const CommandRow root = declared_commands();
  const auto listed = std::ranges::count_if(
      root.commands, [](const CommandRow& command) { return !command.task.empty(); });
  ASSERT_EQ(pages.size(), static_cast<size_t>(listed) + 1);
  EXPECT_EQ(pages[0].name, "ncclog");
  EXPECT_EQ(pages[1].name, "ncclog-analyze");
  EXPECT_EQ(pages[1].text.find(".TH \"NCCLOG-ANALYZE\" 1 \"2026-11-21\" \"ncclog 1.2.3\""), 0U)
      << pages[1].text.substr(0, 100);
}

TEST(ManPages, NameEveryCommandAndFlag) {
  const CommandRow root = declared_commands();
  for (const ManPage& page : all_pages()) {
    const std::string path = page.name == "ncclog" ? "" : page.name.substr(7);
    const CommandRow* command = find_command(root, path);
    ASSERT_NE(command, nullptr) << page.name;
    const std::string text = plain(page.text);
    for (const FlagRow& flag : command->flags) {
      if (flag.is_hidden) continue;
      EXPECT_NE(text.find(join(flag.names, ", ")), std::string::npos) << page.name;
    }
    for (const CommandRow& below : command->commands) {
      if (below.task.empty()) continue;
      EXPECT_NE(text.find(below.help.substr(1)), std::string::npos) << page.name << below.path;
      if (path.empty()) continue;  // That one has a page of its own.
      for (const FlagRow& flag : below.flags) {
        if (flag.is_hidden) continue;
        EXPECT_NE(text.find(join(flag.names, ", ")), std::string::npos) << below.path;
      }
    }
  }
}

TEST(ManPages, TextMeansItselfInRoff) {
  const CommandRow root{.help = "root",
                        .commands = {{.path = "x",
                                      .help = "say 'a-b' \\n ~ ^ `c`",
                                      .task = "One",
                                      .notes = "Examples:\n  .so /etc/passwd\n\n'quoted' begins"}}};
  const std::string text = write_man_pages(root, "1", "").back().text;
  EXPECT_NE(text.find("Say \\(aqa\\-b\\(aq \\en \\(ti \\(ha \\(gac\\(ga.\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  .so /etc/passwd\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n\\(aqquoted\\(aq begins\n"), std::string::npos) << text;
}

TEST(ManPages, PassTheChecksOfMandocAndGroff) {
  const TempDir folder;
  Console console;
  run_command_line({"man", "--into", folder.path().string()}, console);
  if (!is_there("mandoc") && !is_there("groff")) GTEST_SKIP() << "neither mandoc nor groff here";
  for (const ManPage& page : all_pages()) {
    const std::string file = (folder.path() / (page.name + ".1")).string();
    if (is_there("mandoc")) {
      const Outcome lint =
          testing::run_command({.arguments = {"mandoc", "-T", "lint", "-W", "warning", file}});
      EXPECT_EQ(lint.standard_output + lint.standard_error, "") << page.name;
    }
    if (is_there("groff")) {
      const Outcome made = testing::run_command(
          {.arguments = {"groff", "-man", "-Tutf8", "-ww", "-b", "-rLL=78n", file}});
      EXPECT_EQ(made.standard_error, "") << page.name;
      EXPECT_EQ(made.exit_code, 0);
    }
  }
}

using testing::Outcome;
using testing::TempDir;
using Arguments = std::vector<std::string>;

constexpr const char* kShells[] = {"bash", "zsh", "fish"};

/// What is offered in place of the last word, without what it is, in the order in which it is.
std::string offered(const Arguments& words) {
  Arguments lines;
  const std::string text = completions(declared_commands(), words);
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) lines.emplace_back(line.substr(0, line.find('\t')));
  }
  return join(lines, " ");
}

TEST(Completion, OffersEveryCommandAndFlagWithItsHelp) {
  const CommandRow root = declared_commands();
  for (const CommandRow* command : all_commands(root)) {
    Arguments words;
    for (const std::string_view word : split_blanks(command->path)) words.emplace_back(word);
    words.emplace_back("");
    const std::string below = "\n" + completions(root, words);
    for (const CommandRow& each : command->commands) {
      if (each.task.empty()) continue;
      EXPECT_NE(below.find("\n" + std::string(last_word(each)) + "\t" + each.help + "\n"),
                below.npos)
          << each.path << " in" << below;
    }
    words.back() = "-";
    const std::string flags = "\n" + completions(root, words);
    for (const FlagRow& flag : command->flags) {
      if (flag.is_hidden) continue;
      for (const std::string& name : flag.names) {
        EXPECT_NE(flags.find("\n" + name + "\t" + flag.help + "\n"), flags.npos)
            << command->path << " " << name;
      }
    }
  }
}

TEST(Completion, OffersWhatMayStandThere) {
  struct Row {
    Arguments words;
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
  const Arguments words = {"__complete", "--config=/no/such", "rules", "--help",
                           "show",       "--nonsense",        "n"};
  EXPECT_EQ(run_command_line(words, console), ExitStatus::Fine);
  EXPECT_NE(console.out.find("\nshm-no-space\n"), std::string::npos) << console.out;
  EXPECT_EQ(console.err, "");
}

TEST(Completion, ShellsFindNoFaultInTheirScripts) {
  const TempDir folder;
  EXPECT_FALSE(text_of("ncclog.tcsh"));
  for (const char* shell : kShells) {
    const auto script = text_of(std::string("ncclog.") + shell);
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
    for (const char* shell : kShells)
      scripts_.add(shell, std::string(*text_of(std::string("ncclog.") + shell)));
  }

  static bool has(const char* shell) {
    return testing::run_command({.arguments = {"which", shell}}).exit_code == 0;
  }

  std::string script(const char* shell) const { return (scripts_.path() / shell).string(); }

  /// The lines that a shell prints, sorted, without what stands after a tab.
  std::string printed(Arguments arguments, std::string_view between) const {
    const char* path = std::getenv("PATH");
    const Outcome outcome = testing::run_command(
        {.arguments = std::move(arguments),
         .folder = folder_.path().string(),
         .environment = {{"PATH", testing::build_dir().string() + ":" + (path ? path : "")},
                         {"HOME", scripts_.path().string()}}});
    EXPECT_EQ(outcome.standard_error, "");
    Arguments lines;
    for (const std::string_view line : split(outcome.standard_output, '\n')) {
      if (!line.empty()) lines.emplace_back(line.substr(0, line.find('\t')));
    }
    std::sort(lines.begin(), lines.end());
    return join(lines, between);
  }

  static std::string quoted(const Arguments& words) {
    std::string text;
    for (const std::string& word : words) text += "'" + word + "' ";
    return text;
  }

  /// What bash offers for the last of `words`, with blanks between; files with "|" between.
  std::string in_bash(const Arguments& words, std::string_view between = " ") const {
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
  std::string in_zsh(const Arguments& words) const {
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
    Arguments words;
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
    Arguments words;
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
