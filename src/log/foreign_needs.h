// What must stand in a line before a recogniser (log/message_kind.h) of any first word may accept
// it?
//
//   recognise_shm_usage        "/dev/shm"
//   recognise_process_end      ": line ", or "Killed" and its like at the start
//
// Nearly all lines of a training log are let go by these texts, without being shown to the
// recognisers one after the other (log/foreign_filter.h).

#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// How the names of Python's exceptions end.
inline constexpr std::string_view kExceptionEnds[] = {"Error", "Exception",      "Interrupt",
                                                      "Exit",  "TimeoutExpired", "StopIteration"};

/// What a shell says of a process that died.
inline constexpr std::string_view kProcessEnds[] = {
    "Segmentation fault",
    "Bus error",
    "Killed",
    "Aborted",
    "Terminated",
    "Illegal instruction",
    "Floating point exception",
    "Trace/breakpoint trap",
    "Hangup",
    "Interrupt",
    "Quit",
};

/// In what a shell says of a process that it ran from a script.
inline constexpr std::string_view kShellPlace[] = {": line "};

/// Behind the percentage of a tqdm bar.
inline constexpr std::string_view kBarMark[] = {"%|"};

/// What loops print when they leave the training for a while.
inline constexpr std::string_view kEvalPrints[] = {
    "Evaluating",         "Validating",           "Validation: ",
    "Running evaluation", "Running validation",   "***** Running Evaluation",
    "Saving checkpoint",  "saving checkpoint",    "Saving model checkpoint",
    "evaluating",         "[Eval batch=",         "***** Running Prediction",
    "Evaluation: ",       "Saving the checkpoint"};

/// Those and what loggers put in front of them.
inline constexpr auto kEvalBegins = [] {
  constexpr std::string_view kLoggers[] = {"[", "-", "INFO", "0", "1", "2", "3",
                                           "4", "5", "6",    "7", "8", "9"};
  std::array<std::string_view, std::size(kEvalPrints) + std::size(kLoggers)> begins;
  const auto end = std::copy(std::begin(kEvalPrints), std::end(kEvalPrints), begins.begin());
  std::copy(std::begin(kLoggers), std::end(kLoggers), end);
  return begins;
}();

/// How a rank says that it leaves the others.
inline constexpr std::string_view kLeavingWords[] = {"leaving",
                                                     "exhausted",
                                                     "no more data",
                                                     "out of data",
                                                     "stopping early",
                                                     "exiting",
                                                     "Exiting",
                                                     "Early stopping",
                                                     "early stopping",
                                                     "shutting down",
                                                     "aborting process group",
                                                     "aborting the process group",
                                                     "aborting communicator"};

inline constexpr std::string_view kShmMount[] = {"/dev/shm"};
inline constexpr std::string_view kMemlockQuestion[] = {"ulimit -l"};

/// The column of show_gids that tells its rows from all others, behind a blank; with kAnyDigit of
/// log/needle_filter.h.
inline constexpr std::string_view kGidVersions[] = {" v\x01", "\tv\x01"};

/// Where a prompt ends that names a user, a host or a place; with kNonBlank of
/// log/needle_filter.h.
inline constexpr std::string_view kPromptEnds[] = {"\x03$ ", "\x03# "};
inline constexpr std::string_view kBarePrompt[] = {"$ "};

inline constexpr std::string_view kDigits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

/// A recogniser, and what every text that it accepts holds one of, or begins with one of. One that
/// lists neither is found by its wording's first word or byte, or, without that, asked about every
/// line.
struct KnownRecogniser {
  std::string_view name;  ///< By which a message file names it.
  Recogniser recognise = nullptr;
  std::span<const std::string_view> needles;  ///< As log/needle_filter.h reads them.
  std::span<const std::string_view> begins;
};

/// All that there are. Valid for the whole program.
std::span<const KnownRecogniser> known_recognisers();

}  // namespace ncclog
