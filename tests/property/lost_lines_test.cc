// A healthy log stays healthy when a part of it is lost: files that were copied too early, lines
// that a collector dropped, a rank whose file is missing.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "model/derive/build_job.h"
#include "model/shard/read_log.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "support/paths.h"

namespace ncclog::testing {
namespace {

const unsigned kRounds = static_cast<unsigned>(affordable(40));  ///< Of each sample.

constexpr std::string_view kSamples[] = {"healthy-1node-8gpu",
                                         "healthy-2node-socket",
                                         "healthy-coll-iterations",
                                         "healthy-single-node-no-plugin",
                                         "timestamps",
                                         "hostid-pseudo-hosts"};

using FileNames = std::vector<std::string>;

FileNames files_of(std::string_view sample) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(sample_logs(sample))) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  FileNames files;
  for (const auto& path : paths) files.push_back(read_file(path));
  return files;
}

Shard read_as(uint64_t unit, std::string_view text, const LineMatcher& matcher) {
  LogReader reader(unit, unit, matcher);
  for (Line line{{}, 1, 0, false}; !text.empty(); ++line.number) {
    const size_t end = std::min(text.find('\n'), text.size());
    line.text = text.substr(0, end);
    reader.add(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

Diagnosis diagnose(const FileNames& files, const Rulebook& rulebook, const LineMatcher& matcher) {
  Shard all;
  std::vector<JobInput> inputs(files.size());
  std::vector<JobUnit> units;
  for (size_t i = 0; i < files.size(); ++i) {
    all.merge(read_as(i, files[i], matcher));
    inputs[i].path = "file " + std::to_string(i);
    units.push_back({i, static_cast<uint32_t>(i), 1});
  }
  const LossTable losses = all.losses;
  return evaluate(rulebook, build_job(std::move(all), std::move(inputs), std::move(units), losses));
}

void cut_one(FileNames& files, std::mt19937& random) {
  std::string& file = files[random() % files.size()];
  file.resize(random() % (file.size() + 1));
  // Ends inside a line, as a copy does that was made while NCCL wrote.
  while (!file.empty() && file.back() == '\n') file.pop_back();
  if (!file.empty()) file.pop_back();
}

void lose_file(FileNames& files, std::mt19937& random) {
  files.erase(files.begin() + static_cast<long>(random() % files.size()));
}

void lose_line(FileNames& files, std::mt19937& random) {
  std::string& file = files[random() % files.size()];
  if (file.size() < 2) return;
  const size_t at = random() % (file.size() - 1);
  const size_t begin = at == 0 ? 0 : file.rfind('\n', at - 1) + 1;
  file.erase(begin, file.find('\n', at) + 1 - begin);
}

void replace_all(std::string_view what, std::string_view with, std::string& text) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

struct Row {
  std::string_view name;
  std::function<void(FileNames&, std::mt19937&)> lose;
};

TEST(LostLinesProperty, HealthyLogsGiveNoWarning) {
  const Rulebook rulebook = load_rulebook();
  const LineMatcher matcher = make_line_matcher(rulebook);
  const Row kRows[] = {
      {"a file is cut", cut_one}, {"a file is lost", lose_file}, {"a line is lost", lose_line}};
  for (const std::string_view sample : kSamples) {
    const FileNames whole = files_of(sample);
    for (const Row& row : kRows) {
      for (unsigned round = 0; round < kRounds; ++round) {
        std::mt19937 random(round);
        FileNames files = whole;
        row.lose(files, random);
        for (const Finding& finding : diagnose(files, rulebook, matcher).findings) {
          // They say themselves that the log may end early: that is what a hang looks like.
          const bool may_hang = finding.id == "init-unfinished" || finding.id == "log-ends-mid-job";
          if (may_hang && row.name == "a file is cut") continue;
          // A line that is lost looks like a call that was left out.
          if (finding.id == "log-ends-mid-job" && row.name == "a line is lost") continue;
          EXPECT_EQ(finding.severity, Severity::Info)
              << sample << ", " << row.name << ", round " << round << ": " << finding.message;
        }
      }
    }
  }
}

/// What a job does not finish while it is ended from outside, it need not have hung in.
TEST(LostLinesProperty, AnEndedJobThatWasHealthyAccusesNoRankOfItsInitialisation) {
  const Rulebook rulebook = load_rulebook();
  const LineMatcher matcher = make_line_matcher(rulebook);
  const std::string ended =
      "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-01-05T12:00:00 DUE TO TIME LIMIT "
      "***\n";
  const Row kRows[] = {
      {"a file is cut", cut_one}, {"a file is lost", lose_file}, {"a line is lost", lose_line}};
  for (const std::string_view sample : kSamples) {
    FileNames whole = files_of(sample);
    // Releases that connect while they initialise are judged by more rules.
    for (std::string& file : whole) replace_all("2.28.9+cuda13.0", "2.20.5+cuda12.4", file);
    whole.push_back(ended);
    for (const Row& row : kRows) {
      for (unsigned round = 0; round < kRounds / 2; ++round) {
        std::mt19937 random(round);
        FileNames files = whole;
        row.lose(files, random);
        for (const Finding& finding : diagnose(files, rulebook, matcher).findings) {
          if (finding.severity == Severity::Info || finding.id == "init-unfinished") continue;
          EXPECT_EQ(finding.id.find("init"), finding.id.npos)
              << sample << ", " << row.name << ", round " << round << ": " << finding.message;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ncclog::testing
