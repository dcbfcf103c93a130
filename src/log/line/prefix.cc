// The shapes of single prefixes, then how they are taken off one after the other.
//
//   [1,3]<stdout>:        launchers: Open MPI, srun, torchrun, Ray
//   [pod/w-3/pytorch]     collectors: Kubernetes, Loki, syslog, journald
//   [titan] 2026-01-05 …  loggers: Python's, glog's, vLLM's
//   >  12 |               pasted text: quotes, line numbers
//
// A form answers for one prefix at the start of a text. Nothing here keeps state between lines.

#include "log/line/prefix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "log/line/scanner.h"

namespace ncclog {
namespace {

/// The shape of one prefix.
struct PrefixForm {
  /// Bytes of which the prefix begins with one; empty: it may begin with any.
  std::string_view first_bytes;

  /// Takes the prefix off `scan`. Where it answers false the caller forgets what was taken; then
  /// nothing is noted in `prefix`.
  bool (*recognise)(Scanner& scan, Prefix& prefix);

  bool is_stamp = false;  ///< A logger's own words may follow, as behind a time.

  /// It counts only behind a time.
  bool needs_stamp = false;

  /// Ordinary output has this shape too: it counts only in front of what begins a record.
  bool needs_record = false;

  /// A byte that stands in the first word of every text with such a prefix, or begins the second
  /// one; NUL: none is known. Most lines are let go by it, without a closer look.
  char mark = '\0';

  bool is_bar = false;  ///< A progress bar, for which may_have_prefix does not look.
};

// What several forms need.

/// No launcher prints a longer name.
constexpr size_t kLongestPrefixName = 200;

constexpr std::string_view kWordBytes =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/// "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL": the levels of Python's loggers.
bool is_logger_level(std::string_view word) {
  constexpr std::string_view kLevels[] = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};
  return equals_one_of(word, kLevels);
}

/// Notes the number that a launcher gives its task.
void note_task(Prefix& prefix, int task) {
  if (!prefix.rank_is_stated) prefix.rank = task;
  prefix.task = task;
}

/// Notes the rank that a framework states.
void note_global_rank(Prefix& prefix, int rank) {
  prefix.rank = rank;
  prefix.rank_is_stated = true;
}

/// "<stdout>:", "<stderr>:", "<stddiag>:" and the blank that some releases put behind it.
bool skip_stream_tag(Scanner& scan, Prefix& prefix) {
  if (!scan.skip('<')) return false;
  const std::string_view stream = scan.take_while(is_word, 16);
  if (stream != "stdout" && stream != "stderr" && stream != "stddiag") return false;
  if (!scan.skip(">:")) return false;
  scan.skip(' ');
  prefix.stream = stream;
  return true;
}

/// "[E717 13:20:49", "[E ProcessGroupNCCL.cpp": how records of PyTorch's C++ side begin.
bool begins_cpp_record(std::string_view text) {
  constexpr std::string_view kSeverities = "FEWIV";
  return text.size() > 3 && text[0] == '[' && kSeverities.find(text[1]) != text.npos &&
         (is_digit(text[2]) || (text[2] == ' ' && text.find(".cpp:") < 40));
}

}  // namespace

bool begins_record(std::string_view text) {
  constexpr std::string_view kStarts[] = {"[rank",
                                          "[default",
                                          "Traceback (most recent call last)",
                                          "terminate called after",
                                          "what():  ",
                                          "NCCL version ",
                                          "NCCL INFO",
                                          "NCCL WARN",
                                          "NCCL TRACE",
                                          "NCCL CALL",
                                          "{\""};
  if (trim(text).empty() || begins_cpp_record(text)) return true;
  return starts_with_one_of(text, kStarts);
}

