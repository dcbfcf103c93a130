#include "bench/log_generator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>

#include "base/text.h"
#include "bench/generated_files.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

std::string log_of(const LogOptions& options) {
  std::ostringstream out;
  generate_log(options, out);
  return std::move(out).str();
}

/// FNV-1a.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

Outcome run_ncclog(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), ncclog_binary().string());
  return run_command({.arguments = std::move(arguments)});
}

struct Expected {
  std::string_view mix;
  uint64_t hash;
};

constexpr Expected kExpected[] = {
    {"collectives", 0x52ffa124363b4836}, {"irregular", 0x6bd24fafefbf3e76},
    {"everything", 0x1566b372a7d9201f},  {"init", 0x8d03241e1e6179de},
    {"storm", 0x47151b014c9ab073},       {"training", 0xc1b3de615d750084},
    {"random", 0xe3aaea043a7573ad},      {"steps", 0x4198fd6aed0e012d},
    {"rehosted", 0x23899b6ac7c599ac},
};

TEST(LogGenerator, SameOptionsGiveSameBytesOnEveryMachine) {
  for (const Expected& row : kExpected) {
    const std::string log = log_of({.bytes = 50000, .ranks = 12, .mix = log_mix_named(row.mix)});
    EXPECT_EQ(hash_of(log), row.hash) << row.mix << fmt::format(": {:#x}", hash_of(log));
    EXPECT_GE(log.size(), 50000U) << row.mix;
    EXPECT_EQ(log.back(), '\n') << row.mix;
  }
}

TEST(LogGenerator, AnotherSeedGivesOtherBytes) {
  for (const Expected& row : kExpected) {
    LogOptions options{.bytes = 50000, .mix = log_mix_named(row.mix)};
    const std::string first = log_of(options);
    options.seed = 2;
    EXPECT_NE(first, log_of(options)) << row.mix;
  }
}

TEST(LogGenerator, EveryNcclLineFitsAKnownWording) {
  for (const Expected& row : kExpected) {
    for (const int ranks : {1, 8, 20}) {
      const TempDir folder;
      const std::string log = folder.add(
          "a.log", log_of({.bytes = 200000, .ranks = ranks, .mix = log_mix_named(row.mix)}));
      EXPECT_EQ(run_ncclog({"show", "unknown", log}).standard_output,
                "Every NCCL line here fits a known wording.\n")
          << row.mix << ", " << ranks << " ranks";
    }
  }
}

TEST(LogGenerator, HealthyMixesGiveNoWarning) {
  for (const std::string_view mix : {"collectives", "irregular", "init", "random"}) {
    const TempDir folder;
    const std::string log =
        folder.add("a.log", log_of({.bytes = 200000, .ranks = 20, .mix = log_mix_named(mix)}));
    const Outcome outcome = run_ncclog({"analyze", log, "--fail-on", "warning"});
    EXPECT_EQ(outcome.exit_code, 0) << mix << '\n' << outcome.standard_output;
  }
}

TEST(LogGenerator, ACollectiveLineTakesTwoHundredBytes) {
  const std::string log = log_of({.bytes = 10'000'000});
  const auto lines = std::count(log.begin(), log.end(), '\n');
  EXPECT_NEAR(static_cast<double>(log.size()) / static_cast<double>(lines), 200, 2);
}

TEST(LogGenerator, TrainingOutputHasTheShareOfNcclLinesThatIsAskedFor) {
  for (const LogMix mix : {LogMix::Training, LogMix::Steps}) {
    const std::string log = log_of({.bytes = 5'000'000, .mix = mix, .nccl_share = 0.1});
    double lines = 0, nccl = 0;
    for (std::string_view line : split(log, '\n')) {
      ++lines;
      if (line.find(" NCCL INFO ") != line.npos) ++nccl;
    }
    EXPECT_NEAR(nccl / lines, 0.1, 0.005);
  }
}

TEST(LogGenerator, RehostedInitGivesEachRankItsProcessAndEndsWhereAllHaveSpoken) {
  const std::string log = log_of({.bytes = UINT64_MAX, .ranks = 20, .mix = LogMix::Rehosted});
  for (const std::string_view part :
       {" NCCL INFO ncclCommInitRankConfig comm 0x454c5f50 rank 16 nranks 20 cudaDev 0 ",
        "gpu-0003:40017:40017 [0] NCCL INFO ", "gpu-0003:40017:48209 [0] NCCL INFO ",
        " NCCL INFO Channel 00/0 : 19[3] -> 18[2] via P2P/CUMEM\n"}) {
    EXPECT_NE(log.find(part), log.npos) << part;
  }
  EXPECT_EQ(log.find("40021"), log.npos);
  EXPECT_EQ(log.find("opCount"), log.npos);
}

TEST(LogGenerator, TimesStandInFrontOfNcclLinesOnly) {
  const std::string log = log_of({.bytes = 20000, .mix = LogMix::Training, .has_times = true});
  for (std::string_view line : split(log, '\n')) {
    if (line.find(" NCCL INFO ") == line.npos) continue;
    EXPECT_EQ(line.substr(0, 14), "[2026-11-20 00");
  }
  EXPECT_NE(log.find("\n[2026-11-20 00:00:00] gpu-0001:4000"), log.npos);
}

TEST(LogGenerator, FilesOfRanksHoldTheirOwnLinesAndTheSameCalls) {
  const TempDir folder;
  write_rank_files(folder.path() / "logs", {.bytes = 5000, .ranks = 12});
  const std::string logs = (folder.path() / "logs").string();
  EXPECT_TRUE(std::filesystem::exists(logs + "/nccl.gpu-0002.40012"));
  const Outcome outcome = run_ncclog({"analyze", logs, "--fail-on", "info"});
  EXPECT_EQ(outcome.standard_output.find("had not"), outcome.standard_output.npos)
      << outcome.standard_output;
  EXPECT_NE(outcome.standard_output.find("from 12 files: 12 ranks on 2 hosts"),
            outcome.standard_output.npos)
      << outcome.standard_output;
}

TEST(LogGenerator, PackedFilesGiveTheReportOfThePlainOne) {
  const TempDir folder;
  const std::filesystem::path log = folder.path() / "a.log";
  write_log_file(log, {.bytes = 100000});
  const std::string plain = run_ncclog({"analyze", log.string()}).standard_output;
  for (const Packing& packing : kPackings) {
    const auto packed = pack_file(log, packing);
    if (!packed) continue;
    std::string report = run_ncclog({"analyze", packed->string()}).standard_output;
    // It quotes where the log ends.
    const size_t name = report.find(packed->string());
    if (name != report.npos) report.replace(name, packed->string().size(), log.string());
    EXPECT_EQ(report, plain) << *packed;
  }
}

TEST(LogGenerator, AToolThatIsNotThereIsNoError) {
  const TempDir folder;
  const std::string log = folder.add("a.log", "text\n");
  EXPECT_EQ(pack_file(log, {".none", "no-such-packer", "no-such-packer \"$1\""}), std::nullopt);
}

}  // namespace
}  // namespace ncclog::testing
