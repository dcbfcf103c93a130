// One host's share of a job's logs as a part, to be merged with the others'.
//
//   ncclog scan PATH… -o FILE
//   ncclog scan --answer REQUESTS PATH… -o FILE

#include "app/read/scan.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "app/cluster/host_list.h"
#include "app/command_table.h"
#include "app/commands/analyze.h"
#include "app/read/progress.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "rules/load_rules.h"
#include "rules/pattern.h"

namespace ncclog {
namespace {

struct ScanOptions {
  InputOptions input;
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
  std::string output;              ///< A file, "-"; empty: a mistake.
  bool update = false;             ///< What the file holds already and still holds is kept.
  std::string answer;              ///< Requests of a merge; empty: scan.
  std::string share;               ///< "2/16": the second of sixteen shares; empty: all.
};

/// Keeps those inputs that belong to a share: by their names, so that all who share agree.
void keep_share(const std::string& share, std::vector<std::string>& inputs) {
  const size_t slash = share.find('/');
  constexpr const char* kFlag = "--share";
  constexpr NumberRange kShares{1, kMostHosts};
  if (slash == share.npos) throw Error("not a share", kFlag, "2/16 is the second of sixteen");
  const int64_t all = number_in(kShares, kFlag, share.substr(slash + 1));
  const int64_t own = number_in({1, all}, kFlag, share.substr(0, slash));
  std::erase_if(inputs, [&](const std::string& path) {
    const uint64_t hash = fnv_text(kFnvBasis, path);
    return static_cast<int64_t>(hash % static_cast<uint64_t>(all)) + 1 != own;
  });
}

std::vector<std::string> inputs_of(const ScanOptions& options, const std::string& host) {
  InputOptions here = options.input;
  for (std::string& path : here.paths) path = with_host(path, host);
  std::vector<std::string> inputs = wanted_inputs(here);
  if (!options.share.empty()) keep_share(options.share, inputs);
  return inputs;
}

/// Replies those requests whose files are here, as they were when they were scanned.
ScanResult write_answers(const ScanOptions& options, const std::vector<std::string>& inputs,
                         const ReadSettings& settings, PartFile& part) {
  const LoadedPart asked = read_part_file(options.answer, settings.matcher);
  std::map<std::string, std::vector<Request>> by_path;
  for (const Request& request : asked.requests) by_path[request.path].push_back(request);
  ScanResult result;
  for (const std::string& path : inputs) {
    const auto requests = by_path.find(path);
    if (requests == by_path.end()) continue;
    const auto stamp = stamp_of(path);
    std::erase_if(requests->second, [&](const Request& request) {
      return !stamp || stamp->size < request.stamp.size ||
             (stamp->beginning != request.stamp.beginning && stamp->size == request.stamp.size);
    });
    ++result.inputs;
    for (const auto& [request, answer] :
         answer_requests(requests->second, path, settings.unit_bytes)) {
      part.add(request, answer);
    }
  }
  return result;
}

ExitStatus scan_logs(const ScanOptions& options, Console& console) {
  if (options.output.empty()) {
    throw Error("no file named for the part", "scan", "-o FILE; %h in it is this host's name");
  }
  const std::string host = own_host_name();
  const std::string output = with_host(options.output, host);
  const std::vector<std::string> inputs = inputs_of(options, host);
  const bool is_file = output != kStandardOutput;
  if (is_file) check_output_file(output, inputs);
  ReadSettings settings{.threads = options.input.threads,
                        .matcher = make_line_matcher(load_rulebook(options.rules, today())),
                        .progress = console.progress};
  std::optional<LoadedPart> before;
  std::error_code ignored;
  if (options.update && is_file && std::filesystem::exists(output, ignored)) {
    before = read_part_file(output, settings.matcher);
  }
  std::optional<OutputFile> file;
  if (is_file) file.emplace(output, /*is_private=*/true);
  uint64_t written = 0;
  const auto write = [&](std::string_view bytes) {
    written += bytes.size();
    if (file) {
      file->write(bytes);
    } else {
      console.out += bytes;
    }
  };
  ScanResult result;
  if (options.answer.empty()) {
    result = scan({.inputs = inputs, .host = host, .before = before ? &*before : nullptr}, settings,
                  write);
  } else {
    PartFile part(write, part_kin(settings.matcher), host);
    result = write_answers(options, inputs, settings, part);
    part.finish();
  }
  if (file) file->keep();
  if (!console.quiet && is_file) {
    console.err += fmt::format("wrote {}: {} of {}\n", printable(output), bytes_text(written),
                               plural(result.inputs, "input"));
  }
  return result.partial > 0 ? ExitStatus::Partial : ExitStatus::Fine;
}

}  // namespace

void declare_scan(CommandRow& command) {
  ScanOptions& options = options_of(command, scan_logs);
  add_input_flags(command, options.input);
  add_flag(command, kInputFlags, "--share I/N", options.share,
           "of files that N hosts see, read only this host's share");
  add_flag(command, kInputFlags, "--update", options.update,
           "read only what came since FILE was written; logs that grew are read on");
  add_flag(command, kInputFlags, "--answer REQUESTS", options.answer,
           "do not scan, but look up what 'ncclog analyze *.part --requests' asks for");
  add_rules_flag(command, options.rules);
  add_flag(command, kOutputFlags, "-o,--output FILE", options.output,
           "the part; '-' is standard output, %h in it and in PATH is this host's name");
}

}  // namespace ncclog
