// A rule's message with its placeholders filled.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "diagnose/fact_answers.h"
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

std::string field_values(const MessagePart& part, const Job& job,
                         const std::vector<Firing>& firings) {
  DistinctValues values;
  for (const Firing& firing : firings) {
    for (const Hit& hit : firing.hits) {
      for (const ReadRecord* read : hit.records) {
        const bool of_label = hit.label == part.text;
        const bool of_kind =
            read->event.message.kind != nullptr && read->event.message.kind->name == part.text;
        if (of_label || of_kind) values.add(field_text(job, *read, part.field));
      }
    }
  }
  return values.text();
}

std::string fact_values(const MessagePart& part, JobView& view,
                        const std::vector<Firing>& firings) {
  DistinctValues values;
  for (const Firing& firing : firings) {
    const Instance* about =
        firing.instance->scope == part.fact->scope
            ? firing.instance
            : view.instance_around(firing.instance->processes, part.fact->scope);
    if (about == nullptr) continue;
    const FactValue& value = view.fact(*part.fact, *about);
    if (!value.known()) continue;
    values.add(part.type == MessagePart::Type::FactWhat ? value.what : fact_text(value));
  }
  // A message may add clauses that only some logs give.
  return values.text(part.type == MessagePart::Type::FactWhat ? "" : "(unknown)");
}

std::string communicator_values(const Job& job, const std::vector<Firing>& firings) {
  DistinctValues values;
  for (const Firing& firing : firings) {
    const int communicator = firing.instance->communicator;
    if (communicator >= 0) values.add(job.communicators[static_cast<size_t>(communicator)].id);
  }
  return values.text();
}

std::string part_text(const MessagePart& part, JobView& view, const std::vector<Firing>& firings,
                      const Finding& finding, const std::vector<Party>& parties) {
  switch (part.type) {
    case MessagePart::Type::Text:
      return part.text;
    case MessagePart::Type::Subject:
      return subject_text(finding, parties);
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
