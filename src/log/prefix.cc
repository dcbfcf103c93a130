#include "log/prefix.h"

#include <algorithm>

#include "log/scanner.h"
#include "log/time_stamp.h"

namespace ncclog {
namespace {

constexpr size_t kLongestName = 200;  ///< No launcher prints a longer one.
constexpr int kMaxPrefixes = 64;      ///< A line of many progress bars has that many.

/// What the recognisers know besides the prefix itself.
struct Reading {
  Prefix prefix;
  bool rank_is_global = false;  ///< The framework said so; a launcher's number does not replace it.
  bool after_stamp = false;     ///< The piece before was a time: a logger's own words may follow.
};

/// Recognises one prefix at the start of a text and takes it off `scan`; nothing is taken off, nor
/// noted, where it answers false.
using Recogniser = bool (*)(Scanner& scan, Reading& reading);

constexpr bool is_host_char(char c) { return is_word(c) || c == '-' || c == '.'; }

void note_task(Reading& reading, int task) {
  if (!reading.rank_is_global) reading.prefix.rank = task;
}

void note_global_rank(Reading& reading, int rank) {
  reading.prefix.rank = rank;
  reading.rank_is_global = true;
}

bool skip_stream(Scanner& scan) {
  if (!scan.skip('<')) return false;
  const std::string_view stream = scan.take_while(is_word, 16);
  return (stream == "stdout" || stream == "stderr" || stream == "stddiag") && scan.skip(">:");
}

/// The task in "1,3", "prterun-nodea-77@1,3", "3" or SageMaker's "1,mpirank:3,algo-1".
bool task_of(std::string_view inside, int& task) {
  size_t at = inside.find("mpirank:");
  at = at != inside.npos ? at + 8 : inside.rfind(',') + 1;
  Scanner scan(inside.substr(at));
  return scan.number(task) && (scan.done() || scan.peek() == ',');
}

/// "[1,3]<stdout>:", "[0]<stderr>: ", "[1,0][nodea:4242]<stderr>: ", a date in front of any of
/// them.
bool mpi_tag(Scanner& scan, Reading& reading) {
  scan.skip(scan.rest().substr(0, month_stamp_length(scan.rest())));
  std::string_view inside;
  int task = -1;
  if (!scan.skip('[') || !scan.until(']', inside, kLongestName) || !task_of(inside, task))
    return false;
  std::string_view process;
  const bool detailed = scan.skip('[') && scan.until(']', process, kLongestName);
  if (!skip_stream(scan)) return false;
  scan.skip(' ');
  note_task(reading, task);
  if (detailed) reading.prefix.host = process.substr(0, process.find(':'));
  return true;
}

/// "[rank3]: " of Python's excepthook, "[rank: 3] " of Lightning. Without the blank it is
/// torchrun's
/// "--role rank": a local rank.
bool framework_rank(Scanner& scan, Reading& reading) {
  int rank = -1;
  if (!scan.skip("[rank")) return false;
  const bool lightning = scan.skip(": ");
  if (!scan.number(rank) || !scan.skip(lightning ? "] " : "]:")) return false;
  const bool global = lightning || scan.skip(' ');
  if (global) {
    note_global_rank(reading, rank);
  } else {
    reading.prefix.local_rank = rank;
  }
  return true;
}

/// torchrun's "[default3]:".
bool torchrun_tee(Scanner& scan, Reading& reading) {
  std::string_view inside;
  if (!scan.skip('[') || !scan.until(']', inside, 64) || !scan.skip(':')) return false;
  size_t digits = inside.size();
  while (digits > 0 && is_digit(inside[digits - 1])) --digits;
  Scanner number(inside.substr(digits));
  const std::string_view role = inside.substr(0, digits);
  int local_rank = -1;
  if (role.empty() || !std::all_of(role.begin(), role.end(), is_word) || !number.number(local_rank))
    return false;
  reading.prefix.local_rank = local_rank;
  return true;
}

/// srun --label: "3: ", " 3: ", "03: ".
bool srun_label(Scanner& scan, Reading& reading) {
  scan.blanks();
  int task = -1;
  if (!is_digit(scan.peek()) || scan.rest().find(':') > 6 || !scan.number(task)) return false;
  if (!scan.skip(": ")) return false;
  note_task(reading, task);
  return true;
}

/// "[pod/train-worker-3/pytorch] " of kubectl --prefix.
bool kubernetes_pod(Scanner& scan, Reading& reading) {
  std::string_view pod;
  std::string_view container;
  if (!scan.skip("[pod/") || !scan.until('/', pod, kLongestName)) return false;
  if (!scan.until(']', container, kLongestName) || !scan.skip(' ')) return false;
  reading.prefix.host = pod;
  return true;
}

/// "(TrainWorker pid=4242, ip=10.0.0.7) " of Ray, "(VllmWorker rank=1 pid=4242) " of vLLM.
bool actor(Scanner& scan, Reading& reading) {
  std::string_view inside;
  if (!scan.skip('(') || !scan.until(')', inside, kLongestName)) return false;
  if (!scan.done() && !scan.skip(' ')) return false;
  const size_t pid_at = inside.find("pid=");
  if (pid_at == inside.npos || (pid_at > 0 && inside[pid_at - 1] != ' ')) return false;
  Scanner numbers(inside.substr(pid_at + 4));
  int64_t pid = -1;
  if (!numbers.number(pid)) return false;
  reading.prefix.pid = pid;
  if (numbers.skip(", ip=")) reading.prefix.address = numbers.rest();
  const size_t rank_at = inside.substr(0, pid_at).find("rank=");
  Scanner name(rank_at == inside.npos ? std::string_view{} : inside.substr(rank_at + 5));
  int rank = -1;
  if (name.number(rank)) note_task(reading, rank);
  return true;
}

/// Containerd's "… stderr F ", docker -t, loggers, SGLang's "[… DP0 TP3] ".
bool iso_stamp(Scanner& scan, Reading&) {
  if (!scan.skip("[titan] ")) scan.skip(' ');
  const bool bracket = scan.skip('[');
  const size_t length = iso_stamp_length(scan.rest());
  if (length == 0) return false;
  scan.skip(scan.rest().substr(0, length));
  if (bracket) {
    std::string_view parallel;
    if (!scan.until(']', parallel, 40) || (!parallel.empty() && parallel[0] != ' ')) return false;
  }
  if (!scan.skip(' ') && !scan.skip(": ")) return false;
  if (!bracket && (scan.skip("stdout ") || scan.skip("stderr ")) && !scan.skip("F "))
    scan.skip("P ");
  return true;
}

/// The kernel's "[12345.678901] ", with dmesg -T "[Mon Jan  5 12:00:00 2026] ".
bool kernel_stamp(Scanner& scan, Reading&) {
  if (!scan.skip('[')) return false;
  const size_t month = month_stamp_length(scan.rest());
  if (month > 0) {
    scan.skip(scan.rest().substr(0, month));
    return scan.skip("] ");
  }
  scan.blanks();
  return !scan.take_while(is_digit, 12).empty() && scan.skip('.') && scan.digits(6) &&
         scan.skip("] ");
}

/// journald: "Jan 05 12:00:00 nodea slurmstepd[77]: ".
bool journal(Scanner& scan, Reading& reading) {
  const size_t stamp = month_stamp_length(scan.rest());
  if (stamp == 0) return false;
  scan.skip(scan.rest().substr(0, stamp));
  if (!scan.skip(' ')) return false;
  const std::string_view host = scan.take_while(is_host_char);
  if (host.empty() || !scan.skip(' ')) return false;
  const auto in_name = [](char c) { return is_host_char(c) || c == '/' || c == '@'; };
  if (scan.take_while(in_name, kLongestName).empty()) return false;
  std::string_view pid;
  if (scan.skip('[') && !scan.until(']', pid, 12)) return false;
  if (!scan.skip(": ")) return false;
  reading.prefix.host = host;
  return true;
}

/// docker compose: "worker-1  | ". Services are numbered; tables' first columns seldom are.
bool compose_service(Scanner& scan, Reading& reading) {
  const std::string_view name = scan.take_while(is_host_char, kLongestName);
  const size_t mark = name.find_last_of("-_");
  if (mark == name.npos || mark == 0 || mark + 1 == name.size()) return false;
  if (!parse_int(name.substr(mark + 1)) || scan.blanks() == 0 || !scan.skip("| ")) return false;
  reading.prefix.host = name;
  return true;
}

bool is_logger_level(std::string_view word) {
  constexpr std::string_view kLevels[] = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};
  return std::find(std::begin(kLevels), std::end(kLevels), word) != std::end(kLevels);
}

/// "| INFO | train_inner | ", "- root - INFO - ": logger and level in either order.
bool named_level(Scanner& scan, char mark) {
  bool level = false;
  if (!scan.skip(mark)) return false;
  for (int i = 0; i < 2; ++i) {
    std::string_view word;
    if (!scan.skip(' ') || !scan.until(' ', word, 60) || !scan.skip(mark)) return false;
    level |= is_logger_level(word);
  }
  return level && scan.skip(' ');
}

/// What loggers put behind their time: "[INFO] ", "[logging.py:128:log_dist] ", "[Rank 0] ".
bool logger_words(Scanner& scan, Reading& reading) {
  if (!reading.after_stamp) return false;
  std::string_view word;
  int rank = -1;
  if (scan.skip("[Rank ")) {
    if (!scan.number(rank) || !scan.skip("] ")) return false;
    note_global_rank(reading, rank);
    return true;
  }
  if (!scan.skip('[')) return named_level(scan, scan.peek() == '|' ? '|' : '-');
  return scan.until(']', word, 80) && scan.skip(' ') &&
         (is_logger_level(word) || word.find(".py:") != word.npos);
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
  return numbered && std::find(std::begin(kWords), std::end(kWords), stem) != std::end(kWords);
}

bool looks_like_host(std::string_view name) {
  bool letter = false;
  bool digit = false;
  for (const char c : name) {
    if (c == '_' || (c >= 'A' && c <= 'Z')) return false;
    letter |= is_alpha(c);
    digit |= is_digit(c);
  }
  return name == "localhost" || (letter && digit && name.size() >= 3 && !is_common_word(name));
}

/// Text that begins a record of its own, so that whatever stands before it is a prefix.
bool begins_record(std::string_view text) {
  constexpr std::string_view kStarts[] = {"[rank", "[default", "Traceback (most recent call last)",
                                          "terminate called after", "NCCL version "};
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [&](std::string_view start) { return text.starts_with(start); });
}

