#include "log/wording/other_programs.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "base/text.h"
#include "log/line/line_time.h"
#include "log/line/scanner.h"
#include "log/line/words.h"
#include "log/wording/benchmark_rows.h"
#include "log/wording/headed_tables.h"

namespace ncclog {
namespace {

// What must stand in lines that recognisers accept.

constexpr auto kExceptionEnds = listed_words("exception");
constexpr auto kNcclErrors = listed_words("nccl-error");
constexpr auto kProcessEnds = listed_words("process-end");
constexpr auto kJobEnds = listed_words("job-end");
constexpr auto kExitWords = listed_words("exit");
/// One of these stands in each of the errors of NCCL.
constexpr std::string_view kNcclErrorParts[] = {"nccl", "unhandled ", "remote process"};
static_assert(std::ranges::all_of(kNcclErrors, [](std::string_view words) {
  return std::ranges::any_of(kNcclErrorParts,
                             [&](auto part) { return words.find(part) != words.npos; });
}));

/// One of these stands in each of the words of exits.
constexpr std::string_view kExitParts[] = {"xit", "EXIT", "ed with ", "] Error "};
static_assert(std::ranges::all_of(kExitWords, [](std::string_view words) {
  return std::ranges::any_of(kExitParts, [&](auto part) { return words.find(part) != words.npos; });
}));

constexpr auto kLeavingWords = listed_words("leaving");
constexpr auto kListedSettings = listed_words("setting");
constexpr auto kEvalNeedles = listed_words("evaluating");

/// What stands behind the percentage of a tqdm bar, and what loops print.
constexpr auto kBarMark = kEvalNeedles.first(1);
constexpr auto kEvalPrints = kEvalNeedles.subspan(1);

/// In what a shell says of a process that it ran from a script.
constexpr std::string_view kShellPlace[] = {": line "};

constexpr std::string_view kShmMount[] = {"/dev/shm"};

/// The column of show_gids that tells its rows from all others, behind a blank; with kAnyDigit of
/// log/literal_set.h.
constexpr std::string_view kGidVersions[] = {" v\x01", "\tv\x01"};

/// Where a prompt ends that names a user, a host or a place; with kNonBlank of
/// log/literal_set.h.
constexpr std::string_view kPromptEnds[] = {"\x03$ ", "\x03# "};
constexpr std::string_view kBarePrompt[] = {"$ "};

/// The number in "exited with status 139", if a signal ended that process: Python gives it below
/// zero, a shell above 128. With `of_programs` also the 3 that ends "[entrypoint] train.py exited with
/// code 3" or "rank 2 exited with status 3": what a training or its wrapper chose itself. Empty: no
/// such status is there.
std::string_view exit_status_in(std::string_view text, bool of_programs) {
  constexpr int64_t kSignals[] = {4, 6, 7, 8, 9, 11, 15};
  constexpr std::string_view kPrograms[] = {".py",    ".sh",       "ython",   "torchrun", "raining",
                                            "rainer", "ntrypoint", "rogram ", "cript "};
  constexpr std::string_view kEnds[] = {".", ")", ";", ",", " after "};
  if (!holds_one_of(text, kExitParts)) return {};  // Asked about every exception.
  for (const std::string_view words : kExitWords) {
    const size_t at = text.find(words);
    if (at == text.npos) continue;
    Scanner scan(text.substr(at + words.size()));
    for (const std::string_view more : {"code", "status", ":", "="}) {
      scan.blanks();
      scan.skip(more);
    }
    scan.blanks();
    std::string_view number = scan.rest();
    scan.skip('-');
    scan.take_while(is_digit, 4);
    number.remove_suffix(scan.rest().size());
    const int64_t status = parse_int(number).value_or(0);
    const int64_t signal = status < 0 ? -status : status - 128;
    const std::string_view before = text.substr(0, at);
    const bool is_end = trim(scan.rest()).empty() || starts_with_one_of(scan.rest(), kEnds);
    const bool is_own = of_programs && status > 0 && status < 128 && is_end &&
                        (holds_one_of(before, kPrograms) || !rank_named_in(before).empty());
    if (is_own || std::ranges::find(kSignals, signal) != std::end(kSignals)) return number;
  }
  return {};
}

/// An error of NCCL that a program hands on, by the name or the text of a result.
bool is_of_nccl(std::string_view message) {
  // Asked about every exception: a glance first.
  return holds_one_of(message, kNcclErrorParts) && holds_one_of(message, kNcclErrors) &&
         message.find("NCCL operation ") == message.npos;
}

bool is_claimed(std::string_view base, std::string_view message) {
  if (message.find("NCCL operation ") != message.npos)
    return message.find("Last NCCL warning(error) log entry ") != message.npos;
  if (base == "ChildFailedError" || base == "SignalException") return true;
  if (starts_with_one_of(message, listed_words("claimed"))) return true;
  if (!exit_status_in(message, false).empty()) return true;
  if (message.starts_with("DataLoader worker (pid"))
    return message.find("is killed by signal") != message.npos;
  if (message.starts_with("process "))
    return message.find(" terminated with signal ") != message.npos;
  if (base == "CalledProcessError") return message.find(" died with <Signals.") != message.npos;
  if (message.starts_with("Rank "))
    return message.find(" successfully reached monitoredBarrier, but ") != message.npos;
  return message.starts_with('[') &&
         (message.find("] is setting up NCCL communicator") != message.npos ||
          message.ends_with("][COMM_CHECK]") ||
          message.find("Caught collective operation timeout: ") != message.npos ||
          message.find("] Work WorkNCCL(") != message.npos ||
          message.find("failed to pass monitoredBarrier in ") != message.npos);
}

/// Python's class names: "RuntimeError", "SystemExit"; not "Error", nor NCCL's "ncclSystemError".
bool is_exception_name(std::string_view base) {
  if (base.empty() || base == "Error" || (base[0] >= 'a' && base[0] <= 'z') || is_digit(base[0]))
    return false;
  return std::ranges::any_of(kExceptionEnds, [&](auto end) { return base.ends_with(end); });
}

/// What else a class is called: "Empty", "BdbQuit", "ShardCorrupt"; not "INFO", "Epoch" or "loss".
bool is_class_name(std::string_view base) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  return !base.empty() && base[0] >= 'A' && base[0] <= 'Z' && std::ranges::any_of(base, is_small) &&
         !equals_one_of(base, listed_words("no-class"));
}

/// The status with which `scan` goes on, "(core dumped)" taken with it, as bash writes it, or with a
/// small letter as zsh does; empty if there is none.
std::string_view take_status(Scanner& scan, bool is_zsh = false) {
  for (const std::string_view status : kProcessEnds) {
    Scanner word = scan;
    if (is_zsh && !word.skip(static_cast<char>(status[0] | 0x20))) continue;
    if (!word.skip(status.substr(is_zsh ? 1 : 0))) continue;
    scan = word;
    Scanner behind = scan;
    behind.blanks();
    if (behind.skip("(core dumped)")) scan = behind;
    return status;
  }
  return {};
}

/// The number in "env RANK=3 LOCAL_RANK=3 python3 train.py"; empty if the command sets none.
std::string_view rank_in_command(std::string_view command) {
  constexpr std::string_view kAssignment = "RANK=";
  size_t at = command.find(kAssignment);
  while (at != command.npos && at > 0 && !is_blank(command[at - 1]))
    at = command.find(kAssignment, at + 1);
  if (at == command.npos) return {};
  Scanner scan(command.substr(at + kAssignment.size()));
  return scan.take_while(is_digit, 9);
}

/// `text` behind what a logger puts in front: "2026-01-05 12:00:00,123 - INFO - ",
/// "[INFO|trainer.py:3719] 2026-01-05 12:00:00,123 >> ". The text itself if there is nothing.
std::string_view behind_logger(std::string_view text) {
  constexpr size_t kLongest = 100;
  constexpr std::string_view kEnds[] = {" - ", "] ", " >> ", "INFO: "};
  if (text.empty() ||
      !(is_digit(text[0]) || text[0] == '[' || text[0] == '-' || text.starts_with("INFO"))) {
    return text;
  }
  for (size_t at = std::min(kLongest, text.size()); at > 0; --at) {
    const std::string_view start = text.substr(0, at);
    const auto ends = [&](std::string_view end) { return start.ends_with(end); };
    if (start.back() == ' ' && std::ranges::any_of(kEnds, ends)) return text.substr(at);
  }
  return text;
}

/// The last line of a Python traceback, taken apart; `base` is the type without its module.
struct ExceptionLine {
  std::string_view type;
  std::string_view base;
  std::string_view said;
};

/// "dotted.NameError: message"; nullopt: it is none.
std::optional<ExceptionLine> parse_exception(std::string_view text,
                                             bool (*is_name)(std::string_view base)) {
  if (text.empty() || !(is_alpha(text[0]) || text[0] == '_')) return std::nullopt;
  Scanner scan(text);
  const auto in_name = [](char c) { return is_word(c) || c == '.'; };
  const std::string_view name = scan.take_while(in_name, 200);
  ExceptionLine line{.base = name.substr(name.rfind('.') + 1)};
  if (!is_name(line.base)) return std::nullopt;
  std::string_view inner;
  if (scan.skip('(') && !scan.until(')', inner, 100)) return std::nullopt;
  line.type = text.substr(0, scan.taken());
  if (!scan.done() && !scan.skip(": ") && scan.rest() != ":") return std::nullopt;
  line.said = scan.rest() == ":" ? std::string_view{} : trim(scan.rest());
  return line;
}

/// "[enforce fail at inline_container.cc:659] . unexpected pos 64 vs 0" without the place in PyTorch's
/// sources (CAFFE_ENFORCE).
std::string_view without_enforcement(std::string_view said) {
  constexpr std::string_view kEnd = "] . ";
  if (!said.starts_with("[enforce fail at ")) return said;
  const size_t end = said.find(kEnd);
  return end == said.npos ? said : said.substr(end + kEnd.size());
}

/// Fields type, message. Refuses what a kind of its own knows better: NCCL's errors, out of memory,
/// the store's errors.
template <bool (*is_name)(std::string_view base)>
bool recognise_exception(std::string_view text, Message& message) {
  const auto line = parse_exception(text, is_name);
  if (!line || is_of_nccl(line->said) || is_claimed(line->base, line->said)) return false;
  return message.fill({{"type", line->type}, {"message", without_enforcement(line->said)}});
}

/// Fields type, error.
bool recognise_nccl_exception(std::string_view text, Message& message) {
  if (!is_of_nccl(text)) return false;
  const auto line = parse_exception(text, is_exception_name);
  if (!line || is_claimed(line->base, line->said) || !is_of_nccl(line->said)) return false;
  return message.fill({{"type", line->type}, {"error", line->said}});
}

/// A shell's word on a process it ran: "run.sh: line 3: 1021 Killed  python train.py", "Killed".
/// Fields pid, status, command, rank.
bool recognise_process_end(std::string_view text, Message& message) {
  Scanner whole(text);
  std::string_view status = take_status(whole);
  if (!status.empty() && whole.done()) return message.fill({{"status", status}});
  const size_t at = text.substr(0, 300).find(kShellPlace[0]);
  if (at == text.npos) return false;
  Scanner scan(text.substr(at + 7));
  int line = 0;
  if (!scan.number(line) || !scan.skip(':')) return false;
  scan.blanks();
  const std::string_view pid = scan.take_while(is_digit, 18);
  if (pid.empty() || scan.blanks() == 0) return false;
  status = take_status(scan);
  if (status.empty()) return false;
  return message.fill({{"pid", pid},
                       {"status", status},
                       {"command", trim(scan.rest())},
                       {"rank", rank_in_command(trim(scan.rest()))}});
}

/// A shell's word on a job of its own: "[1]    4242 segmentation fault (core dumped)  python3 x.py",
/// "[1]+  Killed                  python3 x.py". Fields pid, status, command.
bool recognise_job_end(std::string_view text, Message& message) {
  Scanner scan(text);
  int job = 0;
  if (!scan.skip('[') || !scan.number(job) || !scan.skip(']')) return false;
  scan.skip('+') || scan.skip('-');
  if (scan.blanks() == 0) return false;
  const std::string_view pid = scan.take_while(is_digit, 18);
  scan.skip(" + ") || scan.skip(" - ");
  scan.blanks();
  const bool is_zsh = scan.peek() >= 'a';
  const std::string_view status = take_status(scan, is_zsh);
  // Behind the status stands the command, in a column of its own.
  if (status.empty() || !scan.rest().starts_with("  ")) return false;
  return message.fill({{"pid", pid}, {"status", status}, {"command", trim(scan.rest())}});
}

/// The status of a process that a signal ended, whoever prints it, or of a training's program that
/// ended with an error: "worker (pid 4242) exited with status 139". Fields exitcode, pid, rank.
bool recognise_exit_status(std::string_view text, Message& message) {
  // These have wordings of their own.
  constexpr std::string_view kOthers[] = {"srun: ", "ncclog run: "};
  const bool is_exception = text.find("Error: ") != text.npos;
  const std::string_view status = exit_status_in(text, !is_exception);
  if (status.empty() || starts_with_one_of(text, kOthers)) return false;
  const std::string_view before = text.substr(0, static_cast<size_t>(status.data() - text.data()));
  const size_t pid = std::min(before.rfind("pid"), before.rfind("PID"));
  if (pid != before.npos) {
    Scanner scan(before.substr(pid + 3));
    scan.skip(':') || scan.skip('=');
    scan.blanks();
    message.set("pid", scan.take_while(is_digit, 18));
  }
  message.set("rank", rank_named_in(before));
  return message.fill({{"exitcode", status}});
}

/// "time: 2026-01-05_12:00:03" of torchrun 1.9.
constexpr char kFailureTime[] = R"(time:\s*(?P<time>\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d[^ ]*))";

/// A tqdm bar that is not about evaluation. Fields title, percent, done, total.
bool recognise_progress_bar(std::string_view text, Message& message) {
  const TqdmBar bar = parse_progress_bar(text);
  if (bar.length == 0 || is_eval_title(bar.title)) return false;
  return message.fill(
      {{"title", bar.title}, {"percent", bar.percent}, {"done", bar.done}, {"total", bar.total}});
}

/// A tqdm bar or a print that says: evaluating, validating, writing a checkpoint. Field text.
bool recognise_eval_progress(std::string_view text, Message& message) {
  const TqdmBar bar = parse_progress_bar(text);
  std::string_view print = behind_logger(text);
  // "rank3: saving checkpoint to …"
  if (print.starts_with("rank")) print = trim(print.substr(print.find(':') + 1));
  const bool about_eval = bar.length > 0 ? is_eval_title(bar.title)
                                         : starts_with_one_of(print, kEvalPrints) ||
                                               starts_with_one_of(text, kEvalPrints);
  if (about_eval) message.set("text", text);
  return about_eval;
}

/// A rank that says that it leaves: "[rank 3]: data exhausted after 14 steps, leaving". Fields
/// rank, text.
bool recognise_rank_leaves(std::string_view text, Message& message) {
  constexpr size_t kMost = 256;
  if (text.size() > kMost || !holds_one_of(text, kLeavingWords)) return false;
  const std::string_view rank = rank_named_in(text);
  // "exiting" alone is what programs print of all that they do.
  constexpr std::string_view kPlain[] = {"exiting", "Exiting", "shutting down", "terminating",
                                         "reached the end of"};
  constexpr std::string_view kLevels[] = {"CRITICAL", "FATAL"};
  if (rank.empty() && holds_one_of(text, kPlain) && !starts_with_one_of(text, kLevels))
    return false;
  // NCCL's words for ncclRemoteError are about another process, CUDA's for its limits about none, and
  // XLA's name the rank that waited in vain.
  constexpr std::string_view kOthers[] = {"remote process exiting", "resources",
                                          "ensure a consistent program state"};
  if (holds_one_of(text, kOthers)) return false;
  return message.fill({{"rank", rank}, {"text", text}});
}

/// Megatron's padded step: "iteration       10/     500 | …".
constexpr char kMegatronStep[] =
    R"(iteration \s*(?P<iteration>\d{1,18})/\s*(?P<total>\d{1,18}) \|.*)";

/// torchtitan's padded step: "step:  7  loss:  7.1234 …".
constexpr char kTitanStep[] = R"(step:\s+(?P<iteration>\d{1,18})\s+loss:.*)";

// Output of commands that people keep beside their logs: tables, rows of blanks and tabs.
//
//   shm              64M   64M     0 100% /dev/shm
//   GPU0    X       CNS     CNS     CNS
//   mlx5_0  1       3       0000:0000:0000:0000:0000:ffff:0a78:021f 10.120.2.31     v2      ens2f0
//
// Rows are known by their columns alone: the command that printed them may not be in the log.

/// A row of "nvidia-smi topo -p2p" with at least one state; the row's own cell is "X". Cells from
/// the first unknown column on (affinities) do not belong to the matrix.
constexpr char kP2pRow[] = R"(GPU(?P<gpu>\d+)\s+(?P<cells>(?:X\s+)*(?:OK|CNS|GNS|TNS|NS|DR|U))"
                           R"((?:\s+(?:X|OK|CNS|GNS|TNS|NS|DR|U))*)(?:\s.*)?)";

/// The same of "nvidia-smi topo -m", with at least one link.
constexpr char kTopoRow[] =
    R"(GPU(?P<gpu>\d+)\s+(?P<cells>(?:X\s+)*(?:PIX|PXB|PHB|NODE|SYS|SOC|PSB|NV\d+))"
    R"((?:\s+(?:X|PIX|PXB|PHB|NODE|SYS|SOC|PSB|NV\d+))*)(?:\s.*)?)";

/// A row of df about /dev/shm.
constexpr char kShmUsage[] =
    R"(\s*\S+\s+(?P<size>\S+)\s+(?P<used>\S+)\s+(?P<available>\S+)\s+(?P<percent>\S*)%\s+)"
    R"((?P<mount>/dev/shm))";

/// A row of ncclras' table of communicators: numbers, ranges of them, what is wrong at the end.
constexpr char kRasCommunicatorRow[] =
    R"((?P<group>\d+(?:-\d+)?)\s+(?P<communicators>\d+(?:-\d+)?)\s+(?P<nodes>\d+(?:-\d+)?)\s+)"
    R"((?P<ranks_per_node>\d+(?:-\d+)?)\s+(?P<nranks>\d+(?:-\d+)?)\s+)"
    R"((?P<ranks_in_group>\d+(?:-\d+)?)\s+(?P<status>NOCOMM|INIT|RUNNING|FINALIZE|ABORT)\s+)"
    R"((?P<errors>(?:(?:OK|INCOMPLETE|ERROR|MISMATCH),?\b)+))";

/// A command line with "ulimit -l" at its end, joined with its answer (log/event_reader.h).
constexpr char kMemlockAnswer[] = R"(.*?ulimit -l['"]*\s*(?P<limit>unlimited|[-+]?\d+))";

