#include "diagnose/calls/ras_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <numeric>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "log/line/line_time.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

/// Ranks did not answer, or answered without knowing the communicator: what the others launched is
/// not all.
bool is_lacking(const RasReport& report) {
  const auto lacks = [](std::string_view what) {
    return what.find("DEAD") != what.npos || what.find("INCOMPLETE") != what.npos;
  };
  return std::ranges::any_of(report.statements, lacks, &RasStatement::problem) ||
         std::ranges::any_of(report.communicators, [&](const RasCommunicators& row) {
           return row.missing_ranks > 0 || lacks(row.errors);
         });
}

/// By communicator, what its ranks have launched; of JSON.
std::map<std::string, int64_t> launched_by_communicator(const RasReport& report) {
  std::map<std::string, int64_t> launched;
  for (const RasCommunicators& row : report.communicators) {
    if (row.operations >= 0) launched[row.hash] += row.operations;
  }
  return launched;
}

/// The least and the most that ranks of one communicator launched of one function.
std::pair<int64_t, int64_t> extremes(const std::vector<const RasStatement*>& statements) {
  const auto value = [](const RasStatement* one) { return parse_int(one->value).value_or(-1); };
  const auto [least, most] = std::ranges::minmax(statements | std::views::transform(value));
  return {least, most};
}

/// Something that both answers count is more in the later one.
bool grows(const RasReport& before, const RasReport& last) {
  const auto earlier = launched_by_communicator(before);
  for (const auto& [hash, launched] : launched_by_communicator(last)) {
    const auto same = earlier.find(hash);
    if (same != earlier.end() && same->second < launched) return true;
  }
  const OperationCounts counted = operation_counts(before);
  const OperationCounts counted_last = operation_counts(last);
  for (const auto& [key, statements] : counted_last) {
    const auto same = counted.find(key);
    if (same == counted.end()) continue;
    const auto [least, most] = extremes(statements);
    const auto [least_then, most_then] = extremes(same->second);
    if (least > least_then || most > most_then) return true;
  }
  // Whose ranks had all launched the same in one answer and had not in the other: somebody went on.
  const auto is_whole = [](const RasReport& report) {
    return !report.communicators.empty() && !is_lacking(report);
  };
  return is_whole(before) && is_whole(last) &&
         !std::ranges::equal(counted | std::views::keys, counted_last | std::views::keys);
}

/// Both count the same of the same communicators.
bool are_alike(const RasReport& before, const RasReport& last) {
  const OperationCounts then = operation_counts(before);
  const OperationCounts now = operation_counts(last);
  return launched_by_communicator(before) == launched_by_communicator(last) &&
         std::ranges::equal(then, now, [](const auto& a, const auto& b) {
           return a.first == b.first &&
                  std::ranges::equal(a.second, b.second, [](const auto* one, const auto* other) {
                    return *one == *other;
                  });
         });
}

/// Who launched fewer than others of a communicator, and who launched more.
struct Stands {
  using Key = std::pair<int, RasMember>;  ///< The job's rank; where it is not known the process.

  std::map<Key, RasRankOfJob> behind;
  std::set<Key> ahead;
  std::set<std::string> communicators;
  int64_t nranks = 0;     ///< Of the largest one.
  bool are_known = true;  ///< It is told of all ranks who they are.
};

void add_stands(const Job& job, const RasReport& report, const std::string& communicator,
                const std::vector<const RasStatement*>& statements, Stands& stands) {
  const int64_t nranks = statements.front()->nranks;
  const bool is_world = nranks > 0 && nranks == report.nranks;
  const auto launched = launched_by_rank(statements, nranks);
  uint64_t most = 0;
  for (const auto& [number, count] : launched) most = std::max(most, count);
  stands.communicators.insert(communicator);
  stands.nranks = std::max(stands.nranks, nranks);
  stands.are_known &= std::cmp_equal(launched.size(), nranks);
  std::set<int> listed;
  const auto stand = [&](RasRankOfJob rank) {
    RasMember member = rank.rank >= 0 ? RasMember() : rank.member;
    member.rank = -1;  // In another communicator it is another one.
    const Stands::Key key = {rank.rank, std::move(member)};
    const bool is_ahead = launched.at(rank.member.rank) == most;
    if (is_ahead) stands.ahead.insert(key);
    if (!is_ahead) stands.behind.emplace(key, std::move(rank));
  };
  for (const RasStatement* statement : statements) {
    for (const RasMember& member : statement->members) {
      if (!launched.contains(member.rank) || !listed.insert(member.rank).second) continue;
      for (RasRankOfJob& rank : ranks_of_job(job, report, *statement, member)) stand(rank);
    }
  }
  for (const auto& [number, count] : launched) {
    if (listed.contains(number)) continue;
    if (is_world) stand({{.rank = number}, number, process_of_rank(job, number)});
    stands.are_known &= is_world;
  }
}