namespace {

// Prefixes of what starts processes: torchrun, Open MPI, PRRTE, Horovod, srun, pdsh, Ray, vLLM.

/// The task in "1,3", "prterun-nodea-77@1,3", "3" or SageMaker's "1,mpirank:3,algo-1".
bool task_of(std::string_view inside, int& task) {
  size_t at = inside.find("mpirank:");
  at = at != inside.npos ? at + 8 : inside.rfind(',') + 1;
  Scanner scan(inside.substr(at));
  return scan.number(task) && (scan.done() || scan.peek() == ',');
}

/// "[1,3]<stdout>:", "[0]<stderr>: ", "[1,0][nodea:4242]<stderr>: ".
bool mpi_tag(Scanner& scan, Prefix& prefix) {
  std::string_view inside;
  int task = -1;
  if (!scan.skip('[') || !scan.until(']', inside, kLongestPrefixName) || !task_of(inside, task))
    return false;
  std::string_view process;
  const bool detailed = scan.skip('[') && scan.until(']', process, kLongestPrefixName);
  if (!skip_stream_tag(scan, prefix)) return false;
  note_task(prefix, task);
  if (detailed) prefix.host = process.substr(0, process.find(':'));
  return true;
}

/// Open MPI's "Mon Jan  5 12:00:00 2026<stdout>:", Horovod's with "[3]" before the stream.
bool mpi_stamp(Scanner& scan, Prefix& prefix) {
  const std::string_view stamp = take_month_stamp(scan);
  if (stamp.empty()) return false;
  if (scan.peek() == '[' ? !mpi_tag(scan, prefix) : !skip_stream_tag(scan, prefix)) return false;
  prefix.time = stamp;
  return true;
}

/// "[rank3]: " of Python's excepthook, "[rank: 3] " of Lightning. Without the blank it is
/// torchrun's "--role rank": a local rank. So it is in "[rank3]:  what():", where the C++ runtime
/// prints the blanks.
bool framework_rank(Scanner& scan, Prefix& prefix) {
  int rank = -1;
  if (!scan.skip("[rank")) return false;
  const bool lightning = scan.skip(": ");
  if (!scan.number(rank) || !scan.skip(lightning ? "] " : "]:")) return false;
  const bool global = lightning || (!scan.rest().starts_with("  what():") && scan.skip(' '));
  if (global) {
    note_global_rank(prefix, rank);
  } else {
    prefix.local_rank = rank;
  }
  return true;
}

/// torchrun's "[default3]:", with TorchX's replica "[trainer0|3]:".
bool torchrun_tee(Scanner& scan, Prefix& prefix) {
  std::string_view inside;
  if (!scan.skip('[') || !scan.until(']', inside, 64) || !scan.skip(':')) return false;
  size_t digits = inside.size();
  while (digits > 0 && is_digit(inside[digits - 1])) --digits;
  Scanner number(inside.substr(digits));
  const std::string_view role = inside.substr(0, digits);
  int local_rank = -1;
  const auto is_role = [](char c) { return is_word(c) || c == '|'; };
  if (role.empty() || !std::ranges::all_of(role, is_role) || !number.number(local_rank))
    return false;
  prefix.local_rank = local_rank;
  return true;
}

/// srun --label: "3: ", " 3: ", "03: ".
bool srun_label(Scanner& scan, Prefix& prefix) {
  scan.blanks();
  int task = -1;
  if (!is_digit(scan.peek()) || scan.rest().find(':') > 6 || !scan.number(task)) return false;
  if (!scan.skip(": ")) return false;
  note_task(prefix, task);
  return true;
}

/// "(TrainWorker pid=4242, ip=10.0.0.7) " of Ray, "(VllmWorker rank=1 pid=4242) " of vLLM.
bool actor(Scanner& scan, Prefix& prefix) {
  std::string_view inside;
  if (!scan.skip('(') || !scan.until(')', inside, kLongestPrefixName)) return false;
  if (!scan.done() && !scan.skip(' ')) return false;
  const size_t pid_at = inside.find("pid=");
  if (pid_at == inside.npos || (pid_at > 0 && inside[pid_at - 1] != ' ')) return false;
  Scanner numbers(inside.substr(pid_at + 4));
  int64_t pid = -1;
  if (!numbers.number(pid)) return false;
  prefix.pid = pid;
  if (numbers.skip(", ip=")) prefix.address = numbers.rest();
  const size_t rank_at = inside.substr(0, pid_at).find("rank=");
  Scanner name(rank_at == inside.npos ? std::string_view{} : inside.substr(rank_at + 5));
  int rank = -1;
  if (name.number(rank)) note_task(prefix, rank);
  return true;
}

/// Names that look like hosts and are not: "gpu0: ", "epoch3: ", "python3.10: ".
bool is_common_word(std::string_view name) {
  constexpr std::string_view kWords[] = {"rank",  "gpu",    "cuda",  "step",  "epoch", "iter",
                                         "layer", "python", "stage", "batch", "torch", "sha",
                                         "md",    "utf",    "eth",   "ib",    "line"};
  size_t letters = 0;
  while (letters < name.size() && is_alpha(name[letters])) ++letters;
  const std::string_view stem = name.substr(0, letters);
  const bool numbered = letters < name.size() && (is_digit(name[letters]) || name[letters] == '.');
  return numbered && equals_one_of(stem, kWords);
}

bool looks_like_host(std::string_view name) {
  if (name.starts_with("nvidia-nvswitch")) return false;  // A driver, in the kernel's log.
  bool letter = false;
  bool digit = false;
  for (const char c : name) {
    if (c == '_' || (c >= 'A' && c <= 'Z')) return false;
    letter |= is_alpha(c);
    digit |= is_digit(c);
  }
  return name == "localhost" || (letter && digit && name.size() >= 3 && !is_common_word(name));
}

/// "10.10.23.10": pdsh and DeepSpeed may know a host by its address only.
bool is_ipv4(std::string_view name) {
  return std::ranges::count(name, '.') == 3 && name.find_first_not_of("0123456789.") == name.npos;
}

/// pdsh, clush: "nodea: ". nccl-tests prints "node105: Test NCCL failure" itself: that is a
/// message.
bool host_label(Scanner& scan, Prefix& prefix) {
  if (!is_word(scan.peek())) return false;
  const std::string_view name = scan.take_while(is_host_char, kLongestPrefixName);
  if (!scan.skip(": ") || name.find_first_not_of("0123456789") == name.npos) return false;
  const std::string_view rest = scan.rest();
  if (rest.starts_with("Test ")) return false;
  if (!looks_like_host(name) && !is_ipv4(name) && (rest.empty() || !begins_record(rest)))
    return false;
  prefix.host = name;
  return true;
}

// Prefixes of what collects lines: containerd, docker, kubectl, journald, syslog, logcli, the
// kernel.

constexpr bool is_tag_char(char c) { return is_host_char(c) || c == '/' || c == '@'; }

/// "[pod/train-worker-3/pytorch] " of kubectl --prefix.
bool kubernetes_pod(Scanner& scan, Prefix& prefix) {
  std::string_view pod;
  std::string_view container;
  if (!scan.skip("[pod/") || !scan.until('/', pod, kLongestPrefixName)) return false;
  if (!scan.until(']', container, kLongestPrefixName) || !scan.skip(' ')) return false;
  prefix.host = pod;
  return true;
}

/// logcli's "{pod=\"w-3\", container=\"pytorch\"} " behind the time.
bool loki_labels(Scanner& scan, Prefix& prefix) {
  std::string_view labels;
  if (!scan.skip('{') || !scan.until('}', labels, 1000)) return false;
  if (labels.find("=\"") == labels.npos || !scan.skip(' ')) return false;
  const size_t at = labels.find("pod=\"");
  if (at != labels.npos) {
    const std::string_view pod = labels.substr(at + 5);
    prefix.host = pod.substr(0, pod.find('"'));
  }
  return true;
}

/// containerd's "stderr F ", P where the line goes on in the next one.
void skip_cri_tag(Scanner& scan, Prefix& prefix) {
  const std::string_view stream = scan.rest().substr(0, 6);
  if ((stream != "stdout" && stream != "stderr") || !scan.skip(stream)) return;
  scan.skip(' ');
  prefix.stream = stream;
  if (!scan.skip("F ") && !scan.skip("P ") && (scan.rest() == "F" || scan.rest() == "P"))
    scan.skip(scan.peek());
}

/// "DP0 TP3] " of SGLang, or only the bracket.
bool skip_bracket_end(Scanner& scan) {
  std::string_view parallel;
  return scan.until(']', parallel, 40) && (parallel.empty() || parallel[0] == ' ');
}

/// Containerd's "… stderr F ", docker -t, CloudWatch's with a tab, loggers, SGLang's "[… DP0 TP3]
/// ".
bool iso_stamp(Scanner& scan, Prefix& prefix) {
  if (!scan.skip("[titan] ")) scan.skip(' ');
  const bool bracket = scan.skip('[');
  const std::string_view stamp = take_iso_stamp(scan);
  if (stamp.empty() || (bracket && !skip_bracket_end(scan))) return false;
  if (!scan.skip(' ') && !scan.skip(": ") && !scan.skip('\t') && !scan.done()) return false;
  prefix.time = stamp;
  if (!bracket) skip_cri_tag(scan, prefix);
  return true;
}

/// CloudWatch's "  | 2026-01-05T12:00:00.123Z | ": a column for a stream's name, which is empty.
bool stamp_in_columns(Scanner& scan, Prefix& prefix) {
  if (!scan.skip('|') || scan.blanks() == 0) return false;
  const std::string_view stamp = take_iso_stamp(scan);
  if (stamp.empty() || scan.blanks() == 0 || !scan.skip('|')) return false;
  if (!scan.skip(' ') && !scan.done()) return false;
  prefix.time = stamp;
  return true;
}

/// CloudWatch's milliseconds since 1970 and a tab.
bool epoch_stamp(Scanner& scan, Prefix& prefix) {
  const std::string_view stamp = scan.rest().substr(0, 13);
  if (!scan.digits(13) || !scan.skip('\t')) return false;
  prefix.time = stamp;
  return true;
}

/// "<3>" of dmesg -r, "kern  :err   : " of dmesg -x.
void skip_priority(Scanner& scan) {
  Scanner start = scan;
  int priority = -1;
  std::string_view level;
  const bool raw = start.skip('<') && start.number(priority) && start.skip('>');
  const bool named = scan.rest().starts_with("kern ") && start.until(':', level, 12) &&
                     start.until(':', level, 12) && start.skip(' ');
  if (raw || named) scan = start;
}

/// The kernel's "[12345.678901] ", with dmesg -T "[Mon Jan  5 12:00:00 2026] ".
bool kernel_stamp(Scanner& scan, Prefix& prefix) {
  skip_priority(scan);
  if (!scan.skip('[')) return false;
  const std::string_view month = take_month_stamp(scan);
  if (!month.empty()) {
    if (!scan.skip("] ")) return false;
    prefix.time = month;
    return true;
  }
  scan.blanks();
  return !scan.take_while(is_digit, 12).empty() && scan.skip('.') && scan.digits(6) &&
         scan.skip("] ");
}

/// "kernel: ", all that is left of the journal's line where time and host were taken off.
bool kernel_name(Scanner& scan, Prefix&) { return scan.skip("kernel: "); }

/// "nodea slurmstepd[77]: ", "nodea kernel: " behind the time `stamp`. Where a process must be
/// named, only the kernel may do without pid.
bool journal_of(std::string_view stamp, bool names_process, Scanner& scan, Prefix& prefix) {
  if (stamp.empty() || !scan.skip(' ')) return false;
  const std::string_view host = scan.take_while(is_host_char);
  // "INFO trainer[rank 3]: " is a logger's.
  if (host.empty() || is_logger_level(host) || !scan.skip(' ')) return false;
  const std::string_view program = scan.take_while(is_tag_char, kLongestPrefixName);
  std::string_view pid;
  const bool has_pid = scan.skip('[');
  if (program.empty() || (has_pid && !scan.until(']', pid, 12))) return false;
  if ((!has_pid && names_process && program != "kernel") || !scan.skip(": ")) return false;
  prefix.host = host;
  prefix.time = stamp;
  return true;
}

/// journald, syslog: "Jan 05 12:00:00 nodea slurmstepd[77]: ".
bool journal(Scanner& scan, Prefix& prefix) {
  return journal_of(take_month_stamp(scan), false, scan, prefix);
}

/// journalctl -o short-iso: "2026-01-05T12:00:00+0000 nodea slurmstepd[77]: ". A program without
/// pid would read like a sentence behind a time.
bool iso_journal(Scanner& scan, Prefix& prefix) {
  return journal_of(take_iso_stamp(scan), true, scan, prefix);
}

/// What RFC 5424 puts behind the host: "app 77 ID47 - ", the last "-" or "[id key=\"v\"]".
bool skip_syslog_fields(Scanner& scan) {
  std::string_view word;
  for (int i = 0; i < 3; ++i) {
    if (!scan.until(' ', word, kLongestPrefixName) || word.empty()) return false;
  }
  while (scan.skip('[')) {
    if (!scan.until(']', word, 1000)) return false;
  }
  scan.skip('-');
  if (!scan.skip(' ')) return scan.done();
  scan.skip("\xEF\xBB\xBF");
  return true;
}

/// "<30>Jan 05 12:00:00 nodea app[77]: ", "<134>1 2026-01-05T12:00:00Z nodea app 77 ID47 - ".
bool syslog(Scanner& scan, Prefix& prefix) {
  int priority = -1;
  if (!scan.skip('<') || !scan.number(priority) || priority > 191 || !scan.skip('>')) return false;
  if (!scan.skip("1 ")) return journal(scan, prefix);
  const std::string_view stamp = take_iso_stamp(scan);
  if (stamp.empty() || !scan.skip(' ')) return false;
  const std::string_view host = scan.take_while(is_host_char);
  if (host.empty() || !scan.skip(' ') || !skip_syslog_fields(scan)) return false;
  if (host != "-") prefix.host = host;
  prefix.time = stamp;
  return true;
}

/// journalctl -o export: "MESSAGE=".
bool exported_message(Scanner& scan, Prefix&) { return scan.skip("MESSAGE="); }

/// docker compose: "worker-1  | ", swarm: "job_worker.2.k3x9@nodea    | ". Services are numbered;
/// tables' first columns seldom are.
bool compose_service(Scanner& scan, Prefix& prefix) {
  const std::string_view name = scan.take_while(is_tag_char, kLongestPrefixName);
  if (scan.blanks() == 0 || !(scan.skip("| ") || scan.rest() == "|")) return false;
  const size_t node = name.find('@');
  if (node != name.npos) {
    if (name.find('.') > node) return false;
    prefix.host = name.substr(node + 1);
    return true;
  }
  const size_t mark = name.find_last_of("-_");
  if (mark == name.npos || mark == 0 || mark + 1 == name.size()) return false;
  if (!parse_int(name.substr(mark + 1))) return false;
  prefix.host = name;
  return true;
}

// Prefixes that a framework's own logger writes: vLLM, SGLang, DeepSpeed, torchtitan, fairseq,
// Hydra, Hugging Face, Ray, absl and TensorFlow.

constexpr bool is_file_path_char(char c) { return is_host_char(c) || c == '/' || c == '+'; }

bool is_absl_severity(char c) { return c == 'I' || c == 'W' || c == 'E' || c == 'F'; }

/// "core.py:58] ", "external/xla/a.cc:12] ".
bool skip_location(Scanner& scan) {
  int line = 0;
  const std::string_view file = scan.take_while(is_file_path_char, kLongestPrefixName);
  return file.find('.') != file.npos && scan.skip(':') && scan.number(line) && scan.skip("] ");
}

/// "| INFO | train_inner | ", "- root - INFO - ": logger and level in either order.
bool named_level(Scanner& scan, Prefix&) {
  const char mark = scan.peek();
  bool level = false;
  if (!scan.skip(mark)) return false;
  for (int i = 0; i < 2; ++i) {
    std::string_view word;
    if (!scan.skip(' ') || !scan.until(' ', word, 60) || !scan.skip(mark)) return false;
    level |= is_logger_level(word);
  }
  return level && scan.skip(' ');
}

/// loguru's "| INFO     | train:step:12 - ".
bool padded_level(Scanner& scan, Prefix&) {
  if (!scan.skip("| ") || !is_logger_level(scan.take_while(is_word, 10))) return false;
  std::string_view place;
  if (scan.blanks() == 0 || !scan.skip("| ") || !scan.until(' ', place, kLongestPrefixName))
    return false;
  return place.find(':') != place.npos && scan.skip("- ");
}

/// Ray's "INFO worker.py:1528 -- ".
bool level_and_file(Scanner& scan, Prefix&) {
  int line = 0;
  if (!is_logger_level(scan.take_while(is_word, 10)) || !scan.skip(' ')) return false;
  const std::string_view file = scan.take_while(is_file_path_char, kLongestPrefixName);
  return file.ends_with(".py") && scan.skip(':') && scan.number(line) && scan.skip(" -- ");
}

/// What loggers put behind their time: "[INFO] ", "[logging.py:128:log_dist] ", "[Rank 0] ".
bool bracketed_word(Scanner& scan, Prefix& prefix) {
  std::string_view word;
  int rank = -1;
  if (scan.skip("[Rank ")) {
    if (!scan.number(rank) || !scan.skip("] ")) return false;
    note_global_rank(prefix, rank);
    return true;
  }
  return scan.skip('[') && scan.until(']', word, 80) && scan.skip(' ') &&
         (is_logger_level(word) || word.find(".py:") != word.npos);
}

/// "- INFO - " of a format without the logger's name.
bool level_alone(Scanner& scan, Prefix&) {
  std::string_view word;
  return scan.skip("- ") && scan.until(' ', word, 10) && is_logger_level(word) && scan.skip("- ");
}

/// "INFO trainer: ", "INFO trainer[rank 0]: ". What a logger prints at other levels may begin with
/// the name of an exception that it caught, so that is left in the message's line.
bool info_of_logger(Scanner& scan, Prefix&) {
  if (!scan.skip("INFO ") || scan.take_while(is_host_char, 60).empty()) return false;
  int rank = -1;
  if (scan.skip("[rank ") && (!scan.number(rank) || !scan.skip(']'))) return false;
  return scan.skip(": ");
}

/// TensorFlow's "I external/xla/a.cc:12] " behind a time.
bool severity_and_place(Scanner& scan, Prefix&) {
  return scan.skip_if(is_absl_severity) && scan.skip(' ') && skip_location(scan);
}

/// Hydra's "[2026-01-05 12:00:00,123][train][INFO] - ".
bool hydra_line(Scanner& scan, Prefix& prefix) {
  if (!scan.skip('[')) return false;
  const std::string_view stamp = take_iso_stamp(scan);
  if (stamp.empty() || !scan.skip("][")) return false;
  std::string_view word;
  if (scan.take_while(is_host_char, 80).empty() || !scan.skip("][")) return false;
  if (!scan.until(']', word, 10) || !is_logger_level(word) || !scan.skip(" - ")) return false;
  prefix.time = stamp;
  return true;
}

/// vLLM's "INFO 01-05 12:00:00 [core.py:58] "; older releases leave the first bracket out.
bool vllm_line(Scanner& scan, Prefix& prefix) {
  if (!is_logger_level(scan.take_while(is_word, 10)) || !scan.skip(' ')) return false;
  const std::string_view stamp = scan.rest().substr(0, 14);
  if (!scan.digits(2) || !scan.skip('-') || !scan.digits(2) || !scan.skip(' ')) return false;
  if (take_clock(scan).empty() || !scan.skip(' ')) return false;
  scan.skip('[');
  if (!skip_location(scan)) return false;
  prefix.time = stamp;
  return true;
}

/// "I0105 12:00:00.000001 4242 a.cc:12] ", and before absl is initialised
/// "I0000 00:00:1767614400.000001 4242 ", the seconds since 1970 in place of the time.
bool absl_line(Scanner& scan, Prefix&) {
  int64_t thread = -1;
  if (!scan.skip_if(is_absl_severity)) return false;
  const bool early = scan.skip("0000 00:00:");
  if (early) {
    if (scan.take_while(is_digit, 12).empty() || !scan.skip('.') || !scan.digits(6)) return false;
  } else {
    if (!scan.digits(4) || !scan.skip(' ') || take_clock(scan).empty()) return false;
  }
  return scan.blanks() > 0 && scan.number(thread) && scan.skip(' ') && skip_location(scan);
}

/// "INFO:train.loop:" of Python's logging without a formatter.
bool basic_line(Scanner& scan, Prefix&) {
  if (!is_logger_level(scan.take_while(is_word, 10)) || !scan.skip(':')) return false;
  return !scan.take_while(is_host_char, 80).empty() && scan.skip(':');
}

/// "[INFO|trainer.py:3719] 2026-01-05 12:00:00,123 >> " of Hugging Face.
bool hugging_face_line(Scanner& scan, Prefix& prefix) {
  if (!scan.skip('[') || !is_logger_level(scan.take_while(is_word, 10)) || !scan.skip('|') ||
      !skip_location(scan))
    return false;
  const std::string_view stamp = take_iso_stamp(scan);
  if (stamp.empty() || !scan.skip(" >> ")) return false;
  prefix.time = stamp;
  return true;
}

// Prefixes that lines get on their way into a mail, an issue, a diff or a terminal: quotes, line
// numbers, borders, bare numbers of ranks.
//
//   > > 12 | [3] node07:41:42 [3] NCCL INFO …
//
// All but quotes look like ordinary output, so they count only in front of text that begins a
// record of its own.

/// "> ", ">> ", "> > ".
bool quote(Scanner& scan, Prefix&) {
  scan.blanks();
  const size_t marks = scan.take_while([](char c) { return c == '>'; }, 16).size();
  return marks > 0 && (scan.blanks() > 0 || scan.done());
}

/// "  12  ", "12 | ", "12) ", "12:" of an editor, of cat -n, of grep -n.
bool line_number(Scanner& scan, Prefix&) {
  int number = 0;
  scan.blanks();
  if (!scan.number(number)) return false;
  const size_t blanks = scan.blanks();
  const bool mark = scan.skip('|') || scan.skip(')') || scan.skip('.') || scan.skip(':');
  if (scan.blanks() > 0 || mark) return true;
  return blanks > 0;
}

/// "- " and "* " of a list.
bool list_item(Scanner& scan, Prefix&) {
  scan.blanks();
  return scan.skip("- ") || scan.skip("* ") || scan.skip("| ");
}

/// "│ " at the left of a pane of tmux.
bool border(Scanner& scan, Prefix&) { return scan.skip("│") && scan.blanks() > 0; }

/// "+" of a diff in front of a table's rows and of what nccl-tests comments: "+   1048576  …".
bool added_row(Scanner& scan, Prefix&) {
  if (!scan.skip('+')) return false;
  Scanner behind = scan;
  return behind.peek() == '#' || (behind.blanks() > 1 && is_digit(behind.peek()));
}

/// "[3] " of Intel MPI and MPICH, "[11]: " of torchrun's template.
bool bare_rank(Scanner& scan, Prefix& prefix) {
  int rank = -1;
  if (!scan.skip('[') || !scan.number(rank) || !scan.skip(']')) return false;
  scan.skip(':');
  if (!scan.skip(' ')) return false;
  note_task(prefix, rank);
  return true;
}

/// stern's "train-worker-3 pytorch ": the pod's name has a number, as replicas have.
bool stern_names(Scanner& scan, Prefix& prefix) {
  const std::string_view pod = scan.take_while(is_host_char, kLongestPrefixName);
  if (pod.find('-') == pod.npos || pod.find_first_of("0123456789") == pod.npos) return false;
  if (!scan.skip(' ') || scan.take_while(is_host_char, kLongestPrefixName).empty()) return false;
  if (!scan.skip(' ')) return false;
  prefix.host = pod;
  return true;
}

/// A tqdm bar that got no newline, with something behind it on the same line. Where quotes stand
/// before it, it is a collector's record of one.
bool bar_without_newline(Scanner& scan, Prefix& prefix) {
  const TqdmBar bar = parse_progress_bar(scan.rest());
  if (bar.length == 0 || trim(scan.rest().substr(bar.length)).empty()) return false;
  if (bar.title.find('"') != bar.title.npos) return false;
  scan.skip(scan.rest().substr(0, bar.length));
  prefix.progress_title = bar.title;
  return true;
}

// The first form that fits is taken.
constexpr PrefixForm kPrefixForms[] = {
    // Of collectors.
    {"[", kubernetes_pod},
    {.first_bytes = "{", .recognise = loki_labels, .needs_stamp = true},
    {"0123456789", iso_journal},
    {.first_bytes = " [0123456789", .recognise = iso_stamp, .is_stamp = true},
    {.first_bytes = "0123456789", .recognise = epoch_stamp, .is_stamp = true},
    {.first_bytes = "|", .recognise = stamp_in_columns, .mark = '|'},
    {"[<k", kernel_stamp},
    {.first_bytes = "k", .recognise = kernel_name, .mark = ':'},
    {"JFMASOND", journal},
    {"<", syslog},
    {"M", exported_message},
    {.first_bytes = "", .recognise = compose_service, .mark = '|'},
    // Of loggers.
    {.first_bytes = "[", .recognise = bracketed_word, .is_stamp = true, .needs_stamp = true},
    {.first_bytes = "|", .recognise = padded_level, .needs_stamp = true},
    {.first_bytes = "|-", .recognise = named_level, .needs_stamp = true},
    {.first_bytes = "-", .recognise = level_alone, .needs_stamp = true},
    {.first_bytes = "IWEF", .recognise = severity_and_place, .needs_stamp = true},
    {.first_bytes = "DIWEC", .recognise = level_and_file, .needs_stamp = true},
    {.first_bytes = "I", .recognise = info_of_logger, .needs_stamp = true},
    {"DIWEC", vllm_line},
    {"IWEF", absl_line},
    {"DIWEC", basic_line},
    {"[", hugging_face_line},
    {"[", hydra_line},
    // Of launchers.
    {"[", mpi_tag},
    {"MTWFS", mpi_stamp},
    {"<", skip_stream_tag},
    {"[", framework_rank},
    {"[", torchrun_tee},
    {"(", actor},
    {" 0123456789", srun_label},
    {.first_bytes = kWordBytes, .recognise = host_label, .mark = ':'},
    // Of what was pasted.
    {" >", quote},
    {.first_bytes = " 0123456789", .recognise = line_number, .needs_record = true},
    {.first_bytes = " -*|", .recognise = list_item, .needs_record = true},
    {.first_bytes = "\xE2", .recognise = border, .needs_record = true},
    {"+", added_row},
    {.first_bytes = "[", .recognise = bare_rank, .needs_record = true},
    {.first_bytes = "abcdefghijklmnopqrstuvwxyz",
     .recognise = stern_names,
     .needs_record = true,
     .mark = '-'},
    // Of nobody in particular.
    {.first_bytes = "", .recognise = bar_without_newline, .mark = '%', .is_bar = true},
};

// All of them, by the byte with which they begin.

/// Forms by their place in kPrefixForms, a bit each.
using Forms = uint64_t;
static_assert(std::size(kPrefixForms) <= 64);

template <typename Wanted>
constexpr Forms forms_that(Wanted wanted) {
  Forms forms = 0;
  for (size_t i = 0; i < std::size(kPrefixForms); ++i) forms |= Forms{wanted(kPrefixForms[i])} << i;
  return forms;
}

constexpr Forms kBehindStamp = forms_that([](const PrefixForm& form) { return form.needs_stamp; });
constexpr Forms kBeforeRecord =
    forms_that([](const PrefixForm& form) { return form.needs_record; });

/// The forms that may begin with a byte.
constexpr auto kFormsByByte = [] {
  std::array<Forms, 256> forms{};
  for (size_t byte = 0; byte < forms.size(); ++byte) {
    forms[byte] = forms_that([&](const PrefixForm& form) {
      return form.first_bytes.empty() ||
             form.first_bytes.find(static_cast<char>(byte)) != std::string_view::npos;
    });
  }
  return forms;
}();

Forms forms_of(std::string_view text) { return kFormsByByte[static_cast<unsigned char>(text[0])]; }

constexpr int kMaxPrefixes = 64;  ///< A line of many progress bars has that many.

/// What was taken off a line so far.
struct Reading {
  Prefix prefix;
  bool after_stamp = false;  ///< The piece before was a time: a logger's own words may follow.
};

/// Takes the prefix of one form off `text`; its length, 0 if there is none.
size_t take(const PrefixForm& form, std::string_view text, Reading& reading) {
  Scanner scan(text);
  return form.recognise(scan, reading.prefix) ? scan.taken() : 0;
}

/// Takes one prefix that cannot mean anything else off `text`.
size_t take_certain(std::string_view text, Reading& reading) {
  if (text.empty()) return 0;
  const Forms left_out = kBeforeRecord | (reading.after_stamp ? 0 : kBehindStamp);
  for (Forms forms = forms_of(text) & ~left_out; forms != 0; forms &= forms - 1) {
    const PrefixForm& form = kPrefixForms[std::countr_zero(forms)];
    const size_t length = take(form, text, reading);
    if (length == 0) continue;
    reading.after_stamp = form.is_stamp;
    return length;
  }
  return 0;
}

constexpr int kMaxPasted = 4;  ///< Shapes of ordinary output that may stand one after the other.

size_t take_in_front_of_record(std::string_view text, Reading& reading, int more);

/// True if a record follows, behind up to `more` of the shapes that ordinary output has too.
bool begins_record_or_prefix(std::string_view text, int more) {
  if (begins_record(text)) return true;
  Reading ignored;
  return take_certain(text, ignored) > 0 || take_in_front_of_record(text, ignored, more) > 0;
}

/// Takes one of the shapes that ordinary output has too off `text`.
size_t take_in_front_of_record(std::string_view text, Reading& reading, int more) {
  if (more == 0 || text.empty()) return 0;
  for (Forms forms = forms_of(text) & kBeforeRecord; forms != 0; forms &= forms - 1) {
    Reading attempt = reading;
    const size_t length = take(kPrefixForms[std::countr_zero(forms)], text, attempt);
    if (length == 0 || !begins_record_or_prefix(text.substr(length), more - 1)) continue;
    reading = attempt;
    reading.after_stamp = false;
    return length;
  }
  return 0;
}

/// Takes a prefix off that somebody indented. Words behind blanks are ordinary text too often.
size_t take_indented(std::string_view text, Reading& reading) {
  const size_t blanks = std::min(text.find_first_not_of(" \t"), text.size());
  if (blanks == 0 || blanks == text.size()) return 0;
  Reading attempt = reading;
  const std::string_view inner = text.substr(blanks);
  size_t length = take_certain(inner, attempt);
  const bool is_word = length > 0 && is_alpha(inner[0]);
  if (is_word && !begins_record_or_prefix(inner.substr(length), kMaxPasted)) return 0;
  if (length == 0) length = take_in_front_of_record(inner, attempt, kMaxPasted);
  if (length == 0) return 0;
  reading = attempt;
  return blanks + length;
}

// A glance.

/// Bytes that are the mark of some form, each with a bit of its own, and blanks.
struct MarkBits {
  static constexpr uint8_t kBlank = 1;
  static constexpr uint8_t kUnsure = 0x80;  ///< Of a first byte: some form has no mark.

