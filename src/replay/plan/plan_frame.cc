#include <algorithm>
#include <iterator>
#include <set>

#include "base/built_in.h"
#include "base/error.h"
#include "base/text.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/outcome/stop_evidence.h"
#include "diagnose/settings/nccl_variables.h"
#include "model/calls.h"
#include "replay/plan/build_plan.h"

namespace ncclog {
namespace {

// Transports and tuning, as the logs show them.

/// That rank; nullptr: it is not listed.
const CommRank* find_rank(const Communicator& comm, int number) {
  const auto found = std::lower_bound(comm.ranks.begin(), comm.ranks.end(), number,
                                      [](const CommRank& a, int b) { return a.rank < b; });
  return found == comm.ranks.end() || found->rank != number ? nullptr : &*found;
}

/// True unless the number is none of the communicator's, or another process's. -1: any process.
bool may_be(const Communicator& comm, int number, int process) {
  if (number < 0 || (comm.nranks >= 0 && number >= comm.nranks)) return false;
  const CommRank* rank = find_rank(comm, number);
  const bool unknown = process < 0 || rank == nullptr || rank->process < 0;
  return unknown || rank->process == process;
}

}  // namespace

std::string transport_class_name(const PathParts& path) {
  if (path.transport == Transport::P2P) return "P2P";
  if (path.transport == Transport::SHM) return "SHM";
  if (path.transport != Transport::NET) return "other";
  return path.network.empty() ? "NET" : "NET/" + std::string(path.network);
}

std::vector<TransportShare> seen_transports(const Communicator& comm, std::span<const Edge> edges) {
  std::map<std::string, std::set<std::pair<int, int>>> pairs;
  for (const Edge& edge : edges) {
    const int own = edge.sends ? edge.src_rank : edge.dst_rank;
    const int other = edge.sends ? edge.dst_rank : edge.src_rank;
    const CommRank* rank = own < 0 ? nullptr : find_rank(comm, own);
    if (rank == nullptr || rank->process != edge.process) continue;
    if (!may_be(comm, other, edge.peer)) continue;
    pairs[transport_class_name(*edge.path)].emplace(edge.src_rank, edge.dst_rank);
  }
  std::vector<TransportShare> shares;
  for (const auto& [transport, joined] : pairs) {
    shares.push_back({transport, static_cast<int>(joined.size())});
  }
  return shares;
}

std::vector<RecordedTuning> seen_tuning(const Job& job, std::span<const size_t> logs) {
  std::map<TuningKey, uint64_t> counts;
  for (const size_t log : logs) {
    for (const auto& [key, use] : job.logs[log].tuning->all) {
      if (!key.function.empty()) counts[key] += use.count;
    }
  }
  std::vector<RecordedTuning> all;
  for (const auto& [key, calls] : counts) {
    all.push_back({to_valid_utf8(key.function), to_valid_utf8(key.algorithm),
                   to_valid_utf8(key.protocol), calls});
  }
  return all;
}

namespace {

// Settings.

/// Of left_out.table: a name, in which '*' stands for any characters, and the reason.
constexpr std::pair<std::string_view, std::string_view> kExclusions[] = {
#include "replay/plan/left_out.inc"
};

/// The settings that processes of the plan's ranks report, by name, then value.
std::vector<PlannedSetting> planned_settings(const Job& job, const PlanSeats& seats) {
  std::vector<PlannedSetting> settings;
  for (const EnvironmentSetting& setting : job.environment) {
    PlannedSetting planned;
    for (size_t s = 0; s < seats.seats.size(); ++s) {
      const bool is_meant = std::ranges::binary_search(setting.processes, seats.seats[s].process);
      if (is_meant) planned.ranks.push_back(static_cast<int>(s));
    }
    if (planned.ranks.empty()) continue;
    if (planned.ranks.size() == seats.seats.size()) planned.ranks.clear();
    planned.name = to_valid_utf8(setting.name);
    planned.value = to_valid_utf8(setting.value);
    planned.left_out = why_left_out(setting.name, setting.value);
    settings.push_back(std::move(planned));
  }
  return settings;
}

// Where does a plan end? At the call that is in question.
//
//   rank 5 leaves out AllReduce(28) and goes on: AllGather(28) ReduceScatter(29) …
//       → in the defect run rank 5 makes nothing after call 27 on that communicator, the others
//         make AllReduce(28), and nobody makes a call after it
//
// What a diverged rank called later meets the call that the others wait in. NCCL matches calls by
// their order alone, so with a few ranks it may take those data for the missing ones, and compute
// nonsense where many ranks stood still.

/// Messages behind the added one, at both ends: the first of them would take its place.
uint64_t end_at_message(ReplayPlan& plan) {
  const FrontLine& front = *plan.hypothesis.front;
  const PlannedCall* found = owed_message(plan);
  if (found == nullptr) return 0;
  const PlannedCall added = *found;
  const auto& ranks = plan.communicators[front.communicator].ranks;
  const int peer = ranks[added.root];
  const int own = front.missing.front();
  const int number = rank_in(plan.communicators[front.communicator], own);
  uint64_t removed = std::erase_if(plan.ranks[own].calls, [&](const auto& call) {
    return call.communicator == added.communicator && call.op == added.op &&
           call.root == added.root && call.index >= added.index && call.made_in != MadeIn::Clean;
  });
  removed += std::erase_if(plan.ranks[peer].calls, [&](const auto& call) {
    return call.communicator == added.communicator && is_message(call.op) && call.op != added.op &&
           call.root == number && call.index > added.index;
  });
  return removed;
}

/// Removes the collectives after the front, on its communicator, from both runs, and for a missing
/// call what those who left it out made in its place; those are then missing at the front. Of a
/// missing message, what its two ranks sent each other after it. Nothing if the hypothesis has no
/// front. Gives how many calls were removed.
uint64_t end_at_front(ReplayPlan& plan) {
  Hypothesis& hypothesis = plan.hypothesis;
  if (!hypothesis.front) return 0;
  if (hypothesis.kind == DefectKind::Message) return end_at_message(plan);
  FrontLine& front = *hypothesis.front;
  // The front says that those who left the call out came, though with another one.
  std::vector<int> without;
  if (hypothesis.kind == DefectKind::MissingCall) {
    std::ranges::copy_if(hypothesis.diverged, std::back_inserter(without),
                         [&](int rank) { return is_among(front.entered, rank); });
  }
  uint64_t removed = 0;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    const bool left_it_out = is_among(without, static_cast<int>(r));
    removed += std::erase_if(plan.ranks[r].calls, [&](const PlannedCall& call) {
      if (call.communicator != front.communicator || is_message(call.op)) return false;
      const bool is_instead =
          left_it_out && call.index == front.index && call.made_in != MadeIn::Clean;
      return call.index > front.index || is_instead;
    });
  }
  std::erase_if(front.entered, [&](int rank) { return is_among(without, rank); });
  front.missing.insert(front.missing.end(), without.begin(), without.end());
  std::ranges::sort(front.missing);
  return removed;
}

// What the plan lost, and what it cannot show.

/// Ranks of the plan's communicators that take no part, by communicator.
void add_absent_ranks(const Job& job, const PlanSeats& seats, std::vector<std::string>& losses) {
  for (const int c : seats.communicators) {
    const Communicator& comm = job.communicators[c];
    const auto there = static_cast<int>(seats.ranks_of(job, c).size());
    if (there >= comm.nranks) continue;
    std::vector<int> absent;
    for (const CommRank& rank : comm.ranks) {
      if (rank.rank >= 0 && seats.number_of(c, rank.rank) < 0) absent.push_back(rank.rank);
    }
    losses.push_back(absent_words(comm.id, static_cast<size_t>(comm.nranks - there), absent));
  }
}

/// Sentences for ReplayPlan::losses.
std::vector<std::string> plan_losses(const Job& job, const PlanSeats& seats, const ReplayPlan& plan,
                                     const PlanMaking& making) {
  const bool says_why =
      plan.hypothesis.kind != DefectKind::None || making.from_dumps || making.clean_run_ends_before;
  const bool is_untested = !says_why && has_failed(job);
  const auto sizes_differ = [&job] {
    return std::ranges::any_of(find_waits(job).unmatched, &UnmatchedMessages::sizes_differ);
  };
  uint64_t earlier = 0;
  for (const PlannedRank& rank : plan.ranks) earlier = std::max(earlier, rank.left_out);
  Telling telling{.table = kPlanWords,
                  .conditions = {{"several-runs", making.runs > 1},
                                 {"dumps", making.from_dumps},
                                 {"no-hosts", making.no_hosts},
                                 {"split", making.split},
                                 {"guessed-groups", making.guessed_groups},
                                 {"ungrouped", making.ungrouped},
                                 {"bytes", making.counts_bytes},
                                 {"ends-before", making.clean_run_ends_before},
                                 {"buffers", making.buffers_sends},
                                 {"untested", is_untested},
                                 {"sizes-differ", is_untested && sizes_differ()}}};
  telling.add_count("runs", making.runs);
  telling.add_count("torn", std::ranges::count_if(job.processes, &Process::torn));
  telling.add_count("cut", std::ranges::count_if(job.processes, &Process::cut));
  telling.add_count("earlier", earlier);
  telling.add_count("odd", making.not_replayable);
  telling.add_count("unmet", making.unmet);
  telling.add_count("after", making.after);
  telling.add_count("awaited", making.awaited);
  std::vector<std::string> losses = telling.say("job");
  add_absent_ranks(job, seats, losses);
  losses.insert(losses.end(), making.absent.begin(), making.absent.end());
  for (std::string& sentence : telling.say("loss")) losses.push_back(std::move(sentence));
  return losses;
}

/// Sentences for ReplayPlan::limits.
std::vector<std::string> plan_limits(const Job& job, const ReplayPlan& plan) {
  const auto is_own = [](const PlannedCall& call) { return call.redop >= kUserRedop; };
  Telling telling{.table = kPlanWords,
                  .conditions = {{"many-hosts", plan.recorded_nhosts > 1},
                                 {"own-reductions", any_call(plan, is_own)}}};
  std::string graphs;
  if (const auto evidence = cuda_graph_evidence(job)) {
    const FileLine place = file_line(job, evidence->where);
    graphs = fmt::format(": {}:{} speaks of such graphs", to_valid_utf8(place.path), place.line);
  }
  telling.add("graphs", graphs);
  telling.add("hosts", std::to_string(plan.recorded_nhosts));
  return telling.say("limit");
}

// How the plan ends.

/// Some rank made messages behind the front's collective, which was over by then.
bool goes_on_with_messages(const ReplayPlan& plan, const FrontLine& front) {
  return std::ranges::any_of(plan.ranks, [&](const PlannedRank& rank) {
    const auto at = std::ranges::find_if(
        rank.calls, [&](const PlannedCall& call) { return is_at(call, front, false); });
    return std::any_of(at, rank.calls.end(), [&](const PlannedCall& call) {
      return is_message(call.op) && call.communicator == front.communicator;
    });
  });
}

/// What the plan's calls cannot show is not claimed: a defect that makes no difference between
/// the runs, a front whose call is not among them, and one of collectives where messages stalled.
void limit_hypothesis(ReplayPlan& plan) {
  Hypothesis& hypothesis = plan.hypothesis;
  const bool by_message = hypothesis.kind == DefectKind::Message;
  if (hypothesis.front && !any_call(plan, [&](const PlannedCall& call) {
        return is_at(call, *hypothesis.front, by_message);
      })) {
    hypothesis.front.reset();
  }
  const bool is_stall = hypothesis.kind == DefectKind::Stall && hypothesis.front;
  if (is_stall && goes_on_with_messages(plan, *hypothesis.front)) hypothesis.front.reset();
  if (hypothesis.kind == DefectKind::None || has_defect(plan)) return;
  hypothesis.kind = DefectKind::Stall;
  hypothesis.diverged.clear();
  if (hypothesis.front) hypothesis.front->missing.clear();
}

constexpr SentenceRow kWords[] = {
#include "replay/plan/plan_words.inc"
};

}  // namespace

