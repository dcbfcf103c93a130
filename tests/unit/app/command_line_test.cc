#include "app/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "app/commands/analyze.h"
#include "base/error.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using Arguments = std::vector<std::string>;
using testing::TempDir;

AnalyzeOptions analyze_options(Arguments words) {
  CommandRow command;
  AnalyzeOptions options;
  add_analyze_flags(command, options);
  parse_arguments(command, std::move(words));
  return options;
}

TEST(Options, KeepWhatWasTyped) {
  const AnalyzeOptions options = analyze_options({"--format", "json", "a.log", "--rules=site",
                                                  "--threads", "3", "-", "--rules", "more", "c.log",
                                                  "--fail-on=never", "--color", "always", "b.log"});
  EXPECT_EQ(options.input.paths, (Arguments{"a.log", "-", "c.log", "b.log"}));
  EXPECT_EQ(options.input.threads, 3);
  EXPECT_EQ(options.rules, (Arguments{"site", "more"}));
  EXPECT_EQ(options.format, find_report_kind("json"));
  EXPECT_EQ(options.fail_on, FailOn::Never);
  EXPECT_EQ(options.color, ColorChoice::Always);
}

TEST(Options, HaveDefaults) {
  const AnalyzeOptions options = analyze_options({"logs/"});
  EXPECT_EQ(options.format, find_report_kind("text"));
  EXPECT_TRUE(options.outputs.empty());
  EXPECT_EQ(options.fail_on, std::nullopt);
  EXPECT_EQ(options.color, ColorChoice::Auto);
  EXPECT_EQ(options.input.threads, 0);
}

std::string refusal_of_line(Arguments words) {
  Console console;
  return testing::refusal_of([&] { run_command_line(std::move(words), console); });
}

TEST(Commands, RefuseWhatMakesNoSenseAndNameWhatIsNear) {
  struct Row {
    Arguments words;
    const char* refusal;
  };
  const Row kRows[] = {
      {{"analyse", "logs"}, "unknown command 'analyse' (did you mean 'analyze'?)"},
      {{"frobnicate"},
       "unknown command 'frobnicate' (one of: analyze, explain, perf, demo, show, count, diff, "
       "scan, "
       "cluster, env, doctor, run, export, mcp, replay, rules, messages, expect, help, man, "
       "completion)"},
      {{"analyze", "--json", "logs/"},
       "--json: no logs named (it names the file to write; did you mean 'ncclog analyze --format "
       "json logs/'?)"},
      {{"analyze", "logs/", "--md"},
       "--md: 1 required FILE missing (did you mean '--format markdown'?)"},
      {{"perf", "--json", "logs/"}, "perf: unknown flag '--json' (did you mean '--format json'?)"},
      {{"analyze", "--fromat", "json", "x"},
       "analyze: unknown flag '--fromat' (did you mean '--format'?)"},
      {{"analyze", "--fromat=json", "x"},
       "analyze: unknown flag '--fromat' (did you mean '--format'?)"},
      {{"--verison"}, "unknown flag '--verison' (did you mean '--version'?)"},
      {{"analyze", "x", "--format", "jsn"}, "--format: unknown value 'jsn' (did you mean 'json'?)"},
      {{"analyze", "x", "--format", "table"},
       "--format: unknown value 'table' (one of: text, json, markdown, html, github, prometheus)"},
      {{"analyze", "x", "--threads", "0"}, "--threads: not a number from 1 to 1024: '0'"},
      {{"analyze", "x", "--threads", "-1"}, "--threads: not a number from 1 to 1024: '-1'"},
      {{"analyze", "x", "--threads", "many"}, "--threads: not a number from 1 to 1024: 'many'"},
      {{"analyze"}, "no logs named (give files or folders, or '-' to read standard input)"},
      {{"show"},
       "show: no table named (one of: ranks, comms, fronts, env, net, channels, topology, "
       "timeline, "
       "unknown, flight-recorder, ras, nccl-tests, stacks)"},
      {{"show", "rank", "x"}, "show: no table 'rank' (did you mean 'ranks'?)"},
      {{"show", "ranks"}, "no logs named (give files or folders, or '-' to read standard input)"},
      {{"analyze", "x", "--format"},
       "--format: 1 required text|json|markdown|html|github|prometheus missing (see 'ncclog "
       "--help')"},
  };
  for (const Row& row : kRows) EXPECT_EQ(refusal_of_line(row.words), row.refusal);
}

