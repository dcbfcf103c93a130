#include "support/damage_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "app/read/read_job.h"
#include "base/text.h"
#include "input/find_inputs.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{2} << 20;

void add_cases(const fs::path& folder, std::vector<DamageCase>& cases) {
  if (!exists(folder)) return;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (exists(entry.path() / "logs")) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  for (const fs::path& path : found) {
    DamageCase one{.name = path.lexically_relative(folder.parent_path()), .files = {}};
    uint64_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path / "logs")) {
      if (!entry.is_regular_file()) continue;
      std::string name = entry.path().lexically_relative(path / "logs");
      std::ranges::replace(name, '/', '_');
      one.files.emplace_back(std::move(name), read_file(entry.path()));
      bytes += one.files.back().second.size();
    }
    std::ranges::sort(one.files);
    if (bytes <= kMostBytes) cases.push_back(std::move(one));
  }
}

/// What a report says.
struct Said {
  VerdictStatus status = VerdictStatus::CannotJudge;
  std::vector<Finding> findings;
  std::set<int> ranks;           ///< That findings name.
  std::set<std::string> hosts;   ///< Likewise.
  std::set<std::string> quoted;  ///< Lines, without blanks around them.
};

/// Of the whole log, with the text of lines that are known by their place.
void add_quoted(const Job& job, const RunFiles& files, const Evidence& line, Said& said) {
  const JobUnit* unit = unit_of(job, line.where);
  if (!line.text.empty() || unit == nullptr) {
    said.quoted.emplace(trim(line.text));
    return;
  }
  const std::string& path = job.inputs[unit->input].path;
  for (const auto& [name, text] : files) {
    if (!path.ends_with(name)) continue;
    const auto lines = split(text, '\n');
    const uint64_t number = unit->first_line + line.where.line - 1;
    if (number >= 1 && number <= lines.size()) said.quoted.emplace(trim(lines[number - 1]));
  }
}

class Reader {
 public:
  Said read(const RunFiles& files) const {
    const TempDir folder;
    for (const auto& [name, text] : files) folder.add(name, text);
    const std::vector<std::string> inputs = find_inputs(std::vector{folder.path().string()});
    const Job job = read_job(inputs, {.threads = 1, .matcher = matcher_});
    Diagnosis diagnosis = evaluate(rulebook_, job);
    Said said{.status = diagnosis.verdict.status};
    for (const Finding& finding : diagnosis.findings) {
      said.ranks.insert(finding.ranks.begin(), finding.ranks.end());
      said.hosts.insert(finding.hosts.begin(), finding.hosts.end());
      for (const Evidence& line : finding.evidence) add_quoted(job, files, line, said);
    }
    said.findings = std::move(diagnosis.findings);
    return said;
  }

 private:
  Rulebook rulebook_ = load_rulebook();
  LineMatcher matcher_ = make_line_matcher(rulebook_);
};

bool touches_quoted(const DamagedRun& run, const Said& whole) {
  if (run.all_touched) return true;
  return std::ranges::any_of(run.touched, [&](std::string_view line) {
    line = trim(line);
    return !line.empty() && std::ranges::any_of(whole.quoted, [&](const std::string& quoted) {
      return !quoted.empty() &&
             (line.find(quoted) != line.npos || quoted.find(line) != quoted.npos);
    });
  });
}

/// A collector's form says that the job ran in a container, and then the same has another name.
std::string_view name_of(std::string_view id) {
  return id == "shm-container-too-small" ? std::string_view("shm-no-space") : id;
}

template <typename T>
bool are_among(const std::vector<T>& named, const std::set<T>& known) {
  return std::ranges::all_of(named, [&](const T& one) { return known.contains(one); });
}

struct Wrong {
  std::string_view kind;
  std::string id;
};

