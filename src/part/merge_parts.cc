#include "part/merge_parts.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ncclog {
namespace {

/// An input and the part that it is in.
struct Placed {
  LoadedPart* part;
  LoadedPart::Input* input;
};

/// The newest scan of a file stands before older ones of the same host.
bool comes_before(const Placed& a, const Placed& b) {
  const ScannedInput& one = a.input->head;
  const ScannedInput& other = b.input->head;
  return std::tie(one.path, one.host, other.stamp) < std::tie(other.path, other.host, one.stamp);
}

/// True if both are scans of one file: on one host, or of a file system that both hosts see.
bool is_same_file(const Placed& a, const Placed& b) {
  const ScannedInput& one = a.input->head;
  const ScannedInput& other = b.input->head;
  const bool is_stamped = one.stamp != FileStamp();
  return one.path == other.path &&
         (one.host == other.host || (is_stamped && one.stamp == other.stamp));
}

/// Each file once, by path, then host.
std::vector<Placed> chosen_inputs(std::vector<LoadedPart>& parts) {
  std::vector<Placed> all;
  for (LoadedPart& part : parts) {
    for (LoadedPart::Input& input : part.inputs) all.push_back({&part, &input});
  }
  std::ranges::stable_sort(all, comes_before);
  std::vector<Placed> chosen;
  for (const Placed& one : all) {
    auto known = chosen.rbegin();
    while (known != chosen.rend() && known->input->head.path == one.input->head.path &&
           !is_same_file(*known, one)) {
      ++known;
    }
    if (known == chosen.rend() || !is_same_file(*known, one)) chosen.push_back(one);
  }
  return chosen;
}

/// What stands there of an input whose shards cannot be read.
ScannedInput unreadable(const ScannedInput& head, const PartPlace& place) {
  ScannedInput lost = head;
  lost.before = {};
  lost.last = {};
  lost.walked = {{}};
  WalkedInput& input = lost.walked.front().emplace_back();
  input.path = head.path;
  input.format = "plain";
  input.number = place.first_unit * kNumbersPerUnit;
  input.input_number = place.input * kNumbersPerUnit;
  input.result.status = InputStatus::Unreadable;
  input.result.note = "Its part of a scan is damaged.";
  input.result.losses.add(Loss::InputUnreadable);
  return lost;
}

void name_by_host(ScannedInput& scanned) {
  for (auto& unit : scanned.walked) {
    for (WalkedInput& input : unit) input.path = scanned.host + ":" + input.path;
  }
}

}  // namespace

MergedParts merge_parts(std::vector<LoadedPart>&& parts) {
  MergedParts merged;
  const std::vector<Placed> chosen = chosen_inputs(parts);
  for (size_t i = 0; i < chosen.size(); ++i) {
    const auto& [part, input] = chosen[i];
    const std::string& path = input->head.path;
    const bool is_shared_name = (i > 0 && chosen[i - 1].input->head.path == path) ||
                                (i + 1 < chosen.size() && chosen[i + 1].input->head.path == path);
    const PartPlace place{
        .units = input->head.units.size(), .first_unit = merged.units.size(), .input = i};
    ScannedInput scanned;
    const bool is_sound = read_shards(*part, *input, place, scanned);
    if (!is_sound) scanned = unreadable(input->head, place);
    if (is_shared_name && !scanned.host.empty()) name_by_host(scanned);
    merged.inputs.push_back({path, scanned.host, scanned.stamp, place.first_unit});
    scanned.walked.resize(input->head.units.size());
    for (size_t u = 0; u < scanned.walked.size(); ++u) {
      Unit unit = input->head.units[u];
      unit.index = static_cast<uint32_t>(merged.units.size());
      unit.input = static_cast<uint32_t>(i);
      merged.units.push_back(unit);
      merged.walked.push_back(std::move(scanned.walked[u]));
    }
    merged.shard.merge(std::move(scanned.before));
    merged.shard.merge(std::move(scanned.last));
    input->frames = {};
  }
  for (LoadedPart& part : parts) merged.answers.merge(part.answers);
  return merged;
}

}  // namespace ncclog