std::vector<RasRankOfJob> find_behind(const Job& job, const RasReport& report) {
  Stands stands;
  for (const auto& [key, statements] : operation_counts(report)) {
    add_stands(job, report, key.first, statements, stands);
  }
  // Who is not known may be who is behind elsewhere.
  if (!stands.are_known && stands.communicators.size() > 1) return {};
  for (const Stands::Key& waits : stands.ahead) stands.behind.erase(waits);
  // Where most have fewer, the others may as well have called something alone.
  const auto count = static_cast<int64_t>(stands.behind.size());
  if (count * 2 > std::max(stands.nranks, report.nranks)) return {};
  std::vector<RasRankOfJob> behind;
  for (auto& [key, rank] : stands.behind) behind.push_back(std::move(rank));
  return behind;
}

/// A copy of an answer is no second one, nor is what several hosts say at once. Text has no time: an
/// answer in another file that says the same is a copy, unless numbers in their names make them a
/// series ("ras-1.txt", "ras-2.txt").
bool is_same_moment(const Job& job, const RasReport& one, const RasReport& other) {
  if (!other.timestamp.empty()) return one.timestamp == other.timestamp;
  const JobUnit* unit = unit_of(job, one.where);
  const JobUnit* later = unit_of(job, other.where);
  if (unit == nullptr || later == nullptr || unit->input == later->input) return false;
  if (one.communicators != other.communicators || one.statements != other.statements) return false;
  const std::string name = std::filesystem::path(job.inputs[unit->input].path).filename();
  const std::string other_name = std::filesystem::path(job.inputs[later->input].path).filename();
  const auto without_digits = [](std::string text) {
    std::erase_if(text, is_digit);
    return text;
  };
  return name == other_name || without_digits(name) != without_digits(other_name);
}

/// Steps or calls went on after the earlier answer: two steps stand below it in its file or, where
/// answers have times, work shows later than midway to the other one.
bool work_went_on(const Job& job, const RasReport& before, const RasReport& last) {
  const JobUnit* unit = unit_of(job, before.where);
  const LineTime asked = find_line_time(before.timestamp);
  const LineTime again = find_line_time(last.timestamp);
  return std::ranges::any_of(job.clocks, [&](const InputClock& clock) {
    const bool is_below = unit != nullptr && clock.input == unit->input &&
                          before.where < *std::prev(clock.last.end(), 2);
    const Beats& work = clock.pulse.clock(false).work;
    return is_below ||
           (asked.known() && again.known() && work.count > 0 &&
            work.last.nanoseconds > std::midpoint(asked.nanoseconds, again.nanoseconds));
  });
}

RasSeries find_series(const Job& job) {
  RasSeries series;
  if (job.runs > 1) return series;
  std::vector<const RasReport*> answers;
  for (const RasReport& report : job.ras_reports) {
    const bool is_answer = !report.communicators.empty() || !operation_counts(report).empty();
    const bool is_copy = std::ranges::any_of(
        answers, [&](const RasReport* one) { return is_same_moment(job, *one, report); });
    if (is_answer && !is_copy) answers.push_back(&report);
  }
  // Files come by name; JSON says when it was.
  const bool are_timed =
      std::ranges::none_of(answers, [](const auto* one) { return one->timestamp.empty(); });
  if (are_timed) std::ranges::stable_sort(answers, {}, &RasReport::timestamp);
  if (!answers.empty()) series.last = answers.back();
  if (answers.size() > 1) series.before = *std::prev(answers.end(), 2);
  if (series.before == nullptr) return series;
  const RasReport& before = *series.before;
  const RasReport& last = *series.last;
  if (grows(before, last) || work_went_on(job, before, last)) {
    series.trend = RasTrend::Grows;
  } else if (!is_lacking(before) && !is_lacking(last) && are_alike(before, last)) {
    const auto launched = launched_by_communicator(last);
    for (const auto& [hash, count] : launched) series.operations += count;
    if (!operation_counts(last).empty()) {
      series.trend = RasTrend::Behind;
      series.behind = find_behind(job, last);
    } else if (series.operations > 0 && last.nranks > 0) {
      series.trend = RasTrend::Level;
      series.operations /= last.nranks;
    }
  }
  return series;
}

/// "2 ranks (12,13) 641", as far as RAS lists them.
std::string count_words(const RasStatement& statement) {
  std::vector<int> ranks;
  for (const RasMember& member : statement.members) {
    if (member.rank >= 0) ranks.push_back(member.rank);
  }
  std::ranges::sort(ranks);
  const std::string value = to_valid_utf8(statement.value);
  const bool all_listed = static_cast<int64_t>(ranks.size()) >= statement.count;
  if (!ranks.empty() && all_listed) return fmt::format("{} {}", ranks_phrase(ranks), value);
  return fmt::format("{} {}", plural(statement.count, "rank"), value);
}