std::vector<Wrong> judge(const Said& whole, const Said& left, const DamagedRun& run) {
  std::vector<Wrong> wrong;
  const bool is_touched = touches_quoted(run, whole);
  bool has_errors = false;
  std::set<int> guilty;
  for (const Finding& other : whole.findings) {
    if (other.severity != Severity::Error) continue;
    has_errors = true;
    guilty.insert(other.ranks.begin(), other.ranks.end());
  }
  for (const Finding& finding : left.findings) {
    if (finding.severity != Severity::Error) continue;
    std::set<int> ranks;
    std::set<std::string> hosts(run.added_hosts.begin(), run.added_hosts.end());
    const auto known = std::ranges::find_if(whole.findings, [&](const Finding& other) {
      return other.severity == Severity::Error && name_of(other.id) == name_of(finding.id);
    });
    const bool is_new = known == whole.findings.end();
    // Less is known of the same ranks.
    const bool is_weaker = !finding.ranks.empty() && are_among(finding.ranks, guilty);
    const bool may_be_new = (is_touched && has_errors) || is_weaker;
    if (is_new && !may_be_new && finding.id != "failure-unexplained") {
      wrong.push_back({kNewError, finding.id});
    }
    if (is_new || is_touched) {
      ranks = whole.ranks;
      hosts.insert(whole.hosts.begin(), whole.hosts.end());
    } else {
      ranks.insert(known->ranks.begin(), known->ranks.end());
      hosts.insert(known->hosts.begin(), known->hosts.end());
      // A prefix may tell whose line it is.
      if (known->ranks.empty()) ranks.insert(finding.ranks.begin(), finding.ranks.end());
      if (known->hosts.empty()) hosts.insert(finding.hosts.begin(), finding.hosts.end());
    }
    if (!are_among(finding.ranks, ranks) || !are_among(finding.hosts, hosts)) {
      wrong.push_back({kOthersNamed, finding.id});
    }
  }
  const bool is_lost =
      whole.status == VerdictStatus::Problem && left.status == VerdictStatus::Clean;
  if (is_lost && !is_touched) wrong.push_back({kBecomesClean, whole.findings.front().id});
  return wrong;
}

size_t case_of(const std::vector<DamageCase>& cases, uint64_t seed) {
  return Seeded(seed + 77).below(cases.size());
}

}  // namespace

std::vector<DamageCase> damage_cases() {
  std::vector<DamageCase> cases;
  add_cases(source_dir() / "sample_logs", cases);
  add_cases(source_dir() / "sample_logs" / "perf", cases);
  for (const char* folder : {"cases", "real", "runs"}) {
    add_cases(source_dir().parent_path() / "shared" / folder, cases);
  }
  return cases;
}

DamagedRun damaged_copy(const std::vector<DamageCase>& cases, uint64_t seed) {
  // Any healthy job.
  const auto other =
      std::ranges::find(cases, "sample_logs/healthy-2node-socket", &DamageCase::name);
  return damaged(cases[case_of(cases, seed)].files, renamed(other->files, {"node-x", "node-y"}),
                 seed);
}

uint64_t DamageTally::count(std::string_view kind) const {
  uint64_t seeds = 0;
  for (const auto& [key, all] : wrong) seeds += key.starts_with(kind) ? all.size() : 0;
  return seeds;
}

DamageTally judge_damaged(uint64_t first, uint64_t count, int threads, int damage) {
  const std::vector<DamageCase> cases = damage_cases();
  const Reader reader;
  std::vector<std::optional<Said>> wholes(cases.size());
  std::vector<std::once_flag> once(cases.size());
  DamageTally tally{.logs = cases.size()};
  std::mutex mutex;
  std::atomic<uint64_t> next = first;
  const auto work = [&] {
    for (uint64_t seed = next++; seed < first + count; seed = next++) {
      const size_t place = seed % all_damages().size();
      if (damage >= 0 && place != static_cast<size_t>(damage)) continue;
      const size_t c = case_of(cases, seed);
      std::call_once(once[c], [&] { wholes[c] = reader.read(cases[c].files); });
      const DamagedRun run = damaged_copy(cases, seed);
      const std::vector<Wrong> wrong = judge(*wholes[c], reader.read(run.files), run);
      const std::lock_guard lock(mutex);
      ++tally.copies;
      for (const Wrong& one : wrong) {
        tally.wrong[fmt::format("{}: {} ({})", one.kind, one.id, all_damages()[place].name)]
            .push_back(fmt::format("{} of {}", seed, cases[c].name));
      }
    }
  };
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) workers.emplace_back(work);
  }
  for (auto& [key, seeds] : tally.wrong) std::ranges::sort(seeds);
  return tally;
}

std::string summary(const DamageTally& tally) {
  std::string text = fmt::format("{} damaged copies of {} logs\n", tally.copies, tally.logs);
  for (const std::string_view kind : {kNewError, kOthersNamed, kBecomesClean}) {
    text += fmt::format("{:46} {}\n", kind, tally.count(kind));
  }
  constexpr size_t kShown = 6;
  for (const auto& [key, seeds] : tally.wrong) {
    text += fmt::format("\n{} × {}:", seeds.size(), key);
    for (size_t i = 0; i < std::min(kShown, seeds.size()); ++i) text += "\n  seed " + seeds[i];
    text += "\n";
  }
  return text;
}

}  // namespace ncclog::testing
