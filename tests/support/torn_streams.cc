#include "support/torn_streams.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string_view>

#include "support/paths.h"

namespace ncclog::testing {
namespace {

/// Where line `count` ends, counted from 1; the whole text if it has fewer.
size_t end_of_line(std::string_view text, int count) {
  size_t at = 0;
  for (int i = 0; i < count && at < text.size(); ++i) {
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  return at;
}

/// `count` lines after the first `skip`, with a line end.
std::string lines_of(std::string_view text, int skip, int count) {
  text.remove_prefix(end_of_line(text, skip));
  std::string taken(text.substr(0, end_of_line(text, count)));
  if (!taken.empty() && taken.back() != '\n') taken += '\n';
  return taken;
}

/// The log of process `index` of a sample, its beginning and its end, so that settings, ranks,
/// connections and the last word are in it.
std::string process_log(std::string_view sample, int index, int first = 60, int last = 15) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(sample_logs(sample))) {
    if (entry.path().filename().string().starts_with("nccl-log")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  const std::string text = read_file(files.at(static_cast<size_t>(index)));
  const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  const int skip = std::max(first, lines - last);
  return lines_of(text, 0, first) + lines_of(text, skip, last);
}

/// Every process of a sample and its program, as one launcher collects them: `most` lines of each.
TornScenario whole_job(std::string_view sample, int most) {
  TornScenario scenario{std::string(sample) + " as a whole", {}};
  for (const auto& entry : std::filesystem::directory_iterator(sample_logs(sample))) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".txt") && !name.ends_with(".log") && !name.ends_with(".out")) continue;
    std::string text = read_file(entry.path());
    const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    if (name != "stdout.log" && lines > most) {
      text = lines_of(text, 0, most * 4 / 5) + lines_of(text, lines - most / 5, most / 5);
    }
    scenario.streams.push_back(lines_of(text, 0, lines + 1));
  }
  std::sort(scenario.streams.begin(), scenario.streams.end());
  std::erase(scenario.streams, std::string());
  return scenario;
}

std::string stdout_of(std::string_view sample, int skip, int count) {
  return lines_of(read_file(sample_logs(sample) / "stdout.log"), skip, count);
}

/// The lines of a process between those of its program: each third line is the program's.
std::string with_program(const std::string& log, const std::string& program) {
  std::string mixed;
  size_t at = 0;
  size_t from = 0;
  for (int n = 0; at < log.size() || from < program.size(); ++n) {
    const bool own = (n % 3 != 2 && at < log.size()) || from >= program.size();
    const std::string& text = own ? log : program;
    size_t& begin = own ? at : from;
    const size_t end = text.find('\n', begin) + 1;
    mixed.append(text, begin, end - begin);
    begin = end;
  }
  return mixed;
}

TornScenario pair(std::string_view sample, int one, int other) {
  return {std::string(sample), {process_log(sample, one), process_log(sample, other)}};
}

TornScenario with_stdout(std::string_view sample, int one, int other, int skip, int count) {
  const std::string program = stdout_of(sample, skip, count);
  return {std::string(sample) + " with its program",
          {with_program(process_log(sample, one), program), process_log(sample, other)}};
}

/// The output of several processes, one stream for each mark with which their lines begin. Lines
/// without a mark go on with what the process before them prints; other processes' are left out.
TornScenario by_mark(std::string_view sample, const std::vector<std::string_view>& marks,
                     int count) {
  TornScenario scenario{std::string(sample) + " by line", {}};
  scenario.streams.resize(marks.size());
  const std::string all = stdout_of(sample, 0, count);
  const auto marked = [](std::string_view line) {
    return line.starts_with('[') || line.starts_with("gpu-node") || line.starts_with("E1120");
  };
  size_t current = 0;
  for (size_t at = 0; at < all.size();) {
    const size_t end = all.find('\n', at) + 1;
    const std::string_view line = std::string_view(all).substr(at, end - at);
    const auto mark = std::find_if(marks.begin(), marks.end(),
                                   [&](auto begin) { return line.starts_with(begin); });
    if (marked(line)) current = static_cast<size_t>(mark - marks.begin());
    if (current < marks.size()) scenario.streams[current].append(line);
    at = end;
  }
  return scenario;
}

}  // namespace

std::string TornScenario::clean() const {
  return std::accumulate(streams.begin(), streams.end(), std::string());
}

std::vector<TornScenario> torn_scenarios() {
  const auto three = [](std::string_view sample, int a, int b, int c) {
    TornScenario scenario = pair(sample, a, b);
    scenario.streams.push_back(process_log(sample, c));
    return scenario;
  };
  return {
      pair("healthy-1node-8gpu", 0, 1),
      pair("healthy-2node-socket", 0, 1),
      pair("healthy-2node-socket", 1, 4),
      pair("groups-tp-dp-pp", 0, 5),
      pair("timeout-rank-skips", 0, 4),
      pair("timeout-rank-skips", 2, 3),
      pair("rank-env-differs", 0, 1),
      pair("rank-env-differs", 1, 2),
      pair("hostid-pseudo-hosts", 0, 2),
      pair("shm-too-small", 0, 1),
      pair("timestamps", 0, 1),
      three("healthy-1node-8gpu", 2, 3, 4),
      three("healthy-2node-socket", 0, 3, 6),
      three("rank-env-differs", 0, 1, 3),
      with_stdout("healthy-1node-8gpu", 0, 1, 0, 40),
      with_stdout("healthy-2node-socket", 0, 4, 0, 40),
      with_stdout("timeout-rank-skips", 0, 4, 200, 60),
      with_stdout("shm-too-small", 1, 0, 0, 60),
      {"a program beside a process",
       {process_log("timeout-rank-skips", 1), stdout_of("timeout-rank-skips", 240, 50)}},
      by_mark("torchrun-tee", {"[trainer0]", "[trainer2]"}, 400),
      by_mark("rank-raises", {"[default0]", "[default1]", "E1120"}, 334),
      by_mark("rank-killed", {"[rank0]", "[rank1]", "[rank2]"}, 160),
      by_mark("healthy-coll-iterations", {"gpu-node-01:15717:", "gpu-node-01:15720:"}, 300),
  };
}

