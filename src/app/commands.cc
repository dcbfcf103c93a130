#include "app/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"

namespace ncclog {
namespace {

constexpr Command kCommands[] = {
    {"analyze", "say what went wrong, where, and what to do about it",
     "Examples:\n"
     "  ncclog analyze logs/\n"
     "  ncclog analyze train.log.gz nccl.*.log --format json\n"
     "  kubectl logs job/train | ncclog analyze -\n\n"
     "Exit status: 0 no finding at or above --fail-on; 1 some; 2 could not do it;\n"
     "3 part of the input was unreadable or cut.",
     declare_analyze},
    {"report", "write a report for an issue, for others or for scripts",
     "Without a file named, Markdown is printed. '-' is standard output.\n\n"
     "Examples:\n"
     "  ncclog report logs/ > issue.md\n"
     "  ncclog report logs/ --md issue.md --json report.json\n"
     "  ncclog report logs/ --bundle job.tar.zst     # all of it, without names\n\n"
     "Exit status as of 'analyze'.",
     declare_report},
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
     declare_count},
    {"diff", "what differs between two runs, and what may explain it",
     "Examples:\n"
     "  ncclog diff good-run/ bad-run/\n"
     "  ncclog diff nightly.tar.gz today/ --format markdown\n"
     "  ncclog diff good-run/ bad-run/ --exit-code\n\n"
     "Pids, pointers, ports, addresses, times, names of hosts and the number of iterations make\n"
     "no difference. What one run does not log is not comparable, never a difference.\n\n"
     "Exit status: 0 done; with --exit-code 1 if the runs differ; 2 could not do it;\n"
     "3 part of the input was unreadable or cut.",
     declare_diff},
    {"show", "print one table of what the logs say",
     "Examples:\n"
     "  ncclog show ranks logs/\n"
     "  ncclog show env logs/ --format csv",
     declare_show},
    {"export", "events, tables and findings for other programs; answers to SQL",
     "Examples:\n"
     "  ncclog export logs/ > events.jsonl\n"
     "  ncclog export logs/ --table ranks --format csv\n"
     "  ncclog export logs/ --sql 'select rank, op, calls from collectives order by 3'\n"
     "  ncclog export logs/ --format sqlite -o job.db\n"
     "  ncclog export logs/ --format trace -o trace.json      # open it in ui.perfetto.dev\n"
     "  ncclog export logs/ --format sarif -o ncclog.sarif\n"
     "  ncclog export --format lnav > ~/.lnav/formats/installed/nccl.json",
     declare_export},
    {"env", "check the settings of a shell, a launch script, a file or a log",
     "Examples:\n"
     "  ncclog env check                          # this shell, /etc/nccl.conf, ~/.nccl.conf\n"
     "  ncclog env check train.sbatch pod.yaml --nccl 2.27.3\n"
     "  ncclog env check train.sh --interfaces lo,ens5 --hcas mlx5_0,mlx5_1\n"
     "  ncclog env check train.sh --log logs/\n"
     "  ncclog env check logs/\n\n"
     "Exit status: 0 no error; 1 an error, with --strict also a warning; 2 could not do it;\n"
     "3 part of a log was unreadable or cut.",
     declare_env},
    {"explain", "why a rule fired on these logs, or why not",
     "Examples:\n"
     "  ncclog explain socket-instead-of-ib logs/\n"
     "  ncclog explain our-rail-down logs/ --rules site-rules/ --json",
     declare_explain},
    {"rules", "list, show, check, test and begin the rules that make findings",
     "Examples:\n"
     "  ncclog rules list\n"
     "  ncclog rules show shm-no-space\n"
     "  ncclog rules check site-rules/\n"
     "  ncclog rules test site-rules/\n"
     "  ncclog rules new our-rail-down --area site-rules --from 'the line'\n"
     "  ncclog rules schema > rule.schema.json",
     declare_rules},
    {"expect", "list, show and check profiles for 'analyze --expect'",
     "Examples:\n"
     "  ncclog expect list\n"
     "  ncclog expect show dgx-h100 > our-cluster.yaml\n"
     "  ncclog expect check our-cluster.yaml\n"
     "  ncclog expect words",
     declare_expect},
};

constexpr std::string_view kFooter =
    "Start with:\n"
    "  ncclog analyze logs/        verdict, evidence, what to do\n"
    "  ncclog show ranks logs/     each rank's state and last line\n\n"
    "'ncclog COMMAND --help' lists a command's flags.";

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

/// Parses and says what to run: a command, or what prints the help that was asked for.
void parse(CLI::App& app, std::vector<std::string>& arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back.
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    throw;
  } catch (const CLI::ParseError& error) {
    throw Error(error.what(), "", "see 'ncclog --help'");
  }
}

void set_up(CLI::App& app) {
  app.name("ncclog");
  app.footer(std::string(kFooter));
  app.allow_extras();
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(32);
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

ExitStatus run_command_line(std::vector<std::string> arguments, Console& console) {
  CLI::App app("Finds out from the logs of a multi-GPU job what went wrong with NCCL.");
  set_up(app);
  bool wants_version = false;
  app.add_flag("--version", wants_version, "print the version");
  std::map<const CLI::App*, RunCommand> actions;
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.help));
    sub->footer(std::string(command.examples));
    sub->allow_extras();
    actions[sub] = command.declare(*sub);
  }
  try {
    parse(app, arguments);
  } catch (const CLI::CallForHelp&) {
    console.out += app.help();
    return ExitStatus::Fine;
  }
  refuse_leftovers(app);
  if (wants_version) {
    console.out += fmt::format("ncclog {}\n", full_version());
    return ExitStatus::Fine;
  }
  const auto chosen = app.get_subcommands();
  if (!chosen.empty()) return actions.at(chosen.front())(console);
  console.out += app.help();
  return ExitStatus::Fine;
}

}  // namespace ncclog