TEST(Commands, MissingInputIsNamed) {
  EXPECT_EQ(refusal_of_line({"analyze", "/nowhere/at/all"}).find("/nowhere/at/all: "), 0U)
      << refusal_of_line({"analyze", "/nowhere/at/all"});
}

TEST(Commands, HelpNamesEveryCommandAndTable) {
  Console console;
  EXPECT_EQ(run_command_line({}, console), ExitStatus::Fine);
  const CommandRow root = declared_commands();
  for (const CommandRow& command : root.commands) {
    const bool is_listed = console.out.find(command.path) != std::string::npos;
    EXPECT_TRUE(is_listed || command.task.empty()) << command.path;
    Console own;
    EXPECT_EQ(run_command_line({command.path, "--help"}, own), ExitStatus::Fine);
    EXPECT_EQ(own.out.find("usage: ncclog " + command.path), 0U) << own.out;
  }
}

TEST(Commands, WhatFingersTypeIsUnderstood) {
  const TempDir folder;
  folder.add("a.log", "n:1:2 [0] NCCL INFO Using network Socket\n");
  Console typed;
  Console meant;
  run_command_line({folder.path().string(), "-q"}, typed);
  run_command_line({"analyze", "-q", folder.path().string()}, meant);
  EXPECT_EQ(typed.out, meant.out);
  for (const char* word : {"version", "-V"}) {
    Console version;
    EXPECT_EQ(run_command_line({word}, version), ExitStatus::Fine);
    EXPECT_TRUE(version.out.starts_with("ncclog ")) << version.out;
  }
}

TEST(Commands, QuietIsOneLine) {
  const TempDir folder;
  const std::string log = folder.add("a.log", "n:1:2 [0] NCCL INFO Using network Socket\n");
  const Arguments kLines[] = {{"analyze", log},
                              {"perf", log},
                              {"count", log},
                              {"show", "ranks", log},
                              {"diff", log, log},
                              {"env", "check", log},
                              {"explain", "shm-no-space", log},
                              {"report", log, "--md", (folder.path() / "r.md").string()},
                              {"rules", "list"},
                              {"rules", "show", "shm-no-space"}};
  for (Arguments words : kLines) {
    words.emplace_back("-q");
    Console console;
    run_command_line(words, console);
    EXPECT_EQ(std::ranges::count(console.out, '\n'), 1) << words[0] << "\n" << console.out;
    EXPECT_EQ(console.err, "") << words[0];
  }
}

TEST(Commands, TwelveAtMostStandOnTheFirstPage) {
  const CommandRow root = declared_commands();
  const auto first = std::ranges::count_if(root.commands, [](const CommandRow& command) {
    return !command.task.empty() && !command.is_further;
  });
  EXPECT_LE(first, 12);
}

TEST(Commands, RulesAloneExplainsItself) {
  Console alone;
  Console asked;
  EXPECT_EQ(run_command_line({"rules"}, alone), ExitStatus::Fine);
  EXPECT_EQ(run_command_line({"rules", "--help"}, asked), ExitStatus::Fine);
  EXPECT_EQ(alone.out, asked.out);
}

TEST(Commands, RulesAreCheckedAndTested) {
  const TempDir folder;
  const std::string broken = folder.add("broken.yaml", "id: broken\nsevrity: error\n");
  Console check;
  EXPECT_EQ(run_command_line({"rules", "check", broken}, check), ExitStatus::CannotDo);
  EXPECT_NE(check.err.find("broken.yaml:2:1: unknown key 'sevrity'"), std::string::npos)
      << check.err;
  EXPECT_EQ(check.out, "1 rule file checked, 1 wrong\n");
  const std::string sound = folder.add(
      "sound.yaml",
      "id: sound\ntitle: A word was printed\nseverity: info\nconfidence: certain\nrole: advice\n"
      "when: {line: 'a word'}\nmessage: It was printed.\n"
      "examples: {fires: [a word], quiet: [nothing]}\n");
  Console test;
  EXPECT_EQ(run_command_line({"rules", "test", sound}, test), ExitStatus::Fine) << test.out;
  EXPECT_EQ(test.out, "2 examples of 1 rule tested, none failed\n");
  EXPECT_EQ(refusal_of_line({"rules", "show"}),
            "rules show: no rule named (see 'ncclog rules list')");
  EXPECT_EQ(refusal_of_line({"rules", "lst"}),
            "rules: unknown command 'lst' (did you mean 'list'?)");
}

