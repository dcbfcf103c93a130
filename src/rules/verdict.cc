#include "rules/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "diagnose/calls/ras_series.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/missing_hosts.h"
#include "diagnose/hardware/port_counters.h"
#include "diagnose/outcome/outcome.h"
#include "diagnose/outcome/stacks_apart.h"
#include "log/event.h"
#include "log/known_messages.h"
#include "rules/headline.h"

namespace ncclog {
namespace {

bool explains(const Finding& cause, const Finding& effect) {
  return std::ranges::find(cause.explains, effect.id) != cause.explains.end();
}

/// All whom the effect names, the cause names as well; where neither names a rank, they show one line.
bool names_no_others(const Finding& cause, const Finding& effect) {
  if (!effect.ranks.empty()) return std::ranges::includes(cause.ranks, effect.ranks);
  return cause.ranks.empty() && !cause.evidence.empty() && !effect.evidence.empty() &&
         cause.evidence.front().where == effect.evidence.front().where;
}

void explain_same_ranks(std::vector<Finding>& findings) {
  for (Finding& cause : findings) {
    for (const Finding& effect : findings) {
      const auto& wanted = cause.explains_same_ranks;
      const bool meant = std::ranges::find(wanted, effect.id) != wanted.end();
      if (meant && names_no_others(cause, effect)) cause.explains.push_back(effect.id);
    }
    cause.explains_same_ranks.clear();
  }
}

/// What independent witnesses say of the same ranks is one finding: the cause among them says who
/// else does, shows it, and is likely.
void join_witnesses(std::vector<Finding>& findings) {
  for (Finding& cause : findings) {
    std::vector<std::string> witnesses;
    for (const Finding& other : findings) {
      const bool agrees = !cause.witness.empty() && !other.witness.empty() &&
                          other.witness != cause.witness && other.ranks == cause.ranks &&
                          explains(cause, other);
      if (!agrees) continue;
      witnesses.push_back(other.witness);
      const bool has_room = cause.evidence.size() < Finding::kMaxEvidence;
      if (has_room && !other.evidence.empty()) cause.evidence.push_back(other.evidence.front());
    }
    if (witnesses.empty()) continue;
    cause.confidence = std::min(cause.confidence, Confidence::Likely);
    cause.message += fmt::format(" {} {} the same of {}.", capitalised(join(witnesses, " and ")),
                                 witnesses.size() == 1 ? "says" : "say", ranks_phrase(cause.ranks));
  }
  for (Finding& finding : findings) finding.witness.clear();
}

/// The whole seconds since the kernel started, of "[12345.678901] NVRM: …"; -1: no such stamp.
int64_t uptime_of(std::string_view line) {
  constexpr size_t kMicroseconds = 6;
  const size_t dot = line.find('.');
  const bool is_stamp =
      line.starts_with('[') && dot != line.npos && line.find(']') == dot + 1 + kMicroseconds;
  return is_stamp ? parse_int(trim(line.substr(1, dot - 1))).value_or(-1) : -1;
}

/// What shows `one` came before what shows `other`: as lines of one process or of one kernel stand, or
/// by the clocks on both.
bool came_first(const Finding& one, const Finding& other) {
  if (one.evidence.empty() || other.evidence.empty()) return false;
  const Evidence& line = one.evidence.front();
  const Evidence& later = other.evidence.front();
  const Header a = parse_header(line.text);
  const Header b = parse_header(later.text);
  const bool is_one_process = (a.pid >= 0 && a.pid == b.pid && a.host == b.host) ||
                              (a.prefix.rank >= 0 && a.prefix.rank == b.prefix.rank);
  if (line.where.unit == later.where.unit && is_one_process) return line.where < later.where;
  // Where the seconds begin again below, it is another start or another host.
  const std::pair since_boot(uptime_of(line.text), uptime_of(later.text));
  if (line.where.unit == later.where.unit && since_boot.first >= 0 && since_boot.second >= 0)
    return line.where < later.where && since_boot.first <= since_boot.second;
  return nanoseconds_between(line.text, later.text).value_or(0) > 0;
}

/// What a log without a line of NCCL is, by a kind of its lines.
struct Instead {
  std::string_view kind;
  std::string_view words;
};

constexpr std::string_view kKernelWords =
    "Only lines of the kernel, none known as a fault of a GPU, a NIC or memory: nothing to judge.";

constexpr Instead kInstead[] = {
    {"ras_fragment", "An answer of NCCL's RAS service without its table: nothing to judge."},
    {"ras_command_refused", "An answer of NCCL's RAS service without its table: nothing to judge."},
    {"cuda_gdb_list",
     "Kernels of one GPU as cuda-gdb lists them: one that waits for other ranks looks like any "
     "other."},
    {"gdb_thread_list", "A list of threads without their stacks: nothing to judge."},
    {"kernel_note", kKernelWords},
    {"hca_note", kKernelWords},
    {"hca_link", kKernelWords},
    {"gpu_identity", kKernelWords},
    {"nvlink_note", kKernelWords},
};

/// What the lines are, where none is of NCCL; empty: nothing that is known.
std::string instead_words(const Job& job) {
  if (std::string threads = threads_summary(job); !threads.empty()) return fitted_headline(threads);
  const auto is_said = [&](const Instead& one) {
    return std::ranges::any_of(job.logs, [&](const SpeakerLog& log) {
      return std::any_of(log.records.begin(), log.records.end(), [&](const auto& entry) {
        return all_kinds()[entry.first].name == one.kind;
      });
    });
  };
  const auto* const known = std::ranges::find_if(kInstead, is_said);
  if (known != std::end(kInstead)) return std::string(known->words);
  return job.pci_devices.empty() ? "" : "A listing of PCI devices, nothing of NCCL.";
}

std::string why_unusable(const Job& job, bool has_dumps) {
  const LossTable& losses = job.losses;
  if (losses.lines == 0 && has_dumps) {
    return "There are only dumps of the Flight Recorder, and nothing in them shows that the job "
           "stopped: what the program printed says that.";
  }
  if (losses.lines == 0) return "There is no line to judge.";
  if (losses.count(Loss::LineInDoubt) + losses.count(Loss::LineTorn) > 0) {
    return "Processes tore each other's lines, so that none of them is sure: nothing to judge.";
  }
  std::string instead = instead_words(job);
  if (!instead.empty()) return instead;
  if (losses.recognised > 0) return "No line of NCCL was found: nothing to judge.";
  return fmt::format("{}, none of NCCL or of other evidence that is read here: nothing to judge.",
                     plural(static_cast<int64_t>(losses.lines), "line"));
}

std::string lines_words(const Job& job) {
  return job.losses.lines == 1 ? "this line" : fmt::format("these {} lines", job.losses.lines);
}

/// What NCCL says in words that nobody knows may be what went wrong; a line or two of a new release,
/// on each GPU of a host, is no more than that.
std::string unread_words(const LossTable& losses) {
  constexpr uint64_t kHandful = 8;
  if (losses.unrecognised <= kHandful) return {};
  return fmt::format("{} lines of NCCL were not understood", losses.unrecognised);
}

bool has_only_dumps(const Job& job) {
  return job.losses.lines == 0 && !job.flight_recorders.empty();
}

/// A line tells how NCCL fares or, where there is none, steps or an end tell how the job does.
bool is_heard(const Job& job) {
  const EndState end = outcome_of(job).job.state;
  const auto is_usable = [](const SpeakerLog& log) {
    const auto is_nccl = [](const auto& entry) {
      return all_kinds()[entry.first].source == Source::Nccl;
    };
    return !log.comms.all.empty() || !log.connections.all.empty() ||
           !log.proxy_dumps->kept.empty() ||
           std::any_of(log.records.begin(), log.records.end(), is_nccl);
  };
  const auto has_steps = [](const InputClock& clock) { return clock.last.front().line != 0; };
  return end == EndState::Finished || end == EndState::Stopped ||
         std::ranges::any_of(job.clocks, has_steps) || std::ranges::any_of(job.logs, is_usable);
}

/// A job of which nothing is told as a fault.
struct Faultless {
  const std::vector<Finding>& findings;  ///< Notes.
  const Job& job;
  bool says_otherwise;  ///< The user saw it fail.