/// The row of "ulimit -a" or of /proc/<pid>/limits. Fields limit, unit.
bool recognise_memlock_row(std::string_view text, Message& message) {
  const Columns row = columns_of(text.substr(0, 120));
  if (row[1] != "locked" || row[2] != "memory") return false;
  const bool in_kbytes = row[3] == "(kbytes," && row[4] == "-l)";
  const std::string_view limit = in_kbytes ? row[5] : row[3];
  if (limit != "unlimited" && !parse_int(limit)) return false;
  return message.fill({{"limit", limit}, {"unit", in_kbytes ? row[3].substr(1, 6) : row[5]}});
}

/// A row of show_gids.
constexpr char kGidRow[] =
    R"((?P<device>\S*)\s+(?P<port>\d+)\s+(?P<index>\d+)\s+(?P<gid>[[:xdigit:]]*(?::[[:xdigit:]]*){7})\s+)"
    R"((?:(?P<address>\S+)\s+)?(?P<version>v[12])(?:\s+(?P<interface>\S+).*)?)";

/// A row of ibdev2netdev, also behind "| column -t" and before somebody's remark.
constexpr char kIbPort[] =
    R"((?P<device>\S+) +port +(?P<port>\d+) +==> +(?P<interface>\S+) +\((?P<state>Up|Down)\).*)";

