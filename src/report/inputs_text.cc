#include "report/inputs_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"
#include "model/library_name.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

/// "17 files", "9 files in an archive".
std::string files_text(const Job& job) {
  const auto archives =
      static_cast<size_t>(std::count_if(job.inputs.begin(), job.inputs.end(),
                                        [](const JobInput& input) { return input.is_archive; }));
  const std::string files = plural(job.inputs.size() - archives, "file");
  if (archives == 0) return files;
  return fmt::format("{}, unpacking {}", files, plural(archives, "archive"));
}

/// Ranks that some line speaks for, of those that the job has; nullopt: not known, or all.
std::optional<size_t> ranks_seen(const Job& job) {
  if (job.communicators.empty() || !job.flight_recorders.empty()) return std::nullopt;
  const std::vector<CommRank>& ranks = job.communicators.front().ranks;
  const auto seen = static_cast<size_t>(std::count_if(
      ranks.begin(), ranks.end(), [](const CommRank& rank) { return rank.process >= 0; }));
  const auto all = static_cast<size_t>(job.nranks.value_or(0));
  return ranks.size() == all && seen > 0 && seen < all ? std::optional(seen) : std::nullopt;
}

std::string inputs_line(const Job& job) {
  std::string out =
      fmt::format("Read {} from {}", plural(job.losses.lines, "line"), files_text(job));
  // Lines without a process may be of any.
  const auto processes = std::count_if(job.processes.begin(), job.processes.end(),
                                       [](const Process& process) { return process.pid >= 0; });
  if (const auto seen = ranks_seen(job)) {
    out += fmt::format(": {} of {} ranks seen", *seen, *job.nranks);
  } else if (job.nranks) {
    out += fmt::format(": {}", plural(static_cast<uint64_t>(*job.nranks), "rank"));
  } else if (processes > 0) {
    out += fmt::format(": {} {}", processes, processes == 1 ? "process" : "processes");
  }
  if (job.nhosts > 0) {
    out += fmt::format("{} on {}", job.nranks || processes > 0 ? "" : ": processes",
                       plural(static_cast<uint64_t>(job.nhosts), "host"));
  }
  if (!job.nccl_versions.empty())
    out += fmt::format(", {} {}", library_name(job), join(job.nccl_versions, ", "));
  if (!job.network.name.empty()) out += ", network " + job.network.name;
  return out + ".";
}

/// Inputs of one fate, the first ones by name: " Cut: logs/a.gz, logs/b.gz and 6 more. The …".
std::string odd_inputs(const Job& job, InputStatus status, std::string_view word,
                       size_t most_names) {
  std::vector<std::string> names;
  std::string note;
  size_t more = 0;
  for (const JobInput& input : job.inputs) {
    if (input.status != status) continue;
    if (names.size() < most_names) {
      names.push_back(input.path);
    } else {
      ++more;
    }
    if (note.empty()) note = input.note;
  }
  if (names.empty()) return {};
  std::string out = fmt::format(" {} {}", word, join(names, ", "));
  if (more > 0) out += fmt::format(" and {} more", more);
  return note.empty() ? out + "." : fmt::format("{}. {}", out, note);
}

std::string lost_rows(const LossTable& losses) {
  std::string out;
  for (size_t i = 0; i < losses.counts.size(); ++i) {
    const LossRow& row = loss_rows()[i];
    const bool is_input = row.name.starts_with("input_");
    if (losses.counts[i] == 0 || is_input || row.severity == LossSeverity::Info) continue;
    const std::string_view meaning = row.meaning.substr(0, row.meaning.find_last_not_of('.') + 1);
    out += fmt::format(" {} ({}×). {}", meaning, losses.counts[i], row.advice);
  }
  return out;
}

}  // namespace

std::string inputs_text(const Job& job, const TextStyle& style) {
  const std::string text =
      inputs_line(job) + odd_inputs(job, InputStatus::Unreadable, "Unreadable:", 3) +
      odd_inputs(job, InputStatus::Cut, "Cut:", 3) +
      odd_inputs(job, InputStatus::Skipped, "Skipped:", 1) + lost_rows(job.losses);
  return "\n" + hang("", printable(text), style);
}

}  // namespace ncclog
