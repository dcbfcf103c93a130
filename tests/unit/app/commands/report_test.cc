// Does a bundle show what the run shows, and nobody's name?

#include "app/commands/report.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/commands/analyze.h"
#include "base/error.h"
#include "base/hash.h"
#include "input/find_inputs.h"
#include "report/bundle_archive.h"
#include "support/archives.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

AnalyzeOptions options_for(const std::string& path) {
  AnalyzeOptions options;
  options.input = {.paths = {path}, .threads = 1};
  return options;
}

BundleSummary make_bundle(const AnalyzeOptions& analyze, const BundleOptions& options) {
  return write_bundle(run_pipeline(analyze).report, analyze, options);
}

/// A bundle that was made, unpacked, by path below its folder.
struct Unpacked {
  BundleSummary summary;
  std::map<std::string, std::string> members;
  json mapping;
};

Unpacked bundle_of(const std::string& logs, BundleOptions options = {}) {
  testing::TempDir folder;
  options.path = (folder.path() / "out.tar.zst").string();
  Unpacked result;
  result.summary = make_bundle(options_for(logs), options);
  const std::string prefix = std::string(kBundleFolder) + "/";
  for (const auto& [name, text] : testing::unpacked(options.path)) {
    EXPECT_TRUE(name.starts_with(prefix)) << name;
    result.members[name.substr(prefix.size())] = text;
  }
  if (!result.summary.mapping.empty()) {
    result.mapping = json::parse(testing::read_file(result.summary.mapping));
  }
  return result;
}

