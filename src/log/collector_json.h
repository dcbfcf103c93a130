// Lines that a collector wrapped into JSON: what did the process print, when, and where?
//
//   {"log":"node07:41:42 [3] NCCL INFO Using network
//   IB\n","stream":"stderr","time":"2026-01-05T…Z"}
//   {"MESSAGE":"NVRM: Xid …","_HOSTNAME":"node07","SYSLOG_IDENTIFIER":"kernel",…}
//   {"jsonPayload":{"message":"…"},"timestamp":"…"}
//
// docker json-file, Fluent Bit, Fluentd, Vector, Promtail, logcli, CloudWatch, Google Cloud,
// journalctl -o json and json-pretty. Any object with a text under a known key counts: what an
// application logs as JSON is read the same way.

#pragma once

#include <string>
#include <string_view>

namespace ncclog {

/// A line taken out of its JSON.
struct CollectorLine {
  /// What the collector knows, as its plain output would put it in front:
  /// "2026-01-05T12:00:00.1Z stderr F ", "[pod/w-3/pytorch] ", "2026-… node07 kernel: ".
  std::string prefix;
  std::string text;         ///< The process's own bytes; line ends inside separate its lines.
  bool is_partial = false;  ///< The process's line goes on in the collector's next one.
};

/// Keys, with their quotes, one of which holds the message of every record.
inline constexpr std::string_view kMessageKeys[] = {"\"log\"", "\"message\"", "\"MESSAGE\"",
                                                    "\"msg\"", "\"line\"",    "\"textPayload\""};

/// A glance that costs two bytes: false for nearly every line that is not JSON.
inline bool may_be_collector_json(std::string_view line) {
  while (!line.empty() && (line.back() == ',' || line.back() == ' ')) line.remove_suffix(1);
  return line.size() > 8 && (line.back() == '}' || line.back() == '"') &&
         line.find('"') < line.size() - 1;
}

/// Reads the object with which `line` ends and which begins it; false if it is none or holds no
/// message. `record` is overwritten; its strings are reused.
bool read_collector_json(std::string_view line, CollectorLine& record);

}  // namespace ncclog
