// What does the program print for a command line? A golden case is a folder that says so.
//
//   tests/golden/hang with one rank missing/
//     args             analyze {samples}/timeout-rank-skips/logs
//     expected.txt     what stands on standard output, or expected.json for JSON
//     expected.stderr  what stands on standard error; may be left out if it stays empty
//     exit_code        may be left out if it is 0
//     anything else    input; the command runs in this folder
//
// A report that is shown whole elsewhere is not repeated. A case may state a part of it:
//
//     parts            "### Runs": only what begins with these words, up to the next heading
//
// or what its flags change in it:
//
//     base             a hang with ranks waiting
//     expected.diff    lines of that case's output with '-', of this one's with '+'
//
// NCCLOG_UPDATE_GOLDEN=1 writes the expected files from what the program prints. Review that diff
// like code.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog::testing {

/// One golden folder.
struct GoldenCase {
  std::filesystem::path folder;
  std::vector<std::string> arguments;  ///< Without the program; {samples} is filled in.
};

/// The folders under `root` that hold `args`, sorted by path. Throws std::runtime_error if `args`
/// cannot be read or ends inside quotes.
std::vector<GoldenCase> load_golden_cases(const std::filesystem::path& root);

/// Words of `text` as a shell splits them, with '…' and "…" but without any expansion.
std::vector<std::string> split_arguments(std::string_view text);

/// The parts of `text` that begin as one of `beginnings` does, one a line, in that order. A part
/// ends before the next section of a page, heading of Markdown or key of a JSON object; one that is
/// not there is said to be missing.
std::string parts_of(std::string_view text, std::string_view beginnings);

/// Runs the case and compares, or rewrites what it expects if `update` is set. Says how the outcome
/// differs; empty if it does not.
std::string check_golden_case(const GoldenCase& golden, bool update);

}  // namespace ncclog::testing
