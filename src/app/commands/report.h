// ncclog analyze PATH… --md FILE --json FILE --bundle FILE
//
// Reports go where they are wanted; with --bundle also into one file that has everything somebody
// else needs to look at the run, and names nobody:
//
//   out.tar.zst               reports in all formats, logs that show the same findings, settings,
//                             versions, manifest, checksums
//   out.tar.zst.mapping.json  which name became which; stays here, mode 0600
//
// The logs are first replaced, then analysed: the reports in the bundle are those of the logs in
// it, so no name can reach them on another way. Large logs are then cut down to the lines that give
// the same findings, which is found out by analysing them once more. At last every member is
// searched for every name that was replaced, and for all that a cruder eye takes for one
// (report/anonymise/leak_check.h); if one is left, nothing is written, unless the user says so.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/analyze.h"
#include "report/anonymise/identity_patterns.h"
#include "report/anonymise/leak_check.h"
#include "report/report.h"
#include "rules/finding.h"

namespace ncclog {

/// How a bundle is made.
struct BundleOptions {
  std::string path;          ///< "out.tar.zst"; empty: no bundle is wanted.
  std::string mapping;       ///< Where the mapping goes; empty: beside the bundle.
  bool anonymise = true;     ///< false: all names stay, and there is no mapping.
  bool allow_leaks = false;  ///< Written even if a name is left, with a word about it.
  bool full_logs = false;    ///< The logs go in whole, however large.
  /// Logs up to this size together go in whole.
  uint64_t whole_bytes = uint64_t{8} << 20;
};

/// What was made, for the console.
struct BundleSummary {
  uint64_t bytes = 0;                       ///< Of the file.
  std::map<IdentityKind, size_t> replaced;  ///< How many names of each kind.
  std::string mapping;                      ///< Where it is; empty: there is none.
  uint64_t lines = 0;                       ///< Of the logs.
  uint64_t lines_kept = 0;
  bool is_excerpt = false;
  std::vector<std::string> left_out;     ///< Inputs that hold no text, as the bundle names them.
  std::vector<Leak> leaks;               ///< Names that are left, because the user allows it.
  std::vector<std::string> differences;  ///< Of the bundle's findings to the run's; empty: none.
};

/// Throws Error if the bundle or its mapping cannot be written where it is to go, or would be in
/// the way of something else. Called before long work.
void check_bundle(const BundleOptions& options, const AnalyzeOptions& analyze,
                  std::span<const std::string> inputs);

/// Writes the bundle of a run. `report` is what `analyze` gives. Throws Error if the inputs cannot
/// be read again, a file cannot be written, or a name would be left in the bundle.
BundleSummary write_bundle(const Report& report, const AnalyzeOptions& analyze,
                           const BundleOptions& options, ReadingProgress* progress = nullptr);

/// What a bundle holds and what to do next, some lines for standard error.
std::string bundle_text(const BundleOptions& options, const BundleSummary& summary);

/// In which ways the findings of `after` are others than those of `before`, whose host names are
/// first turned by `rename`: "process-killed: severity error, was warning", "bootstrap-loopback: is
/// new". Compared are ids with their order, severity, confidence, role, hosts,
/// ranks, subject and what they explain, and the verdict's status; not evidence and messages, which
/// count lines. Empty: they are equal.
std::vector<std::string> compare_findings(
    const Diagnosis& before, const Diagnosis& after,
    const std::function<std::string(std::string_view)>& rename);

}  // namespace ncclog