/// A row of kubectl: of a pod; of a pod by phase, reason and exit code; of an operator's job.
constexpr char kPodRow[] =
    R"(\s*(?P<pod>[a-z0-9][\w./-]*)(?:\s+\d+/\d+\s*  (?P<status>Completed|Error|OOMKilled|Running|)"
    R"(Pending|Evicted|CrashLoopBackOff|Terminating|Succeeded|Failed|ContainerCreating) \s*\d+\b.*|)"
    R"(\s*  (?:Succeeded|Failed) \s*(?P<reason>[A-Z]\w+)\s+(?P<exitcode>\d{1,3})|)"
    R"(\s*  (?P<state>Succeeded|Failed) \s*\d+[smhd]\w*))";

/// In a column of its own; the last of several that a pod has.
constexpr std::string_view kPodStates[] = {
    "  Completed ", "  Error ",   "  OOMKilled ",        "  Running ",
    "  Pending ",   "  Evicted ", "  CrashLoopBackOff ", "  Terminating ",
    "  Succeeded ", "  Failed ",  "  ContainerCreating "};

/// A program's word on its world, beside its own rank: "# start rank=3 host=n1 world=8 12:00:01".
constexpr char kWorldSize[] =
    R"(.*\b[Rr](?:ank|ANK)[=:] ?\d+\b.*\s[Ww](?:orld|orld_size|ORLD_SIZE)[=:] ?(?P<nranks>\d{1,7})\b.*)";
