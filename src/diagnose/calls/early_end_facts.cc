// Who left before the others, and where do all wait with nobody to blame?
//
//   rank 3 ended without an error, and the others lost their peer      → who went first
//   half of the ranks wait in one initialisation, half in another    → all wait

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/majority.h"
#include "base/text.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/network/interfaces.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/exit_reports.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/outcome.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/address.h"
#include "log/event.h"
#include "log/messages.h"
#include "log/wording/other_programs.h"
#include "model/ledger/watchdog_works.h"

namespace ncclog {

// Who went before the others, and by whose will?
//
//   rank 3 says "data exhausted after 14 steps, leaving"; ranks 0-2 time out 20 s later
//       → job.left_early = yes, rank 3
//   rank 1: Abort START … Abort COMPLETE; ranks 0, 2, 3 time out in the next call
//       → job.aborted_early = yes, rank 1
//   all processes of host b fall silent; those of host a see their connections closed
//       → job.host_lost = yes, host b
//   all ranks destroyed three communicators, none the fourth, and nothing follows
//       → job.destroy_unfinished = yes
//   ranks 0-2: Destroy START, and nothing more; rank 3 shows no line about destroying; it hung
//       → job.destroy_not_begun = yes, rank 3
//
// NCCL tells nobody that a rank left: the others wait for it until somebody's patience ends. Who
// left by itself before that has no error to show, so its own last words are what there is.

namespace {

/// True if `a` was printed before `b`: in one input by its place, else by their times; false if
/// that is not known. Who tears lines hands on chunks, and no order of time.
bool is_before(const Job& job, const Evidence& a, const Evidence& b) {
  if (are_ordered(job, a.where, b.where) && !is_torn(job)) return a.where < b.where;
  return nanoseconds_between(a.text, b.text).value_or(0) > 0;
}

/// A process that went by itself.
struct Leaver {
  int process = -1;
  int rank = -1;
  bool aborted = false;
  Evidence line;
};

/// The processes that gave up on a work, or report a failure of their own, before or after what
/// they did: where several write into one file, its order is not that of time.
std::set<int> those_that_suffered(const Job& job) {
  std::set<int> processes = processes_that_gave_up(job);
  for_each_said<NcclException, StoreWaitFailed>(
      job, [&](const auto& said) { processes.insert(said.process); });
  const auto& ends = outcome_of(job).processes;
  for (size_t p = 0; p < ends.size(); ++p) {
    if (ends[p].state == EndState::Failed) processes.insert(static_cast<int>(p));
  }
  return processes;
}

/// What a rank said of its leaving, by process or, where none is known, by rank. That it is done
/// with its work counts where the others are known to have lost somebody.
std::vector<Leaver> by_own_words(const Job& job, bool are_lost) {
  std::vector<Leaver> found;
  const auto add = [&](const auto& said, int rank) {
    // Who leaves because of an error that it names had waited, or failed.
    constexpr std::string_view kErrors[] = {"ERROR", "FATAL", "CRITICAL"};
    if (holds_one_of(said.record().text(), kErrors)) return;
    Leaver one{said.process, rank, false, evidence_of(said.record())};
    const int own = rank_of(job, said.process, said.header());
    if (one.rank < 0) {
      // Loggers are named for their rank: "INFO trainer[rank 3]: data exhausted, leaving".
      const auto named = parse_int(rank_named_in(said.record().text()));
      one.rank = named ? static_cast<int>(*named) : own;
    }
    if (one.rank < 0) return;
    // One stream for all ranks: the line's rank is whose it is.
    if (own != one.rank) one.process = process_of_rank(job, one.rank);
    found.push_back(std::move(one));
  };
  for_each_said<RankLeaves>(job, [&](const auto& said) { add(said, said.message.rank); });
  if (are_lost)
    for_each_said<WorkFinished, RankDone>(job, [&](const auto& said) { add(said, -1); });
  return found;
}

/// Who saw the job stand still looked at all of it; of `ncclog run` it is known when that was.
bool is_before_stop(const Job& job, const Evidence& line, const StopEvidence& stop) {
  if (stop.by == StopBy::Stated) return true;
  if (stop.by != StopBy::Watched) return is_before(job, line, stop.line);
  const LineTime time = time_of_line(line.text);
  const LineTime seen = time_of_line(stop.line.text);
  return time.known() && seen.known() && time.nanoseconds < seen.nanoseconds;
}

/// How many ranks there are, by NCCL's word or, without it, where all of 0 to n are labelled; 0:
/// neither is known.
int64_t known_ranks(const Job& job) {
  if (job.nranks) return *job.nranks;
  std::set<int> ranks;
  for (const Process& process : job.processes) {
    if (process.rank >= 0) ranks.insert(process.rank);
  }
  return ranks.empty() || *ranks.rbegin() >= std::ssize(ranks) ? 0 : std::ssize(ranks);
}

/// All ranks are heard, and each either lost its peer and reports nothing else, or does not suffer:
/// then one of those that do not went first, whatever the order of their lines.
bool all_others_lost_peers(const Job& job, const std::set<int>& suffered) {
  if (!deaths(job).empty() || !first_exceptions(job).empty() || is_torn(job)) return false;
  const auto says_loss = [](const auto& said) {
    return said.message.error.find("remote process exited") != std::string_view::npos;
  };
  std::set<int> lost;
  bool is_other = false;
  for_each_said<WorkException, NcclException>(job, [&](const auto& said) {
    lost.insert(said.process);
    is_other |= !says_loss(said);
  });
  const bool only_lost = !is_other && !lost.empty() && std::ranges::includes(lost, suffered);
  const auto ranks = std::ranges::count_if(
      job.processes, [](const Process& process) { return process.rank >= 0; });
  return only_lost && ranks > 1 && std::cmp_equal(ranks, known_ranks(job));
}

/// There are processes apart from it, or it never was in a communicator while others have one of all
/// their ranks, and none of those that suffer is known to be in a communicator with it, or with
/// somebody who is: they may not have waited for it.
bool is_beside(const Job& job, const Process& leaver, const std::set<int>& suffered) {
  const bool is_alone = leaver.world < 0 && segments_of(job, leaver).empty();
  const auto is_apart = [&](const Process& other) {
    return is_alone ? other.world >= 0 : are_apart(leaver, other);
  };
  return std::ranges::any_of(job.processes, is_apart) &&
         std::ranges::none_of(suffered, [&](int other) {
           return other >= 0 && leaver.world >= 0 && nth_process(job, other).world == leaver.world;
         });
}

/// All that went by themselves before the job was seen to stand still, or from whom all others lost
/// their connections, each once; the line is the first that tells it.
std::vector<Leaver> find_leavers(const Job& job) {
  const auto& stop = stop_evidence(job);
  const std::set<int> suffered = those_that_suffered(job);
  const bool are_lost = stop && !stood_still(job) && all_others_lost_peers(job, suffered);
  if (!stop || !(stood_still(job) || are_lost)) return {};
  std::vector<Leaver> found;
  const auto add = [&](Leaver one) {
    if (one.process >= 0 && suffered.contains(one.process)) return;
    if (one.process >= 0 && is_beside(job, nth_process(job, one.process), suffered)) return;
    if (!are_lost && !is_before_stop(job, one.line, *stop)) return;
    const auto same = std::ranges::find_if(found, [&](const Leaver& other) {
      return one.process >= 0 ? other.process == one.process : other.rank == one.rank;
    });
    if (same == found.end()) return found.push_back(std::move(one));
    same->aborted |= one.aborted;
    if (is_before(job, one.line, same->line)) same->line = std::move(one.line);
  };
  // Of processes that never came to a communicator none waits for another one's calls.
  const bool has_begun = std::ranges::any_of(
      job.processes, [&](const Process& process) { return !segments_of(job, process).empty(); });
  const auto& ends = outcome_of(job).processes;
  for (size_t p = 0; p < ends.size() && has_begun; ++p) {
    const Process& process = job.processes[p];
    if (ends[p].state != EndState::Finished || ends[p].evidence.empty() || !process.has_nccl) {
      continue;
    }
    const bool aborted =
        std::ranges::count(segments_of(job, process), CommFate::Aborted, &CommSegment::end) > 0;
    add({static_cast<int>(p), process.rank, aborted, ends[p].evidence.front()});
  }
  for (Leaver& one : by_own_words(job, are_lost)) add(std::move(one));
  return found;
}

template <bool aborted>
FactValue left_before(const Job& job, const Instance&) {
  const std::vector<Leaver> all = find_leavers(job);
  // As many wait as went, or more: where most were through, it is the others that go on too long.
  const auto speaks = [](const Process& process) { return process.has_nccl || process.rank >= 0; };
  const auto speaking = static_cast<size_t>(std::ranges::count_if(job.processes, speaks));
  if (speaking < 2 * all.size()) return unknown();
  FactValue value = yes({});
  std::vector<std::string> phrases;
  for (const Leaver& one : all) {
    if (one.aborted != aborted) continue;
    blame(one.process, one.rank, value);
    value.evidence.push_back(one.line);
    phrases.push_back(fmt::format("{}: \"{}\"{}", name_and_place(job, one.process, one.rank, -1),
                                  line_words(one.line.text, 120), when_words(one.line.text)));
  }
  if (value.evidence.empty()) return unknown();
  const auto& stop = stop_evidence(job);
  value.evidence.push_back(stop->line);
  value.what = few_of(phrases, kMostNamed, "; ");
  return value;
}

/// The process's last line says that it destroyed a communicator.
bool ends_with_destroy(const Job& job, const Process& process) {
  const Event event = parse_event(last_text(job, process), all_wordings());
  return event.message.kind != nullptr && event.message.kind->index == kKindIndex<CommEnd> &&
         read_message<CommEnd>(event.message).phase != "START";
}

FactValue destroy_unfinished(const Job& job, const Instance&) {
  const EndState state = outcome_of(job).job.state;
  if (state == EndState::Finished || state == EndState::Failed) return unknown();
  if (job.stated && *job.stated != StatedOutcome::Hung) return unknown();
  std::vector<std::string> open;
  size_t ended = 0;
  size_t largest_open = 0;
  for (const Communicator& comm : job.communicators) {
    const auto in_state = [&](RankState wanted) {
      return static_cast<size_t>(std::ranges::count(comm.ranks, wanted, &CommRank::state));
    };
    const bool is_ended = in_state(RankState::Destroyed) > 0;
    const size_t still_open = in_state(RankState::Complete);  // No end of it is there.
    if (is_ended && still_open > 0) return unknown();         // Still at it, one after the other.
    if (is_ended) ++ended;
    if (still_open == 0) continue;
    largest_open = std::max(largest_open, still_open);
    open.push_back(fmt::format("{} ({} ranks)", comm.id, still_open));
  }
  // Sub-groups are often left to the end of the process; the group of all ranks is not.
  const auto all = static_cast<size_t>(
      job.communicators.empty() ? 0 : std::max(job.communicators.front().nranks, 0));
  if (ended == 0 || open.empty() || largest_open < all) return unknown();
  FactValue value = yes({});
  for (const Process& process : job.processes) {
    if (!process.has_nccl) continue;
    if (process.cut || process.torn || !ends_with_destroy(job, process)) return unknown();
    value.evidence.push_back({process.last, std::string(last_text(job, process))});
  }
  value.what = fmt::format("{} communicator{} ended with Destroy COMPLETE, {} did not: {}", ended,
                           ended == 1 ? "" : "s", open.size(), few_of(open, 6, ", "));
  return value;
}

/// How far a rank came with the destruction of a communicator.
enum class Teardown { NotBegun, Waits, Ended, Unknown };

Teardown teardown_of(const Job& job, const CommRank& rank) {
  if (rank.process < 0 || rank.segment < 0) return Teardown::Unknown;
  const Process& process = nth_process(job, rank.process);
  if (process.cut || process.torn) return Teardown::Unknown;
  if (rank.state == RankState::Destroyed) return Teardown::Ended;
  if (rank.state != RankState::Complete) return Teardown::Unknown;
  const SpeakerLog& log = job.logs[static_cast<size_t>(rank.log)];
  const uint64_t pointer = log.comms.all[static_cast<size_t>(rank.segment)].comm;
  Teardown teardown = Teardown::NotBegun;
  for (const Record& record : log.records.kept(kKindIndex<CommEnd>)) {
    const Event event = parse_record(record);
    if (read_message<CommEnd>(event.message).comm.value != pointer) continue;
    // Whoever prints more after it is not the one that waits in it.
    teardown = record.where == process.last ? Teardown::Waits : Teardown::Unknown;
  }
  return teardown;
}

FactValue destroy_not_begun(const Job& job, const Instance&) {
  const auto& stop = stop_evidence(job);
  if (!stop || outcome_of(job).job.state == EndState::Finished) return unknown();
  for (const Communicator& comm : job.communicators) {
    std::map<Teardown, std::vector<const CommRank*>> ranks;
    for (const CommRank& rank : comm.ranks) ranks[teardown_of(job, rank)].push_back(&rank);
    const auto& late = ranks[Teardown::NotBegun];
    const auto& waiting = ranks[Teardown::Waits];
    // Without a line of the others nothing shows that such lines were logged.
    if (!ranks[Teardown::Unknown].empty() || late.empty() || waiting.empty()) continue;
    if (!are_few(late.size(), waiting.size())) continue;
    // ncclCommDestroy waits for the ranks of its host only.
    std::set<std::string> hosts;
    for (const CommRank* rank : late) hosts.insert(nth_process(job, rank->process).host);
    const auto waits_for_late = [&](const CommRank* rank) {
      return hosts.contains(nth_process(job, rank->process).host);
    };
    if (!std::ranges::all_of(waiting, waits_for_late)) continue;
    FactValue value = yes({});
    for (const CommRank* rank : late) value.processes.push_back(rank->process);
    const auto shown = [&](const std::vector<const CommRank*>& shown_ranks) {
      std::vector<int> numbers;
      for (const CommRank* rank : shown_ranks) {
        numbers.push_back(rank->rank);
        value.evidence.push_back(last_line(job, rank->process));
      }
      return ranks_phrase(numbers);
    };
    const std::string begun = shown(waiting);
    value.what =
        fmt::format("{} began to destroy communicator {} and did not end, {} {} no line of that",
                    begun, comm.id, shown(late), late.size() == 1 ? "shows" : "show");
    return value;
  }
  return unknown();
}

/// The host at the other end, by its own name; empty if the line does not tell it.
std::string host_of_peer(const Job& job, std::string_view peer) {
  const std::string_view ip = ip_of(peer);
  if (ip.empty()) return {};
  if (!parse_ipv4(ip) && ip.find(':') == ip.npos) return std::string(ip.substr(0, ip.find('.')));
  for (const HostAddress& address : all_addresses(job)) {
    if (address.ip == ip) return std::string(address.host);
  }
  return {};
}

/// An input that `host` wrote, by its name: "logs/gpu-node-02.out".
bool is_named_for(const JobInput& input, std::string_view host) {
  const std::string_view path = input.path;
  const size_t at = path.rfind(host);
  if (at == path.npos || path.find('/', at) != path.npos) return false;
  const size_t end = at + host.size();
  return (at == 0 || !is_word(path[at - 1])) && (end == path.size() || !is_word(path[end]));
}

/// The process, or what is printed behind it in its own file, says that it leaves or that a program
/// ended: its wrapper goes on, so it is not its host that went.
bool speaks_of_end(const Job& job, const Process& process) {
  bool speaks = false;
  for_each_said<RankLeaves, ProcessExited, ProcessEnded>(job, [&](const auto& said) {
    speaks |= said.where().unit == process.last.unit && process.last <= said.where();
  });
  return speaks && process.rank >= 0 && rank_of_file(job, process.last) == process.rank;
}

/// The processes of a host, where anything of it is in the logs and nothing of that says how it
/// ended, not even a wrapper behind its last words; nullopt else.
std::optional<std::vector<int>> cut_off_on(const Job& job, std::string_view host) {
  std::vector<int> processes;
  bool is_seen = false;
  const auto& ends = outcome_of(job).processes;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    const JobUnit* unit = unit_of(job, process.last);
    const bool in_its_file = unit != nullptr && is_named_for(job.inputs[unit->input], host);
    if (process.host != host && !in_its_file) continue;
    is_seen = true;
    const EndState state = ends[p].state;
    const bool has_last_words = process.cut || process.torn || state == EndState::Finished ||
                                state == EndState::Failed || state == EndState::Stopped ||
                                speaks_of_end(job, process);
    if (has_last_words) return std::nullopt;
    if (process.has_nccl || process.rank >= 0) processes.push_back(static_cast<int>(p));
  }
  return is_seen ? std::optional(std::move(processes)) : std::nullopt;
}

FactValue host_lost(const Job& job, const Instance&) {
  if (!deaths(job).empty()) return unknown();
  std::string lost;
  std::set<std::string> reporting;
  bool is_one = true;
  FactValue value = yes({});
  for_each_said<PeerClosed>(job, [&](const Said<PeerClosed>& said) {
    const std::string host = host_of_peer(job, said.message.peer);
    is_one &= !host.empty() && (lost.empty() || lost == host);
    lost = host;
    const std::string& reporter = nth_process(job, said.process).host;
    if (!reporter.empty()) reporting.insert(reporter);
    value.evidence.push_back(evidence_of(said.record()));
  });
  if (lost.empty() || !is_one || reporting.empty() || reporting.contains(lost)) return unknown();
  const auto processes = cut_off_on(job, lost);
  if (!processes) return unknown();
  value.processes = *processes;
  value.hosts = {lost};
  for (const int p : *processes) value.evidence.push_back(last_line(job, p));
  const std::string name = printable(to_valid_utf8(lost));
  value.what = fmt::format(
      "processes of {} saw their connections to {} closed{}, and what {} printed stops without a "
      "last word",
      printable(to_valid_utf8(join(std::vector(reporting.begin(), reporting.end()), ", "))), name,
      when_words(value.evidence.front().text), name);
  return value;
}

// Do all ranks wait in an initialisation, each half in another one?
//
//   ranks 0,2 of 4: "… commId 0x51 - Init START"   ranks 1,3 of 4: "… commId 0x62 - Init START"
//       → job.inits_crossed = yes: each half waits for the other in another initialisation; the
//         second half may wait in PyTorch's store for its unique id instead
//
// Said only where every rank of the job speaks for itself; one that is silent makes it unknown.

/// The ranks that wait in an initialisation that was begun and not ended.
std::vector<const CommRank*> waiting_in(const Communicator& comm) {
  std::vector<const CommRank*> waiting;
  for (const CommRank& rank : comm.ranks) {
    if (rank.state == RankState::Started) waiting.push_back(&rank);
  }
  return waiting;
}

/// Each of `size` ranks, by number and by process, waits in exactly one of the two.
bool divide_ranks(const Communicator& a, const Communicator& b, int size) {
  std::set<int> ranks;
  std::set<int> processes;
  size_t waiting = 0;
  for (const Communicator* comm : {&a, &b}) {
    for (const CommRank* rank : waiting_in(*comm)) {
      ranks.insert(rank->rank);
      processes.insert(rank->process);
      ++waiting;
    }
  }
  const auto all = static_cast<size_t>(size);
  return waiting == all && ranks.size() == all && processes.size() == all;
}

/// Initialisations of the whole job that were begun and ended on no rank, as far as lines tell.
std::vector<const Communicator*> open_inits(const Job& job, int size) {
  std::vector<const Communicator*> open;
  for (const Communicator& comm : job.communicators) {
    if (comm.nranks != size || comm.is_child || comm.inferred) continue;
    const bool is_open = std::ranges::all_of(comm.ranks, [&](const CommRank& rank) {
      if (rank.state == RankState::NotSeen) return true;
      if (rank.state != RankState::Started || rank.process < 0) return false;
      const Process& process = nth_process(job, rank.process);
      return !process.cut && !process.torn && !reports_own_failure(job, process);
    });
    if (is_open && !waiting_in(comm).empty()) open.push_back(&comm);
  }
  return open;
}

/// "ranks 0,2 in 0x62".
std::string half(const Communicator& comm) {
  std::vector<int> ranks;
  for (const CommRank* rank : waiting_in(comm)) ranks.push_back(rank->rank);
  return fmt::format("{} in {}", ranks_phrase(ranks), comm.id);
}

/// All ranks but those in `init` waited in PyTorch's store, in vain, for the unique id of another
/// communicator, because whoever begins an initialisation has published its id before. Times would
/// tell it from a rank that came too late, so it is a grade less sure.
FactValue crossed_with_store(const Job& job, const Communicator& init, int size) {
  std::map<int, Evidence> waits;
  for (const Process& process : job.processes) {
    for_each_record(job, process, kKindIndex<StoreWaitFailed>, [&](const Record& record) {
      if (process.rank >= 0) waits.try_emplace(process.rank, evidence_of(record));
    });
  }
  const std::vector<const CommRank*> waiting = waiting_in(init);
  if (waits.empty() || waits.size() + waiting.size() != static_cast<size_t>(size)) return unknown();
  FactValue value = yes({}, {start_line(job, *waiting.front()), waits.begin()->second});
  for (const CommRank* rank : waiting) {
    if (waits.contains(rank->rank)) return unknown();
    value.processes.push_back(rank->process);
  }
  for (const auto& [rank, line] : waits) value.ranks.push_back(rank);
  value.what = fmt::format("{}, and {} in the store for the unique id of another one", half(init),
                           ranks_phrase(value.ranks));
  value.inferred = true;
  return value;
}

/// A job that starts looks the same for a moment, so something has to show that it stopped.
FactValue inits_crossed(const Job& job, const Instance&) {
  const int size = job.communicators.empty() ? 0 : job.communicators.front().nranks;
  if (size < 2) return unknown();
  const std::vector<const Communicator*> open = open_inits(job, size);
  if (open.size() == 1) return crossed_with_store(job, *open.front(), size);
  if (open.size() != 2 || !divide_ranks(*open[0], *open[1], size)) return unknown();
  const auto& stop = stop_evidence(job);
  if (!stop) return unknown();
  FactValue value = yes(fmt::format("{} and {}", half(*open[0]), half(*open[1])));
  for (const Communicator* comm : open) {
    const std::vector<const CommRank*> waiting = waiting_in(*comm);
    value.evidence.push_back(start_line(job, *waiting.front()));
    for (const CommRank* rank : waiting) value.processes.push_back(rank->process);
  }
  value.evidence.push_back(stop->line);
  return value;
}

constexpr std::array kEarlyEndFacts = {
    // A rank aborted its communicator, without an error before that, and others waited
    // for it.
    comparing_fact("job.aborted_early", left_before<true>),
    // Most ranks of a communicator wait in its destruction, which few have not begun.
    comparing_fact("job.destroy_not_begun", destroy_not_begun),
    // All processes ended with the destruction of communicators, and some have no end.
    comparing_fact("job.destroy_unfinished", destroy_unfinished),
    // All connections that were closed led to one host, which fell silent without last
    // words.
    comparing_fact("job.host_lost", host_lost),
    // A rank came to its end by itself, and others waited for it.
    comparing_fact("job.left_early", left_before<false>),
    // Every rank waits in one of two initialisations of all ranks, and the job stopped.
    comparing_fact("job.inits_crossed", inits_crossed),
};

}  // namespace

std::span<const Fact> early_end_facts() { return kEarlyEndFacts; }

}  // namespace ncclog
