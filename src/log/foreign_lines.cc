#include "log/foreign_lines.h"

#include <algorithm>
#include <span>

#include "log/foreign_needs.h"
#include "log/prefix.h"
#include "log/scanner.h"
#include "log/time_stamp.h"

namespace ncclog {
namespace {

template <size_t N>
bool starts_with_any(std::string_view text, const std::string_view (&starts)[N]) {
  return std::any_of(std::begin(starts), std::end(starts),
                     [&](std::string_view start) { return text.starts_with(start); });
}

/// Messages of exceptions that other kinds take apart.
constexpr std::string_view kClaimedMessages[] = {
    "NCCL error in: ",
    "NCCL Error ",
    "NCCL error: ",
    "NCCL timeout in: ",
    "NCCL communicator was aborted on rank ",
    "NCCL communicator encountered error set by ",
    "CUDA out of memory",
    "CUDA error: out of memory",
    "wait timeout after ",
    "Timeout waiting for key: ",
    "Socket Timeout",
    "Timed out after ",
    "Timed out initializing process group in store based barrier",
    "The client socket has timed out after ",
    "The server socket has failed to ",
    "Detected mismatch between collectives on ranks.",
    "Expected all tensors to be on the same device",
    "Work WorkNCCL(",
    "ProcessGroupWrapper: Monitored Barrier encountered error",
    "Rank 0 timed out in monitoredBarrier after ",
};

bool is_claimed(std::string_view base, std::string_view message) {
  if (base == "ChildFailedError" || base == "SignalException") return true;
  if (starts_with_any(message, kClaimedMessages)) return true;
  if (message.starts_with("DataLoader worker (pid"))
    return message.find("is killed by signal") != message.npos;
  if (message.starts_with("Rank "))
    return message.find(" successfully reached monitoredBarrier, but ") != message.npos;
  return message.starts_with('[') &&
         (message.find("] is setting up NCCL communicator") != message.npos ||
          message.find("Caught collective operation timeout: ") != message.npos ||
          message.find("] Work WorkNCCL(") != message.npos ||
          message.find("failed to pass monitoredBarrier in ") != message.npos);
}

/// Python's class names: "RuntimeError", "SystemExit"; not "Error", nor NCCL's "ncclSystemError".
bool is_exception_name(std::string_view base) {
  if (base.empty() || base == "Error" || (base[0] >= 'a' && base[0] <= 'z') || is_digit(base[0]))
    return false;
  return std::any_of(std::begin(kExceptionEnds), std::end(kExceptionEnds),
                     [&](std::string_view end) { return base.ends_with(end); });
}

/// The status with which `scan` goes on, "(core dumped)" taken with it; empty if there is none.
std::string_view take_status(Scanner& scan) {
  for (const std::string_view status : kProcessEnds) {
    if (!scan.skip(status)) continue;
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

/// True if one of `words`, which are lower-case letters, stands in `text` in any case.
bool holds_one_of(std::string_view text, std::span<const std::string_view> words) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  const auto letter = [](char c) { return c >= 'a' && c <= 'z' ? 1U << (c - 'a') : 0U; };
  unsigned begins = 0;
  for (const std::string_view word : words) begins |= letter(word.front());
  for (size_t at = 0; at < text.size(); ++at) {
    if ((begins & letter(lower(text[at]))) == 0) continue;
    const std::string_view rest = text.substr(at);
    const bool holds = std::any_of(words.begin(), words.end(), [&](std::string_view word) {
      return rest.size() >= word.size() &&
             std::equal(word.begin(), word.end(), rest.begin(),
                        [&](char wanted, char c) { return wanted == lower(c); });
    });
    if (holds) return true;
  }
  return false;
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
  const std::string_view start = text.substr(0, kLongest);
  size_t at = 0;
  for (const std::string_view end : kEnds) {
    const size_t found = start.rfind(end);
    if (found != start.npos) at = std::max(at, found + end.size());
  }
  return text.substr(at);
}

bool holds_any(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != text.npos; });
}

}  // namespace