constexpr std::string_view kWorldSizes[] = {" world=", " world_size=", " WORLD_SIZE="};

/// A prompt with a command behind it: "$ …", "root@host:~# …", "[host ~]# …".
constexpr char kShellCommand[] =
    R"((?:\$|(?:\[[^\]]*[ @][^\]]*\]|(?:\([^)]*\) ?)?[\w.-]+@[^\s$#]*:[^\s$#]*)[$#]) \s*)"
    R"((?P<command>\S.*))";

/// The host in a prompt: of "(venv) ada@node-a:~/x$ ", "[ada@node-a ~]$ "; empty if none is there.
std::string_view host_in_prompt(std::string_view prompt) {
  const size_t at = prompt.find('@');
  if (at == prompt.npos) return {};
  return Scanner(prompt.substr(at + 1)).take_while(is_host_char);
}

/// A prompt with a command behind it. Fields command, host.
bool recognise_shell_command(std::string_view text, Message& message) {
  Message answer;
  if (!recognise_by<kShellCommand>(text, message) || recognise_by<kMemlockAnswer>(text, answer))
    return false;
  const std::string_view command = message.field("command");
  message.set("host", host_in_prompt(text.substr(0, command.data() - text.data())));
  return true;
}

/// Text without the quotes that are around all of it.
std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// A setting alone on its line: "NCCL_PROTO=LL", "export NCCL_PROTO=LL", "+ NCCL_NET='AWS
/// Libfabric'". A command behind it makes the line a command. Fields name, value.
bool recognise_listed_setting(std::string_view text, Message& message) {
  Scanner scan(text);
  while (scan.skip('+')) {
  }
  scan.blanks();
  if (scan.skip("export ") || scan.skip("declare -x ")) scan.blanks();
  const std::string_view rest = trim(scan.rest());
  const std::string_view all = unquoted(rest);
  const size_t equals = all.find('=');
  if (equals == all.npos) return false;
  const std::string_view name = all.substr(0, equals);
  const std::string_view value = unquoted(all.substr(equals + 1));
  const auto in_name = [](char c) { return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; };
  if (!std::ranges::all_of(name, in_name)) return false;
  if (!starts_with_one_of(all.substr(0, equals + 1), kListedSettings)) return false;
  // Blanks belong to a value only between quotes; "env" prints the one name that has some bare.
  const bool is_bare = all.size() == rest.size() && value.size() == rest.size() - equals - 1;
  if (is_bare && name != "NCCL_NET" && value.find_first_of(" \t;&|") != value.npos) return false;
  return message.fill({{"name", name}, {"value", value}});
}

