// Are the rings and trees that the ranks describe rings and trees?
//
//   communicator.graph_broken = yes, "ring of channels 0-23: rank 1 is listed twice"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr size_t kMaxLines = 4;

std::vector<int> channel_numbers(uint64_t channels) {
  std::vector<int> numbers;
  for (int c = 0; c < kMaxChannels; ++c) {
    if ((channels & channel_bit(c)) != 0) numbers.push_back(c);
  }
  return numbers;
}

/// The first lines of kind T of each process of the communicator.
template <typename T>
std::vector<Evidence> first_lines(const Job& job, const Instance& instance) {
  std::vector<Evidence> lines;
  for (const int process : instance.processes) {
    bool first = true;
    for_each_record(job, job.processes[static_cast<size_t>(process)], kKindIndex<T>,
                    [&](const Record& record) {
                      if (first && lines.size() < kMaxLines) lines.push_back(evidence_of(record));
                      first = false;
                    });
  }
  return lines;
}

std::string phrase(std::string_view graph, uint64_t channels, const std::string& remark) {
  return fmt::format("{} of channels {}: {}", graph, ranges_text(channel_numbers(channels)),
                     remark);
}

FactValue graph_broken(const Job& job, const Instance& instance) {
  const auto& graphs = job.communicators[static_cast<size_t>(instance.communicator)].graphs;
  for (const Ring& ring : graphs.rings) {
    if (ring.check != GraphCheck::Broken) continue;
    std::vector<Evidence> lines = first_lines<RingMembers>(job, instance);
    if (lines.empty()) lines = first_lines<RingNeighbours>(job, instance);
    return yes(phrase("ring", ring.channels, ring.remark), std::move(lines));
  }
  for (const Tree& tree : graphs.trees) {
    if (tree.check != GraphCheck::Broken) continue;
    return yes(phrase("tree", tree.channels, tree.remark), first_lines<Trees>(job, instance));
  }
  const bool any_unknown =
      std::any_of(graphs.rings.begin(), graphs.rings.end(),
                  [](const Ring& ring) { return ring.check == GraphCheck::Unknown; });
  return graphs.rings.empty() || any_unknown ? unknown() : no();
}

constexpr std::array kFacts = {
    Fact{
        "communicator.graph_broken", Scope::Communicator, FactType::Bool,
        "The ranks' lines describe a ring that is not closed or a tree that is none; unknown where "
        "ranks are not seen or lists are cut.",
        graph_broken},
};

}  // namespace

std::span<const Fact> graph_facts() { return kFacts; }

}  // namespace ncclog