std::vector<TornScenario> collected_jobs() {
  std::vector<TornScenario> jobs;
  for (const std::string_view sample :
       {"healthy-1node-8gpu", "healthy-2node-socket", "timeout-rank-skips", "rank-env-differs",
        "size-mismatch", "shm-too-small", "groups-tp-dp-pp", "docker0-selected", "rank-raises",
        "rank-killed", "hostid-pseudo-hosts", "device-changed", "recv-left-out", "timestamps"}) {
    jobs.push_back(whole_job(sample, 250));
  }
  return jobs;
}

namespace {

/// Writes what forwarders hand on, and finds out which records stayed whole.
class Collected {
 public:
  Collected(const std::vector<std::string>& streams, const ForwardOptions& options,
            std::mt19937& random)
      : streams_(streams), options_(options), random_(random), read_(streams.size()) {}

  bool is_read(size_t s) const { return read_[s] == streams_[s].size(); }

  /// Hands on the next bytes of a stream, `most` at most.
  void take(size_t s, size_t most) {
    const std::string& stream = streams_[s];
    const size_t end = std::min(read_[s] + most, stream.size());
    while (read_[s] < end) {
      const size_t line_end = stream.find('\n', read_[s]) + 1;
      const size_t stop = std::min(end, line_end);
      const bool begins_whole = (read_[s] == 0 || stream[read_[s] - 1] == '\n') &&
                                (result_.text.empty() || result_.text.back() == '\n');
      const std::string_view piece = std::string_view(stream).substr(read_[s], stop - read_[s]);
      result_.text += piece;
      read_[s] = stop;
      if (stop < line_end) return;
      if (random_() % 1000 < static_cast<unsigned>(options_.lost_ends_permille)) {
        result_.text.pop_back();
        continue;
      }
      if (begins_whole && piece.find(" NCCL ") != piece.npos && piece.find(':') != piece.npos)
        result_.undamaged.insert(std::string(piece.substr(0, piece.size() - 1)));
      if (random_() % 1000 < static_cast<unsigned>(options_.doubled_ends_permille))
        result_.text += '\n';
    }
  }

  ForwardedLog result() && { return std::move(result_); }

 private:
  const std::vector<std::string>& streams_;
  const ForwardOptions& options_;
  std::mt19937& random_;
  std::vector<size_t> read_;
  ForwardedLog result_;
};

/// Where a stream ends `records` lines behind `from`.
size_t end_of_records(std::string_view stream, size_t from, unsigned records) {
  for (; records > 0 && from < stream.size(); --records) from = stream.find('\n', from) + 1;
  return from;
}

}  // namespace

ForwardedLog forward(const std::vector<std::string>& streams, const ForwardOptions& options,
                     std::mt19937& random) {
  Collected log(streams, options, random);
  std::vector<size_t> waiting(streams.size());  // Bytes printed and not handed on yet.
  std::vector<size_t> printed(streams.size());
  for (;;) {
    std::vector<size_t> open;
    for (size_t s = 0; s < streams.size(); ++s) {
      if (!log.is_read(s)) open.push_back(s);
    }
    if (open.empty()) return std::move(log).result();
    const size_t s = open[random() % open.size()];
    // A process prints a burst, often more than one read takes.
    if (waiting[s] == 0 || random() % 4 == 0) {
      const size_t end =
          end_of_records(streams[s], printed[s], 1 + random() % options.longest_burst);
      waiting[s] += end - printed[s];
      printed[s] = end;
    }
    const size_t bytes = std::min(waiting[s], options.chunk);
    log.take(s, bytes);
    waiting[s] -= bytes;
  }
}

std::string tear(const std::vector<std::string>& streams, const TearOptions& options,
                 std::mt19937& random) {
  std::vector<size_t> written(streams.size());
  const auto share = [&] { return static_cast<double>(random() % 100'000) / 100'000.0; };
  const double scale = std::log(static_cast<double>(options.longest_chunk) / 2.0);
  std::string text;
  for (size_t current = random() % streams.size();;) {
    const std::string& stream = streams[current];
    size_t end = written[current] + static_cast<size_t>(2.0 * std::exp(share() * scale));
    end = std::min(end, stream.size());
    const bool cut = random() % 1000 < static_cast<unsigned>(options.cut_percent) * 10;
    if (!cut) end = std::min(stream.find('\n', end == 0 ? 0 : end - 1) + 1, stream.size());
    text.append(stream, written[current], end - written[current]);
    written[current] = end;
    std::vector<size_t> open;
    for (size_t s = 0; s < streams.size(); ++s) {
      if (written[s] < streams[s].size()) open.push_back(s);
    }
    if (open.empty()) return text;
    if (open.size() > 1) std::erase(open, current);
    current = open[random() % open.size()];
  }
}

}  // namespace ncclog::testing