// Errors in words that no wording knows.

/// Behind these a number follows, or a signal's name; 0 is no error.
constexpr auto kEnds = listed_words("error-exit");

/// Enough by themselves.
constexpr auto kFailures = listed_words("error");

/// Source code in a traceback, and text that explains an error, name it without reporting one.
bool is_mention(std::string_view line) {
  constexpr std::string_view kCode[] = {"raise ", "except ", "if ", "case ", "#", "//", "* "};
  // Loggers repeat a traceback behind a prefix of theirs: "ERROR 08-27 x.py:382]     raise …".
  const size_t prefix = line.find("]    ");
  return starts_with_one_of(trim(line), kCode) ||
         (prefix != line.npos && starts_with_one_of(trim(line.substr(prefix + 1)), kCode));
}

}  // namespace

constinit const Recogniser kRecognisers[] = {
    {"python_exception", recognise_exception<is_exception_name>, kExceptionEnds, {}},
    {"nccl_result", recognise_nccl_exception, kNcclErrors, {}},
    {"traceback_end", recognise_exception<is_class_name>, {}, {}, true},
    {"process_end", recognise_process_end, kShellPlace, kProcessEnds},
    {"job_end", recognise_job_end, kJobEnds, {}},
    {"signal_status", recognise_exit_status, kExitWords, {}},
    {"progress_bar", recognise_progress_bar, kBarMark, {}},
    {"eval_progress", recognise_eval_progress, kEvalNeedles, {}},
    {"rank_leaves", recognise_rank_leaves, kLeavingWords, {}},
    {"shm_usage", recognise_by<kShmUsage>, kShmMount, {}},
    {"memlock_answer", recognise_by<kMemlockAnswer>, kMemlockQuestion, {}},
    {"ib_port", recognise_by<kIbPort>, listed_words("port-arrow"), {}},
    {"gid_row", recognise_by<kGidRow>, kGidVersions, {}},
    {"pod_row", recognise_by<kPodRow>, kPodStates, {}},
    {"world_size", recognise_by<kWorldSize>, kWorldSizes, {}},
    {"shell_command", recognise_shell_command, kPromptEnds, kBarePrompt},
    {"listed_setting", recognise_listed_setting, kListedSettings, {}},
    {"ras_communicator_row", recognise_by<kRasCommunicatorRow>, {}, listed_words("digit")},
    {"nccl_tests_result", recognise_nccl_tests_result, {}, kRowBegins},
    {"torch_bench_row", recognise_by<kTorchBenchRow>, {}, kTableBorder},
    {"ds_bench_row", recognise_by<kDsBenchRow>, {}, listed_words("digit")},
    {"ds_comms_op", recognise_ds_comms_op, {}, kTorchOps},
    {"ds_comms_row", recognise_by<kDsCommsRow>, {}, listed_words("digit")},
    {"param_row", recognise_param_row, {}, kParamRow},
    {"nccl_tests_rank", recognise_by<kNcclTestsRank>, {}, listed_words("nccl-tests-rank")},
    {"nccl_tests_columns", recognise_by<kNcclTestsColumns>, {}, listed_words("comment")},
    {"bandwidth_columns", recognise_bandwidth_columns, listed_words("bandwidth-column"), {}},
    {"run_hosts", recognise_run_hosts, listed_words("run-hosts"), {}},
    {"bandwidth_line", recognise_bandwidth_line, listed_words("bandwidth-column"), {}},
    {"bandwidth_row", recognise_bandwidth_row, {}, {}, true},
    {"failure_time", recognise_by<kFailureTime>, {}, listed_words("failure-time")},
    {"megatron_step", recognise_by<kMegatronStep>, {}, listed_words("megatron-step")},
    {"titan_step", recognise_by<kTitanStep>, {}, listed_words("titan-step")},
    {"memlock_row", recognise_memlock_row, {}, listed_words("memlock")},
    {"p2p_row", recognise_by<kP2pRow>, {}, listed_words("gpu-row")},
    {"topo_row", recognise_by<kTopoRow>, {}, listed_words("gpu-row")},
};