std::string_view why_left_out(std::string_view name, std::string_view value) {
  // Every replay has it, unless multicast is asked for.
  if (name == "NCCL_NVLS_ENABLE" && value == "0") return {};
  for (const auto& [pattern, reason] : kExclusions) {
    if (fits_name(pattern, name)) return reason;
  }
  return name.starts_with("NCCL_") ? "" : "no setting of NCCL itself";
}

const std::span<const SentenceRow> kPlanWords = kWords;

void Telling::add(const std::string& name, const std::string& text) {
  texts.push_back(fmt::arg(name.c_str(), text));
}

void Telling::add_count(const std::string& name, uint64_t count) {
  const bool is_one = count == 1;
  conditions[name] = count > 0;
  add(name, std::to_string(count));
  add(name + "_a", is_one ? "a" : std::to_string(count));
  add(name + "_s", is_one ? "" : "s");
  add(name + "_es", is_one ? "" : "es");
  add(name + "_is", is_one ? "is" : "are");
  add(name + "_it", is_one ? "it" : "them");
  add(name + "_its", is_one ? "its" : "their");
}

std::vector<std::string> Telling::say(std::string_view part, std::string_view kind) const {
  const auto holds = [this](std::string_view condition) {
    const bool is_negated = condition.starts_with('!');
    return conditions.find(condition.substr(is_negated ? 1 : 0))->second != is_negated;
  };
  std::vector<std::string> sentences;
  for (const SentenceRow& one : table) {
    const bool is_meant = one.part == part && (one.kind == kind || one.kind == "*");
    if (!is_meant || !std::ranges::all_of(split_blanks(one.conditions), holds)) continue;
    sentences.push_back(fmt::vformat(fmt::string_view(one.sentence), texts));
  }
  return sentences;
}

