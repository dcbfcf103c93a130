// Prefixes of what collects lines: containerd, docker, kubectl, journald, syslog, logcli, the
// kernel.

#include "log/prefix_forms.h"
#include "log/time_stamp.h"

namespace ncclog {
namespace {

constexpr bool is_tag_char(char c) { return is_host_char(c) || c == '/' || c == '@'; }

/// "[pod/train-worker-3/pytorch] " of kubectl --prefix.
bool kubernetes_pod(Scanner& scan, PrefixReading& reading) {
  std::string_view pod;
  std::string_view container;
  if (!scan.skip("[pod/") || !scan.until('/', pod, kLongestPrefixName)) return false;
  if (!scan.until(']', container, kLongestPrefixName) || !scan.skip(' ')) return false;
  reading.prefix.host = pod;
  return true;
}

/// logcli's "{pod=\"w-3\", container=\"pytorch\"} " behind the time.
bool loki_labels(Scanner& scan, PrefixReading& reading) {
  std::string_view labels;
  if (!scan.skip('{') || !scan.until('}', labels, 1000)) return false;
  if (labels.find("=\"") == labels.npos || !scan.skip(' ')) return false;
  const size_t at = labels.find("pod=\"");
  if (at != labels.npos) {
    const std::string_view pod = labels.substr(at + 5);
    reading.prefix.host = pod.substr(0, pod.find('"'));
  }
  return true;
}

/// containerd's "stderr F ", P where the line goes on in the next one.
void skip_cri_tag(Scanner& scan, PrefixReading& reading) {
  const std::string_view stream = scan.rest().substr(0, 6);
  if ((stream != "stdout" && stream != "stderr") || !scan.skip(stream)) return;
  scan.skip(' ');
  reading.prefix.stream = stream;
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
bool iso_stamp(Scanner& scan, PrefixReading& reading) {
  if (!scan.skip("[titan] ")) scan.skip(' ');
  const bool bracket = scan.skip('[');
  const std::string_view stamp = scan.rest().substr(0, iso_stamp_length(scan.rest()));
  if (stamp.empty() || !scan.skip(stamp) || (bracket && !skip_bracket_end(scan))) return false;
  if (!scan.skip(' ') && !scan.skip(": ") && !scan.skip('\t') && !scan.done()) return false;
  reading.prefix.time = stamp;
  if (!bracket) skip_cri_tag(scan, reading);
  return true;
}

/// CloudWatch's "  | 2026-01-05T12:00:00.123Z | ": a column for a stream's name, which is empty.
bool stamp_in_columns(Scanner& scan, PrefixReading& reading) {
  if (!scan.skip('|') || scan.blanks() == 0) return false;
  const std::string_view stamp = scan.rest().substr(0, iso_stamp_length(scan.rest()));
  if (stamp.empty() || !scan.skip(stamp) || scan.blanks() == 0 || !scan.skip('|')) return false;
  if (!scan.skip(' ') && !scan.done()) return false;
  reading.prefix.time = stamp;
  return true;
}

/// CloudWatch's milliseconds since 1970 and a tab.
bool epoch_stamp(Scanner& scan, PrefixReading& reading) {
  const std::string_view stamp = scan.rest().substr(0, 13);
  if (!scan.digits(13) || !scan.skip('\t')) return false;
  reading.prefix.time = stamp;
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
bool kernel_stamp(Scanner& scan, PrefixReading& reading) {
  skip_priority(scan);
  if (!scan.skip('[')) return false;
  const std::string_view month = scan.rest().substr(0, month_stamp_length(scan.rest()));
  if (!month.empty()) {
    if (!scan.skip(month) || !scan.skip("] ")) return false;
    reading.prefix.time = month;
    return true;
  }
  scan.blanks();
  return !scan.take_while(is_digit, 12).empty() && scan.skip('.') && scan.digits(6) &&
         scan.skip("] ");
}

/// "kernel: ", all that is left of the journal's line where time and host were taken off.
bool kernel_name(Scanner& scan, PrefixReading&) { return scan.skip("kernel: "); }

/// "nodea slurmstepd[77]: ", "nodea kernel: " behind a time.
bool skip_journal_names(Scanner& scan, std::string_view& host, bool names_process) {
  host = scan.take_while(is_host_char);
  // "INFO trainer[rank 3]: " is a logger's.
  if (host.empty() || is_logger_level(host) || !scan.skip(' ')) return false;
  const std::string_view program = scan.take_while(is_tag_char, kLongestPrefixName);
  std::string_view pid;
  const bool has_pid = scan.skip('[');
  if (program.empty() || (has_pid && !scan.until(']', pid, 12))) return false;
  return (has_pid || !names_process || program == "kernel") && scan.skip(": ");
}

/// journald, syslog: "Jan 05 12:00:00 nodea slurmstepd[77]: ".
bool journal(Scanner& scan, PrefixReading& reading) {
  std::string_view host;
  const std::string_view stamp = scan.rest().substr(0, month_stamp_length(scan.rest()));
  if (stamp.empty() || !scan.skip(stamp) || !scan.skip(' ')) return false;
  if (!skip_journal_names(scan, host, false)) return false;
  reading.prefix.host = host;
  reading.prefix.time = stamp;
  return true;
}

/// journalctl -o short-iso: "2026-01-05T12:00:00+0000 nodea slurmstepd[77]: ". A program without
/// pid would read like a sentence behind a time, unless it is the kernel.
bool iso_journal(Scanner& scan, PrefixReading& reading) {
  std::string_view host;
  const std::string_view stamp = scan.rest().substr(0, iso_stamp_length(scan.rest()));
  if (stamp.empty() || !scan.skip(stamp) || !scan.skip(' ')) return false;
  if (!skip_journal_names(scan, host, true)) return false;
  reading.prefix.host = host;
  reading.prefix.time = stamp;
  return true;
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
bool syslog(Scanner& scan, PrefixReading& reading) {
  int priority = -1;
  if (!scan.skip('<') || !scan.number(priority) || priority > 191 || !scan.skip('>')) return false;
  if (!scan.skip("1 ")) return journal(scan, reading);
  const std::string_view stamp = scan.rest().substr(0, iso_stamp_length(scan.rest()));
  if (stamp.empty() || !scan.skip(stamp) || !scan.skip(' ')) return false;
  const std::string_view host = scan.take_while(is_host_char);
  if (host.empty() || !scan.skip(' ') || !skip_syslog_fields(scan)) return false;
  if (host != "-") reading.prefix.host = host;
  reading.prefix.time = stamp;
  return true;
}

/// journalctl -o export: "MESSAGE=".
bool exported_message(Scanner& scan, PrefixReading&) { return scan.skip("MESSAGE="); }

/// docker compose: "worker-1  | ", swarm: "job_worker.2.k3x9@nodea    | ". Services are numbered;
/// tables' first columns seldom are.
bool compose_service(Scanner& scan, PrefixReading& reading) {
  const std::string_view name = scan.take_while(is_tag_char, kLongestPrefixName);
  if (scan.blanks() == 0 || !(scan.skip("| ") || scan.rest() == "|")) return false;
  const size_t node = name.find('@');
  if (node != name.npos) {
    if (name.find('.') > node) return false;
    reading.prefix.host = name.substr(node + 1);
    return true;
  }
  const size_t mark = name.find_last_of("-_");
  if (mark == name.npos || mark == 0 || mark + 1 == name.size()) return false;
  if (!parse_int(name.substr(mark + 1))) return false;
  reading.prefix.host = name;
  return true;
}

constexpr PrefixForm::After kStamp = PrefixForm::After::Stamp;
constexpr std::string_view kMonths = "JFMASOND";
constexpr PrefixForm kForms[] = {
    {"[", kubernetes_pod},
    {.first_bytes = "{", .recognise = loki_labels, .needs_stamp = true},
    {"0123456789", iso_journal},
    {" [0123456789", iso_stamp, kStamp},
    {"0123456789", epoch_stamp, kStamp},
    {.first_bytes = "|", .recognise = stamp_in_columns, .mark = '|'},
    {"[<k", kernel_stamp},
    {.first_bytes = "k", .recognise = kernel_name, .mark = ':'},
    {kMonths, journal},
    {"<", syslog},
    {"M", exported_message},
    {.first_bytes = "", .recognise = compose_service, .mark = '|'},
};

}  // namespace

std::span<const PrefixForm> collector_prefixes() { return kForms; }

}  // namespace ncclog