bool recognise_python_exception(std::string_view text, Message& message) {
  if (text.empty() || !(is_alpha(text[0]) || text[0] == '_')) return false;
  Scanner scan(text);
  const auto in_name = [](char c) { return is_word(c) || c == '.'; };
  const std::string_view name = scan.take_while(in_name, 200);
  const std::string_view base = name.substr(name.rfind('.') + 1);
  if (!is_exception_name(base)) return false;
  std::string_view inner;
  if (scan.skip('(') && !scan.until(')', inner, 100)) return false;
  const std::string_view type = text.substr(0, scan.taken());
  if (!scan.done() && !scan.skip(": ") && scan.rest() != ":") return false;
  const std::string_view said = scan.rest() == ":" ? std::string_view{} : trim(scan.rest());
  if (is_claimed(base, said)) return false;
  message.set("type", type);
  message.set("message", said);
  return true;
}

bool recognise_process_end(std::string_view text, Message& message) {
  Scanner whole(text);
  std::string_view status = take_status(whole);
  if (!status.empty() && whole.done()) {
    message.set("status", status);
    return true;
  }
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
  message.set("pid", pid);
  message.set("status", status);
  message.set("command", trim(scan.rest()));
  message.set("rank", rank_in_command(trim(scan.rest())));
  return true;
}

bool recognise_failure_time(std::string_view text, Message& message) {
  Scanner scan(text);
  if (!scan.skip("time:")) return false;
  scan.blanks();
  const std::string_view time = scan.rest();
  const bool stamp = scan.digits(4) && scan.skip('-') && scan.digits(2) && scan.skip('-') &&
                     scan.digits(2) && scan.skip('_') && clock_length(scan.rest()) > 0;
  if (!stamp || time.find(' ') != time.npos) return false;
  message.set("time", time);
  return true;
}

bool is_eval_title(std::string_view title) {
  constexpr std::string_view kWords[] = {"eval",    "valid",    "test",       "predict",
                                         "generat", "sampling", "checkpoint", "infer"};
  constexpr std::string_view kReading[] = {"load"};
  return holds_one_of(title, kWords) && !holds_one_of(title, kReading);
}

bool recognise_progress_bar(std::string_view text, Message& message) {
  const TqdmBar bar = parse_progress_bar(text);
  if (bar.length == 0 || is_eval_title(bar.title)) return false;
  message.set("title", bar.title);
  message.set("percent", bar.percent);
  message.set("done", bar.done);
  message.set("total", bar.total);
  return true;
}

bool recognise_eval_progress(std::string_view text, Message& message) {
  const TqdmBar bar = parse_progress_bar(text);
  const bool about_eval = bar.length > 0 ? is_eval_title(bar.title)
                                         : starts_with_any(behind_logger(text), kEvalPrints) ||
                                               starts_with_any(text, kEvalPrints);
  if (about_eval) message.set("text", text);
  return about_eval;
}

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

bool recognise_rank_leaves(std::string_view text, Message& message) {
  constexpr size_t kMost = 256;
  if (text.size() > kMost || !holds_any(text, kLeavingWords)) return false;
  const std::string_view rank = rank_named_in(text);
  // "exiting" alone is what programs print of all that they do.
  constexpr std::string_view kPlain[] = {"exiting", "Exiting", "shutting down"};
  if (rank.empty() && holds_any(text, kPlain)) return false;
  // NCCL's words for ncclRemoteError are about another process.
  if (text.find("remote process exiting") != text.npos) return false;
  message.set("rank", rank);
  message.set("text", text);
  return true;
}

bool recognise_megatron_step(std::string_view text, Message& message) {
  Scanner scan(text);
  if (!scan.skip("iteration ")) return false;
  scan.blanks();
  const std::string_view step = scan.take_while(is_digit, 18);
  if (step.empty() || !scan.skip('/')) return false;
  scan.blanks();
  const std::string_view total = scan.take_while(is_digit, 18);
  if (total.empty() || !scan.skip(" |")) return false;
  message.set("iteration", step);
  message.set("total", total);
  return true;
}

bool recognise_titan_step(std::string_view text, Message& message) {
  Scanner scan(text);
  if (!scan.skip("step:") || scan.blanks() == 0) return false;
  const std::string_view step = scan.take_while(is_digit, 18);
  if (step.empty() || scan.blanks() == 0 || !scan.skip("loss:")) return false;
  message.set("iteration", step);
  return true;
}

}  // namespace ncclog
