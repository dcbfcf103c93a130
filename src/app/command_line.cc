#include "app/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "app/command_table.h"
#include "app/configuration_file.h"
#include "app/help.h"
#include "app/read/progress.h"
#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "log/known_messages.h"
#include "log/wording/message_file.h"

namespace ncclog {
namespace {

/// What commands are for, as the help groups them.
constexpr std::string_view kWhatWentWrong = "What went wrong";
constexpr std::string_view kLookCloser = "Look closer";
constexpr std::string_view kPassOn = "Pass on";
constexpr std::string_view kBeforeTheJob = "Before the next run";
constexpr std::string_view kOwnKnowledge = "Rules, messages and profiles";
constexpr std::string_view kThisProgram = "This program";

constexpr Command kCommands[] = {
    {"analyze", "say what went wrong, where, and what to do about it",
     "Examples:\n"
     "  ncclog analyze logs/\n"
     "  ncclog analyze train.log.gz nccl.*.log --format json\n"
     "  kubectl logs job/train | ncclog analyze -\n\n"
     "Exit status: 0 no finding at or above --fail-on; 1 some; 2 could not do it;\n"
     "3 part of the input was unreadable or cut.",
     declare_analyze, kWhatWentWrong},
    {"report", "write a report for an issue, for others or for scripts",
     "Without a file named, Markdown is printed. '-' is standard output.\n\n"
     "Examples:\n"
     "  ncclog report logs/ > issue.md\n"
     "  ncclog report logs/ --md issue.md --json report.json\n"
     "  ncclog report logs/ --bundle job.tar.zst     # all of it, without names\n\n"
     "Exit status as of 'analyze'.",
     declare_report, kPassOn},
    {"count", "count collectives by operation, communicator, rank, size, iteration",
     "Examples:\n"
     "  ncclog count logs/\n"
     "  ncclog count logs/ --by iteration,op\n"
     "  ncclog count logs/ --by step-pattern,rank,op --iteration megatron --format csv\n"
     "  ncclog count logs/ --by iteration --iteration 'update (\\d+) of' --cut exact\n\n"
     "A marker is one process's clock. 'aligned' cuts every process where its own pattern of "
     "calls\n"
     "begins; 'exact' where the marker stands. 'period' needs no marker.\n\n"
     "Bytes are the count that NCCL prints times the element size: AllReduce, Broadcast, Reduce: "
     "the\n"
     "buffer; AllGather: what each rank sends; ReduceScatter: what each rank receives; AlltoAll,\n"
     "Gather, Scatter: per peer; Send, Recv: the message. NCCL 2.7.3 to 2.21.5 prints AllGather "
     "and\n"
     "Broadcast in bytes: their elements are unknown.",
     declare_count, kLookCloser},
    {"diff", "what differs between two runs, and what may explain it",
     "Examples:\n"
     "  ncclog diff good-run/ bad-run/\n"
     "  ncclog diff nightly.tar.gz today/ --format markdown\n"
     "  ncclog diff good-run/ bad-run/ --exit-code\n\n"
     "Pids, pointers, ports, addresses, times, names of hosts and the number of iterations make\n"
     "no difference. What one run does not log is not comparable, never a difference.\n\n"
     "Exit status: 0 done; with --exit-code 1 if the runs differ; 2 could not do it;\n"
     "3 part of the input was unreadable or cut.",
     declare_diff, kLookCloser},
    {"show", "print one table of what the logs say",
     "Examples:\n"
     "  ncclog show ranks logs/\n"
     "  ncclog show env logs/ --format csv",
     declare_show, kLookCloser},
    {"export", "events and tables for other programs; answers to SQL",
     "Examples:\n"
     "  ncclog export logs/ > events.jsonl\n"
     "  ncclog export logs/ --table ranks --format csv\n"
     "  ncclog export logs/ --sql 'select rank, op, calls from collectives order by 3'\n"
     "  ncclog export logs/ --format sqlite -o job.db\n"
     "  ncclog export logs/ --format trace -o trace.json      # open it in ui.perfetto.dev\n"
     "  ncclog export --format lnav > ~/.lnav/formats/installed/nccl.json",
     declare_export, kPassOn},
    {"env", "check the settings of a shell, a launch script, a file or a log",
     "Examples:\n"
     "  ncclog env check                     # this shell, /etc/nccl.conf, ~/.nccl.conf\n"
     "  ncclog env check train.sbatch pod.yaml --nccl 2.27.3\n"
     "  ncclog env check train.sh --interfaces lo,ens5 --hcas mlx5_0,mlx5_1\n"
     "  ncclog env check train.sh --log logs/\n"
     "  ncclog env check logs/\n\n"
     "Exit status: 0 no error; 1 an error, with --strict also a warning; 2 could not do it;\n"
     "3 part of a log was unreadable or cut.",
     declare_env, kBeforeTheJob},
    {"explain", "why a rule fired on these logs, or why not",
     "Examples:\n"
     "  ncclog explain socket-instead-of-ib logs/\n"
     "  ncclog explain our-rail-down logs/ --rules site-rules/ --json",
     declare_explain, kWhatWentWrong},
    {"replay", "re-run a failing collective on this machine's GPUs to test a diagnosis",
     "Examples:\n"
     "  ncclog replay plan logs/ -o plan.json\n"
     "  ncclog replay plan logs/ --gpus 2 --only failing -o small.json\n"
     "  ncclog replay check plan.json\n"
     "  ncclog replay run plan.json --time 20\n"
     "  ncclog replay run plan.json --vary NCCL_P2P_DISABLE=0,1 --yes\n\n"
     "Exit status of 'check': 0 every plan is fine; 1 one is refused; 2 one could not be read.\n"
     "Exit status of 'run': 0 reproduced-hypothesis, clean-without-defect; 1 reproduced-fault,\n"
     "not-reproduced; 2 refused, or could not do it; 3 not-comparable, inconclusive.",
     declare_replay, kWhatWentWrong},
    {"rules", "list, show, check, test and begin the rules that make findings",
     "Examples:\n"
     "  ncclog rules list\n"
     "  ncclog rules show shm-no-space\n"
     "  ncclog rules check site-rules/\n"
     "  ncclog rules test site-rules/\n"
     "  ncclog rules new our-rail-down --area site-rules --from 'the line'\n"
     "  ncclog rules schema > rule.schema.json",
     declare_rules, kOwnKnowledge},
    {"messages", "list, show and check what NCCL and the programs around it print",
     "Files that --messages names add to what is built in: a new release, or a library of your "
     "own.\n\n"
     "Examples:\n"
     "  ncclog messages show channel_connected\n"
     "  ncclog show unknown logs/ --as messages > site.messages\n"
     "  ncclog messages check site.messages\n"
     "  ncclog analyze --messages site.messages logs/",
     declare_messages, kOwnKnowledge},
    {"expect", "list, show and check profiles for 'analyze --expect'",
     "Examples:\n"
     "  ncclog expect list\n"
     "  ncclog expect show dgx-h100 > our-cluster.yaml\n"
     "  ncclog expect check our-cluster.yaml\n"
     "  ncclog expect words",
     declare_expect, kOwnKnowledge},
    {"help", "how to use a command",
     "Examples:\n"
     "  ncclog help\n"
     "  ncclog help rules new",
     declare_help, kThisProgram},
    {"man", "print a man page, or write all of them",
     "Examples:\n"
     "  ncclog man analyze | man -l -\n"
     "  ncclog man --into ~/.local/share/man/man1",
     declare_man, kThisProgram},
    {"completion", "print a script by which a shell completes command lines",
     "Examples:\n"
     "  source <(ncclog completion bash)\n"
     "  ncclog completion zsh > ~/.zfunc/_ncclog\n"
     "  ncclog completion fish > ~/.config/fish/completions/ncclog.fish",
     declare_completion, kThisProgram},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

namespace {

/// The message files below `path`, or itself.
std::vector<std::string> find_files(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_regular_file(path, error)) return {path};
  if (!fs::is_directory(path, error)) throw Error("no such file or folder of messages", path);
  std::vector<std::string> files;
  fs::recursive_directory_iterator entry(path, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().extension() == ".messages" && entry->is_regular_file(ignored))
      files.push_back(entry->path());
  }
  if (error) throw Error("the folder cannot be read: " + error.message(), path);
  if (files.empty()) throw Error("no message file (*.messages) in this folder", path);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

size_t use_message_files(const std::vector<std::string>& paths) {
  std::vector<KindText> kinds;
  size_t count = 0;
  std::set<std::string> seen;  // A file may lie in a folder that is named, too.
  for (const std::string& path : paths) {
    for (const std::string& file : find_files(path)) {
      std::error_code ignored;
      if (!seen.insert(std::filesystem::weakly_canonical(file, ignored)).second) continue;
      std::ifstream stream(file, std::ios::binary);
      if (!stream) throw Error("cannot be read", file);
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      for (KindText& kind : parse_message_file(text, file)) kinds.push_back(std::move(kind));
      ++count;
    }
  }
  if (!kinds.empty()) add_messages(kinds);
  return count;
}

namespace {

/// The flags that every command has.
struct CommonOptions {
  bool quiet = false;
  bool verbose = false;
  bool no_progress = false;
  bool show_config = false;
  std::string config;                 ///< Read before parsing, by find_config.
  std::vector<std::string> messages;  ///< Files and folders that add to the built-in messages.
};

/// Flags that several commands have are about the same thing in each. Others stay with the command.
struct GroupRow {
  const char* group;
  std::vector<std::string_view> flags;
};

const std::vector<GroupRow>& group_table() {
  static const std::vector<GroupRow> kTable = {
      {"Input", {"threads", "nccl", "interfaces", "hcas", "log", "from"}},
      {"Judging", {"outcome", "rules", "expect", "with-replay", "fail-on", "strict", "exit-code"}},
      {"Plan", {"last", "only", "gpus", "finding", "nccl-tests"}},
      {"Counting", {"by", "iteration", "cut"}},
      {"Output",
       {"format", "as", "table", "tables", "text", "json", "md", "html", "output", "area", "bundle",
        "full-logs", "anonymise", "no-anonymise", "allow-leaks", "mapping", "sql", "color"}},
      {kGeneralFlags,
       {"messages", "quiet", "verbose", "no-progress", "config", "show-config", "version", "help"}},
  };
  return kTable;
}

const char* group_of(const CLI::Option& option) {
  for (const GroupRow& row : group_table()) {
    const auto& names = option.get_lnames();
    const bool is_member = !names.empty() && std::find(row.flags.begin(), row.flags.end(),
                                                       names.front()) != row.flags.end();
    if (is_member) return row.group;
  }
  return nullptr;
}

void add_flags(CLI::App& app, CommonOptions& options) {
  app.add_flag("-q,--quiet", options.quiet, "only the verdict, in a line; no notes, no progress");
  app.add_flag("-v,--verbose", options.verbose,
               "tell on standard error what was read, and how fast");
  app.add_flag("--no-progress", options.no_progress,
               "no progress line on the terminal, however long it takes");
  app.add_option("--config", options.config, "a configuration file; '' for none")
      ->type_name("FILE");
  app.add_option("--messages", options.messages,
                 "a folder or file of messages that add to the built-in ones; may be repeated")
      ->type_name("DIR")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--show-config", options.show_config, "print these flags' values and their sources");
}

/// Declares them for `app` and every command below it, once all others are declared, and puts each
/// flag into its group. `options` must outlive `app`.
void add_common_flags(CLI::App& app, CommonOptions& options) {
  add_flags(app, options);
  if (app.get_help_ptr() != nullptr) app.set_help_flag("-h,--help", "print this help");
  for (CLI::Option* option : app.get_options([](CLI::Option*) { return true; })) {
    if (const char* group = group_of(*option)) option->group(group);
  }
  for (CLI::App* below : app.get_subcommands([](CLI::App*) { return true; })) {
    add_common_flags(*below, options);
  }
}

constexpr std::string_view kNotes =
    "Start with:\n"
    "  ncclog analyze logs/        verdict, evidence, what to do\n"
    "  ncclog show ranks logs/     each rank's state and last line\n\n"
    "'ncclog help COMMAND' lists a command's flags.";

std::vector<std::string_view> subcommand_names(const CLI::App& app) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string hint_for(std::string_view word, std::span<const std::string_view> names) {
  const auto nearest = nearest_name(word, names);
  if (nearest) return fmt::format("did you mean '{}'?", *nearest);
  return names.empty() ? std::string() : fmt::format("one of: {}", fmt::join(names, ", "));
}

/// What the parser could not place is a misspelt flag or command.
void refuse_leftovers(const CLI::App& app) {
  const std::vector<std::string> left = app.remaining(false);
  if (!left.empty()) {
    const std::string word = left.front().substr(0, left.front().find('='));
    const bool is_flag = word.starts_with('-');
    const std::vector<std::string> flags = is_flag ? flag_names(app) : std::vector<std::string>();
    const auto names =
        is_flag ? std::vector<std::string_view>(flags.begin(), flags.end()) : subcommand_names(app);
    throw Error(fmt::format("unknown {} '{}'", is_flag ? "flag" : "command", printable(word)),
                app.get_parent() == nullptr ? "" : app.get_name(), hint_for(word, names));
  }
  for (const CLI::App* chosen : app.get_subcommands()) refuse_leftovers(*chosen);
}

/// Everything that can be typed, and what was.
struct CommandLine {
  CLI::App app{"finds out from the logs of a multi-GPU job what went wrong with NCCL"};
  bool wants_version = false;
  CommonOptions common;
  std::map<const CLI::App*, RunCommand> actions;
};

void declare(CommandLine& line) {
  CLI::App& app = line.app;
  app.name("ncclog");
  app.footer(std::string(kNotes));
  app.allow_extras();  // refuse_leftovers knows what was meant; CLI11 would only say no.
  app.require_subcommand(0, 1);
  app.add_flag("--version", line.wants_version, "print the version");
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.help));
    sub->footer(std::string(command.examples));
    sub->allow_extras();
    sub->group(std::string(command.task));
    line.actions[sub] = command.declare(*sub);
  }
  add_common_flags(app, line.common);
}

/// The command that was typed: the deepest one.
const CLI::App& chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_command(*chosen.front());
}

