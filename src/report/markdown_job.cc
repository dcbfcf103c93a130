#include "report/markdown_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "diagnose/call_fronts.h"
#include "diagnose/iterations.h"
#include "report/iteration_text.h"
#include "report/job_shape.h"
#include "report/markdown_section.h"
#include "report/markdown_text.h"
#include "report/tables.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

constexpr size_t kMaxSentence = 400;  ///< Bytes of a text before it is escaped.

/// Rows of fronts_table at which ranks differ or some are ahead. Both come in the same order.
Table open_fronts(const Job& job) {
  Table table = fronts_table(job);
  std::vector<std::vector<Cell>> open;
  size_t row = 0;
  for (const CallFront& front : call_fronts(job)) {
    const auto& comm = job.communicators[static_cast<size_t>(front.communicator)];
    if (front.is_open() || comm.difference) open.push_back(std::move(table.rows[row]));
    ++row;
  }
  table.rows = std::move(open);
  table.columns = {"communicator", "ranks",  "entered by all", "next",
                   "ahead",        "behind", "unknown",        "last of those behind"};
  return table;
}

/// What is not in the table of open fronts.
std::string closed_fronts(size_t all, size_t open) {
  if (open == 0) {
    return fmt::format("No rank is seen ahead of another; {} {} logged calls.\n\n",
                       plural(all, "communicator"), all == 1 ? "has" : "have");
  }
  std::string out =
      "So it is where the logs end: who went on after others gave up stands ahead of them. Ranks "
      "are "
      "a few calls apart in any job that runs.";
  if (all > open) {
    out += fmt::format(" In {} no rank is seen ahead of another.",
                       plural(all - open, "further communicator"));
  }
  return out + "\n\n";
}

/// What could not be read as a whole first.
Table inputs_table(const Job& job) {
  Table table{.name = "inputs",
              .columns = {"file", "format", "lines", "status", "note"},
              .rows = {},
              .notes = {}};
  for (const bool whole : {false, true}) {
    for (const JobInput& input : job.inputs) {
      if ((input.status == InputStatus::Whole) != whole) continue;
      table.rows.push_back({text_cell(input.path), text_cell(input.format),
                            number_cell(static_cast<int64_t>(input.lines)),
                            text_cell(to_string(input.status)), text_cell(input.note)});
    }
  }
  return table;
}

std::string_view without_full_stop(std::string_view sentence) {
  return sentence.substr(0, sentence.find_last_not_of('.') + 1);
}

/// "- notice: A line held NUL bytes, … (2×). Append to log files …"
std::string losses_list(const LossTable& losses) {
  std::string out;
  for (size_t i = 0; i < losses.counts.size(); ++i) {
    const LossRow& row = loss_rows()[i];
    if (losses.counts[i] == 0 || row.severity == LossSeverity::Info) continue;
    const std::string sentence =
        fmt::format("{}: {} ({}×). {}", to_string(row.severity), without_full_stop(row.meaning),
                    losses.counts[i], row.advice);
    out += "- " + markdown_text(sentence) + "\n";
  }
  return out.empty() ? out : out + "\n";
}

std::string lines_sentence(const LossTable& losses) {
  return fmt::format(
      "{}: {} understood, {} of NCCL with an unknown wording, {} of other programs, "
      "{} unreadable.\n\n",
      plural(losses.lines, "line"), losses.recognised, losses.unrecognised, losses.foreign,
      losses.unreadable);
}

size_t odd_inputs(const Job& job) {
  return static_cast<size_t>(
      std::count_if(job.inputs.begin(), job.inputs.end(),
                    [](const JobInput& input) { return input.status != InputStatus::Whole; }));
}

}  // namespace

std::string markdown_shape(const Job& job, size_t bytes) {
  Table table{.name = "job", .columns = {"job", "as its logs show it"}, .rows = {}, .notes = {}};
  for (const ShapeRow& row : job_shape(job)) {
    table.rows.push_back({text_cell(row.name), text_cell(row.value)});
  }
  const std::string rows = markdown_table(table, bytes, "row");
  return rows.empty() ? rows : rows + "\n";
}

std::string markdown_fronts(const Job& job, size_t bytes) {
  const size_t all = call_fronts(job).size();
  if (all == 0) return {};
  const Table open = open_fronts(job);
  std::string table = markdown_table(open, bytes, "communicator");
  if (!table.empty()) table += "\n";
  return "### Who is ahead, who is behind\n\n" + table + closed_fronts(all, open.rows.size());
}

std::string markdown_settings(const Job& job, size_t bytes) {
  if (job.environment.empty()) return {};
  return collapsed(fmt::format("Settings that NCCL reports ({})", job.environment.size()),
                   markdown_table(environment_table(job), bytes, "setting"));
}

std::string markdown_communicators(const Job& job, size_t bytes) {
  if (job.communicators.empty()) return {};
  return collapsed(fmt::format("Communicators ({})", job.communicators.size()),
                   markdown_table(communicators_table(job), bytes, "communicator"));
}

std::string markdown_iterations(const Job& job, size_t bytes) {
  constexpr uint64_t kFew = 3;  // So few repeats of calls alone are no loop.
  const JobCalls calls = job_calls(job);
  const auto found = find_iterations(job, calls, {});
  if (!found || (found->source == IterationSource::Period && found->count < kFew)) return {};
  std::vector<std::string> sentences;
  for (const std::string& sentence : iteration_text(job, calls, *found)) {
    sentences.push_back("- " + markdown_text(shortened(sentence, kMaxSentence)) + "\n");
  }
  return collapsed(fmt::format("Iterations ({})", found->count),
                   fitted(sentences, bytes, "sentence"));
}

std::string markdown_inputs(const Job& job, size_t bytes) {
  const size_t odd = odd_inputs(job);
  const std::string title =
      fmt::format("Inputs ({}{}) and what was lost", plural(job.inputs.size(), "file"),
                  odd == 0 ? std::string() : fmt::format(", {} not read as a whole", odd));
  return collapsed(title, lines_sentence(job.losses) + losses_list(job.losses) +
                              markdown_table(inputs_table(job), bytes, "file"));
}

}  // namespace ncclog