void refuse_plan(std::string_view why,
                 const std::vector<std::pair<std::string, std::string>>& texts) {
  Telling telling{.table = kPlanWords};
  for (const auto& [name, text] : texts) telling.add(name, text);
  telling.add("how_to_capture", telling.say("capture").front());
  throw Error(telling.say("refusal", why).front(), telling.say("where", why).front(),
              telling.say("hint", why).front());
}

std::string absent_words(const std::string& communicator, size_t count,
                         const std::vector<int>& absent) {
  const std::string who =
      absent.empty() ? fmt::format("{} ranks", count)
                     : fmt::format("rank{} {}", absent.size() == 1 ? "" : "s", ranges_text(absent));
  return fmt::format("Communicator {} is made without {}: the logs do not show what {} called.",
                     communicator, who, absent.size() == 1 ? "it" : "they");
}

ReplayPlan begin_plan(const Job& job, const std::vector<std::string>& logs) {
  ReplayPlan plan;
  plan.tool_version = version();
  plan.logs = logs;
  plan.nccl_versions = job.nccl_versions;
  if (job.cuda_versions.size() == 1) plan.cuda_version = job.cuda_versions.front();
  plan.recorded_nhosts = job.nhosts;
  return plan;
}

std::vector<PlannedRank> planned_ranks(const Job& job, const PlanSeats& seats) {
  std::map<int, std::string> host_ids;
  for (const EnvironmentSetting& setting : job.environment) {
    if (setting.name != "NCCL_HOSTID") continue;
    for (const int process : setting.processes) host_ids[process] = setting.value;
  }
  std::vector<PlannedRank> ranks;
  // Pseudo-hosts are numbered by first use: hosts as NCCL takes them, which NCCL_HOSTID may decide.
  std::map<std::pair<bool, std::string>, int> groups;
  for (const Seat& seat : seats.seats) {
    const std::string& host = job.processes[seat.process].host;
    const auto id = host_ids.find(seat.process);
    const bool has_id = id != host_ids.end();
    const std::pair key(has_id, has_id ? id->second : host);
    ranks.push_back(
        {.recorded_rank = seat.recorded_rank,
         .host = to_valid_utf8(host),
         .host_group = groups.try_emplace(key, static_cast<int>(groups.size())).first->second});
  }
  return ranks;
}

void refuse_untested(const PlanOptions& options, DefectKind defect) {
  if (defect != DefectKind::None) return;
  if (options.only_failing) refuse_plan("none-fails");
  if (!options.finding.empty()) refuse_plan("no-call", {{"id", options.finding}});
}

ReplayPlan finish_plan(const Job& job, const PlanSeats& seats, PlanMaking making,
                       const PlanOptions& options, ReplayPlan plan) {
  if (is_empty(plan)) {
    refuse_plan(making.clean_run_ends_before ? "ends-before" : "nothing-in-common");
  }
  // First what the plan holds, then what can be claimed of it, then what is said about both.
  making.after = end_at_front(plan);
  limit_hypothesis(plan);
  plan.settings = planned_settings(job, seats);
  plan.losses = plan_losses(job, seats, plan, making);
  plan.limits = plan_limits(job, plan);
  return options.gpus > 0 ? shrink_plan(plan, options.gpus) : plan;
}

}  // namespace ncclog