/// The bundle's logs, analysed as whoever gets it does.
Report analysed(const Unpacked& bundle) {
  testing::TempDir folder;
  for (const auto& [path, text] : bundle.members) {
    if (path.starts_with("logs/")) folder.add(path, text);
  }
  return run_pipeline(options_for((folder.path() / "logs").string())).report;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

class SampleBundle : public ::testing::TestWithParam<std::string> {};

TEST_P(SampleBundle, ShowsTheSameAndNamesNobody) {
  const std::string logs = testing::sample_logs(GetParam()).string();
  const Report before = run_pipeline(options_for(logs)).report;
  for (const uint64_t whole_bytes : {uint64_t{8} << 20, uint64_t{1}}) {
    const Unpacked bundle = bundle_of(logs, {.whole_bytes = whole_bytes});
    EXPECT_TRUE(bundle.summary.differences.empty());
    std::map<std::string, std::string> renamed;
    for (const json& item : bundle.mapping["replacements"]) {
      const std::string original = item["original"];
      if (item["kind"] == "host") renamed[original] = item["replacement"];
      if (item["kind"] == "lid") continue;
      for (const auto& [path, text] : bundle.members) {
        EXPECT_EQ(lower(text).find(lower(original) + ":"), std::string::npos)
            << original << " in " << path;
        EXPECT_EQ(lower(path).find(lower(original) + "."), std::string::npos) << path;
      }
    }
    const auto differences =
        compare_findings(before.diagnosis, analysed(bundle).diagnosis, [&](std::string_view host) {
          const auto found = renamed.find(std::string(host));
          return found == renamed.end() ? std::string(host) : found->second;
        });
    EXPECT_EQ(::testing::PrintToString(differences), "{}");
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, SampleBundle, ::testing::ValuesIn(testing::sample_log_names()),
                         [](const auto& sample) {
                           std::string name = sample.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

constexpr const char* kSecretLog =
    "gpu-n41:313:313 [0] NCCL INFO Bootstrap: Using eth0:10.12.8.41<0>\n"
    "gpu-n41:313:313 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
    "File \"/home/alice/falcon-run/x.py\", HF_TOKEN=hf_AbCdEfGhIjKlMnOpQr12\n";

TEST(Bundle, HoldsReportsLogsAndChecksums) {
  testing::TempDir run;
  run.add("alice-falcon/nccl.gpu-n41.313.log", kSecretLog);
  const Unpacked bundle = bundle_of(run.path().string());
  for (const char* path : {"report.txt", "report.json", "environment.csv", "tool.json",
                           "manifest.json", "README.txt", "logs/nccl.host-1.313.log"}) {
    EXPECT_TRUE(bundle.members.contains(path)) << path;
  }
  const json manifest = json::parse(bundle.members.at("manifest.json"));
  EXPECT_EQ(manifest["schema"], "ncclog.bundle/1");
  EXPECT_EQ(manifest["findings_equal"], true);
  EXPECT_EQ(manifest["logs"]["content"], "whole");
  for (const json& member : manifest["members"]) {
    const std::string& text = bundle.members.at(member["path"]);
    EXPECT_EQ(member["sha256"], sha256_hex(text));
    EXPECT_EQ(member["bytes"], text.size());
  }
  EXPECT_NE(bundle.members.at("SHA256SUMS").find("  manifest.json\n"), std::string::npos);
}

TEST(Bundle, SameLogsGiveTheSameBytes) {
  testing::TempDir run;
  const std::string log = run.add("a.log", kSecretLog);
  const std::string first = (run.path() / "1.tar.zst").string();
  const std::string second = (run.path() / "2.tar.zst").string();
  make_bundle(options_for(log), {.path = first});
  make_bundle(options_for(log), {.path = second});
  EXPECT_EQ(testing::read_file(first), testing::read_file(second));
}

TEST(Bundle, TheMappingIsForItsOwnerOnly) {
  testing::TempDir run;
  const std::string log = run.add("a.log", kSecretLog);
  const std::string path = (run.path() / "b.tar.zst").string();
  const BundleSummary summary = make_bundle(options_for(log), {.path = path});
  EXPECT_EQ(summary.mapping, path + ".mapping.json");
  struct stat status = {};
  ASSERT_EQ(stat(summary.mapping.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_NE(testing::read_file(summary.mapping).find("gpu-n41"), std::string::npos);
}

TEST(Bundle, KeepsNamesIfAskedTo) {
  testing::TempDir run;
  run.add("a.log", kSecretLog);
  const Unpacked bundle = bundle_of(run.path().string(), {.anonymise = false});
  EXPECT_EQ(bundle.members.at("logs/a.log"), kSecretLog);
  EXPECT_EQ(bundle.summary.mapping, "");
}

TEST(Bundle, ANameThatWouldBeLeftIsRefused) {
  testing::TempDir run;
  // Encoded, the name is no word that is replaced; who reads it gets it back.
  const std::string log = run.add("a.log", std::string(kSecretLog) + "see %67pu%2Dn41\n");
  const std::string path = (run.path() / "b.tar.zst").string();
  try {
    make_bundle(options_for(log), {.path = path});
    FAIL() << "was written";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "names would be left in the bundle, so nothing was written: "
                 "logs/a.log:4: 'gpu-n41', which was replaced elsewhere");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(fs::exists(path + ".mapping.json"));
  const BundleSummary summary = make_bundle(options_for(log), {.path = path, .allow_leaks = true});
  EXPECT_TRUE(fs::exists(path));
  EXPECT_NE(bundle_text({.path = path}, summary).find("logs/a.log:4: 'gpu-n41'"),
            std::string::npos);
}

TEST(Bundle, AUserMayBeCalledLikeAWordOfThePages) {
  for (const std::string user : {"max", "color", "path", "finding", "value"}) {
    testing::TempDir run;
    run.add("a.log",
            std::string(kSecretLog) + "cd /home/" + user + "/x; export USER=" + user + "\n");
    const Unpacked bundle = bundle_of(run.path().string());
    const std::string& log = bundle.members.at("logs/a.log");
    EXPECT_EQ(log.find("/home/" + user), std::string::npos) << log;
    EXPECT_EQ(log.find("USER=" + user), std::string::npos) << log;
  }
}

TEST(Bundle, ALinkOutOfTheFolderIsRefused) {
  testing::TempDir run;
  run.add("logs/a.log", kSecretLog);
  const std::string secret = run.add("home/secret", "x\n");
  const fs::path link = run.path() / "logs/b.log";
  fs::create_symlink(secret, link);
  const BundleOptions options{.path = (run.path() / "b.tar.zst").string()};
  const auto refusal = [&](const std::string& logs) -> std::string {
    const AnalyzeOptions analyze = options_for(logs);
    try {
      check_bundle(options, analyze, find_inputs(analyze.input.paths));
    } catch (const Error& error) {
      return error.where() + " " + error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal((run.path() / "logs").string()),
            link.string() + " leads out of the folders that were named, so nothing was written");
  EXPECT_EQ(refusal(link.string()), "") << "who names it means it";
}

TEST(Bundle, NamesInDoubtfulAndTornLinesAreReplaced) {
  testing::TempDir run;
  run.add("zebra9-run.log",
          std::string(kSecretLog) +
              "AllReduce: opCount 1f senhvd1:2918:3332 [0] NCCL INFO Chahvd1:2918:3\n"
              "332 [0] via P2P/CUhvd1:2919:33gpu-n4\n"
              "?? hvd1:2918:3332 [0] NCCL WARN xyzzy (Worker pid=7, ip=kite7i) (nil)\n");
  const Unpacked bundle = bundle_of(run.path().string());
  for (const auto& [path, text] : bundle.members) {
    for (const char* name : {"hvd1", "kite7", "gpu-n4", "zebra9", "alice", "falcon"}) {
      EXPECT_EQ((path + text).find(name), std::string::npos) << name << " in " << path;
    }
  }
}

TEST(Bundle, LeavesOutWhatIsNoText) {
  testing::TempDir run;
  run.add("a.log", kSecretLog);
  run.add("core.gpu-n41", std::string("\x7f") + "ELF" + std::string(100, '\0'));
  const Unpacked bundle = bundle_of(run.path().string());
  EXPECT_EQ(::testing::PrintToString(bundle.summary.left_out), "{ \"logs/core.host-1\" }");
  EXPECT_FALSE(bundle.members.contains("logs/core.host-1"));
}

TEST(Bundle, UnpacksArchivesAndKeepsBothOfOneName) {
  testing::TempDir run;
  run.add("n.tar", testing::archive_of(testing::Packing::Tar, {{"gpu-n41/a.log", kSecretLog}}));
  run.add("x/a.log", "gpu-n41:9:9 [0] NCCL INFO Using network Socket\n");
  run.add("n/gpu-n41/a.log", "gpu-n41:8:8 [0] NCCL INFO Using network Socket\n");
  const Unpacked bundle = bundle_of(run.path().string());
  EXPECT_TRUE(bundle.members.contains("logs/n/host-1/a.log"));
  EXPECT_TRUE(bundle.members.contains("logs/n/host-1/a.log.2"));
}

std::string call(int rank, int number) {
  return "n1:" + std::to_string(40 + rank) + ":1 [0] NCCL INFO AllReduce: opCount " +
         std::to_string(number % 10) +
         " sendbuff 0x1 recvbuff 0x2 count 4096 datatype 7 op 0 root 0 comm 0x" +
         std::to_string(rank + 1) + "00 [nranks=4] stream (nil)\n";
}

TEST(Bundle, AHangInALargeLogGivesASmallExcerptWithTheSameFindings) {
  testing::TempDir run;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string name = std::to_string(rank);
    std::string log = "n1:" + std::to_string(40 + rank) +
                      ":1 [0] NCCL INFO ncclCommInitRank comm 0x" + std::to_string(rank + 1) +
                      "00 rank " + name + " nranks 4 cudaDev " + name + " busId " + name +
                      "000 commId 0x55 - Init COMPLETE\n";
    for (int i = 0; i < 20000; ++i) log += call(rank, i);
    if (rank != 2) log += call(rank, 0);
    log +=
        "[rank" + name + "]:[E127 10:00:00.1 ProcessGroupNCCL.cpp:607] [Rank " + name +
        "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=20001, OpType=ALLREDUCE, "
        "NumelIn=4096, NumelOut=4096, Timeout(ms)=600000) ran for 600007 milliseconds before "
        "timing out.\n";
    run.add("n1." + std::to_string(40 + rank) + ".log", log);
  }
  const Report before = run_pipeline(options_for(run.path().string())).report;
  ASSERT_FALSE(before.diagnosis.findings.empty());
  const Unpacked bundle = bundle_of(run.path().string());
  EXPECT_TRUE(bundle.summary.is_excerpt);
  EXPECT_LT(bundle.summary.lines_kept, bundle.summary.lines / 10);
  EXPECT_LT(bundle.summary.bytes, 100000U);
  const auto rename = [](std::string_view host) {
    return std::string(host == "n1" ? "host-1" : host);
  };
  EXPECT_EQ(::testing::PrintToString(
                compare_findings(before.diagnosis, analysed(bundle).diagnosis, rename)),
            "{}");
}

Finding finding(std::string id, Severity severity, std::vector<std::string> hosts = {}) {
  Finding made;
  made.id = std::move(id);
  made.severity = severity;
  made.hosts = std::move(hosts);
  return made;
}

TEST(CompareFindings, NamesEveryDifference) {
  Diagnosis before;
  before.findings = {finding("a", Severity::Error, {"x"}), finding("b", Severity::Info)};
  Diagnosis after;
  after.findings = {finding("a", Severity::Warning, {"y"}), finding("c", Severity::Info)};
  const auto rename = [](std::string_view host) { return host == "x" ? "y" : std::string(host); };
  EXPECT_EQ(::testing::PrintToString(compare_findings(before, after, rename)),
            "{ \"a: severity warning, was error\", \"b: is gone\", \"c: is new\" }");
  EXPECT_TRUE(
      compare_findings(after, after, [](std::string_view h) { return std::string(h); }).empty());
}

TEST(Bundle, GoesOnlyWhereNothingElseIs) {
  testing::TempDir run;
  const std::string log = run.add("logs/a.log", kSecretLog);
  const std::string folder = (run.path() / "logs").string();
  const std::string fine = (run.path() / "b.tar.zst").string();
  struct Row {
    std::string what;
    BundleOptions options;
    std::string error;
  };
  const Row rows[] = {
      {"standard output", {.path = "-"}, "a bundle needs a file of its own"},
      {"a device", {.path = "/dev/null"}, "a bundle needs a file of its own"},
      {"a mapping to a device", {.path = fine, .mapping = "/dev/null"}, "needs a file of its own"},
      {"a mapping over a log", {.path = fine, .mapping = log}, "is one of the logs to be read"},
      {"one file for both", {.path = fine, .mapping = fine}, "is named twice"},
      {"among the logs", {.path = folder + "/b.tar.zst"}, "would lie among the logs"},
  };
  const std::vector<std::string> inputs = {log};
  EXPECT_NO_THROW(check_bundle({.path = fine}, options_for(folder), inputs));
  for (const Row& row : rows) {
    try {
      check_bundle(row.options, options_for(folder), inputs);
      ADD_FAILURE() << row.what;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(row.error), std::string::npos)
          << row.what << ": " << error.what();
    }
  }
}

TEST(Bundle, ItsOwnTextsAreNoLogsToWhoeverUnpacksIt) {
  testing::TempDir run;
  run.add("a.log", kSecretLog);
  testing::TempDir unpacked;
  for (const auto& [path, text] : bundle_of(run.path().string()).members) unpacked.add(path, text);
  const Report again = run_pipeline(options_for(unpacked.path().string())).report;
  const Report before = run_pipeline(options_for(run.path().string())).report;
  EXPECT_EQ(again.job.losses.recognised, before.job.losses.recognised);
}

}  // namespace

}  // namespace ncclog
