#include "diagnose/channel_caps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/nvswitch.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr std::string_view kCaps[] = {"NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", "NCCL_MAX_CTAS"};

/// Channels that NCCL makes at least, and how that is known.
struct Usual {
  int channels = 2;
  std::string_view why = "NCCL makes at least";
};

Usual usual_channels(const Job& job) {
  constexpr int kRing = 4;
  constexpr int kBehindSwitches = 8;
  Usual usual;
  if (!nvswitch_hosts(job).empty()) usual = {kBehindSwitches, "NVSwitches get at least"};
  for_each_said<GraphPattern>(job, [&](const Said<GraphPattern>& said) {
    if (said.message.pattern != kRing || said.message.channels <= usual.channels) return;
    usual = {said.message.channels, "NCCL's search found"};
  });
  return usual;
}

/// Most channels of any communicator; 0: no line says it.
int most_channels(const Job& job, std::vector<Evidence>& lines) {
  int most = 0;
  for_each_said<ChannelCounts>(job, [&](const Said<ChannelCounts>& said) {
    if (said.message.coll <= most) return;
    most = said.message.coll;
    lines = {evidence_of(said.record)};
  });
  return most;
}

}  // namespace

FactValue channels_capped(const Job& job, const Instance&) {
  std::vector<Evidence> lines;
  const int channels = most_channels(job, lines);
  const Usual usual = usual_channels(job);
  // Where no line counts them the setting itself does: NCCL obeys it.
  FactValue value;
  std::set<int> processes;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    const auto cap = parse_int(said.message.value);
    const bool is_cap =
        std::find(std::begin(kCaps), std::end(kCaps), said.message.name) != std::end(kCaps);
    if (!is_cap || !cap || *cap < 1 || 2 * *cap > usual.channels || channels > *cap) return;
    processes.insert(said.process);
    if (value.known()) return;
    value = yes(fmt::format("{}={} leaves {} where {} {}", to_valid_utf8(said.message.name), *cap,
                            *cap == 1 ? "one channel" : fmt::format("{} channels", *cap), usual.why,
                            usual.channels),
                {evidence_of(said.record)});
  });
  if (!value.known()) return unknown();
  value.evidence.insert(value.evidence.end(), lines.begin(), lines.end());
  value.processes.assign(processes.begin(), processes.end());
  return value;
}

}  // namespace ncclog
