// Which few hosts or ranks are set up unlike their peers, apart from paths and topology?
//
//   cudaDriverVersion 12040 on 7 hosts, 12020 on gpu-c   → job.odd_driver = yes, gpu-c
//   NVLS multicast support is available on 7 GPUs, not on that of rank 5   → job.odd_nvls, rank 5

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/odd_ones.h"
#include "diagnose/within_runs.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// What processes say, each by one line.
struct Sayings {
  PeerValues values;
  std::map<int, Evidence> lines;

  void add(int process, std::string value, const Record& record) {
    if (values.emplace(process, std::move(value)).second)
      lines.emplace(process, evidence_of(record));
  }

  std::vector<Evidence> lines_of(const std::vector<int>& processes) const {
    constexpr size_t kMaxLines = 6;
    std::vector<Evidence> result;
    for (const int process : processes) {
      const auto line = lines.find(process);
      if (line != lines.end() && result.size() < kMaxLines) result.push_back(line->second);
    }
    return result;
  }
};

/// "12.2 instead of 12.4, as 7 others", with the names that `name` gives to values.
template <typename Name>
FactValue odd_answer(const Sayings& sayings, OddOnes odd, Name name) {
  if (sayings.values.empty()) return unknown();
  if (odd.odd.empty()) return no();
  std::string what = fmt::format("{}, {} others {}", name(sayings.values.at(odd.odd.front())),
                                 odd.alike, name(odd.common));
  std::vector<Evidence> lines = sayings.lines_of(odd.odd);
  return yes(std::move(what), std::move(lines), std::move(odd.odd));
}

/// One value for each host, under the number of its first process.
PeerValues by_host(const Job& job, const PeerValues& values) {
  std::map<std::string, int> first;
  PeerValues result;
  std::set<std::string> mixed;
  for (const auto& [process, value] : values) {
    const std::string& host = job.processes[static_cast<size_t>(process)].host;
    if (host.empty()) continue;
    const auto [known, is_new] = first.emplace(host, process);
    if (is_new) result[process] = value;
    if (!is_new && result[known->second] != value) mixed.insert(host);
  }
  for (const std::string& host : mixed) result.erase(first[host]);
  return result;
}

/// All processes of the hosts for which those of `firsts` stand.
std::vector<int> whole_hosts(const Job& job, const PeerValues& values,
                             const std::vector<int>& firsts) {
  std::set<std::string> hosts;
  for (const int first : firsts) hosts.insert(job.processes[static_cast<size_t>(first)].host);
  std::vector<int> result;
  for (const auto& [process, value] : values) {
    if (hosts.contains(job.processes[static_cast<size_t>(process)].host)) result.push_back(process);
  }
  return result;
}

