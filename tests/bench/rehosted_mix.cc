// What would the init of a small job have printed with thousands of ranks? Its processes again and
// again, each time on other hosts and with the next ranks:
//
//   gpu-node-01:14050:14052 [0] NCCL INFO … rank 0 nranks 8 …            the sample
//   gpu-0002:40009:40011 [0] NCCL INFO … rank 8 nranks 20000 …           its first copy
//
// Ranks are moved where lines say who is who and who is connected with whom; the rest stays as it
// was printed, pointers and the id of the communicator too.

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <regex>
#include <string>
#include <vector>

#include "base/text.h"
#include "bench/log_mixes.h"
#include "support/paths.h"

namespace ncclog::testing {
namespace {

constexpr int kSampleRanks = 8;

/// Formats for fmt, one a line: {0} to {7} are the ranks of the copy, {8} is their number in all, {9}
/// the host, {10} the process, {11} its own thread, {12} that of its proxy.
using ProcessLines = std::vector<std::string>;

/// `text` where fmt shall print it as it is.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c == '{' || c == '}' ? 2 : 1, c);
  return out;
}

/// With the ranks as "{0}" to "{7}", and their number as "{8}".
std::string with_moved_ranks(const std::string& text) {
  static const std::regex kRanks(R"(rank (\d) n[rR]anks (\d)|(\d)\[\w+\] -> (\d)\[)");
  std::string out;
  auto at = text.cbegin();
  const auto put = [&](const std::ssub_match& number, std::string_view hole) {
    if (!number.matched) return;
    out += escaped({at, number.first});
    out += hole;
    at = number.second;
  };
  for (std::sregex_iterator match(text.begin(), text.end(), kRanks), none; match != none; ++match) {
    const auto& found = *match;
    put(found[1], fmt::format("{{{}}}", found.str(1)));
    put(found[2], fmt::format("{{{}}}", kSampleRanks));
    put(found[3], fmt::format("{{{}}}", found.str(3)));
    put(found[4], fmt::format("{{{}}}", found.str(4)));
  }
  return out + escaped({at, text.cend()});
}

/// Without the calls: they are no init.
ProcessLines load_process(const std::filesystem::path& file) {
  static const std::regex kHeader(R"([^\s:]+:(\d+):(\d+) (.*))");
  ProcessLines lines;
  const std::string log = read_file(file);
  for (const std::string_view view : split(log, '\n')) {
    const std::string line(view);
    std::smatch found;
    if (line.find("opCount") != line.npos || !std::regex_match(line, found, kHeader)) continue;
    const std::string_view thread = found.str(1) == found.str(2) ? "{11}" : "{12}";
    lines.push_back(fmt::format("gpu-{{9:04}}:{{10}}:{} ", thread) +
                    with_moved_ranks(found.str(3)));
  }
  return lines;
}

std::vector<ProcessLines> load_processes() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(sample_logs("healthy-2node-socket"))) {
    if (entry.path().filename().string().starts_with("nccl-log")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<ProcessLines> processes;
  for (const auto& file : files) processes.push_back(load_process(file));
  return processes;
}

void write_ranks(LogText& log, const std::vector<int>& ranks) {
  const std::vector<ProcessLines> processes = load_processes();
  for (const int rank : ranks) {
    if (log.is_full()) return;
    const int first = rank - rank % kSampleRanks;
    const int pid = log.pid(rank);
    for (const std::string& line : processes[static_cast<size_t>(rank % kSampleRanks)]) {
      log.line(fmt::runtime(line), first, first + 1, first + 2, first + 3, first + 4, first + 5,
               first + 6, first + 7, log.options().ranks, log.host(rank) + 1, pid, pid, pid + 8192);
    }
  }
}

}  // namespace

void write_rehosted_inits(LogText& log) { write_ranks(log, log.shuffled_ranks()); }

void write_ordered_inits(LogText& log) {
  std::vector<int> ranks(static_cast<size_t>(log.options().ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  write_ranks(log, ranks);
}

}  // namespace ncclog::testing