/// "1 UNKNOWN, 3 RUNNING" of a communicator whose ranks are in different states; empty: none is.
std::string states_words(const RasReport& report) {
  std::string communicator;
  std::vector<std::string> states;
  for (const RasStatement& statement : report.statements) {
    if (statement.what != "status" || statement.value.empty()) continue;
    if (communicator.empty()) communicator = statement.communicator;
    if (statement.communicator != communicator) continue;
    states.push_back(fmt::format("{} {}", statement.count, to_valid_utf8(statement.value)));
  }
  return join(states, ", ");
}

}  // namespace

const RasSeries& ras_series(const Job& job) { return job.answers.of<&find_series>(job); }

std::vector<RasRankOfJob> ranks_of_job(const Job& job, const RasReport& report,
                                       const RasStatement& statement, const RasMember& member) {
  // RAS has addresses of nodes and no names, so a pid that two hosts have is nobody's.
  const int process = process_of_pid(job, member.pid);
  // The world is sorted by process. One with more GPUs than that is none.
  constexpr std::ptrdiff_t kMostGpus = 64;
  const auto process_of = [](const RasMember& one) { return std::tie(one.pid, one.node); };
  const auto same = std::ranges::equal_range(report.world, process_of(member), {}, process_of);
  std::vector<RasRankOfJob> ranks;
  for (const RasMember& one : same | std::views::take(member.pid < 0 ? 0 : kMostGpus)) {
    const bool is_it = member.rank < 0 || one.gpu == member.gpu;
    if (is_it) ranks.push_back({member, one.rank, process});
  }
  if (!ranks.empty()) return ranks;
  const bool is_world = report.nranks > 0 && statement.nranks == report.nranks;
  return {{member, is_world ? member.rank : -1, process}};
}

std::string member_words(const RasMember& member) {
  std::vector<std::string> parts;
  if (member.pid >= 0) parts.push_back(fmt::format("process {}", member.pid));
  if (!member.node.empty()) parts.push_back("on node " + printable(to_valid_utf8(member.node)));
  std::string place = join(parts, " ");
  const std::string gpu = member.gpu.empty() ? "" : "GPU " + printable(to_valid_utf8(member.gpu));
  if (member.rank < 0) return gpu.empty() ? place : fmt::format("{} ({})", place, gpu);
  if (!gpu.empty()) place += place.empty() ? gpu : ", " + gpu;
  return place.empty() ? fmt::format("rank {}", member.rank)
                       : fmt::format("rank {} ({})", member.rank, place);
}

std::string member_words(const std::vector<RasRankOfJob>& members) {
  std::map<std::string, std::vector<const RasRankOfJob*>> by_node;
  for (const RasRankOfJob& member : members) by_node[member.member.node].push_back(&member);
  std::vector<std::string> words;
  for (const auto& [node, those] : by_node) {
    if (those.size() == 1) {
      RasMember member = those.front()->member;
      member.rank = those.front()->rank;
      words.push_back(member_words(member));
      continue;
    }
    std::vector<int> ranks;
    for (const RasRankOfJob* one : those) ranks.push_back(one->rank);
    std::ranges::sort(ranks);
    words.push_back(ranks.front() >= 0 ? ranks_phrase(ranks)
                                       : plural(static_cast<int64_t>(those.size()), "process"));
    if (!node.empty()) words.back() += " on node " + printable(to_valid_utf8(node));
  }
  return few_of(words, kMostNamed, ", ");
}

std::string counts_words(const RasReport& report) {
  std::vector<std::string> phrases;
  for (const auto& [key, statements] : operation_counts(report)) {
    std::vector<std::string> counts;
    for (const RasStatement* statement : statements) counts.push_back(count_words(*statement));
    phrases.push_back(fmt::format("{} on communicator {}: {}", to_valid_utf8(key.second),
                                  to_valid_utf8(key.first), join(counts, ", ")));
  }
  return few_of(phrases, kMostNamed, "; ");
}

std::string ras_words(const Job& job) {
  if (job.ras_reports.empty()) return {};
  const auto count = static_cast<int64_t>(job.ras_reports.size());
  if (ras_series(job).trend == RasTrend::Grows) {
    return fmt::format(
        "NCCL's RAS service counted more operations from answer to answer ({} of them): the job "
        "ran",
        count);
  }
  if (const std::string states = states_words(job.ras_reports.back()); !states.empty()) {
    return fmt::format(
        "RAS: ranks of a communicator are in different states ({}), which is normal for a moment; "
        "ask again",
        states);
  }
  return fmt::format(
      "NCCL's RAS service found nothing wrong in {}, which {} neither progress nor a hang",
      plural(count, "answer"), count == 1 ? "shows" : "show");
}

}  // namespace ncclog
