#include "rules/applies_to.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "rules/node_reader.h"

namespace ncclog {
namespace {

const Names kProducts = {"nccl", "cuda", "pytorch"};

VersionRange load_range(const RuleFile& file, const RuleNode& node) {
  VersionRange range;
  const std::vector<std::string> texts = scalars_of(file, node, "a range of versions");
  for (const std::string& text : texts) {
    auto bounds = parse_version_bounds(text);
    if (!bounds) {
      fail_at(file, node.place, fmt::format("'{}' is no range of versions", text),
              "write \">=2.22 <2.25\", or 2.22 for all its releases");
    }
    range.alternatives.push_back(std::move(*bounds));
  }
  range.text = join(texts, " or ");
  return range;
}

Applies applies_one(const VersionDemand& demand, const Job& job, const Instance& instance) {
  const std::vector<std::string> own = versions_of(job, instance.processes, demand.product);
  const std::vector<std::string>& versions = own.empty() ? versions_of(job, demand.product) : own;
  Applies answer = Applies::Unknown;
  for (const std::string& version : versions) {
    const auto inside = contains(demand.range, version);
    if (inside == true) return Applies::Yes;
    if (inside == false) answer = Applies::No;
  }
  return answer;
}

}  // namespace

std::string_view to_string(Product product) { return kProducts[static_cast<size_t>(product)]; }

std::vector<VersionDemand> load_applies_to(const RuleFile& file, const RuleNode& node) {
  std::vector<VersionDemand> demands;
  only_keys(file, node, kProducts);
  for (const RuleNode::Entry& entry : entries_of(file, node, "ranges of versions by product")) {
    const auto product = std::find(kProducts.begin(), kProducts.end(), entry.key);
    demands.push_back(
        {static_cast<Product>(product - kProducts.begin()), load_range(file, entry.value)});
  }
  return demands;
}

Applies applies(const std::vector<VersionDemand>& demands, const Job& job,
                const Instance& instance) {
  Applies answer = Applies::Yes;
  for (const VersionDemand& demand : demands) {
    answer = std::min(answer, applies_one(demand, job, instance));
  }
  return answer;
}

std::string applies_to_text(const std::vector<VersionDemand>& demands) {
  std::vector<std::string> texts;
  for (const VersionDemand& demand : demands) {
    texts.push_back(fmt::format("{} {}", to_string(demand.product), demand.range.text));
  }
  return join(texts, ", ");
}

}  // namespace ncclog
