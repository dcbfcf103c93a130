// Prefixes of what starts processes: torchrun, Open MPI, PRRTE, Horovod, srun, pdsh, Ray, vLLM.

#include <algorithm>

#include "log/prefix_forms.h"
#include "log/time_stamp.h"

namespace ncclog {
namespace {

/// The task in "1,3", "prterun-nodea-77@1,3", "3" or SageMaker's "1,mpirank:3,algo-1".
bool task_of(std::string_view inside, int& task) {
  size_t at = inside.find("mpirank:");
  at = at != inside.npos ? at + 8 : inside.rfind(',') + 1;
  Scanner scan(inside.substr(at));
  return scan.number(task) && (scan.done() || scan.peek() == ',');
}

/// "[1,3]<stdout>:", "[0]<stderr>: ", "[1,0][nodea:4242]<stderr>: ".
bool mpi_tag(Scanner& scan, PrefixReading& reading) {
  std::string_view inside;
  int task = -1;
  if (!scan.skip('[') || !scan.until(']', inside, kLongestPrefixName) || !task_of(inside, task))
    return false;
  std::string_view process;
  const bool detailed = scan.skip('[') && scan.until(']', process, kLongestPrefixName);
  if (!skip_stream_tag(scan, reading)) return false;
  note_task(reading, task);
  if (detailed) reading.prefix.host = process.substr(0, process.find(':'));
  return true;
}

/// Open MPI's "Mon Jan  5 12:00:00 2026<stdout>:", Horovod's with "[3]" before the stream.
bool mpi_stamp(Scanner& scan, PrefixReading& reading) {
  const std::string_view stamp = scan.rest().substr(0, month_stamp_length(scan.rest()));
  if (!scan.skip(stamp) || stamp.empty()) return false;
  if (scan.peek() == '[' ? !mpi_tag(scan, reading) : !skip_stream_tag(scan, reading)) return false;
  reading.prefix.time = stamp;
  return true;
}

/// "<stdout>: ", all that is left of a tag whose task was not asked for.
bool mpi_stream(Scanner& scan, PrefixReading& reading) { return skip_stream_tag(scan, reading); }

/// "[rank3]: " of Python's excepthook, "[rank: 3] " of Lightning. Without the blank it is
/// torchrun's "--role rank": a local rank. So it is in "[rank3]:  what():", where the C++ runtime
/// prints the blanks.
bool framework_rank(Scanner& scan, PrefixReading& reading) {
  int rank = -1;
  if (!scan.skip("[rank")) return false;
  const bool lightning = scan.skip(": ");
  if (!scan.number(rank) || !scan.skip(lightning ? "] " : "]:")) return false;
  const bool global = lightning || (!scan.rest().starts_with("  what():") && scan.skip(' '));
  if (global) {
    note_global_rank(reading, rank);
  } else {
    reading.prefix.local_rank = rank;
  }
  return true;
}

/// torchrun's "[default3]:", with TorchX's replica "[trainer0|3]:".
bool torchrun_tee(Scanner& scan, PrefixReading& reading) {
  std::string_view inside;
  if (!scan.skip('[') || !scan.until(']', inside, 64) || !scan.skip(':')) return false;
  size_t digits = inside.size();
  while (digits > 0 && is_digit(inside[digits - 1])) --digits;
  Scanner number(inside.substr(digits));
  const std::string_view role = inside.substr(0, digits);
  int local_rank = -1;
  const auto is_role = [](char c) { return is_word(c) || c == '|'; };
  if (role.empty() || !std::all_of(role.begin(), role.end(), is_role) || !number.number(local_rank))
    return false;
  reading.prefix.local_rank = local_rank;
  return true;
}

/// srun --label: "3: ", " 3: ", "03: ".
bool srun_label(Scanner& scan, PrefixReading& reading) {
  scan.blanks();
  int task = -1;
  if (!is_digit(scan.peek()) || scan.rest().find(':') > 6 || !scan.number(task)) return false;
  if (!scan.skip(": ")) return false;
  note_task(reading, task);
  return true;
}

/// "(TrainWorker pid=4242, ip=10.0.0.7) " of Ray, "(VllmWorker rank=1 pid=4242) " of vLLM.
bool actor(Scanner& scan, PrefixReading& reading) {
  std::string_view inside;
  if (!scan.skip('(') || !scan.until(')', inside, kLongestPrefixName)) return false;
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
  return std::count(name.begin(), name.end(), '.') == 3 &&
         name.find_first_not_of("0123456789.") == name.npos;
}

/// pdsh, clush: "nodea: ". nccl-tests prints "node105: Test NCCL failure" itself: that is a
/// message.
bool host_label(Scanner& scan, PrefixReading& reading) {
  if (!is_word(scan.peek())) return false;
  const std::string_view name = scan.take_while(is_host_char, kLongestPrefixName);
  if (!scan.skip(": ") || name.find_first_not_of("0123456789") == name.npos) return false;
  const std::string_view rest = scan.rest();
  if (rest.starts_with("Test ")) return false;
  if (!looks_like_host(name) && !is_ipv4(name) && (rest.empty() || !begins_record(rest)))
    return false;
  reading.prefix.host = name;
  return true;
}

constexpr PrefixForm kForms[] = {
    {"[", mpi_tag},
    {"MTWFS", mpi_stamp},
    {"<", mpi_stream},
    {"[", framework_rank},
    {"[", torchrun_tee},
    {"(", actor},
    {" 0123456789", srun_label},
    {.first_bytes = kWordBytes, .recognise = host_label, .mark = ':'},
};

}  // namespace

std::span<const PrefixForm> launcher_prefixes() { return kForms; }

}  // namespace ncclog