/// False if help was asked for.
bool parse(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back.
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ParseError& error) {
    throw Error(error.what(), "", "see 'ncclog --help'");
  }
  refuse_leftovers(app);
  return true;
}

/// Draws the progress while the command runs, where somebody can see it.
std::shared_ptr<ProgressLine> start_progress(const CommonOptions& common, Console& console) {
  if (!console.draws_progress || common.no_progress || common.quiet) return nullptr;
  auto line = std::make_shared<ProgressLine>();
  if (console.is_terminal && console.write) {
    // Output that is passed on while the command runs would be written into the line.
    console.write = [line, write = console.write](std::string_view text) {
      line->clear();
      return write(text);
    };
  }
  return line;
}

/// What -v tells.
std::string account(const ConfigFile& config, double seconds) {
  std::string text = fmt::format("ncclog {}\n", full_version());
  if (!config.path.empty()) text += fmt::format("configuration: {}\n", printable(config.path));
  const std::string read = reading_summary(reading_progress().snapshot());
  if (!read.empty()) text += read + "\n";
  return text + fmt::format("{:.2f} s in all\n", seconds);
}

ExitStatus run(const CommandLine& line, const ConfigFile& config, Console& console) {
  using Clock = std::chrono::steady_clock;
  const auto chosen = line.app.get_subcommands();
  if (chosen.empty()) {
    console.out += help_text(line.app, console);
    return ExitStatus::Fine;
  }
  console.quiet = line.common.quiet;
  use_message_files(line.common.messages);
  const auto began = Clock::now();
  const auto progress = start_progress(line.common, console);
  const ExitStatus status = line.actions.at(chosen.front())(console);
  if (progress) progress->clear();
  if (console.quiet) console.err.clear();  // Notes; what cannot be done is thrown.
  if (line.common.verbose) {
    console.err += account(config, std::chrono::duration<double>(Clock::now() - began).count());
  }
  return status;
}

