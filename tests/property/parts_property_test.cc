// A job's files scanned into parts and merged give the report of one run over all of them, in
// whatever parts they were and in whatever order those come.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "app/commands/analyze.h"
#include "app/read/scan.h"
#include "app/read/second_look.h"
#include "input/find_inputs.h"
#include "report/report.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "support/paths.h"
#include "support/synthetic/synthetic_job.h"
#include "support/temp_dir.h"
#include "support/text_diff.h"

namespace ncclog::testing {
namespace {

namespace fs = std::filesystem;

using Paths = std::vector<std::string>;

const Rulebook& rulebook() {
  static const Rulebook kRulebook = load_rulebook({}, today());
  return kRulebook;
}

const LineMatcher& matcher() {
  static const LineMatcher kMatcher = make_line_matcher(rulebook());
  return kMatcher;
}

struct Analyzed {
  ReadUnits read;
  Report report;
};

/// As run_pipeline, with the rules loaded once.
Analyzed analyzed(const Paths& paths) {
  Analyzed logs;
  logs.report.job = load_job({.paths = paths, .threads = 1}, nullptr, matcher(), &logs.read);
  std::vector<Finding>& findings = logs.report.diagnosis.findings;
  logs.report.diagnosis = evaluate(rulebook(), logs.report.job);
  show_messages(logs.report.job, logs.read, findings);
  fill_evidence(logs.read, findings);
  quote_measured(logs.read, logs.report.job);
  return logs;
}

std::string report_of(const Analyzed& logs) {
  return find_report_kind("json")->write(logs.report, {});
}

/// The files in so many groups, shuffled.
std::vector<Paths> groups_of(Paths files, size_t count, std::mt19937_64& random) {
  std::ranges::shuffle(files, random);
  std::vector<Paths> groups(count);
  for (size_t i = 0; i < files.size(); ++i) groups[i % count].push_back(files[i]);
  for (Paths& group : groups) std::ranges::sort(group);
  return groups;
}

std::string scan_into(const TempDir& folder, const Paths& files, const std::string& host) {
  std::string bytes;
  scan({.inputs = files, .host = host}, {.threads = 1, .matcher = matcher()},
       [&](std::string_view more) { bytes += more; });
  return folder.add(host + ".part", bytes);
}

/// Writes what the hosts answer to what `logs` ask; the paths of these parts.
Paths answers_to(const Analyzed& logs, const std::vector<Paths>& groups, const TempDir& folder,
                 int round) {
  Paths parts;
  for (size_t i = 0; i < groups.size(); ++i) {
    std::string bytes;
    PartFile part([&](std::string_view more) { bytes += more; }, part_kin(matcher()), "h");
    for (const std::string& path : groups[i]) {
      std::vector<Request> asked;
      std::ranges::copy_if(*logs.read.asked, std::back_inserter(asked),
                           [&](const Request& request) { return request.path == path; });
      for (const auto& [request, reply] : answer_requests(asked, path, CutOptions{}.unit_bytes)) {
        part.add(request, reply);
      }
    }
    part.finish();
    parts.push_back(folder.add(std::to_string(round) + "-" + std::to_string(i) + ".part", bytes));
  }
  return parts;
}

/// The report of a merge, once all that it asks for is answered.
std::string merged_report(const std::vector<Paths>& groups, std::mt19937_64& random) {
  const TempDir folder;
  Paths parts;
  for (size_t i = 0; i < groups.size(); ++i) {
    parts.push_back(scan_into(folder, groups[i], "h" + std::to_string(i)));
  }
  std::ranges::shuffle(parts, random);
  for (int round = 0;; ++round) {
    const Analyzed logs = analyzed(parts);
    constexpr int kMostRounds = 4;
    if (logs.read.asked->empty() || round == kMostRounds) {
      EXPECT_TRUE(logs.read.asked->empty()) << "asked for ever";
      return report_of(logs);
    }
    std::ranges::copy(answers_to(logs, groups, folder, round), std::back_inserter(parts));
  }
}

void expect_same(const std::string& folder, std::mt19937_64& random) {
  const Paths files = find_inputs(Paths{folder});
  const std::string whole = report_of(analyzed({folder}));
  const size_t count = 1 + random() % std::min<size_t>(files.size(), 16);
  const std::string merged = merged_report(groups_of(files, count, random), random);
  EXPECT_EQ(merged, whole) << folder << " in " << count << " parts:\n" << text_diff(whole, merged);
}

TEST(PartsProperty, EverySampleInPartsGivesTheSameReport) {
  std::mt19937_64 random(22);
  for (const std::string& name : sample_log_names()) {
    expect_same(sample_logs(name).string(), random);
  }
}

TEST(PartsProperty, CountersOfTwoMomentsInPartsGiveTheSameReport) {
  std::mt19937_64 random(23);
  const TempDir folder;
  folder.add("rank0.log",
             "n1:7:7 [0] NCCL INFO NET/IB : Using [0]mlx5_1:1/IB ; OOB e:10.1.2.3<0>\n");
  for (const auto& [moment, total] : {std::pair("before", "2\n"), std::pair("after", "3\n")}) {
    const std::string tree = moment + std::string("/n1/mlx5_1/ports/1/counters/");
    folder.add(tree + "link_downed", total);
    folder.add(tree + "port_xmit_data", total);
    folder.add(moment + std::string("-ethtool.txt"),
               "$ ethtool -S e0\nNIC statistics:\n     rx_discards_phy: " + std::string(total));
  }
  const std::string whole = report_of(analyzed({folder.path().string()}));
  EXPECT_NE(whole.find("link_downed grew by 1"), whole.npos);
  EXPECT_NE(whole.find("rx_discards_phy grew by 1"), whole.npos);
  expect_same(folder.path().string(), random);
}

TEST(PartsProperty, SyntheticJobsInPartsGiveTheSameReport) {
  const uint64_t seeds = is_sanitized() ? 20 : 500;
  for (uint64_t seed = 0; seed < seeds && !::testing::Test::HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const TempDir folder;
    for (const auto& [name, text] : make_synthetic_job(seed, fault_of(seed)).files) {
      folder.add(name, text);
    }
    expect_same(folder.path().string(), random);
  }
}

/// A log that is there beside parts is read like one that was scanned.
TEST(PartsProperty, LogsBesidePartsGiveTheSameReport) {
  std::mt19937_64 random(23);
  for (const std::string& name : sample_log_names()) {
    const fs::path logs = sample_logs(name);
    const std::vector<Paths> groups = groups_of(find_inputs(Paths{logs.string()}), 2, random);
    if (groups[1].empty()) continue;
    const TempDir folder;
    Paths mixed = groups[1];
    mixed.push_back(scan_into(folder, groups[0], "h0"));
    Analyzed merged = analyzed(mixed);
    for (int round = 0; round < 4 && !merged.read.asked->empty(); ++round) {
      std::ranges::copy(answers_to(merged, {groups[0]}, folder, round), std::back_inserter(mixed));
      merged = analyzed(mixed);
    }
    EXPECT_EQ(report_of(merged), report_of(analyzed({logs.string()}))) << logs;
  }
}

}  // namespace
}  // namespace ncclog::testing
