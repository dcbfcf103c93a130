// Which failures do lines name, in words that a closed list defines (log/named_failure.h)?
//
//   node0: Test CUDA failure common.cu:893 'no CUDA-capable device is detected'
//       → name=cudaErrorNoDevice  sort=cause  finding=no-cuda-device
//
// The lines are those that no wording fits, and those of kinds that only hand on what a library
// said.

#include <map>
#include <set>

#include "base/sorting.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/outcome.h"
#include "log/line/prefix.h"
#include "log/named_failure.h"

namespace ncclog {

std::optional<Evidence> line_that_counts(const Job& job, const UnknownLines& lines) {
  if (!went_on(job, lines.first)) return Evidence{lines.first, lines.example};
  if (!lines.last.is_known() || went_on(job, lines.last)) return std::nullopt;
  return Evidence{lines.last, lines.latest};
}

int process_that_printed(const Job& job, std::string_view line) {
  const Header header = parse_event(line, all_wordings()).header;
  if (!header.host.empty() && header.pid >= 0) return process_of_pid(job, header.pid);
  if (header.prefix.rank < 0) return -1;
  const int process = process_of_rank(job, header.prefix.rank);
  if (process < 0 || parse_prefix(line).rank_is_stated) return process;
  const std::vector<size_t>& logs = nth_process(job, process).logs;
  const bool bears_it = std::ranges::any_of(logs, [&](size_t log) {
    return job.logs[log].task_rank == header.prefix.rank ||
           job.logs[log].speaker.rank == header.prefix.rank;
  });
  return bears_it ? process : -1;
}

std::string_view failure_words_in(std::string_view line) {
  // "total capacity of 39.49 GiB of which …, this process has 8.38 GiB memory in use": whose it is.
  constexpr std::string_view kInUse = " memory in use";
  const size_t capacity = line.find("total capacity of ");
  const size_t in_use = capacity == line.npos ? line.npos : line.find(kInUse, capacity);
  if (in_use != line.npos) return line.substr(capacity, in_use + kInUse.size() - capacity);
  std::string_view words;
  return named_failure_in(line, &words) == nullptr ? std::string_view() : words;
}

namespace {

constexpr Field kNamedFailureFields[] = {
    {"name", FieldType::Text, "\"cudaErrorNoDevice\"; empty where the list has a text alone."},
    {"text", FieldType::Text, "\"no CUDA-capable device is detected\", or the name."},
    {"meaning", FieldType::Text, "What follows from it; empty where the text says it all."},
    {"sort", FieldType::Text, "\"cause\", \"consequence\"."},
    {"finding", FieldType::Text, "The rule about it; empty: none of its own."},
    {"list", FieldType::Text,
     "\"cuda\", \"verbs\", \"nccl\", \"fabric\", \"launchers\", \"frameworks\", \"errno\"."},
    {"outlived", FieldType::Text, "\"yes\": the job went on after the line, or finished."}};

/// Kinds whose lines say in a library's words what failed.
constexpr std::string_view kCarriers[] = {
    "cuda_failure",        "nccl_tests_failure", "python_exception", "cpp_what",
    "watchdog_terminated", "nccl_exception",     "work_exception",   "fatal_python_error",
    "sharp_init_failed",   "data_loader_killed"};

/// The host that a line without NCCL's header names: "node7: Test CUDA failure …",
/// "[node7:4242] …"; empty: none.
std::string_view host_named_in(std::string_view line) {
  const auto in_name = [](char c) { return is_word(c) || c == '-' || c == '.'; };
  const auto name_before = [&](size_t end) {
    size_t begin = end;
    while (begin > 0 && in_name(line[begin - 1])) --begin;
    return line.substr(begin, end - begin);
  };
  const size_t test = line.find(": Test ");
  if (test != line.npos) return name_before(test);
  for (size_t at = line.find(':'); at != line.npos; at = line.find(':', at + 1)) {
    const std::string_view host = name_before(at);
    const size_t digits = line.find_first_not_of("0123456789", at + 1);
    const bool in_brackets = at > host.size() && line[at - host.size() - 1] == '[' &&
                             digits != line.npos && digits > at + 1 && line[digits] == ']';
    // "[12:30]" is a time, and "[common.cu:893]" a place in a file.
    constexpr std::string_view kSources[] = {".py", ".c",   ".cc", ".cpp",
                                             ".cu", ".cuh", ".h",  ".hpp"};
    const bool is_file = std::ranges::any_of(
        kSources, [&](std::string_view extension) { return host.ends_with(extension); });
    if (in_brackets && !is_file && std::ranges::any_of(host, is_alpha)) return host;
  }
  return {};
}

/// By host, the processes of which nccl-tests says that they failed: ".. node-a pid 4242: Test failure
/// common.cu:891".
std::map<std::string_view, std::vector<int>> find_failed_in_test(const Job& job) {
  std::map<std::string_view, std::vector<int>> processes;
  for_each_said<NcclTestsTrace>(job, [&](const Said<NcclTestsTrace>& said) {
    processes[said.message.host].push_back(said.process);
  });
  for (auto& [host, failed] : processes) sort_and_drop_repeats(failed);
  return processes;
}

/// Adds the row of a line that names a failure, printed by that process; -1: nobody known.
void add_row(const Job& job, int process, const Evidence& line, std::vector<TableRow>& rows) {
  const NamedFailure* failure = named_failure_in(line.text);
  if (failure == nullptr) return;
  // Whoever printed it may be known as a file alone; the line may know the host.
  std::string host;
  if (process < 0 ||
      (nth_process(job, process).host.empty() && nth_process(job, process).rank < 0)) {
    host = host_named_in(line.text);
  }
  if (!host.empty()) process = -1;
  const bool outlived = is_outlived(job, line.where) || is_after_end(job, line);
  TableRow row{
      {std::string(name_of(*failure)), std::string(words_of(*failure)),
       std::string(failure->meaning), failure->sort == FailureSort::Cause ? "cause" : "consequence",
       std::string(failure->finding), std::string(failure->list), outlived ? "yes" : "no"},
      line,
      process,
      host};
  // A voice of which the host alone is known is that of whoever fails there.
  const bool is_of_host =
      process >= 0 && nth_process(job, process).pid < 0 && nth_process(job, process).rank < 0;
  const auto& by_host = job.answers.of<&find_failed_in_test>(job);
  const auto failed = by_host.find(is_of_host ? nth_process(job, process).host : host);
  if (failed == by_host.end()) return rows.push_back(row);
  for (const int one : failed->second) {
    row.process = one;
    row.host.clear();
    rows.push_back(row);
  }
}

std::vector<TableRow> named_failure_rows(const Job& job) {
  std::vector<TableRow> rows;
  const auto add = [&](int process, const Evidence& line) { add_row(job, process, line, rows); };
  for (const auto& [shape, lines] : job.unknown.all) {
    // Of a line that nothing else explains, the only judge is what came after it.
    const auto line = line_that_counts(job, lines);
    if (line) add(process_that_printed(job, line->text), *line);
  }
  for (const std::string_view name : kCarriers) {
    const uint16_t kind = find_kind(name)->index;
    for (size_t p = 0; p < job.processes.size(); ++p) {
      for (const size_t log : job.processes[p].logs) {
        for (const Record& record : job.logs[log].records.kept(kind)) {
          add(static_cast<int>(p), evidence_of(record));
        }
      }
    }
  }
  // What a process survived once may have ended it later, in the same words.
  std::set<int> failed;
  size_t seen = 0;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      const auto& last = job.logs[log].last_failure;
      if (!last || went_on(job, last->where)) continue;
      for (; seen < rows.size(); ++seen) {
        if (rows[seen].fields.back() == "no") failed.insert(rows[seen].process);
      }
      if (!failed.contains(static_cast<int>(p))) add(static_cast<int>(p), evidence_of(*last));
    }
  }
  // Of what WARNs mean, rules of their own say more; but who names such a reason explains them.
  for (const ReportedWarning& each : reported_warnings(job)) {
    const Evidence line = evidence_of(each.record);
    const NamedFailure* failure = named_failure_in(line.text);
    const bool is_own = failure != nullptr &&
                        (failure->list == "nccl" || failure->list == "fabric") &&
                        each.warning.severity == WarnSeverity::Fatal;
    if (is_own && failure->sort == FailureSort::Cause) add(each.process, line);
  }
  std::ranges::stable_sort(rows, {}, [](const TableRow& row) { return row.line.where; });
  return rows;
}

}  // namespace

JobTable named_failure_table() {
  return {"named_failure", kNamedFailureFields, named_failure_rows};
}

}  // namespace ncclog
