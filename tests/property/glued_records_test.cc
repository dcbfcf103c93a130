// A record whose line end is lost before another one is found all the same: nothing that was said of
// the log is lost, and nothing new is said.
//
//   … ran for 600053 milliseconds before timing out.[rank1]:[E1120 21:25:35.5 ProcessGroupNCCL.cpp …
//     8388608   2097152   float   sum   -1node-a: Test CUDA failure common.cu:303 '…'
//
// Stretches of the sample logs around lines that carry findings are read as they are and with line
// ends taken out at places that seeds choose.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "log/event.h"
#include "log/line/header.h"
#include "log/line/prefix.h"
#include "log/messages.h"
#include "model/derive/build_job.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "support/paths.h"

namespace ncclog::testing {
namespace {

constexpr size_t kBefore = 60;  ///< Lines of a stretch before the first one that carries a finding.
constexpr size_t kMost = 160;   ///< Lines of a stretch.
const unsigned kSeeds = static_cast<unsigned>(affordable(8));  ///< Of each stretch.

using LogLines = std::vector<std::string>;

LogLines lines_of(std::string_view text) {
  LogLines lines;
  for (const std::string_view line : split(text, '\n')) lines.emplace_back(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string with_line_ends(const LogLines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

struct GluedReader {
  Rulebook rulebook = load_rulebook();
  LineMatcher matcher = make_line_matcher(rulebook);

  Diagnosis diagnose(const std::string& text) const {
    return evaluate(rulebook, job_from_text(text, matcher));
  }

  /// Errors and warnings.
  std::set<std::string> ids(const std::string& text) const {
    std::set<std::string> ids;
    for (const Finding& finding : diagnose(text).findings) {
      if (finding.severity != Severity::Info) ids.insert(finding.id);
    }
    return ids;
  }
};

/// The stretch of a log that carries its errors and warnings; empty if there are none.
LogLines stretch_with_findings(const GluedReader& reader, const LogLines& lines) {
  size_t first = lines.size();
  for (const Finding& finding : reader.diagnose(with_line_ends(lines)).findings) {
    if (finding.severity == Severity::Info) continue;
    for (const Evidence& line : finding.evidence)
      first = std::min<size_t>(first, line.where.line - 1);
  }
  if (first == lines.size()) return {};
  const size_t begin = first - std::min(first, kBefore);
  const size_t end = std::min(lines.size(), begin + kMost);
  return {lines.begin() + static_cast<std::ptrdiff_t>(begin),
          lines.begin() + static_cast<std::ptrdiff_t>(end)};
}

struct FailingStretch {
  std::string sample;
  LogLines lines;
  std::set<std::string> ids;
};

std::vector<FailingStretch> failing_stretches(const GluedReader& reader) {
  constexpr uintmax_t kLongest = 1 << 20;
  std::vector<FailingStretch> all;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(source_dir() / "sample_logs")) {
    const std::string path = entry.path().string();
    if (!entry.is_regular_file() || entry.file_size() > kLongest ||
        path.find("/logs/") == path.npos || (!path.ends_with(".log") && !path.ends_with(".out")))
      continue;
    LogLines lines = stretch_with_findings(reader, lines_of(read_file(entry.path())));
    if (lines.empty()) continue;
    std::set<std::string> ids = reader.ids(with_line_ends(lines));
    if (!ids.empty()) all.push_back({path, std::move(lines), std::move(ids)});
  }
  std::ranges::sort(all, {}, &FailingStretch::sample);
  // Ranks say the same: two files of each sample are enough.
  std::map<std::string, int> of_sample;
  std::erase_if(all, [&](const FailingStretch& stretch) {
    return ++of_sample[std::filesystem::path(stretch.sample).parent_path().string()] > 2;
  });
  return all;
}

/// True if a record begins with the line, wherever it stands: not for a rest of one. Damage among
/// NCCL's INFO lines makes silence prove nothing; it has a property of its own (torn_lines_test).
bool begins_with_record(const std::string& line) {
  const Event event = parse_event(line, all_wordings());
  const Prefix& prefix = event.header.prefix;
  if (event.header.level == Level::Framework) return true;
  if (is_nccl(event.header)) return event.header.level == Level::Warn && !event.header.host.empty();
  const bool is_tagged = line.starts_with("[rank") || line.starts_with("[default");
  return (is_tagged && prefix.length > 0) || line.starts_with("Traceback (most recent call last)");
}

/// False if the line ends with a value, of which a part might be lost where another record follows:
/// what it says is not used then.
bool is_closed(const std::string& line) {
  const Message message = parse_event(line, all_wordings()).message;
  const std::string longer = line + "0";
  const Message other = parse_event(longer, all_wordings()).message;
  return message.kind == nullptr ||
         (message.wording == other.wording && message.fields == other.fields);
}

/// The lines with about a third of the line ends taken out behind which a record begins.
std::string glued(const LogLines& lines, std::mt19937& random) {
  std::string text = lines.front();
  for (size_t i = 1; i < lines.size(); ++i) {
    const bool is_glued = !lines[i - 1].empty() && begins_with_record(lines[i]) &&
                          random() % 3 == 0 && is_closed(lines[i - 1]);
    text += (is_glued ? "" : "\n") + lines[i];
  }
  return text + "\n";
}

std::string difference(const std::set<std::string>& had, const std::set<std::string>& has) {
  std::string text;
  for (const std::string& id : had) text += has.contains(id) ? "" : " lost " + id;
  for (const std::string& id : has) text += had.contains(id) ? "" : " invented " + id;
  return text;
}

/// Keeps a log of which something else is said, to be looked at.
void keep_glued(const std::string& text, size_t number, unsigned seed) {
  std::ofstream(::testing::TempDir() + fmt::format("glued-{}-{}.log", number, seed)) << text;
}

TEST(GluedRecords, NothingIsLostOrInventedWhereLineEndsAreLost) {
  const GluedReader reader;
  size_t number = 0;
  for (const FailingStretch& stretch : failing_stretches(reader)) {
    ++number;
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      std::mt19937 random(seed);
      const std::string text = glued(stretch.lines, random);
      const std::string different = difference(stretch.ids, reader.ids(text));
      EXPECT_EQ(different, "") << stretch.sample << ", " << number << ", seed " << seed;
      if (!different.empty()) keep_glued(text, number, seed);
    }
  }
}

/// Rows of nccl-tests, whole and as far as they are printed before the operation runs.
constexpr std::string_view kTableRows[] = {
    "     8388608       2097152     float     sum      -1",
    "     8388608       2097152     float     sum      -1   4915.3    1.71    3.20      0",
    "     8388608       2097152     float     sum      -1   4915.3    1.71    3.20      0   5012.1 "
    "   "
    "1.67    3.14      0",
    "[1,0]<stdout>:     8388608       2097152     float    none       0   4915.3    1.71    3.20   "
    " "
    "N/A",
};

/// Errors as they come while such a row is printed.
constexpr std::string_view kErrorsBehindRows[] = {
    "node-a: Test CUDA failure common.cu:303 'an illegal memory access was encountered'",
    "node-a: Test NCCL failure common.cu:1005 'unhandled system error (run with NCCL_DEBUG=INFO "
    "for "
    "details) / Call to ibv_reg_mr failed'",
    "node-a:41:77 [0] misc/ibvwrap.cc:160 NCCL WARN Call to ibv_reg_mr failed with error Cannot "
    "allocate memory",
    "node-a:41:77 [0] transport/net_ib.cc:1296 NCCL WARN NET/IB : Got completion from peer "
    "10.1.2.3<51234> with status=12 opcode=0 len=0 vendor err 129 (Send)",
    "[rank1]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank 1] Watchdog caught "
    "collective "
    "operation timeout: WorkNCCL(SeqNum=20, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
    "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.",
};

TEST(GluedRecords, AnErrorBehindARowOfATableIsFound) {
  const GluedReader reader;
  for (const std::string_view row : kTableRows) {
    for (const std::string_view error : kErrorsBehindRows) {
      const auto text = [&](std::string_view between) {
        return std::string(row).append(between).append(error).append("\n");
      };
      EXPECT_EQ(difference(reader.ids(text("\n")), reader.ids(text(""))), "") << text("");
    }
  }
}

}  // namespace
}  // namespace ncclog::testing