TEST(Commands, NamesAreUnique) {
  std::set<std::string_view> names;
  const CommandRow root = declared_commands();
  for (const CommandRow& command : root.commands) EXPECT_TRUE(names.insert(command.path).second);
}

TEST(Commands, ShowPrintsTheTableAsAsked) {
  const TempDir folder;
  const std::string log =
      folder.add("a.log", "n:1:2 [0] NCCL INFO NCCL_DEBUG set by environment to INFO\n");
  Console console;
  EXPECT_EQ(run_command_line({"show", "env", log, "--format", "csv"}, console), ExitStatus::Fine);
  EXPECT_EQ(console.out, "name,value,ranks,processes\nNCCL_DEBUG,INFO,,1\n");
}

std::string repeated(std::string_view line, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += line;
  return text;
}

TEST(Commands, ExportNumbersLinesAsTheirFilesDo) {
  const TempDir folder;
  const std::string log = folder.add("a.log",
                                     "\nn:1:2 [0] NCCL INFO Using network Socket\n"
                                     "foreign\nn:1:2 [0] NCCL INFO no such thing\n");
  Console console;
  EXPECT_EQ(run_command_line({"export", log, "--format", "csv"}, console), ExitStatus::Fine);
  EXPECT_EQ(
      console.out,
      "file,line,time,host,pid,tid,cuda_dev,level,kind,fields,text,severity,origin,meaning\n" +
          log +
          ",2,,n,1,2,0,INFO,network_selected,"
          "\"{\"\"network\"\":\"\"Socket\"\"}\",,,,\n" +
          log + ",4,,n,1,2,0,INFO,unrecognised,{},no such thing,,,\n");
}

TEST(Commands, ExportedEventsPassThroughInPieces) {
  const TempDir folder;
  const std::string log =
      folder.add("a.log", repeated("n:1:2 [0] NCCL INFO Using network Socket\n", 5000));
  size_t largest = 0;
  std::string all;
  Console console{.write = [&](std::string_view text) {
    largest = std::max(largest, text.size());
    all += text;
    return true;
  }};
  EXPECT_EQ(run_command_line({"export", log}, console), ExitStatus::Fine);
  all += console.out;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 5000);
  EXPECT_LT(largest, size_t{70} << 10);
}

TEST(Commands, ExportEndsWhenNobodyReadsIt) {
  const TempDir folder;
  const std::string log =
      folder.add("a.log", repeated("n:1:2 [0] NCCL INFO Using network Socket\n", 5000));
  int writes = 0;
  Console console{.write = [&](std::string_view) { return ++writes < 2; }};
  EXPECT_EQ(run_command_line({"export", log}, console), ExitStatus::Fine);
  EXPECT_EQ(writes, 2);
}

TEST(Commands, ExportWritesTheTablesOfShow) {
  const TempDir folder;
  const std::string log =
      folder.add("a.log", "n:1:2 [0] NCCL INFO NCCL_DEBUG set by environment to INFO\n");
  Console console;
  EXPECT_EQ(run_command_line({"export", log, "--table", "env"}, console), ExitStatus::Fine);
  EXPECT_EQ(console.out,
            "{\"name\":\"NCCL_DEBUG\",\"value\":\"INFO\",\"ranks\":null,\"processes\":1}\n");
  EXPECT_EQ(refusal_of_line({"export", log, "--table", "event"}),
            "export: no table 'event' (did you mean 'events'?)");
}

TEST(Commands, ColourNeedsATerminalOrAWord) {
  const Console pipe{};
  const Console terminal{.out = {}, .is_terminal = true};
  const Console plain_terminal{.out = {}, .is_terminal = true, .no_color = true};
  EXPECT_FALSE(pipe.style(ColorChoice::Auto).colour);
  EXPECT_TRUE(pipe.style(ColorChoice::Always).colour);
  EXPECT_TRUE(terminal.style(ColorChoice::Auto).colour);
  EXPECT_FALSE(terminal.style(ColorChoice::Never).colour);
  EXPECT_FALSE(plain_terminal.style(ColorChoice::Auto).colour);
  EXPECT_TRUE(plain_terminal.style(ColorChoice::Always).colour);
}

}  // namespace

}  // namespace ncclog
