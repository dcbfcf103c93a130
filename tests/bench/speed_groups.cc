#include "bench/speed_groups.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "bench/generated_files.h"
#include "support/paths.h"
#include "support/process.h"

namespace ncclog::testing {
namespace {

namespace fs = std::filesystem;

constexpr double kMemoryLimit = 96;     ///< MB.
constexpr double kLargeJobLimit = 512;  ///< MB, of 4,096 ranks in as many files.
constexpr double kInitLimit = 200;      ///< MB, of 20,000 ranks in one file.
constexpr std::string_view kOneThread = "analyze --threads 1";
constexpr std::string_view kTwoThreads = "analyze --threads 2";

/// A file that a group made, gone with the group: ten of them would need ten times the room.
class MadeFile {
 public:
  explicit MadeFile(fs::path path) : path_(std::move(path)) {}
  MadeFile(const MadeFile&) = delete;
  MadeFile& operator=(const MadeFile&) = delete;
  ~MadeFile() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string text() const { return path_.string(); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// "ncclog analyze --threads 2", as a contender over `input`. Its report goes nowhere.
Contender ncclog_run(std::string_view what, const std::string& input) {
  return {fmt::format("ncclog {}", what),
          fmt::format("exec '{}' {} '{}' >/dev/null", ncclog_binary().string(), what, input)};
}

/// Reads `input` once before, so that the first runner does not pay for the disk.
SpeedTable time_all(const SpeedRun& run, std::string name, const std::string& input, uint64_t bytes,
                    const std::vector<Contender>& contenders) {
  run_command({.arguments = {"sh", "-c",
                             fmt::format("find '{}' -type f -exec cat {{}} + >/dev/null", input)}});
  SpeedTable table{std::move(name), bytes, 0, run_in_turns(contenders, run.options.rounds)};
  fmt::print("{}", table_text(table));
  std::fflush(stdout);
  return table;
}

void judge(const SpeedRun& run, Criterion criterion) {
  fmt::print("  {}\n", verdict_text(criterion));
  run.results.criteria.push_back(std::move(criterion));
}

double seconds(const SpeedTable& table, std::string_view name) {
  return timed(table.runs, std::string(name)).seconds;
}

/// Peak memory of every run of ncclog in the table.
void judge_memory(const SpeedRun& run, const SpeedTable& table, double limit) {
  double peak = 0;
  for (const Timed& row : table.runs) {
    if (row.name.starts_with("ncclog ")) peak = std::max(peak, row.peak_mb);
  }
  judge(run,
        {.what = table.input + ": peak memory", .limit = limit, .measured = peak, .unit = "MB"});
}

/// How many times as long as `other` the first one takes; the other may be missing on this machine.
void judge_ratio(const SpeedRun& run, const SpeedTable& table, const std::string& name,
                 const std::string& other, double limit) {
  judge(run,
        {.what = fmt::format("{}: `{}` to `{}`", table.input, name, other),
         .limit = limit,
         .measured = timed(table.runs, name).seconds / timed(table.runs, other).seconds,
         .by_cpu = timed(table.runs, name).cpu_seconds / timed(table.runs, other).cpu_seconds});
}

void judge_missing(const SpeedRun& run, std::string what, double limit, std::string_view tool) {
  judge(run, {.what = std::move(what),
              .limit = limit,
              .measured = std::nullopt,
              .reason = fmt::format("no {} here", tool)});
}

uint64_t count_lines(const std::string& log) {
  return std::stoull(run_command({.arguments = {"wc", "-l", log}}).standard_output);
}

std::string size_text(uint64_t bytes) { return fmt::format("{:.1f} GB", bytes / 1e9); }

void measure_plain(const SpeedRun& run) {
  const MadeFile log(run.folder / "collectives.log");
  write_log_file(log.path(), {.bytes = run.options.bytes});
  const std::string at = fmt::format("'{}' >/dev/null", log.text());
  // GNU grep stops at the first match where its output is /dev/null itself.
  const std::string seen = fmt::format("'{}' | cat >/dev/null", log.text());
  const bool has_rg = has_tool("rg");
  std::vector<Contender> contenders = {
      {"wc -l", "exec wc -l " + at},
      {"grep -c", "grep -c 'NCCL INFO AllGather' " + seen},
      {"four greps",
       fmt::format("for word in 'NCCL WARN' 'Init COMPLETE' 'NCCL INFO AllReduce' 'via NET'; do "
                   "grep -c \"$word\" {}; done; true",
                   seen)},
      ncclog_run(kTwoThreads, log.text()),
      ncclog_run(kOneThread, log.text()),
      ncclog_run("count --by iteration,op --threads 2", log.text()),
  };
  if (has_rg) contenders.push_back({"rg -c", "exec rg -c 'NCCL INFO AllGather' " + at});
  SpeedTable table =
      time_all(run, "collectives", log.text(), fs::file_size(log.path()), contenders);
  table.lines = count_lines(log.text());
  const std::string two = fmt::format("ncclog {}", kTwoThreads);
  const std::string one = fmt::format("ncclog {}", kOneThread);
  if (has_rg) {
    judge_ratio(run, table, two, "rg -c", 1.5);
    judge_ratio(run, table, one, "rg -c", 2.5);
  } else {
    judge_missing(run, "collectives: `" + two + "` to `rg -c`", 1.5, "rg");
    judge_missing(run, "collectives: `" + one + "` to `rg -c`", 2.5, "rg");
  }
  judge_ratio(run, table, two, "wc -l", 4);
  judge_ratio(run, table, "ncclog count --by iteration,op --threads 2", two, 1);
  judge_memory(run, table, kMemoryLimit);
  run.results.tables.push_back(std::move(table));
}

/// A packed log beside what only unpacks it.
struct PackedRow {
  std::string_view suffix;
  std::string_view unpacker;
  double limit;  ///< 0: nothing is to hold.
};

constexpr PackedRow kPackedRows[] = {
    {".gz", "igzip -dc", 1.3},
    {".zst", "zstd -dc", 1.4},
    {".bgz", "bgzip -dc", 0},
    {".frames.zst", "zstd -dc", 0},
};

const Packing& packing_of(std::string_view suffix) {
  const auto* row = std::find_if(std::begin(kPackings), std::end(kPackings),
                                 [&](const Packing& one) { return one.suffix == suffix; });
  return *row;
}

void measure_packed_row(const SpeedRun& run, const MadeFile& log, const PackedRow& row) {
  const std::string name = fmt::format("collectives{}", row.suffix);
  const auto packed = pack_file(log.path(), packing_of(row.suffix));
  if (!packed) return judge_missing(run, name, row.limit, packing_of(row.suffix).tool);
  const MadeFile file(*packed);
  const std::string tool(row.unpacker.substr(0, row.unpacker.find(' ')));
  const std::string unpacker(row.unpacker);
  std::vector<Contender> contenders = {ncclog_run(kTwoThreads, file.text())};
  if (has_tool(tool)) {
    contenders.push_back({unpacker, fmt::format("exec {} '{}' >/dev/null", unpacker, file.text())});
  }
  const std::string piped = "zcat | grep -c";
  if (row.suffix == ".gz") {
    contenders.push_back(
        {piped,
         fmt::format("zcat '{}' | grep -c 'NCCL INFO AllGather' | cat >/dev/null", file.text())});
  }
  // Speed is that of the text, so that packed and plain can be compared.
  SpeedTable table = time_all(run, name, file.text(), fs::file_size(log.path()), contenders);
  const std::string two = fmt::format("ncclog {}", kTwoThreads);
  if (row.limit > 0 && has_tool(tool)) judge_ratio(run, table, two, unpacker, row.limit);
  if (row.limit > 0 && !has_tool(tool)) judge_missing(run, name, row.limit, tool);
  if (row.suffix == ".gz") {
    judge(run, {.what = fmt::format("{}: `{}` to `{}`", name, piped, two),
                .limit = 7,
                .measured = seconds(table, piped) / seconds(table, two),
                .is_minimum = true});
  }
  judge_memory(run, table, kMemoryLimit);
  run.results.tables.push_back(std::move(table));
}

void measure_packed(const SpeedRun& run) {
  const MadeFile log(run.folder / "collectives.log");
  write_log_file(log.path(), {.bytes = run.options.bytes});
  for (const PackedRow& row : kPackedRows) measure_packed_row(run, log, row);
}

/// A log whose lines cannot be foreseen, beside a grep for what people look for in it. `limit` is of
/// processor time.
struct GreppedLog {
  std::string name;
  double limit;
  double memory_limit;  ///< MB.
};

/// One for each thing that goes wrong in a job, or says how far it came.
constexpr std::string_view kTwentyPatterns =
    "NCCL WARN|Watchdog caught|Traceback|CUDA error|slurmstepd|out of memory|RuntimeError|Killed|"
    "SIGTERM|ncclSystemError|Init COMPLETE|Init START|No space left|Connection refused|timed out|"
    "Got completion|NET/|Segmentation fault|unhandled|Xid";

void measure_grepped(const SpeedRun& run, const GreppedLog& kind, const LogOptions& options) {
  const MadeFile log(run.folder / "grepped.log");
  write_log_file(log.path(), options);
  const std::string grep = "grep of 20 patterns";
  SpeedTable table = time_all(
      run, kind.name, log.text(), fs::file_size(log.path()),
      {ncclog_run(kOneThread, log.text()),
       ncclog_run(kTwoThreads, log.text()),
       // GNU grep stops at the first match where its output is /dev/null itself.
       {grep,
        fmt::format("LC_ALL=C grep -cE '{}' '{}' | cat >/dev/null", kTwentyPatterns, log.text())}});
  table.lines = count_lines(log.text());
  const std::string one = fmt::format("ncclog {}", kOneThread);
  const double ratio = timed(table.runs, one).cpu_seconds / timed(table.runs, grep).cpu_seconds;
  judge(run, {.what = fmt::format("{}: CPU time of `{}` to `{}`", kind.name, one, grep),
              .limit = kind.limit,
              .measured = ratio});
  judge_memory(run, table, kind.memory_limit);
  run.results.tables.push_back(std::move(table));
}

void measure_irregular(const SpeedRun& run) {
  measure_grepped(run, {"irregular collectives", 2, kMemoryLimit},
                  {.bytes = run.options.grep_bytes, .mix = LogMix::Random});
}

void measure_training(const SpeedRun& run) {
  measure_grepped(run, {"training output, 2 % of the lines NCCL's", 2, kMemoryLimit},
                  {.bytes = run.options.grep_bytes, .mix = LogMix::Steps});
}

void measure_init(const SpeedRun& run) {
  const int ranks = run.options.init_ranks;
  measure_grepped(run, {fmt::format("init of {} ranks", ranks), 3.5, kInitLimit},
                  {.bytes = UINT64_MAX, .ranks = ranks, .mix = LogMix::Rehosted});
  measure_grepped(run, {fmt::format("init of {} ranks, rank after rank", ranks), 3.5, kInitLimit},
                  {.bytes = UINT64_MAX, .ranks = ranks, .mix = LogMix::Ordered});
}

void measure_files(const SpeedRun& run) {
  const MadeFile logs(run.folder / "files");
  write_rank_files(logs.path(), {.bytes = run.options.file_bytes, .ranks = run.options.ranks});
  uint64_t bytes = 0;
  for (const auto& file : fs::directory_iterator(logs.path())) bytes += file.file_size();
  SpeedTable table = time_all(run, fmt::format("{} files", run.options.ranks), logs.text(), bytes,
                              {ncclog_run(kTwoThreads, logs.text()),
                               {"cat *", fmt::format("cd '{}' && cat * >/dev/null", logs.text())}});
  judge_ratio(run, table, fmt::format("ncclog {}", kTwoThreads), "cat *", 2);
  judge_memory(run, table, kLargeJobLimit);
  run.results.tables.push_back(std::move(table));
}

/// Nothing is to hold of it but the memory: a job does not print warnings by the gigabyte.
void measure_storm(const SpeedRun& run) {
  const MadeFile log(run.folder / "storm.log");
  write_log_file(log.path(), {.bytes = run.options.storm_bytes, .ranks = 64, .mix = LogMix::Storm});
  SpeedTable table =
      time_all(run, "storm of warnings of 64 ranks", log.text(), fs::file_size(log.path()),
               {ncclog_run(kTwoThreads, log.text()), ncclog_run(kOneThread, log.text())});
  table.lines = count_lines(log.text());
  judge_memory(run, table, kMemoryLimit);
  run.results.tables.push_back(std::move(table));
}

constexpr double kTimes = 10;

/// Seconds a byte, and the largest peak, of a log of collectives of that size.
Timed time_length(const SpeedRun& run, uint64_t bytes) {
  const MadeFile log(run.folder / "long.log");
  write_log_file(log.path(), {.bytes = bytes});
  SpeedTable table = time_all(run, "collectives, " + size_text(bytes), log.text(),
                              fs::file_size(log.path()), {ncclog_run(kTwoThreads, log.text())});
  run.results.tables.push_back(table);
  return table.runs.front();
}

void measure_full(const SpeedRun& run) {
  Criterion linear{
      .what = fmt::format("time for a byte, {} to {}", size_text(run.options.bytes * 10),
                          size_text(run.options.bytes)),
      .limit = 1.15};
  Criterion memory{.what = fmt::format("peak memory at {}", size_text(run.options.bytes * 10)),
                   .limit = kMemoryLimit,
                   .unit = "MB"};
  const auto room = static_cast<double>(fs::space(run.folder).available);
  const double needed = kTimes * static_cast<double>(run.options.bytes) * 1.1;
  if (!run.options.is_full) linear.reason = memory.reason = "only with --full";
  if (run.options.is_full && room < needed) {
    linear.reason = memory.reason =
        fmt::format("{:.0f} GB of disk are free, {:.0f} are needed", room / 1e9, needed / 1e9);
  }
  if (linear.reason.empty()) {
    const Timed once = time_length(run, run.options.bytes);
    const Timed longer = time_length(run, run.options.bytes * 10);
    linear.measured = longer.seconds / kTimes / once.seconds;
    memory.measured = longer.peak_mb;
  }
  judge(run, std::move(linear));
  judge(run, std::move(memory));
}

/// The JSON report without what names and measures the input file.
std::string report(const fs::path& log, const fs::path& stands_for, int threads) {
  const Outcome outcome =
      run_command({.arguments = {ncclog_binary().string(), "analyze", "--format", "json",
                                 "--threads", std::to_string(threads), log.string()}});
  auto json = nlohmann::json::parse(outcome.standard_output, nullptr, false);
  if (json.is_discarded()) return outcome.standard_error;
  json.erase("inputs");
  std::string text = json.dump();
  for (size_t at = 0; (at = text.find(log.string(), at)) != text.npos;) {
    text.replace(at, log.string().size(), stands_for.string());
    at += stands_for.string().size();
  }
  return text;
}

void compare_threads(const SpeedRun& run, const fs::path& log, std::string_view mix,
                     const std::string& first) {
  bool is_same = true;
  for (int threads = 2; threads <= 8; ++threads)
    is_same = is_same && report(log, log, threads) == first;
  run.results.reports.push_back({fmt::format("{}: 1 to 8 threads", mix), is_same});
}

void compare_packings(const SpeedRun& run, const fs::path& log, std::string_view mix,
                      const std::string& first) {
  for (const Packing& packing : kPackings) {
    const auto packed = pack_file(log, packing);
    if (!packed) continue;
    const MadeFile file(*packed);
    run.results.reports.push_back(
        {fmt::format("{}: plain and {}", mix, packing.suffix), report(*packed, log, 2) == first});
  }
}

void compare_reports(const SpeedRun& run) {
  for (const std::string_view mix :
       {"collectives", "random", "everything", "init", "storm", "training", "steps"}) {
    const MadeFile log(run.folder / fmt::format("{}.log", mix));
    // Large enough to be cut into stretches.
    write_log_file(log.path(), {.bytes = std::min<uint64_t>(run.options.bytes, 100'000'000),
                                .ranks = 64,
                                .mix = log_mix_named(mix)});
    const std::string first = report(log.path(), log.path(), 1);
    compare_threads(run, log.path(), mix, first);
    compare_packings(run, log.path(), mix, first);
  }
  for (const Sameness& row : run.results.reports) {
    fmt::print("  reports of {}: {}\n", row.what, row.is_same ? "the same" : "DIFFER");
  }
}

}  // namespace

const SpeedGroup kSpeedGroups[9] = {
    {"plain", measure_plain},       {"packed", measure_packed}, {"irregular", measure_irregular},
    {"training", measure_training}, {"init", measure_init},     {"files", measure_files},
    {"storm", measure_storm},       {"full", measure_full},     {"reports", compare_reports},
};

}  // namespace ncclog::testing
