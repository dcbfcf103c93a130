#include "base/loss_table.h"

namespace ncclog {
namespace {

constexpr LossRow kLossRows[] = {
    {"line_torn", LossSeverity::Notice,
     "Two processes wrote into one line; the record that was cut off is lost.",
     "Give every process its own file: NCCL_DEBUG_FILE=nccl.%h.%p.log."},
    {"line_left_out", LossSeverity::DataLoss,
     "Ray left lines out that were alike but for their numbers: what they said is unknown.",
     "Run with RAY_DEDUP_LOGS=0, or read the workers' own files under "
     "/tmp/ray/session_latest/logs."},
    {"line_in_doubt", LossSeverity::Notice,
     "A line may end with the rest of another process's record; it was not used.",
     "Give every process its own file: NCCL_DEBUG_FILE=nccl.%h.%p.log."},
    {"line_cut", LossSeverity::Notice,
     "A line was longer than is kept; only its beginning was read.",
     "Look at the line itself: merged output without line ends hides records."},
    {"invalid_utf8", LossSeverity::Info, "A line held bytes that are not UTF-8.",
     "They are shown as replacement characters; the file itself is untouched."},
    {"nul_bytes", LossSeverity::Notice, "A line held NUL bytes, as files truncated while open do.",
     "Append to log files instead of truncating them under a running job."},
    {"input_cut", LossSeverity::DataLoss, "A compressed input ends before its end marker.",
     "Fetch the file again; what could be decompressed was read."},
    {"input_unreadable", LossSeverity::Error, "An input could not be opened or decoded.",
     "Check permissions and that the file is what its name says."},
    {"input_skipped", LossSeverity::Info, "An input is not a text log and was not parsed as one.",
     "The list of inputs says what it looks like."},
    {"records_dropped", LossSeverity::Notice,
     "A process printed more different lines of one kind than are kept.",
     "The first ones are kept and all are counted; analyse that process's file alone for the "
     "rest."},
    {"processes_dropped", LossSeverity::DataLoss,
     "The line's process is not kept: too many were named.",
     "Torn lines invent process names: give every process its own NCCL_DEBUG_FILE with %h and %p."},
    {"size_limit", LossSeverity::DataLoss, "A compressed input expands past the limit.",
     "It was read up to the limit; if it can be trusted, unpack it and analyse the plain file."},
    {"error_unknown", LossSeverity::Notice,
     "A line looks like an error of NCCL, PyTorch or a launcher, and no wording fits it.",
     "Read it yourself: ncclog show unknown lists such lines."},
};
static_assert(std::size(kLossRows) == static_cast<size_t>(Loss::kCount));

}  // namespace

std::span<const LossRow> loss_rows() { return kLossRows; }

std::string_view to_string(LossSeverity severity) {
  constexpr std::string_view kNames[] = {"info", "notice", "data_loss", "error"};
  return kNames[static_cast<size_t>(severity)];
}

LossTable& LossTable::operator+=(const LossTable& other) {
  lines += other.lines;
  recognised += other.recognised;
  unrecognised += other.unrecognised;
  foreign += other.foreign;
  unreadable += other.unreadable;
  for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  return *this;
}

}  // namespace ncclog