/// How the program is used can be asked whatever the configuration file holds.
bool asks_for_help(const std::vector<std::string>& arguments) {
  constexpr std::string_view kHelp[] = {"help", "--help", "-h", "--version"};
  return std::any_of(std::begin(kHelp), std::end(kHelp), [&](std::string_view flag) {
    const auto found = std::find(arguments.begin(), arguments.end(), flag);
    return found != arguments.end() && (flag != "help" || found == arguments.begin());
  });
}

}  // namespace

CommandRow declared_commands() {
  CommandLine line;
  declare(line);
  return command_table(line.app);
}

ExitStatus run_command_line(std::vector<std::string> arguments, Console& console) {
  if (!arguments.empty() && arguments.front() == kCompleteCommand) {
    // Not parsed: the words are half typed. Not configured: a broken file must not stop a shell.
    console.out += completions(declared_commands(), std::span(arguments).subspan(1));
    return ExitStatus::Fine;
  }
  CommandLine line;
  declare(line);
  ConfigFile config;
  try {
    config = find_config(arguments);
    apply_config(config, line.app);
  } catch (const Error&) {
    if (!asks_for_help(arguments)) throw;
  }
  if (!parse(line.app, std::move(arguments))) {
    console.out += help_text(chosen_command(line.app), console);
  } else if (line.wants_version) {
    console.out += fmt::format("ncclog {}\n", full_version());
  } else if (line.common.show_config) {
    console.out += describe_config(config, chosen_command(line.app));
  } else {
    return run(line, config, console);
  }
  return ExitStatus::Fine;
}

}  // namespace ncclog
