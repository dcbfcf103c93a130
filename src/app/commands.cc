#include "app/commands.h"

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

}  // namespace ncclog
