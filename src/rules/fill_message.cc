// A rule's message with its placeholders filled.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "rules/build_finding.h"

namespace ncclog {
namespace {

constexpr size_t kMostValues = 4;

/// "a, b, c, d and 3 more"; `otherwise` for no values.
std::string listed(const std::vector<std::string>& values, std::string_view otherwise) {
  if (values.empty()) return std::string(otherwise);
  if (values.size() <= kMostValues) return join(values, ", ");
  const std::span<const std::string> first(values.data(), kMostValues);
  return fmt::format("{} and {} more", join(first, ", "), values.size() - kMostValues);
}

/// Values in the order in which they came, each once, empty ones left out.
class DistinctValues {
 public:
  void add(std::string value) {
    if (!value.empty() && seen_.insert(value).second) values_.push_back(std::move(value));
  }
  std::string text(std::string_view otherwise = "(unknown)") const {
    return listed(values_, otherwise);
  }

 private:
  std::set<std::string> seen_;
  std::vector<std::string> values_;
};

/// "rank 1 on trainbox (pid 88219; also ranks 2, 3)", as far as known.
std::string subject_text(const Finding& finding, const std::vector<Party>& parties) {
  const Subject& subject = finding.subject;
  std::string text = subject.rank >= 0 ? fmt::format("rank {}", subject.rank) : "a process";
  if (!subject.host.empty()) text += " on " + subject.host;
  std::vector<std::string> notes;
  if (subject.pid >= 0) notes.push_back(fmt::format("pid {}", subject.pid));
  std::vector<int> others;
  std::copy_if(finding.ranks.begin(), finding.ranks.end(), std::back_inserter(others),
               [&](int rank) { return rank != subject.rank; });
  if (!others.empty()) notes.push_back("also " + ranks_phrase(others));
  const auto nameless = std::count_if(parties.begin(), parties.end(), [&](const Party& party) {
    return party.rank < 0 && party.pid >= 0 && party.pid != subject.pid;
  });
  if (others.empty() && nameless > 0) {
    notes.push_back(fmt::format("also {} more process{}", nameless, nameless == 1 ? "" : "es"));
  }
  return notes.empty() ? text : fmt::format("{} ({})", text, join(notes, "; "));
}

/// True if that hit's lines are meant by a label or a kind.
bool is_named(const Hit& hit, const ReadRecord& read, std::string_view name) {
  return hit.label == name || (read.message.kind != nullptr && read.message.kind->name == name);
}

std::string field_values(const MessagePart& part, const Job& job,
                         const std::vector<Firing>& firings) {
  DistinctValues values;
  for (const Firing& firing : firings) {
    for (const Hit& hit : firing.hits) {
      for (const ReadRecord* read : hit.records) {
        if (is_named(hit, *read, part.text)) values.add(field_text(job, *read, part.field));
      }
    }
  }
  return values.text();
}

/// The fact for the firing's instance, or around it; nullptr: there is no such instance.
const FactValue* fact_of(const MessagePart& part, JobView& view, const Firing& firing) {
  const Instance* about = firing.instance->scope == part.fact->scope
                              ? firing.instance
                              : view.instance_around(firing.instance->processes, part.fact->scope);
  return about != nullptr ? &view.fact(*part.fact, *about) : nullptr;
}

std::string fact_values(const MessagePart& part, JobView& view,
                        const std::vector<Firing>& firings) {
  DistinctValues values;
  for (const Firing& firing : firings) {
    const FactValue* value = fact_of(part, view, firing);
    if (value == nullptr || !value->known()) continue;
    values.add(part.type == MessagePart::Type::FactWhat ? value->what : fact_text(*value));
  }
  // A message may add clauses that only some logs give.
  return values.text(part.type == MessagePart::Type::FactWhat ? "" : "(unknown)");
}

/// "ranks 1 and 2, ranks 3 and 4"
std::string pair_names(const Job& job, const std::vector<Firing>& firings) {
  DistinctValues names;
  for (const Firing& firing : firings) names.add(name_of(job, *firing.instance));
  return names.text();
}

std::string communicator_values(const Job& job, const std::vector<Firing>& firings) {
  DistinctValues values;
  for (const Firing& firing : firings) {
    const int communicator = firing.instance->communicator;
    if (communicator >= 0) values.add(job.communicators[static_cast<size_t>(communicator)].id);
  }
  return values.text();
}

size_t count_lines(const MessagePart& part, const std::vector<Firing>& firings) {
  std::set<const Record*> lines;
  for (const Firing& firing : firings) {
    for (const Hit& hit : firing.hits) {
      for (const ReadRecord* read : hit.records) {
        if (is_named(hit, *read, part.text)) lines.insert(read->record);
      }
    }
  }
  return lines.size();
}

/// The form for that number, with the number in the place of each #.
std::string plural_text(const MessagePart& part, size_t number) {
  std::string text;
  for (const char c : number == 1 ? part.one : part.many) {
    if (c == '#') {
      text += std::to_string(number);
    } else {
      text += c;
    }
  }
  return text;
}

std::string part_text(const MessagePart& part, JobView& view, const std::vector<Firing>& firings,
                      const Finding& finding, const std::vector<Party>& parties) {
  switch (part.type) {
    case MessagePart::Type::Text:
      return part.text;
    case MessagePart::Type::Subject:
      return firings.front().instance->scope == Scope::RankPair ? pair_names(view.job(), firings)
                                                                : subject_text(finding, parties);
    case MessagePart::Type::Ranks:
      return finding.ranks.empty() ? "ranks that no line names" : ranks_phrase(finding.ranks);
    case MessagePart::Type::Hosts:
      return listed(finding.hosts, "a host that no line names");
    case MessagePart::Type::Communicator:
      return communicator_values(view.job(), firings);
    case MessagePart::Type::Field:
      return field_values(part, view.job(), firings);
    case MessagePart::Type::Fact:
    case MessagePart::Type::FactWhat:
      return fact_values(part, view, firings);
    case MessagePart::Type::Plural:
      return plural_text(part, count_lines(part, firings));
  }
  return {};
}

/// Words of ours begin a sentence in upper case; names of hosts and files stay as they are.
bool begins_with_our_words(const MessagePart& part) {
  return part.type == MessagePart::Type::Subject || part.type == MessagePart::Type::Ranks;
}

}  // namespace

std::string fill_message(const Rule& rule, JobView& view, const std::vector<Firing>& firings,
                         const Finding& finding, const std::vector<Party>& parties) {
  std::string message;
  for (const MessagePart& part : rule.message) {
    message += part_text(part, view, firings, finding, parties);
  }
  message.erase(message.find_last_not_of(' ') + 1);  // A clause at the end may be empty.
  if (!rule.message.empty() && begins_with_our_words(rule.message.front()) && !message.empty() &&
      message[0] >= 'a' && message[0] <= 'z') {
    message[0] = static_cast<char>(message[0] - 'a' + 'A');
  }
  return message;
}

}  // namespace ncclog
