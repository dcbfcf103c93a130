#include "diagnose/cuda_graphs.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "diagnose/fact_answers.h"
#include "log/messages.h"

namespace ncclog {
namespace {

void take_earlier(const Record& record, std::optional<Evidence>& first) {
  if (!first || record.where < first->where) first = evidence_of(record);
}

template <typename T>
void take_first(const Job& job, std::optional<Evidence>& first) {
  for_each_said<T>(job, [&](const Said<T>& said) { take_earlier(said.record, first); });
}

bool is_about_graphs(std::string_view variable) {
  constexpr std::array<std::string_view, 3> kVariables = {
      "NCCL_GRAPH_MIXING_SUPPORT", "NCCL_GRAPH_REGISTER", "NCCL_GRAPH_STREAM_ORDERING"};
  return std::find(kVariables.begin(), kVariables.end(), variable) != kVariables.end();
}

}  // namespace

std::optional<Evidence> cuda_graph_evidence(const Job& job) {
  std::optional<Evidence> first;
  take_first<CallsCaptured>(job, first);
  take_first<GraphUsageViolated>(job, first);
  take_first<GraphCaptureFailed>(job, first);
  take_first<ModelCaptured>(job, first);
  for_each_said<NcclTestsConfig>(job, [&](const Said<NcclTestsConfig>& said) {
    if (said.message.graph > 0) take_earlier(said.record, first);
  });
  if (first) return first;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    if (is_about_graphs(said.message.name)) take_earlier(said.record, first);
  });
  return first;
}

}  // namespace ncclog