std::span<const Recogniser> recognisers() { return kRecognisers; }

std::string_view rank_named_in(std::string_view text) {
  for (size_t at = text.find("ank"); at != text.npos; at = text.find("ank", at + 3)) {
    const bool begins = at > 0 && (text[at - 1] == 'r' || text[at - 1] == 'R') &&
                        (at == 1 || !is_word(text[at - 2]));
    if (!begins) continue;
    Scanner scan(text.substr(at + 3));
    scan.skip(':') || scan.skip('=') || scan.skip('_');
    scan.blanks();
    const std::string_view rank = scan.take_while(is_digit, 7);
    if (!rank.empty()) return rank;
  }
  return {};
}

bool is_eval_title(std::string_view title) {
  constexpr std::string_view kWords[] = {"eval",    "valid",    "test",       "predict",
                                         "generat", "sampling", "checkpoint", "infer"};
  const std::string name = lower_case(title);
  return holds_one_of(name, kWords) && name.find("load") == name.npos;
}

std::span<const std::string_view> error_needles() { return {kEnds.begin(), kFailures.end()}; }

bool is_zero(std::string_view behind) {
  const size_t at = behind.find_first_not_of(" :=(");
  if (at == behind.npos || behind[at] != '0') return false;
  return at + 1 == behind.size() || !(is_digit(behind[at + 1]) || behind[at + 1] == 'x');
}

bool looks_like_error(std::string_view line) {
  const auto ends = [line](std::string_view words) {
    const size_t at = line.find(words);
    return at != line.npos && !is_zero(line.substr(at + words.size()));
  };
  return (holds_one_of(line, kFailures) || std::ranges::any_of(kEnds, ends)) && !is_mention(line);
}

}  // namespace ncclog
