// Who ended first or never came, and left the others waiting or without a peer?
//
//   job.killed = yes, "rank 3 (pid 1021): Killed"
//   job.store_root_silent = yes, rank 0: ranks 1-3 wait for its ncclUniqueId, it reports nothing
//
// Deaths are joined to ranks by pid, by the command line or by torchrun's table.
//
//   job.exited_first  = yes, "rank 13 (pid 84205 on node-b) ended with exit status 3"
//       the others' calls timed out ten minutes later
//   job.host_stopped  = yes, "the launcher on node-c was told to end (signal 15)"
//       six seconds before processes on node-a lost their peer there
//
// The last two are known by their launchers: torchrun says when a worker or itself ends, and how.

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/outcome/exit_reports.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/outcome.h"
#include "diagnose/outcome/own_proxy.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/event.h"
#include "log/named_failure.h"
#include "log/wording/other_programs.h"
#include "model/derive/steps.h"

namespace ncclog {
namespace {

/// The error status that a process ended with by itself; 0: none, or a signal ended it.
int own_status(const ExitReport& exit) { return exit.signal() > 0 ? 0 : exit.exitcode.value_or(0); }

/// The process says itself that its calls failed, as those do who wait for another one.
bool complains(const Job& job, const Process& process) {
  return has_said<WatchdogTimeout, NcclException, WorkException, WorkStatus, PeerClosed,
                  PythonException, CppTerminate>(job, process);
}

/// The peer had gone, as the system says it of a connection.
bool is_reset(std::string_view error) {
  return error == "Connection reset by peer" || error == "Broken pipe";
}

/// The first line in which a process says that it lost its peer.
std::optional<Evidence> first_lost_peer(const Job& job) {
  std::optional<Evidence> first;
  const auto add = [&](const Record& record) {
    if (!first || record.where < first->where) first = evidence_of(record);
  };
  for_each_said<PeerClosed>(job, [&](const auto& said) { add(said.record()); });
  for_each_said<SocketTransferFailed>(job, [&](const auto& said) {
    if (is_reset(said.message.error)) add(said.record());
  });
  for_each_said<WorkException, WatchdogTerminated, NcclException>(job, [&](const auto& said) {
    if (said.message.error.find("remote process exited") != std::string_view::npos)
      add(said.record());
  });
  return first;
}

/// The peers that processes say have closed their connection; without those whose host lost a peer
/// of its own, by the clocks, before whoever names it did.
FactValue lost_peers(const Job& job, const Instance&) {
  struct Loss {
    std::string host;  ///< Of who reports it; empty: not known.
    std::string peer;
    LineTime time;
  };
  std::map<int, LineTime> times;  // By process: of the first line that tells of its loss.
  const auto note_time = [&](const auto& said) {
    const LineTime time = time_of(said.record());
    LineTime& known = times[said.process];
    if (time.known() && (!known.known() || time.nanoseconds < known.nanoseconds)) known = time;
  };
  for_each_said<PeerClosed, SocketTransferFailed, WorkException, WatchdogTerminated, NcclException>(
      job, note_time);
  std::vector<Loss> losses;
  const auto add = [&](const auto& said) {
    if (is_of_own_proxy(job, said.process, said.record())) return;
    const bool is_named = !said.message.peer.empty();
    losses.push_back(
        {nth_process(job, said.process).host,
         is_named ? to_valid_utf8(said.message.peer) : "at an address not printed here",
         times[said.process]});
  };
  for_each_said<PeerClosed>(job, add);
  for_each_said<SocketTransferFailed>(job, [&](const auto& said) {
    if (is_reset(said.message.error)) add(said);
  });
  for_each_said<GlooPeerClosed>(job, [&](const Said<GlooPeerClosed>& said) {
    losses.push_back({nth_process(job, said.process).host, to_valid_utf8(said.message.host),
                      time_of(said.record())});
  });
  // By host, and by whether the time names a zone.
  std::map<std::pair<std::string, bool>, int64_t> earliest;
  for (const Loss& own : losses) {
    if (own.host.empty() || !own.time.known()) continue;
    const auto at = earliest.try_emplace({own.host, own.time.has_zone}, own.time.nanoseconds).first;
    at->second = std::min(at->second, own.time.nanoseconds);
  }
  const auto lost_before = [&](const Loss& loss) {
    const auto own = earliest.find({loss.peer.substr(0, loss.peer.find('<')), loss.time.has_zone});
    return loss.time.known() && own != earliest.end() && own->second < loss.time.nanoseconds;
  };
  std::vector<std::string> first;
  std::vector<std::string> all;
  std::set<std::string> known;
  std::set<std::string> known_first;
  for (const Loss& loss : losses) {
    if (known.insert(loss.peer).second) all.push_back(loss.peer);
    const bool is_new = !known_first.contains(loss.peer) && !lost_before(loss);
    if (is_new && known_first.insert(loss.peer).second) first.push_back(loss.peer);
  }
  if (all.empty()) return unknown();
  return yes(few_of(first.empty() ? all : first, kMostNamed, ", "));
}

/// The rank that nccl-tests lists on that host; -1: none or several.
int only_listed_rank(const Job& job, std::string_view host) {
  std::set<int> ranks;
  for_each_said<NcclTestsRank>(job, [&](const Said<NcclTestsRank>& said) {
    if (said.message.host == host) ranks.insert(said.message.rank);
  });
  return ranks.size() == 1 ? *ranks.begin() : -1;
}

/// NCCL or a plugin warns of something, in whatever words.
bool warns_of_anything(const Job& job) {
  const auto is_warn = [](const Record& record) { return level_of(record) == Level::Warn; };
  return first_warning(job) != nullptr || std::ranges::any_of(job.logs, [&](const SpeakerLog& log) {
           const Records strange = log.unrecognised.kept(Record::kNoKind);
           return std::any_of(strange.begin(), strange.end(), is_warn);
         });
}

/// Who reports that the other end of a call is gone, where no WARN says more; in words, who that can
/// only be: "; it can only be rank 0 on n1" where all but one of the job's ranks report it.
FactValue remote_end(const Job& job, const Instance&) {
  if (warns_of_anything(job)) return unknown();
  std::set<int> ranks;
  FactValue value = yes({});
  for_each_said<WorkException, WatchdogTerminated, NcclException, NcclTestsFailure>(
      job, [&](const auto& said) {
        const bool is_one =
            said.message.error.find("remote process exited") != std::string_view::npos;
        if (!is_one || went_on(job, said.record().where)) return;
        int rank = rank_of(job, said.process, said.header());
        if constexpr (requires { said.message.host; }) {
          if (rank < 0) rank = only_listed_rank(job, said.message.host);
        }
        value.evidence.push_back(evidence_of(said.record()));
        if (ranks.insert(rank).second)
          blame(rank < 0 ? said.process : process_of_rank(job, rank), rank, value);
      });
  if (ranks.empty()) return unknown();
  const bool is_one_left =
      !ranks.contains(-1) && std::cmp_equal(job.nranks.value_or(0), ranks.size() + 1);
  if (!is_one_left) return value;
  int other = 0;
  while (ranks.contains(other)) ++other;
  std::set<std::string> hosts;
  for_each_said<NcclTestsRank>(job, [&](const Said<NcclTestsRank>& said) {
    if (said.message.rank == other) hosts.insert(to_valid_utf8(said.message.host));
  });
  if (const int process = process_of_rank(job, other); process >= 0)
    hosts.insert(nth_process(job, process).host);
  hosts.erase("");
  value.what = fmt::format("; it can only be rank {}{}", other,
                           hosts.size() == 1 ? " on " + *hosts.begin() : "");
  return value;
}

/// By pid, the rank that some report of its end names.
std::map<int64_t, int> find_reported_ranks(const Job& job) {
  std::map<int64_t, int> ranks;
  for (const ExitReport& exit : exit_reports(job)) {
    if (exit.ended.pid >= 0 && exit.ended.rank >= 0) ranks.emplace(exit.ended.pid, exit.ended.rank);
  }
  return ranks;
}

/// Who ended by that report; torchrun's table names the rank.
Death who_ended(const Job& job, const ExitReport& exit) {
  Death who{.pid = exit.ended.pid,
            .rank = exit.ended.rank,
            .host = std::string(exit.ended.host),
            .local_rank = local_rank_in(exit),
            .line = {}};
  const auto& ranks = job.answers.of<&find_reported_ranks>(job);
  const auto told = ranks.find(who.pid);
  if (who.rank < 0 && told != ranks.end()) who.rank = told->second;
  return who;
}

/// " after \"Loss is nan, stopping training\"": the last error, or word of its leaving, that the rank
/// printed before the launcher saw it end, in words of its program; empty: none.
std::string complaint_before(const Job& job, int rank, SourceRef end, FactValue& value) {
  Evidence last;
  const bool is_own_file = rank_of_file(job, end) == rank;
  const auto add = [&](SourceRef where, std::string_view text) {
    const std::string_view named = rank_named_in(text);
    const bool is_its = named.empty() ? is_own_file : parse_int(named) == rank;
    if (is_its && where.unit == end.unit && where < end && last.where < where)
      last = {where, std::string(text)};
  };
  const auto add_error = [&](SourceRef where, const std::string& text) {
    if (looks_like_error(text) || named_failure_in(text) != nullptr) add(where, text);
  };
  for (const auto& [shape, lines] : job.unknown.all) {
    add_error(lines.first, lines.example);
    if (lines.last.is_known()) add_error(lines.last, lines.latest);
  }
  for_each_said<RankLeaves>(job,
                            [&](const auto& said) { add(said.where(), said.record().text()); });
  if (last.text.empty()) return {};
  value.evidence.push_back(last);
  return fmt::format(" after \"{}\"", excerpt_of(parse_header(last.text).message));
}

/// Others lost their peer or were stopped by their launcher, and of those whose end launchers report
/// with an error, this one ended first and is no such victim: launchers report ends in the order in
/// which they see them.
FactValue exited_before_loss(const Job& job) {
  const auto lost = first_lost_peer(job);
  // Who heard of a time-out ends with an error, too, and is no cause.
  const bool stopped = std::ranges::any_of(exit_reports(job), &ExitReport::is_requested) &&
                       !any_said<DumpSignal, WorkStatus, WatchdogTerminated>(job);
  if ((!lost && !stopped) || !deaths(job).empty() || !first_exceptions(job).empty()) {
    return unknown();
  }
  // Of each launcher the first.
  std::map<uint64_t, ExitReport> firsts;
  for (const ExitReport& exit : exit_reports(job)) {
    if (exit.is_requested() || exit.exitcode == 0 || exit.words().empty()) continue;
    // Whoever complains of others ended because of them, in whatever order they are reported.
    const Death who = who_ended(job, exit);
    const int process = process_of(job, who.pid, who.rank);
    if (process < 0 || !complains(job, nth_process(job, process)))
      firsts.try_emplace(exit.record.where.unit, exit);
  }
  std::optional<ExitReport> first;
  for (const auto& [unit, exit] : firsts) {
    const Death who = who_ended(job, exit);
    if (first || own_status(exit) <= 0 || who.rank < 0) return unknown();
    first = exit;
  }
  if (!first) return unknown();
  const Death who = who_ended(job, *first);
  const int process = process_of(job, who.pid, who.rank);
  FactValue value = yes({}, {evidence_of(first->record)});
  if (lost) value.evidence.push_back(*lost);
  const std::string after = complaint_before(job, who.rank, first->record.where, value);
  value.what =
      fmt::format("{} ended with exit status {}{}, and {}{}", name_of(job, who), own_status(*first),
                  after, lost ? "others lost their peer" : "its launcher stopped the others",
                  process < 0 && lost ? "; its own log is missing" : "");
  blame(process, who.rank, value);
  if (process < 0 && !who.host.empty()) value.hosts.push_back(who.host);
  return value;
}

/// Others gave up waiting later than the launcher saw it end, and it says nothing itself.
FactValue exited_first(const Job& job, const Instance&) {
  const auto& stop = stop_evidence(job);
  const ReportedWarning* warning = first_warning(job);
  const bool nccl_failed = warning != nullptr && warning->is_own_failure();
  if (nccl_failed) return unknown();
  if (!stop || stop->by != StopBy::Timeout) return exited_before_loss(job);
  // Workers that torchrun starts anew wait for nobody of the attempt before.
  SourceRef restarted;
  for_each_said<WorkerGroupRestart>(job, [&](const auto& said) {
    if (is_before(job, said.where(), stop->line.where))
      restarted = std::max(restarted, said.where());
  });
  std::optional<ExitReport> first;
  for (const ExitReport& exit : exit_reports(job)) {
    const bool is_early = own_status(exit) > 0 && restarted < exit.record.where &&
                          is_before(job, exit.record.where, stop->line.where) &&
                          !is_long_before_timeout(job, evidence_of(exit.record));
    const bool is_first = is_early && (!first || exit.record.where < first->record.where);
    if (is_first) first = exit;
  }
  if (!first || failed_before(job, first->record.where)) return exited_before_loss(job);
  const Death who = who_ended(job, *first);
  const int process = process_of(job, who.pid, who.rank);
  if (process < 0 && who.rank < 0) return unknown();
  if (process >= 0 && complains(job, nth_process(job, process))) return no();
  FactValue value = yes({}, {evidence_of(first->record), stop->line});
  const std::string after = complaint_before(job, who.rank, first->record.where, value);
  value.what = fmt::format(
      "{} ended with exit status {}{}, while the others went on until their calls timed out",
      name_of(job, who), own_status(*first), after);
  blame(process, who.rank, value);
  return value;
}

/// The hosts on which an agent that was told to end ends its workers: the agent names none itself.
std::set<std::string> stopped_hosts(const Job& job) {
  std::set<uint64_t> units;
  for_each_said<AgentSignalled>(job, [&](const auto& said) { units.insert(said.where().unit); });
  std::set<std::string> hosts;
  for_each_said<WorkerClosing>(job, [&](const Said<WorkerClosing>& said) {
    const int process = process_of_pid(job, said.message.pid);
    if (process < 0 || !units.contains(said.where().unit)) return;
    const std::string& host = nth_process(job, process).host;
    if (!host.empty()) hosts.insert(host);
  });
  return hosts;
}

/// All others noticed failures later than that. Where all agents are told to end, or more of them
/// than hosts are known for, somebody ended the job.
FactValue host_stopped(const Job& job, const Instance&) {
  const ReportedWarning* warning = first_warning(job);
  const bool nccl_failed = warning != nullptr && warning->is_own_failure();
  if (any_said<JobCancelled, LaunchStopped>(job) || nccl_failed) return unknown();
  const std::set<std::string> hosts = stopped_hosts(job);
  // An agent says it once, and once more as an exception.
  constexpr uint64_t kMostLines = 2;
  const uint64_t lines = count_lines<AgentSignalled>(job);
  std::optional<Record> told;
  for_each_said<AgentSignalled>(job, [&](const auto& said) {
    if (!told || said.where() < told->where) told = said.record();
  });
  if (!told || hosts.empty() || lines > kMostLines * hosts.size()) return unknown();
  if (std::cmp_greater_equal(hosts.size(), job.nhosts)) return no();
  const LineTime when = time_of(*told);
  std::optional<int64_t> failed;
  const auto add_failure = [&](const auto& said) {
    const LineTime time = time_of(said.record());
    const bool compares = time.known() && time.has_zone == when.has_zone;
    if (compares && (!failed || time.nanoseconds < *failed)) failed = time.nanoseconds;
  };
  for_each_said<WorkerFailed, WatchdogTimeout, WorkException, HeartbeatTimeout>(job, add_failure);
  if (!when.known() || !failed) return unknown();
  if (*failed <= when.nanoseconds) return no();
  FactValue value =
      yes(fmt::format("the launcher on {} was told to end (signal {})",
                      few_of({hosts.begin(), hosts.end()}, kMostNamed, ", "),
                      to_valid_utf8(read_message<AgentSignalled>(parse_message(*told)).signal)),
          {evidence_of(*told)});
  value.hosts.assign(hosts.begin(), hosts.end());
  return value;
}

FactValue died(const Job& job, const std::vector<Death>& found) {
  if (found.empty()) return unknown();
  FactValue value = yes({});
  std::vector<std::string> names;
  for (const Death& death : found) {
    names.push_back(name_of(job, death));
    value.evidence.push_back(death.line);
    const int process = process_of(job, death.pid, death.rank);
    blame(process, death.rank, value);
    // Without NCCL's own lines only the launcher names the host.
    const bool is_placed = process >= 0 && !nth_process(job, process).host.empty();
    if (!is_placed && !death.host.empty()) value.hosts.push_back(death.host);
  }
  value.what = few_of(names, kMostNamed, ", ");
  return value;
}

/// Nobody could reach the store, and a process that says nothing else aborted itself.
FactValue store_owner_aborted(const Job& job, const Instance&) {
  const auto& found = aborts(job);
  const bool is_rank0 = std::ranges::any_of(found, [&](const Death& death) {
    const int process = process_of(job, death.pid, death.rank);
    return (process < 0 ? death.rank : nth_process(job, process).rank) == 0;
  });
  if (!is_rank0 || !any_said<StoreConnectTimeout>(job)) return unknown();
  FactValue value = died(job, found);
  value.what = "; SIGABRT ended " + value.what;
  return value;
}

// Who failed before NCCL could: killed, crashed, raised, or never came?

std::vector<Death> deaths_by(const Job& job, int signal) {
  std::vector<Death> found = deaths(job);
  std::erase_if(found, [&](const Death& death) { return death.signal != signal; });
  return found;
}

/// Whoever ends a hung job kills most of it: then the kill is how it ended, not why.
bool is_cleaning_up(const Job& job, const std::vector<Death>& killed) {
  bool is_asked = false;
  std::map<int64_t, uint64_t> first;  // By input, a line.
  for (const Death& death : killed) {
    const uint64_t line = file_line(job, death.line.where).line;
    uint64_t& known = first.try_emplace(input_of(job, death.line.where), line).first->second;
    known = std::min(known, line);
  }
  // mpirun says that it ends the job, too, because a process was killed before, and Slurm ends what
  // such a process left standing: lines of both come a little out of order.
  const auto died_before = [&](SourceRef where, uint64_t distance) {
    const auto death = first.find(input_of(job, where));
    return death != first.end() && death->second + distance < file_line(job, where).line;
  };
  for_each_said<LaunchStopped>(
      job, [&](const auto& said) { is_asked |= !died_before(said.where(), 0); });
  constexpr uint64_t kFarBefore = 100;
  for_each_said<JobCancelled>(
      job, [&](const auto& said) { is_asked |= !died_before(said.where(), kFarBefore); });
  if (is_asked && !any_said<OomKill>(job)) return true;
  // What a rank raised stands before all of them: whoever started the others ended them for that.
  const auto& raised = first_exceptions(job);
  const auto is_after = [&](const Death& death) {
    return is_before(job, raised.front().line.where, death.line.where);
  };
  if (!raised.empty() && !any_said<OomKill>(job) && std::ranges::all_of(killed, is_after))
    return !killed.empty();
  // "Killed" alone, behind what another one died of in the same file.
  std::map<uint64_t, SourceRef> crashed;
  for (const Death& crash : deaths_by(job, 11)) {
    if (!went_on(job, crash.line.where)) crashed.emplace(crash.line.where.unit, crash.line.where);
  }
  const auto follows_crash = [&](const Death& death) {
    const auto crash = crashed.find(death.line.where.unit);
    return death.pid < 0 && death.rank < 0 && death.host.empty() && crash != crashed.end() &&
           crash->second < death.line.where;
  };
  if (!killed.empty() && !any_said<OomKill>(job) && std::ranges::all_of(killed, follows_crash))
    return true;
  if (!job.nranks || !any_said<WatchdogTimeout>(job)) return false;
  return killed.size() > 1 && killed.size() * 2 > static_cast<size_t>(*job.nranks);
}

/// What says that a kill was for want of memory: of one of these, or of a process that is not named.
std::vector<Evidence> wants_of_memory(const Job& job, const std::vector<Death>& killed) {
  std::vector<Evidence> lines;
  std::set<int64_t> pids;
  for (const Death& death : killed) pids.insert(death.pid);
  for_each_said<OomKill>(job, [&](const Said<OomKill>& said) {
    if (said.message.pid < 0 || pids.contains(said.message.pid))
      lines.push_back(evidence_of(said.record()));
  });
  for (const Death& death : killed) {
    if (death.line.text.find(": Out Of Memory") != std::string::npos) lines.push_back(death.line);
  }
  return lines;
}

FactValue killed(const Job& job, const Instance&) {
  const std::vector<Death> found = deaths_by(job, 9);
  if (is_cleaning_up(job, found)) return no();
  FactValue value = died(job, found);
  const std::vector<Evidence> memory = wants_of_memory(job, found);
  if (found.empty() || memory.empty()) return value;
  value.what += ", for want of host memory";
  std::ranges::copy(memory, std::back_inserter(value.evidence));
  return value;
}

FactValue segfaulted(const Job& job, const Instance&) { return died(job, deaths_by(job, 11)); }

FactValue bus_error(const Job& job, const Instance&) { return died(job, deaths_by(job, 7)); }

FactValue aborted(const Job& job, const Instance&) { return died(job, aborts(job)); }

FactValue exceptions_answer(const Job& job, const std::vector<ProgramException>& first) {
  if (first.empty()) return unknown();
  FactValue value = yes(first.front().text);
  for (const ProgramException& exception : first) {
    value.evidence.push_back(exception.line);
    const Process& process = nth_process(job, exception.process);
    const bool named = process.rank >= 0 || process.pid >= 0;
    blame(named ? exception.process : process_of_rank(job, exception.rank), exception.rank, value);
  }
  return value;
}

FactValue raised_first(const Job& job, const Instance&) {
  const std::vector<ProgramException>& first = first_exceptions(job);
  FactValue value = exceptions_answer(job, first);
  if (first.empty()) return value;
  const int rivals = first.front().rivals;
  if (rivals > 0) {
    value.what = fmt::format("raised {}; {} raised, too, in an order that is not known", value.what,
                             plural(rivals, "other process"));
  } else {
    // Of one that failed alone nothing says that it was the first.
    const auto is_other = [&](const Process& process) {
      return &process != &nth_process(job, first.front().process) && complains(job, process);
    };
    const bool is_first = first.size() == 1 && std::ranges::any_of(job.processes, is_other);
    value.what = (is_first ? "failed first: " : "raised ") + value.what;
  }
  return value;
}

FactValue raised_long_before(const Job& job, const Instance&) {
  return exceptions_answer(job, outlived_exceptions(job));
}

/// Those whose end with the same status torchrun's table, torchrun, or srun tells, where nothing else
/// names a process: " (ranks 0,1, exit code 85)", " (local rank 0, pid 2019, exit code -6)"; of srun's
/// tasks the only one that failed, if it ended behind the exception: " (task 3 on n7, exit code 1)".
FactValue failed_worker(const Job& job, const Instance&) {
  std::vector<ExitReport> listed;
  std::vector<ExitReport> workers;
  std::vector<ExitReport> tasks;
  for (const ExitReport& exit : exit_reports(job)) {
    if (exit.is_requested() || exit.exitcode.value_or(0) == 0) continue;
    const bool is_named = exit.ended.rank >= 0 || !exit.ended.tasks.empty();
    if (is_named && exit.ended.pid >= 0) listed.push_back(exit);
    if (is_named && exit.ended.pid < 0) tasks.push_back(exit);
    if (local_rank_in(exit) >= 0) workers.push_back(exit);
  }
  const auto& failed = !listed.empty() ? listed : !workers.empty() ? workers : tasks;
  const auto& raised = first_exceptions(job);
  const bool is_known =
      (!raised.empty() && raised.front().rank >= 0) || std::ranges::any_of(job.processes, is_named);
  if (failed.empty() || is_known) return unknown();
  const ExitReport& first = failed.front();
  FactValue value = yes({});
  std::set<int> ranks;
  for (const ExitReport& exit : failed) {
    if (exit.exitcode != first.exitcode) return unknown();
    ranks.insert(exit.ended.rank);
    value.evidence.push_back(evidence_of(exit.record));
  }
  if (!listed.empty()) {
    value.what =
        fmt::format(" ({}, exit code {})", ranks_phrase(std::vector(ranks.begin(), ranks.end())),
                    *first.exitcode);
    return value;
  }
  if (failed.size() > 1) return unknown();
  if (!workers.empty()) {
    value.what = fmt::format(" (local rank {}, pid {}, exit code {})", local_rank_in(first),
                             first.ended.pid, *first.exitcode);
    return value;
  }
  // Python ends with 1 after an exception; another status, or a second exception, is of another task.
  const bool is_its_own = raised.size() == 1 && raised.front().rivals == 0 && first.exitcode == 1 &&
                          is_before(job, raised.front().line.where, first.record.where);
  if (!is_its_own || first.ended.rank < 0) return unknown();
  value.what = fmt::format(" (task {} on {}, exit code {})", first.ended.rank,
                           to_valid_utf8(first.ended.host), *first.exitcode);
  return value;
}

/// " torchrun starts all workers again after that; 2 of 3 attempts are left.": its last word on it.
FactValue workers_restarted(const Job& job, const Instance&) {
  FactValue value;
  SourceRef last;
  for_each_said<WorkerGroupRestart>(job, [&](const Said<WorkerGroupRestart>& said) {
    if (last.is_known() && said.where() < last) return;
    last = said.where();
    value = yes(fmt::format(" torchrun starts all workers again after that; {} of {} attempts are "
                            "left.",
                            said.message.attempts_left, said.message.attempts),
                {evidence_of(said.record())});
  });
  return value;
}

FactValue lost_peer_first(const Job& job, const Instance&) {
  return exceptions_answer(job, lost_first(job));
}

/// A process of that rank has come to a collective: it has a communicator or finished work.
bool has_joined(const Job& job, int rank) {
  return std::ranges::any_of(job.processes, [&](const Process& process) {
    return process.rank == rank &&
           (!segments_of(job, process).empty() ||
            has_said<WorkStatus, WatchdogTimeout, DumpSignal>(job, process));
  });
}

/// The rank, or somebody who may be that rank, reports a failure of its own.
bool may_have_failed(const Job& job, int rank) {
  for (const Process& process : job.processes) {
    const bool may_be_it = process.rank == rank || process.rank < 0;
    if (may_be_it && has_said<PythonException, NcclException, CudaOomException>(job, process)) {
      return true;
    }
  }
  bool died = false;
  for (const Death& death : deaths(job)) died |= death.rank == rank || death.rank < 0;
  for_each_said<WorkerFailed>(job, [&](const Said<WorkerFailed>& said) {
    died |= said.message.local_rank == rank && said.message.exitcode != -15;
  });
  return died;
}

FactValue store_root_silent(const Job& job, const Instance&) {
  std::set<int> waiting;
  std::set<int> roots;
  bool in_subgroup = false;  // Ranks of a smaller group: they name no global rank.
  std::vector<Evidence> lines;
  for_each_said<StoreWaitFailed>(job, [&](const Said<StoreWaitFailed>& said) {
    const int own = rank_of(job, said.process, said.header());
    in_subgroup |= own >= 0 && own != said.message.rank;
    waiting.insert(said.message.rank);
    if (said.message.root >= 0) roots.insert(said.message.root);
    lines.push_back(evidence_of(said.record()));
  });
  if (roots.size() != 1 || in_subgroup) return unknown();
  const int root = *roots.begin();
  if (waiting.contains(root)) return unknown();
  // The store is rank 0's, so this is its word.
  const bool counts_clients = root == 0 && any_said<StoreClientsMissing>(job);
  if (has_joined(job, root) || may_have_failed(job, root) || counts_clients) return no();
  // What the rank says of itself may be among the torn lines; where somebody did not find its store,
  // it need not have been late.
  if (is_torn(job) || any_said<StoreConnectTimeout>(job)) return unknown();
  constexpr std::string_view kClosed[] = {"likely closed", "got 0 bytes", "Connection reset",
                                          "Broken pipe"};
  const bool is_closed = std::ranges::all_of(
      lines, [&](const Evidence& line) { return holds_one_of(line.text, kClosed); });
  const std::string_view why = is_closed ? "the connection to its store broke, so it had ended"
                               : process_of_rank(job, root) < 0
                                   ? "no line here is known to be of that rank"
                                   : "it reports no failure, so it was late or busy";
  FactValue value = yes(fmt::format("{} waited for rank {}'s ncclUniqueId; {}",
                                    ranks_phrase({waiting.begin(), waiting.end()}), root, why),
                        std::move(lines));
  blame(process_of_rank(job, root), root, value);
  return value;
}

/// Equal lines are kept once, so the totals count.
FactValue engine_waits(const Job& job, const Instance&) {
  const uint64_t lines = count_lines<VllmBroadcastWait>(job);
  if (lines == 0) return unknown();
  std::vector<Evidence> evidence;
  for_each_said<VllmBroadcastWait>(
      job, [&](const auto& said) { evidence.push_back(evidence_of(said.record())); });
  return lines == 1 ? no() : yes(fmt::format("{} times", lines), std::move(evidence));
}

constexpr std::array kEndFacts = {
    // Processes aborted themselves (SIGABRT).
    job_fact("job.aborted", aborted),
    // Processes ended by a bus error (SIGBUS).
    job_fact("job.bus_error", bus_error),
    // A process ended with an error status before the others gave up waiting, and none failed before.
    job_fact("job.exited_first", exited_first),
    // The launcher of some hosts was told to end, and those of other hosts saw failures after that.
    job_fact("job.host_stopped", host_stopped),
    // Processes lost the other end of a connection, and nothing else failed before.
    job_fact("job.lost_peer_first", lost_peer_first),
    // Calls failed because their other end was gone, and no WARN says more: who that can only be.
    job_fact("job.remote_end", remote_end),
    // Peers closed the connections to processes of the job; named are those that ended first.
    job_fact("job.lost_peers", lost_peers),
    // vLLM says more than once that its workers take nothing, or are given nothing.
    job_fact("job.engine_waits", engine_waits),
    // Processes got SIGKILL, and not because the whole job was being ended.
    job_fact("job.killed", killed),
    // The program raised an exception before anything else failed.
    job_fact("job.raised_first", raised_first),
    // It raised one long before a watchdog gave up, and the job went on after that.
    job_fact("job.raised_long_before", raised_long_before),
    // Who ended, as torchrun alone names it: in words, a note behind "the program".
    job_fact("job.failed_worker", failed_worker),
    // torchrun started the workers anew after a failure: in words, a sentence.
    job_fact("job.workers_restarted", workers_restarted),
    // Processes ended by a segmentation fault.
    job_fact("job.segfaulted", segfaulted),
    // Processes could not reach the store, and rank 0, whose it is, aborted itself: in words, the end
    // of a headline.
    job_fact("job.store_owner_aborted", store_owner_aborted),
    // Ranks wait in the store for a rank that shows neither a failure nor a communicator.
    comparing_fact("job.store_root_silent", store_root_silent),
};

}  // namespace

std::span<const Fact> end_facts() { return kEndFacts; }

}  // namespace ncclog