  bool has_lines() const { return job.losses.lines > 0; }
};

std::string host_words(const Faultless& of) {
  const std::vector<HostReport>& reports = of.job.host_reports;
  if (of.has_lines() || reports.empty() || has_only_dumps(of.job)) return {};
  return fmt::format("Nothing that the rules name was found on {}, as far as it could be read.",
                     reports.size() == 1 ? reports.front().host : "these hosts");
}

std::string inspector_words(const Faultless& of) {
  if (!of.findings.empty() || of.has_lines() || of.job.inspected.empty()) return {};
  int64_t calls = 0;
  for (const InspectedRank& rank : of.job.inspected) calls += static_cast<int64_t>(rank.total);
  return fmt::format("NCCL's Inspector timed {} of {}; nothing in them shows a fault.",
                     plural(calls, "call"), plural(std::ssize(of.job.inspected), "rank"));
}

std::string recorder_words(const Faultless& of) {
  const FactValue moves = find_fact("job.recorder_moves")->ask(of.job, {});
  if (!has_only_dumps(of.job) || !is_yes(moves)) return {};
  return fmt::format("No problem in these dumps: {}, so the job ran between them.", moves.what);
}

std::string ras_service_words(const Faultless& of) {
  return of.job.ras_reports.empty() || is_heard(of.job) ? "" : ras_words(of.job) + ".";
}

std::string stacks_words(const Faultless& of) {
  const EndState end = outcome_of(of.job).job.state;
  const bool is_open = end == EndState::Unknown || end == EndState::Unfinished;
  if (!is_open || !of.findings.empty() || of.says_otherwise) return {};
  const std::string stacks = stacks_summary(of.job);
  return stacks.empty() ? "" : fitted_headline(capitalised(stacks) + ".");
}

std::string counter_words(const Faultless& of) {
  const bool is_silent = of.findings.empty() && !has_only_dumps(of.job) && !is_heard(of.job);
  if (of.job.port_counters.empty() || !is_silent) return {};
  std::set<std::string_view> gpus;
  std::set<std::tuple<std::string_view, std::string_view, int, std::string_view>> different;
  bool are_links = true;
  bool are_telling = false;
  for (const PortCounter& each : of.job.port_counters) {
    are_links &= each.name == "inactive";
    are_telling |= tells_of_faults(each.name);
    gpus.insert(each.device);
    different.emplace(each.host, each.device, each.port, each.name);
  }
  const int64_t count = std::ssize(of.job.port_counters);
  if (are_links) {
    return fmt::format("{} of {} are up; their speed says nothing of errors.",
                       plural(count, "NVLink"), plural(std::ssize(gpus), "GPU"));
  }
  const bool is_once = std::cmp_equal(different.size(), count);
  if (!are_telling) {
    return fmt::format("{} read{}; none that tells of faults is among them.",
                       plural(count, "counter"), is_once ? " once" : "");
  }
  if (is_once) {
    return fmt::format("{} read once; those that tell of faults are all zero.",
                       plural(count, "counter"));
  }
  return fmt::format("{} were read; none that tells of faults is known to have grown.",
                     plural(count, "counter"));
}

/// Without a line that tells how the job fares, what is noted is all there is: "no problem" would be
/// more than was seen.
std::string note_words(const Faultless& of) {
  const bool is_heard_of = is_heard(of.job) || !of.job.nccl_tests.empty();
  if (of.says_otherwise || has_only_dumps(of.job) || is_heard_of) return {};
  const auto note = std::ranges::find(of.findings, false, &Finding::is_harmless);
  return note == of.findings.end() ? "" : headline_of(*note);
}

/// Nothing was printed but what `ncclog run` notes: a line when a command starts, one when it ends.
bool is_silent_run(const Job& job) {
  uint64_t ends = 0;
  for_each_said<RunEnded>(job, [&](const auto&) { ++ends; });
  return ends > 0 && job.losses.lines <= 2 * ends;
}

/// What each source beside the lines of logs says of a job without a fault: a sentence, empty where
/// it tells nothing. The first that tells something is heard.
constexpr std::string (*kBeside[])(const Faultless&) = {
    host_words,   inspector_words, recorder_words, ras_service_words,
    stacks_words, counter_words,   note_words,
};

Verdict without_fault(const std::vector<Finding>& findings, const Job& job) {
  const EndOf& end = outcome_of(job).job;
  const bool says_otherwise = job.stated && *job.stated != StatedOutcome::Finished;
  // The failure may be reported by something other than NCCL.
  if (end.state == EndState::Failed && !says_otherwise) {
    return {VerdictStatus::Suspicious,
            fmt::format("The job failed, and these logs do not say why: {}.", end.what),
            {}};
  }
  for (const auto& words_of : kBeside) {
    std::string words = words_of({findings, job, says_otherwise});
    if (!words.empty()) return {VerdictStatus::NothingFound, std::move(words), {}};
  }
  if (has_only_dumps(job) || (findings.empty() && !is_heard(job))) {
    return {VerdictStatus::CannotJudge, why_unusable(job, has_only_dumps(job)), {}};
  }
  if (says_otherwise) {
    constexpr std::string_view kSeen[] = {"hung", "crashed", "was slow"};
    return {
        VerdictStatus::NothingFound,
        fmt::format("You say that the job {}, and nothing in {} shows why: {}.",
                    kSeen[static_cast<size_t>(*job.stated)], lines_words(job), extent_words(job)),
        {}};
  }
  if (end.state == EndState::Finished) {
    for (const std::string& open :
         {unseen_words(job), uncompared_words(job), unread_words(job.losses)}) {
      if (open.empty()) continue;
      return {VerdictStatus::NothingFound,
              fmt::format("No problem in {}: finished, {}.", lines_words(job), open),
              {}};
    }
    if (is_silent_run(job)) {
      return {VerdictStatus::NothingFound,
              capitalised(end.what) + "; no line of NCCL or of the program is in the logs.",
              {}};
    }
    return {
        VerdictStatus::Clean, "The job finished, and nothing is wrong in what its logs show.", {}};
  }
  // Who ended the job may have seen what no line tells: that it stood still.
  const std::string words =
      end.state == EndState::Stopped
          ? fmt::format("{}; no error in {}: {}.", capitalised(end.what), lines_words(job),
                        extent_words(job))
          : fmt::format("No problem in {}: {}.", lines_words(job), extent_words(job));
  return {VerdictStatus::NothingFound, words, {}};
}

}  // namespace

Severity final_severity(const Finding& finding, const Rule& rule, const Job& job,
                        const Overlay* overlay) {
  if (overlay != nullptr && overlay->severity) return *overlay->severity;
  const HostCheck& check = finding.host_check;
  if (check.is_against_finding) return Severity::Info;
  const bool finished = outcome_of(job).job.state == EndState::Finished;
  if (check.answer == HostCheck::Answer::Shown) {
    const bool has_logs = job.losses.lines > 0;
    if (has_logs && finished) return Severity::Info;
    return has_logs ? std::max(*rule.host.alone, Severity::Warning) : *rule.host.alone;
  }
  // Who says that it was slow asks for just this advice.
  const bool did_its_work = job.stated ? job.stated == StatedOutcome::Finished : finished;
  const bool is_cheap_advice =
      rule.role == Role::Advice && rule.severity == Severity::Warning && !rule.halves_bandwidth;
  return did_its_work && (rule.last_resort || is_cheap_advice) ? Severity::Info : rule.severity;
}

bool is_meant(const Overlay& overlay, const Finding& finding) {
  const auto means_all = [](const auto& names, const std::vector<ValueTest>& tests) {
    const auto passes_all = [&](const auto& name) { return passes(FactValue{name}, tests); };
    return tests.empty() || (!names.empty() && std::ranges::all_of(names, passes_all));
  };
  return overlay.rule == finding.id && means_all(finding.hosts, overlay.host) &&
         means_all(finding.ranks, overlay.rank);
}

std::vector<const Finding*> consequences_of(const std::vector<Finding>& findings,
                                            const Finding& cause) {
  std::set<std::string_view> known = {cause.id};
  std::vector<const Finding*> open = {&cause};
  std::vector<const Finding*> result;
  while (!open.empty()) {
    const Finding& from = *open.back();
    open.pop_back();
    for (const Finding& next : findings) {
      if (!explains(from, next) || !known.insert(next.id).second) continue;
      open.push_back(&next);
      result.push_back(&next);
    }
  }
  return result;
}

std::vector<Finding> order_by_cause(std::vector<Finding> findings) {
  explain_same_ranks(findings);
  for (Finding& finding : findings) {
    std::erase_if(finding.explains, [&](const std::string& id) {
      return id == finding.id || std::ranges::find(findings, id, &Finding::id) == findings.end();
    });
  }
  join_witnesses(findings);
  // The worst severity of a finding and all that follows from it.
  std::map<std::string, Severity> weights;
  for (const Finding& finding : findings) {
    Severity& worst = weights.emplace(finding.id, finding.severity).first->second;
    for (const Finding* effect : consequences_of(findings, finding)) {
      worst = std::min(worst, effect->severity);
    }
  }
  const auto is_explained = [&](const Finding& finding) {
    return std::ranges::any_of(findings,
                               [&](const Finding& other) { return explains(other, finding); });
  };
  // Of failures that nothing explains, what came first leads.
  const auto is_late = [&](const Finding& finding) {
    return finding.severity == Severity::Error &&
           std::ranges::any_of(findings, [&](const Finding& other) {
             return other.severity == Severity::Error && came_first(other, finding) &&
                    !is_explained(other);
           });
  };
  const auto key = [&](const Finding& finding) {
    // Causes, then advice, then symptoms.
    return std::make_tuple(is_explained(finding), weights.at(finding.id), finding.severity,
                           is_late(finding), !finding.tells_end, finding.role != Role::Cause,
                           finding.role != Role::Advice, finding.confidence,
                           std::string_view(finding.id));
  };
  std::vector<Finding> result;
  // Findings that explain each other in a circle are placed as if nothing explained them.
  while (!findings.empty()) {
    const auto next = std::ranges::min_element(findings, {}, key);
    result.push_back(std::move(*next));
    findings.erase(next);
  }
  return result;
}

namespace {

/// What is not here may hold another fault, or the only one.
Verdict with_limit(Verdict verdict, const std::string& limit) {
  const std::string cap = "; " + limit + ".";
  const size_t room = kMaxHeadline - cap.size();
  verdict.headline = without_stop(fitted_headline(verdict.headline, room)) + cap;
  if (verdict.status == VerdictStatus::Clean) verdict.status = VerdictStatus::NothingFound;
  return verdict;
}

Verdict verdict_of(const std::vector<Finding>& findings, const Job& job) {
  Severity worst = Severity::Info;
  for (const Finding& finding : findings) worst = std::min(worst, finding.severity);
  if (worst == Severity::Info) return without_fault(findings, job);
  const Finding& first = findings.front();
  std::string headline = headline_of(first);
  if (outcome_of(job).job.state == EndState::Finished) {
    // The report's last line says it too, where there is no room for it here.
    const std::string with_end = without_stop(headline) + "; the job finished.";
    if (fitted_headline(with_end) == with_end) headline = with_end;
  }
  // A job that failed has a problem, however mild what its lines show of it.
  const bool failed = outcome_of(job).job.state == EndState::Failed;
  return {worst == Severity::Error || failed ? VerdictStatus::Problem : VerdictStatus::Suspicious,
          std::move(headline), first.id};
}

}  // namespace

Verdict make_verdict(const std::vector<Finding>& findings, const Job& job) {
  Verdict verdict = within_hosts(verdict_of(findings, job), job);
  const uint64_t left_out = job.losses.count(Loss::ProcessesDropped);
  if (left_out == 0) return verdict;
  return with_limit(std::move(verdict), fmt::format("{} of processes beyond {} left out",
                                                    plural(left_out, "line"), job.logs.size()));
}

Verdict within_hosts(Verdict verdict, const Job& job) {
  const size_t missing = missing_hosts(job).size();
  if (missing == 0) return verdict;
  const size_t all = job.expected_hosts.size();
  return with_limit(std::move(verdict), fmt::format("seen on {} of {} hosts", all - missing, all));
}

void mention_suppressed(const std::vector<OverlayEffect>& overlays, Verdict& verdict) {
  const bool silent =
      verdict.status == VerdictStatus::Clean || verdict.status == VerdictStatus::NothingFound;
  const bool hides_a_fault = std::ranges::any_of(overlays, [](const OverlayEffect& effect) {
    return !effect.severity && effect.finding.severity != Severity::Info;
  });
  if (silent && hides_a_fault) {
    verdict.headline = "No problem found but what overlays suppress; see there.";
  }
}

}  // namespace ncclog