/// pdsh, clush: "nodea: ". nccl-tests prints "node105: Test NCCL failure" itself: that is a
/// message.
bool host_label(Scanner& scan, Reading& reading) {
  if (!is_word(scan.peek())) return false;
  const std::string_view name = scan.take_while(is_host_char, kLongestName);
  if (!scan.skip(": ") || name.find_first_not_of("0123456789") == name.npos) return false;
  const std::string_view rest = scan.rest();
  if (rest.starts_with("Test ")) return false;
  if (!begins_record(rest) && !looks_like_host(name)) return false;
  reading.prefix.host = name;
  return true;
}

/// A tqdm bar that got no newline, with something behind it on the same line.
bool bar_without_newline(Scanner& scan, Reading& reading) {
  const ProgressBar bar = parse_progress_bar(scan.rest());
  if (bar.length == 0 || trim(scan.rest().substr(bar.length)).empty()) return false;
  scan.skip(scan.rest().substr(0, bar.length));
  reading.prefix.progress_title = bar.title;
  return true;
}

constexpr Recogniser kRecognisers[] = {
    mpi_tag,
    framework_rank,
    torchrun_tee,
    kubernetes_pod,
    actor,
    iso_stamp,
    kernel_stamp,
    journal,
    logger_words,
    compose_service,
    srun_label,
    host_label,
    bar_without_newline,
};

/// Takes one prefix off `text`; its length, 0 if there is none.
size_t take_prefix(std::string_view text, Reading& reading) {
  for (const Recogniser recognise : kRecognisers) {
    Scanner scan(text);
    if (!recognise(scan, reading)) continue;
    reading.after_stamp = recognise == iso_stamp || recognise == logger_words;
    return scan.taken();
  }
  return 0;
}

}  // namespace

Prefix parse_prefix(std::string_view line) {
  Reading reading;
  for (int i = 0; i < kMaxPrefixes; ++i) {
    const size_t length = take_prefix(line.substr(reading.prefix.length), reading);
    if (length == 0) break;
    reading.prefix.length += length;
  }
  return reading.prefix;
}

}  // namespace ncclog
