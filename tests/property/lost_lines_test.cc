// A healthy log stays healthy when a part of it is lost: files that were copied too early, lines
// that a collector dropped, a rank whose file is missing.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
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

/// Places of lines about calls.
std::vector<std::pair<size_t, size_t>> calls_in(const FileNames& files) {
  std::vector<std::pair<size_t, size_t>> places;
  for (size_t f = 0; f < files.size(); ++f) {
    for (size_t at = files[f].find(": opCount "); at != std::string::npos;
         at = files[f].find(": opCount ", at + 1)) {
      places.emplace_back(f, files[f].rfind('\n', at) + 1);
    }
  }
  return places;
}

void lose_call(std::string& file, size_t begin, std::mt19937&) {
  file.erase(begin, file.find('\n', begin) + 1 - begin);
}

void double_call(std::string& file, size_t begin, std::mt19937&) {
  file.insert(begin, file.substr(begin, file.find('\n', begin) + 1 - begin));
}

void tear_call(std::string& file, size_t begin, std::mt19937& random) {
  const size_t length = file.find('\n', begin) - begin;
  const size_t kept = 1 + random() % (length - 1);
  file.erase(begin + kept, length - kept);
}

using RanksByError = std::map<std::string, std::vector<int>>;

RanksByError errors_of(const Diagnosis& diagnosis) {
  RanksByError errors;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.severity == Severity::Error) errors[finding.id] = finding.ranks;
  }
  return errors;
}

/// One line about a call that a collector lost, repeated or cut accuses no other rank, and no problem
/// of the whole log becomes a clean job.
TEST(LostLinesProperty, ALostOrDoubledCallAccusesNobodyElse) {
  const Rulebook rulebook = load_rulebook();
  const LineMatcher matcher = make_line_matcher(rulebook);
  struct Damage {
    std::string_view name;
    void (*damage)(std::string&, size_t, std::mt19937&);
  };
  const Damage kDamages[] = {{"lost", lose_call}, {"doubled", double_call}, {"torn", tear_call}};
  for (const std::string_view sample :
       {"size-mismatch", "timeout-rank-skips", "healthy-2node-socket", "groups-tp-dp-pp"}) {
    FileNames whole = files_of(sample);
    std::erase_if(whole, [](const std::string& file) { return file.find('\0') != file.npos; });
    const Diagnosis before = diagnose(whole, rulebook, matcher);
    const RanksByError usual = errors_of(before);
    const auto places = calls_in(whole);
    ASSERT_FALSE(places.empty()) << sample;
    for (const Damage& damage : kDamages) {
      for (unsigned round = 0; round < kRounds; ++round) {
        std::mt19937 random(round);
        FileNames files = whole;
        const auto [file, begin] = places[random() % places.size()];
        damage.damage(files[file], begin, random);
        const Diagnosis after = diagnose(files, rulebook, matcher);
        for (const auto& [id, ranks] : errors_of(after)) {
          const auto known = usual.find(id);
          const bool is_same = known != usual.end() && (ranks.empty() || ranks == known->second);
          EXPECT_TRUE(is_same) << sample << ", " << damage.name << ", round " << round << ": " << id
                               << " " << ranges_text(ranks);
        }
        EXPECT_FALSE(after.verdict.status == VerdictStatus::Clean && !usual.empty())
            << sample << ", " << damage.name << ", round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace ncclog::testing
