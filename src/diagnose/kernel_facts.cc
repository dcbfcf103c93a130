// What do the kernels' logs say about the GPUs, switches, adapters and processes of the job?
//
//   node-a.dmesg: NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, GPU has fallen off the
//   bus.
//       → job.xid_off_bus = yes, rank 2, "Xid 79 on node-a, GPU 0000:1b:00 (rank 2, pid 4242)"
//
// Xid codes are sorted by what they mean as NVIDIA's "XID Errors" lists them. An event of a GPU or
// host that the job does not use answers none of these but job.xid_elsewhere. Nothing here compares
// times: dmesg counts from boot, so an event may be older than the job.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/text.h"
#include "diagnose/deaths.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "log/messages.h"

namespace ncclog {
namespace {

bool concerns_job(const KernelEvent& event) {
  return event.relation != KernelRelation::OtherGpu && event.relation != KernelRelation::OtherHost;
}

bool is_in(std::span<const int> codes, int code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

/// 45: the driver tears a channel down, after another Xid or after the process was killed. Newer
/// drivers name the other one, and its own line may be missing: "Ch 00000001 caused by previous
/// Xid 149".
constexpr int kConsequence[] = {45};

/// The Xid that an event is about.
int cause_code(const KernelEvent& event) {
  constexpr std::string_view kCause = "caused by previous Xid ";
  const size_t at = event.text.find(kCause);
  if (!is_in(kConsequence, event.code) || at == std::string::npos) return event.code;
  const std::string_view rest = std::string_view(event.text).substr(at + kCause.size());
  const auto code = parse_int(rest.substr(0, rest.find_first_not_of("0123456789")));
  return code ? static_cast<int>(*code) : event.code;
}

/// "Xid 79 on node-a, GPU 0000:1b:00 (rank 2, pid 4242)", as far as known.
std::string event_phrase(std::string_view what, const KernelEvent& event) {
  std::string phrase(what);
  if (event.code >= 0) phrase += fmt::format(" {}", cause_code(event));
  if (!event.host.empty()) phrase += " on " + event.host;
  if (!event.bus_id.empty()) phrase += ", " + event.bus_id;
  std::vector<std::string> who;
  if (event.rank >= 0) who.push_back(fmt::format("rank {}", event.rank));
  if (event.pid >= 0) who.push_back(fmt::format("pid {}", event.pid));
  if (!who.empty()) phrase += " (" + join(who, ", ") + ")";
  return phrase;
}

/// Yes with the events of kind T for which `wanted` holds; no if there is none.
template <typename T, typename Wanted>
FactValue events_answer(const Job& job, std::string_view what, Wanted&& wanted) {
  constexpr size_t kMostNames = 4;
  std::vector<std::string> phrases;
  FactValue value = yes({});
  size_t more = 0;
  for (const KernelEvent& event : job.kernel_events) {
    if (event.kind != kKindIndex<T> || !wanted(event)) continue;
    value.evidence.push_back({event.where, event.text});
    if (event.process >= 0) value.processes.push_back(event.process);
    const std::string phrase = event_phrase(what, event);
    if (std::count(phrases.begin(), phrases.end(), phrase) > 0) continue;
    if (phrases.size() < kMostNames) {
      phrases.push_back(phrase);
    } else {
      ++more;
    }
  }
  if (value.evidence.empty()) return no();
  value.what = join(phrases, "; ") + (more > 0 ? fmt::format(" and {} more", more) : "");
  return value;
}

constexpr int kOffBus[] = {79};
constexpr int kNvlink[] = {74, 144, 145, 146, 147, 148, 149, 150};
constexpr int kMemory[] = {48, 63, 64, 94, 95, 140};
constexpr int kDriver[] = {38, 61, 62, 109, 119, 120};
constexpr int kProgram[] = {13, 31, 43};

FactValue xid_answer(const Job& job, std::span<const int> codes) {
  return events_answer<Xid>(job, "Xid", [&](const KernelEvent& event) {
    return concerns_job(event) && is_in(codes, cause_code(event));
  });
}

FactValue xid_off_bus(const Job& job, const Instance&) { return xid_answer(job, kOffBus); }
FactValue xid_nvlink(const Job& job, const Instance&) { return xid_answer(job, kNvlink); }
FactValue xid_memory(const Job& job, const Instance&) { return xid_answer(job, kMemory); }
FactValue xid_driver(const Job& job, const Instance&) { return xid_answer(job, kDriver); }
FactValue xid_program(const Job& job, const Instance&) { return xid_answer(job, kProgram); }

FactValue xid_other(const Job& job, const Instance&) {
  return events_answer<Xid>(job, "Xid", [](const KernelEvent& event) {
    const std::initializer_list<std::span<const int>> known = {kOffBus, kNvlink,  kMemory,
                                                               kDriver, kProgram, kConsequence};
    return concerns_job(event) && std::none_of(known.begin(), known.end(), [&](auto codes) {
             return is_in(codes, cause_code(event));
           });
  });
}

FactValue xid_elsewhere(const Job& job, const Instance&) {
  return events_answer<Xid>(job, "Xid",
                            [](const KernelEvent& event) { return !concerns_job(event); });
}

FactValue sxid_fatal(const Job& job, const Instance&) {
  return events_answer<Sxid>(job, "SXid", [](const KernelEvent& event) {
    return concerns_job(event) && event.text.find(", Fatal, ") != std::string::npos;
  });
}

FactValue hca_fault(const Job& job, const Instance&) {
  return events_answer<HcaFault>(job, "A fault of an adapter", concerns_job);
}

/// The kernel's out-of-memory killer ended a process that is not known to belong to the job.
FactValue oom_kill_unplaced(const Job& job, const Instance&) {
  const std::vector<Death> known = deaths(job);
  return events_answer<OomKill>(job, "The kernel killed a process", [&](const KernelEvent& event) {
    return event.pid >= 0 && concerns_job(event) &&
           std::none_of(known.begin(), known.end(),
                        [&](const Death& death) { return death.pid == event.pid; });
  });
}

constexpr std::array kFacts = {
    Fact{"job.hca_fault", Scope::Job, FactType::Bool,
         "A kernel of the job's hosts reports a fault of a network adapter.", hca_fault},
    Fact{"job.oom_kill_unplaced", Scope::Job, FactType::Bool,
         "The out-of-memory killer ended a process that no line of the job names.",
         oom_kill_unplaced},
    Fact{"job.sxid_fatal", Scope::Job, FactType::Bool, "An NVSwitch reports a fatal error.",
         sxid_fatal},
    Fact{"job.xid_driver", Scope::Job, FactType::Bool,
         "Xid 38, 61, 62, 109, 119 or 120: a GPU's firmware or its driver stopped working.",
         xid_driver},
    Fact{"job.xid_elsewhere", Scope::Job, FactType::Bool,
         "Xids only of GPUs or hosts that the job does not use.", xid_elsewhere},
    Fact{"job.xid_memory", Scope::Job, FactType::Bool,
         "Xid 48, 63, 64, 94, 95 or 140: errors of a GPU's memory.", xid_memory},
    Fact{"job.xid_nvlink", Scope::Job, FactType::Bool, "Xid 74 or 144 to 150: errors of NVLink.",
         xid_nvlink},
    Fact{"job.xid_off_bus", Scope::Job, FactType::Bool,
         "Xid 79: a GPU no longer answers on the PCI bus.", xid_off_bus},
    Fact{"job.xid_other", Scope::Job, FactType::Bool,
         "An Xid of a class that no other fact covers.", xid_other},
    Fact{"job.xid_program", Scope::Job, FactType::Bool,
         "Xid 13, 31 or 43: a kernel on the GPU faulted, mostly the program's.", xid_program},
};

}  // namespace

std::span<const Fact> kernel_facts() { return kFacts; }

}  // namespace ncclog