/// "12.4" for 12040.
std::string driver_name(const std::string& printed) {
  const int64_t version = parse_int(printed).value_or(0);
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

FactValue odd_driver(const Job& job, const Instance&) {
  Sayings sayings;
  for_each_said<CudaDriverVersion>(job, [&](const Said<CudaDriverVersion>& said) {
    sayings.add(said.process, std::to_string(said.message.version), said.record);
  });
  OddOnes odd = odd_ones(by_host(job, sayings.values));
  odd.odd = whole_hosts(job, sayings.values, odd.odd);
  return odd_answer(sayings, std::move(odd), driver_name);
}

FactValue odd_nvls(const Job& job, const Instance&) {
  Sayings sayings;
  for_each_said<NvlsSupport>(job, [&](const Said<NvlsSupport>& said) {
    sayings.add(said.process, std::string(said.message.state), said.record);
  });
  OddOnes odd = odd_ones(sayings.values);
  // Where a single one of many offers it, the others are the rule.
  if (odd.common != "available") odd.odd.clear();
  return odd_answer(sayings, std::move(odd), [](const std::string& state) { return state; });
}

FactValue odd_affinity(const Job& job, const Instance&) {
  Sayings sayings;
  for_each_said<CpuAffinity>(job, [&](const Said<CpuAffinity>& said) {
    sayings.add(said.process, std::string(said.message.cpus), said.record);
  });
  return odd_answer(sayings, odd_at_place(job, sayings.values),
                    [](const std::string& cpus) { return "CPUs " + printable(cpus); });
}

/// The channels for collectives that each rank of a communicator counted.
FactValue odd_channel_count(const Job& job, const Instance&) {
  bool known = false;
  for (const Communicator& comm : job.communicators) {
    PeerValues values;
    for (const CommRank& rank : comm.ranks) {
      const InitSection* section = rank.process < 0 ? nullptr : init_section(job, rank);
      if (section == nullptr || section->channels.coll < 0) continue;
      values[rank.process] = std::to_string(section->channels.coll);
    }
    known |= !values.empty();
    OddOnes odd = odd_ones(values);
    if (odd.odd.empty()) continue;
    std::string what =
        fmt::format("{} channels, {} others {}", values.at(odd.odd.front()), odd.alike, odd.common);
    std::vector<Evidence> lines;
    for_each_said<ChannelCounts>(job, [&](const Said<ChannelCounts>& said) {
      const bool named = std::binary_search(odd.odd.begin(), odd.odd.end(), said.process);
      if (named && std::to_string(said.message.coll) != odd.common) {
        lines.push_back(evidence_of(said.record));
      }
    });
    return yes(std::move(what), std::move(lines), std::move(odd.odd));
  }
  return known ? no() : unknown();
}

/// Runs of nccl-tests that measured the same.
struct TestKey {
  std::string test;
  int nranks = -1;
  int64_t size = -1;
  auto operator<=>(const TestKey&) const = default;
};

/// What a run measured at its largest size.
struct Measured {
  double busbw = 0;  ///< GB/s
  const NcclTestsRun* run = nullptr;
};

std::map<TestKey, std::vector<Measured>> measured_runs(const Job& job) {
  std::map<TestKey, std::vector<Measured>> result;
  for (const NcclTestsRun& run : job.nccl_tests) {
    if (run.rows.empty() || run.test.empty()) continue;
    const NcclTestsRow& row = run.rows.back();
    const auto busbw = parse_decimal(row.out_of_place.busbw);
    if (busbw && *busbw > 0) {
      result[{run.test, run.nranks, row.size}].push_back({*busbw, &run});
    }
  }
  return result;
}

/// Runs far below three quarters of the others, whose own values lie close together.
FactValue odd_test_run(const Job& job, const Instance&) {
  constexpr size_t kMinRuns = 4;
  constexpr double kClose = 0.8;
  constexpr double kSlow = 0.6;
  for (auto& [key, runs] : measured_runs(job)) {
    if (runs.size() < kMinRuns) continue;
    std::sort(runs.begin(), runs.end(),
              [](const Measured& a, const Measured& b) { return a.busbw < b.busbw; });
    const size_t slow = runs.size() / 4;
    const double best = runs.back().busbw;
    if (runs[slow].busbw < kClose * best || runs.front().busbw > kSlow * runs[slow].busbw) continue;
    const NcclTestsRow& row = runs.front().run->rows.back();
    std::vector<int> who;
    if (runs.front().run->process >= 0) who.push_back(runs.front().run->process);
    return yes(
        fmt::format("{} at {} bytes: {:.2f} GB/s, {} other runs {:.2f} to {:.2f}", key.test,
                    key.size, runs.front().busbw, runs.size() - slow, runs[slow].busbw, best),
        {{row.where, row.text}}, std::move(who));
  }
  return job.nccl_tests.empty() ? unknown() : no();
}

constexpr std::array kFacts = {
    Fact{"job.odd_affinity", Scope::Job, FactType::Bool,
         "A few ranks are bound to other CPUs than the ranks at their place of most hosts.",
         within_runs<odd_affinity>},
    Fact{"job.odd_channel_count", Scope::Job, FactType::Bool,
         "A few ranks count another number of channels for collectives than most ranks of their "
         "communicator.",
         within_runs<odd_channel_count>},
    Fact{"job.odd_driver", Scope::Job, FactType::Bool,
         "A few hosts have another CUDA driver version than most.", within_runs<odd_driver>},
    Fact{"job.odd_nvls", Scope::Job, FactType::Bool,
         "A few GPUs cannot use NVLink SHARP, most can.", within_runs<odd_nvls>},
    Fact{"job.odd_test_run", Scope::Job, FactType::Bool,
         "One run of nccl-tests is far slower than others of the same test, ranks and size.",
         odd_test_run},
};

}  // namespace

std::span<const Fact> odd_host_facts() { return kFacts; }

}  // namespace ncclog