  std::array<uint8_t, 256> of_byte{};   ///< What a byte is.
  std::array<uint8_t, 256> by_first{};  ///< Marks of all forms that may begin with a byte.
};

constexpr MarkBits kMarks = [] {
  MarkBits marks;
  marks.of_byte[' '] = marks.of_byte['\t'] = MarkBits::kBlank;
  unsigned next = MarkBits::kBlank << 1;
  for (size_t i = 0; i < std::size(kPrefixForms); ++i) {
    const PrefixForm& form = kPrefixForms[i];
    if (form.needs_stamp || form.is_bar) continue;
    uint8_t& mark = marks.of_byte[static_cast<unsigned char>(form.mark)];
    if (form.mark != '\0' && mark == 0 && next < MarkBits::kUnsure) {
      mark = static_cast<uint8_t>(next);
      next <<= 1;
    }
    const uint8_t bits = form.mark == '\0' || mark == 0 ? MarkBits::kUnsure : mark;
    for (size_t byte = 0; byte < marks.by_first.size(); ++byte) {
      if ((kFormsByByte[byte] >> i & 1) != 0) marks.by_first[byte] |= bits;
    }
  }
  return marks;
}();

}  // namespace

bool may_have_prefix(std::string_view line) {
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto is = [&](uint8_t wanted) {
    return (kMarks.of_byte[static_cast<unsigned char>(*at)] & wanted) != 0;
  };
  // The first word is looked through for a mark, and the byte with which the second one begins.
  while (at < end && is(MarkBits::kBlank)) ++at;
  if (at == end) return false;
  const uint8_t marks = kMarks.by_first[static_cast<unsigned char>(*at)];
  if ((marks & MarkBits::kUnsure) != 0) return true;
  while (at < end && !is(MarkBits::kBlank | marks)) ++at;
  while (at < end && is(MarkBits::kBlank)) ++at;
  return at < end && is(marks);
}

// All prefixes of a line.

Prefix parse_prefix(std::string_view line) {
  Reading reading;
  for (int i = 0; i < kMaxPrefixes; ++i) {
    const std::string_view rest = line.substr(reading.prefix.length);
    // The surest shapes first: the others also fit ordinary output.
    size_t length = take_certain(rest, reading);
    if (length == 0) length = take_indented(rest, reading);
    if (length == 0) length = take_in_front_of_record(rest, reading, kMaxPasted);
    if (length == 0) break;
    reading.prefix.length += length;
  }
  return reading.prefix;
}

}  // namespace ncclog
