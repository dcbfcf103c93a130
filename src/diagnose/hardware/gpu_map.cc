// How are the GPUs of a host joined, as a listing of nvidia-smi has it?
//
//   GPU0     X      PXB     SYS     SYS     0-27
//   GPU1    PXB      X      SYS     SYS     0-27
//   GPU2    SYS     SYS      X      PIX     28-55
//   GPU3    SYS     SYS     PIX      X      28-55
//       → job.gpu_map = yes, "GPU0 to GPU3: GPU2-GPU3 PIX, GPU0-GPU1 PXB, all other pairs SYS; no NVLink"
//
// What the words mean: nvidia-smi(1), topo -m.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "log/messages.h"

namespace ncclog {
namespace {

struct MapRow {
  int gpu = -1;
  std::vector<std::string> cells;  ///< To each GPU, then to each NIC: "X", "NV18", "PIX".
  Evidence line;
};

/// The rows of one listing, by GPU; empty: there is none, its first rows are missing, or several are
/// mixed. Without the last rows the rest still is true of those that it names.
std::vector<MapRow> rows_of_map(const Job& job) {
  std::vector<MapRow> rows;
  for_each_said<TopoMatrixRow>(job, [&](const auto& said) {
    const std::vector<std::string_view> cells = split_blanks(said.message.cells);
    rows.push_back({said.message.gpu, {cells.begin(), cells.end()}, evidence_of(said.record())});
  });
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool fits = std::cmp_equal(rows[i].gpu, i) && rows[i].cells.size() >= rows.size() &&
                      rows[i].cells[i] == "X";
    if (!fits) return {};
    for (size_t other = 0; other < i; ++other) {
      if (rows[i].cells[other] != rows[other].cells[i]) return {};
    }
  }
  return rows;
}

/// "all pairs NV18", "GPU0-GPU1 PXB, all other pairs SYS".
std::string pairs_words(const std::map<std::string, std::vector<std::string>>& pairs) {
  const auto most = std::ranges::max_element(
      pairs, {}, [](const auto& of_type) { return of_type.second.size(); });
  std::vector<std::string> words;
  for (const auto& [type, who] : pairs) {
    if (type == most->first) continue;
    words.push_back(fmt::format("{} {}", few_of(who, kMostNamed, " and "), type));
  }
  words.push_back(fmt::format("all {}pairs {}", words.empty() ? "" : "other ", most->first));
  return join(words, ", ");
}

FactValue gpu_map(const Job& job, const Instance&) {
  const std::vector<MapRow> rows = rows_of_map(job);
  if (rows.size() < 2) return unknown();
  std::map<std::string, std::vector<std::string>> pairs;
  FactValue value = yes("");
  for (size_t a = 0; a < rows.size(); ++a) {
    value.evidence.push_back(rows[a].line);
    for (size_t b = a + 1; b < rows.size(); ++b) {
      pairs[rows[a].cells[b]].push_back(fmt::format("GPU{}-GPU{}", a, b));
    }
  }
  const bool has_nvlink = std::ranges::any_of(
      pairs, [](const auto& of_type) { return of_type.first.starts_with("NV"); });
  value.what = fmt::format("GPU0 to GPU{}: {}{}", rows.size() - 1, pairs_words(pairs),
                           has_nvlink ? "" : "; no NVLink");
  return value;
}

constexpr std::array kGpuMapFacts = {
    // nvidia-smi lists how the GPUs of one host are joined: in words.
    job_fact("job.gpu_map", gpu_map),
};

}  // namespace

std::span<const Fact> gpu_map_facts() { return kGpuMapFacts; }

}  // namespace ncclog
