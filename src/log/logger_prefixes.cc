// Prefixes that a framework's own logger writes: vLLM, SGLang, DeepSpeed, torchtitan, fairseq,
// Hydra, Hugging Face, Ray, absl and TensorFlow.

#include <algorithm>

#include "log/prefix_forms.h"
#include "log/time_stamp.h"

namespace ncclog {
namespace {

constexpr bool is_path_char(char c) { return is_host_char(c) || c == '/' || c == '+'; }

bool is_absl_severity(char c) { return c == 'I' || c == 'W' || c == 'E' || c == 'F'; }

/// "core.py:58] ", "external/xla/a.cc:12] ".
bool skip_location(Scanner& scan) {
  int line = 0;
  const std::string_view file = scan.take_while(is_path_char, kLongestPrefixName);
  return file.find('.') != file.npos && scan.skip(':') && scan.number(line) && scan.skip("] ");
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

/// loguru's "| INFO     | train:step:12 - ".
bool padded_level(Scanner& scan) {
  if (!scan.skip("| ") || !is_logger_level(scan.take_while(is_word, 10))) return false;
  std::string_view place;
  if (scan.blanks() == 0 || !scan.skip("| ") || !scan.until(' ', place, kLongestPrefixName))
    return false;
  return place.find(':') != place.npos && scan.skip("- ");
}

/// Ray's "INFO worker.py:1528 -- ".
bool level_and_file(Scanner& scan) {
  int line = 0;
  if (!is_logger_level(scan.take_while(is_word, 10)) || !scan.skip(' ')) return false;
  const std::string_view file = scan.take_while(is_path_char, kLongestPrefixName);
  return file.ends_with(".py") && scan.skip(':') && scan.number(line) && scan.skip(" -- ");
}

/// What loggers put behind their time: "[INFO] ", "[logging.py:128:log_dist] ", "[Rank 0] ".
bool bracketed_word(Scanner& scan, PrefixReading& reading) {
  std::string_view word;
  int rank = -1;
  if (scan.skip("[Rank ")) {
    if (!scan.number(rank) || !scan.skip("] ")) return false;
    note_global_rank(reading, rank);
    return true;
  }
  return scan.skip('[') && scan.until(']', word, 80) && scan.skip(' ') &&
         (is_logger_level(word) || word.find(".py:") != word.npos);
}

/// "- INFO - " of a format without the logger's name.
bool level_alone(Scanner& scan) {
  std::string_view word;
  return scan.skip("- ") && scan.until(' ', word, 10) && is_logger_level(word) && scan.skip("- ");
}

bool marked_level(Scanner& scan, PrefixReading&) {
  constexpr bool (*kForms[])(Scanner&) = {
      padded_level, [](Scanner& of) { return named_level(of, of.peek()); }, level_alone};
  for (const auto form : kForms) {
    Scanner attempt = scan;
    if (!form(attempt)) continue;
    scan = attempt;
    return true;
  }
  return false;
}

/// "INFO trainer: ", "INFO trainer[rank 0]: ". What a logger prints at other levels may begin with
/// the name of an exception that it caught, so that is left in the message's line.
bool info_of_logger(Scanner& scan) {
  if (!scan.skip("INFO ") || scan.take_while(is_host_char, 60).empty()) return false;
  int rank = -1;
  if (scan.skip("[rank ") && (!scan.number(rank) || !scan.skip(']'))) return false;
  return scan.skip(": ");
}

/// "INFO worker.py:1528 -- ", and TensorFlow's "I external/xla/a.cc:12] " behind a time.
bool plain_level(Scanner& scan, PrefixReading&) {
  constexpr bool (*kForms[])(Scanner&) = {[](Scanner& of) {
                                            return is_absl_severity(of.peek()) &&
                                                   of.skip(of.peek()) && of.skip(' ') &&
                                                   skip_location(of);
                                          },
                                          level_and_file, info_of_logger};
  for (const auto form : kForms) {
    Scanner attempt = scan;
    if (!form(attempt)) continue;
    scan = attempt;
    return true;
  }
  return false;
}

/// Hydra's "[2026-01-05 12:00:00,123][train][INFO] - ".
bool hydra_line(Scanner& scan, PrefixReading& reading) {
  if (!scan.skip('[')) return false;
  const std::string_view stamp = scan.rest().substr(0, iso_stamp_length(scan.rest()));
  if (stamp.empty() || !scan.skip(stamp) || !scan.skip("][")) return false;
  std::string_view word;
  if (scan.take_while(is_host_char, 80).empty() || !scan.skip("][")) return false;
  if (!scan.until(']', word, 10) || !is_logger_level(word) || !scan.skip(" - ")) return false;
  reading.prefix.time = stamp;
  return true;
}

/// vLLM's "INFO 01-05 12:00:00 [core.py:58] "; older releases leave the first bracket out.
bool vllm_line(Scanner& scan, PrefixReading& reading) {
  if (!is_logger_level(scan.take_while(is_word, 10)) || !scan.skip(' ')) return false;
  const std::string_view stamp = scan.rest().substr(0, 14);
  if (!scan.digits(2) || !scan.skip('-') || !scan.digits(2) || !scan.skip(' ')) return false;
  const size_t clock = clock_length(scan.rest());
  if (clock == 0) return false;
  scan.skip(scan.rest().substr(0, clock));
  if (!scan.skip(' ')) return false;
  scan.skip('[');
  if (!skip_location(scan)) return false;
  reading.prefix.time = stamp;
  return true;
}

/// "I0105 12:00:00.000001 4242 a.cc:12] ", and before absl is initialised
/// "I0000 00:00:1767614400.000001 4242 ", the seconds since 1970 in place of the time.
bool absl_line(Scanner& scan, PrefixReading&) {
  int64_t thread = -1;
  if (!is_absl_severity(scan.peek()) || !scan.skip(scan.peek())) return false;
  const bool early = scan.skip("0000 00:00:");
  if (early) {
    if (scan.take_while(is_digit, 12).empty() || !scan.skip('.') || !scan.digits(6)) return false;
  } else {
    if (!scan.digits(4) || !scan.skip(' ')) return false;
    const size_t clock = clock_length(scan.rest());
    if (clock == 0) return false;
    scan.skip(scan.rest().substr(0, clock));
  }
  return scan.blanks() > 0 && scan.number(thread) && scan.skip(' ') && skip_location(scan);
}

/// "INFO:train.loop:" of Python's logging without a formatter.
bool basic_line(Scanner& scan, PrefixReading&) {
  if (!is_logger_level(scan.take_while(is_word, 10)) || !scan.skip(':')) return false;
  return !scan.take_while(is_host_char, 80).empty() && scan.skip(':');
}

/// "[INFO|trainer.py:3719] 2026-01-05 12:00:00,123 >> " of Hugging Face.
bool hugging_face_line(Scanner& scan, PrefixReading& reading) {
  if (!scan.skip('[') || !is_logger_level(scan.take_while(is_word, 10)) || !scan.skip('|') ||
      !skip_location(scan))
    return false;
  const std::string_view stamp = scan.rest().substr(0, iso_stamp_length(scan.rest()));
  if (stamp.empty() || !scan.skip(stamp) || !scan.skip(" >> ")) return false;
  reading.prefix.time = stamp;
  return true;
}

constexpr PrefixForm::After kStamp = PrefixForm::After::Stamp;
constexpr PrefixForm kForms[] = {
    {.first_bytes = "[", .recognise = bracketed_word, .leaves = kStamp, .needs_stamp = true},
    {.first_bytes = "|-", .recognise = marked_level, .needs_stamp = true},
    {.first_bytes = "DIWECF", .recognise = plain_level, .needs_stamp = true},
    {"DIWEC", vllm_line},
    {"IWEF", absl_line},
    {"DIWEC", basic_line},
    {"[", hugging_face_line},
    {"[", hydra_line},
};

}  // namespace

bool is_logger_level(std::string_view word) {
  constexpr std::string_view kLevels[] = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};
  return std::find(std::begin(kLevels), std::end(kLevels), word) != std::end(kLevels);
}

std::span<const PrefixForm> logger_prefixes() { return kForms; }

}  // namespace ncclog
