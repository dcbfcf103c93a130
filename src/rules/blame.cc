// Whom does a finding name? The guilty where evidence identifies them, else those whose own lines
// report the fault; never mere victims.

#include <algorithm>
#include <functional>
#include <tuple>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "rules/build_finding.h"

namespace ncclog {
namespace {

using Parties = std::vector<Party>;

Party party_of(const Job& job, int process) {
  const Process& known = job.processes[static_cast<size_t>(process)];
  return {known.rank, known.host, known.pid};
}

/// The process that printed a line, with the rank that the line itself names if nothing else does.
Party party_of(const Job& job, const ReadRecord& read) {
  Party party = party_of(job, read.process);
  if (party.rank < 0) party.rank = rank_of(job, read.process, read.header());
  return party;
}

Party party_of_rank(const Job& job, int rank) {
  const int process = process_of_rank(job, rank);
  return process >= 0 ? party_of(job, process) : Party{rank, {}, -1};
}

Party party_of_pid(const Job& job, int64_t pid) {
  const int process = process_of_pid(job, pid);
  return process >= 0 ? party_of(job, process) : Party{-1, {}, pid};
}

void for_each_hit(const std::vector<Firing>& firings, const std::function<void(const Hit&)>& use) {
  for (const Firing& firing : firings) {
    for (const Hit& hit : firing.hits) use(hit);
  }
}

Parties identified_by_facts(const Job& job, const std::vector<Firing>& firings) {
  Parties parties;
  for_each_hit(firings, [&](const Hit& hit) {
    if (hit.value == nullptr) return;
    for (const int process : hit.value->processes) parties.push_back(party_of(job, process));
    for (const int rank : hit.value->ranks) parties.push_back(party_of_rank(job, rank));
    for (const std::string& host : hit.value->hosts) parties.push_back({-1, host, -1});
  });
  return parties;
}

Parties speakers(const Job& job, const std::vector<Firing>& firings,
                 const std::function<bool(const Hit&)>& counts) {
  Parties parties;
  for_each_hit(firings, [&](const Hit& hit) {
    if (!counts(hit)) return;
    for (const ReadRecord* read : hit.records) parties.push_back(party_of(job, *read));
  });
  return parties;
}

/// Whom the findings name that the rule asked for.
Parties named_by_findings(const std::vector<Firing>& firings) {
  Parties parties;
  for_each_hit(firings, [&](const Hit& hit) {
    if (hit.finding == nullptr) return;
    for (const int rank : hit.finding->ranks) parties.push_back({rank, {}, -1});
    for (const std::string& host : hit.finding->hosts) parties.push_back({-1, host, -1});
  });
  return parties;
}

Parties instances_themselves(const Job& job, const std::vector<Firing>& firings) {
  Parties parties;
  for (const Firing& firing : firings) {
    if (firing.instance->scope == Scope::Job) continue;
    for (const int process : firing.instance->processes) {
      parties.push_back(party_of(job, process));
    }
  }
  return parties;
}

Parties reporters(const Job& job, const std::vector<Firing>& firings) {
  Parties parties = speakers(job, firings, [](const Hit& hit) { return hit.inside; });
  if (parties.empty()) parties = speakers(job, firings, [](const Hit&) { return true; });
  if (parties.empty()) parties = named_by_findings(firings);
  if (parties.empty()) parties = instances_themselves(job, firings);
  return parties;
}

Party party_of_field(const Job& job, Blame::Type type, const std::string& text) {
  if (type == Blame::Type::Host) return {-1, text, -1};
  const auto pid = parse_int(text);
  return pid && *pid >= 0 ? party_of_pid(job, *pid) : Party{};
}

Parties named_in_field(const Rule& rule, const Job& job, const std::vector<Firing>& firings) {
  Parties parties;
  for_each_hit(firings, [&](const Hit& hit) {
    if (hit.label != rule.blame.label) return;
    for (const ReadRecord* read : hit.records) {
      Party party = party_of_field(job, rule.blame.type, field_text(job, *read, rule.blame.field));
      if (party != Party{}) parties.push_back(std::move(party));
    }
  });
  return parties;
}

/// Whom `blame` points at; empty where it points at nobody that the log identifies.
Parties pointed_at(const Rule& rule, const Job& job, const std::vector<Firing>& firings) {
  switch (rule.blame.type) {
    case Blame::Type::Default:
    case Blame::Type::Facts:
      return identified_by_facts(job, firings);
    case Blame::Type::Speakers:
      return speakers(job, firings, [&](const Hit& hit) { return hit.label == rule.blame.label; });
    case Blame::Type::Pid:
    case Blame::Type::Host:
      return named_in_field(rule, job, firings);
    case Blame::Type::Reporters:
    case Blame::Type::Nobody:
      break;
  }
  return {};
}

auto sort_key(const Party& party) {
  return std::make_tuple(party.rank < 0, party.rank, std::string_view(party.host), party.pid);
}

}  // namespace

std::vector<Party> blamed_parties(const Rule& rule, const Job& job,
                                  const std::vector<Firing>& firings) {
  Parties parties = pointed_at(rule, job, firings);
  const bool nobody_else =
      rule.blame.type == Blame::Type::Nobody || rule.blame.type == Blame::Type::Facts;
  if (parties.empty() && !nobody_else) parties = reporters(job, firings);
  std::sort(parties.begin(), parties.end(),
            [](const Party& a, const Party& b) { return sort_key(a) < sort_key(b); });
  parties.erase(std::unique(parties.begin(), parties.end()), parties.end());
  return parties;
}

}  // namespace ncclog
