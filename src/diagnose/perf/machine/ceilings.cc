#include "diagnose/perf/machine/ceilings.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr GpuModel kGpuModels[] = {
#include "diagnose/perf/machine/gpu_models.inc"
};

constexpr HostType kHostTypes[] = {
#include "diagnose/perf/machine/host_types.inc"
};

constexpr PathFactor kPathFactors[] = {
#include "diagnose/perf/machine/path_factors.inc"
};

/// Words in lower case: runs of letters and digits.
std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  bool open = false;
  for (const char c : text) {
    if (is_alnum(c)) {
      if (!open) words.emplace_back();
      words.back().push_back(lower_case(c));
    }
    open = is_alnum(c);
  }
  return words;
}

bool holds_words(const std::vector<std::string>& text, std::string_view words) {
  return std::ranges::all_of(split_blanks(words), [&](std::string_view word) {
    return std::ranges::find(text, word) != text.end();
  });
}

template <typename Fits>
const GpuModel* first_model(std::string_view text, Fits fits) {
  const std::vector<std::string> words = words_in(text);
  const auto* found = std::ranges::find_if(kGpuModels, [&](const GpuModel& model) {
    return fits(model) && holds_words(words, model.words);
  });
  return found == std::end(kGpuModels) ? nullptr : found;
}

bool fits_fabric(std::string_view fabric, const HostHints& hints) {
  if (fabric == "efa") return hints.efa;
  if (fabric == "slingshot") return hints.slingshot || hints.cray_x;
  return fabric.empty() || (fabric == "cray-x" && hints.cray_x);
}

/// `name` stands in `text` where a word begins: "p5e" not in "step5e", but in "/xml/p5en-topo.xml".
bool begins_a_word(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    if (at == 0 || !is_alnum(text[at - 1])) return true;
  }
  return false;
}

bool fits(const HostType& type, const HostHints& hints) {
  if (!type.named.empty()) {
    return std::ranges::any_of(hints.names, [&](const std::string& name) {
      return begins_a_word(lower_case(name), type.named);
    });
  }
  return hints.gpu != nullptr && hints.gpu->words == type.gpu && hints.gpus_per_host <= type.gpus &&
         fits_fabric(type.fabric, hints);
}

}  // namespace

std::span<const GpuModel> gpu_models() { return kGpuModels; }

std::span<const HostType> host_types() { return kHostTypes; }

const GpuModel* find_gpu_model(std::string_view printed) {
  return first_model(printed, [](const GpuModel&) { return true; });
}

const GpuModel* gpu_model_in_host_name(std::string_view host) {
  return first_model(host, [](const GpuModel& model) { return model.is_joined(); });
}

const GpuModel* gpu_model_by_nvlink(double bw) {
  for (const std::string_view model : {"a100", "h100", "b200"}) {
    const double total = path_factor("nvlink-" + std::string(model));
    if (bw > 0.99 * total && bw < 1.01 * total) return find_gpu_model(model);
  }
  return nullptr;
}

const HostType* find_host_type(const HostHints& hints) {
  const auto* found =
      std::ranges::find_if(kHostTypes, [&](const HostType& type) { return fits(type, hints); });
  return found == std::end(kHostTypes) ? nullptr : found;
}

const PathFactor* find_path_factor(std::string_view key) {
  const auto* found = std::ranges::find(kPathFactors, key, &PathFactor::key);
  return found == std::end(kPathFactors) ? nullptr : found;
}

double path_factor(std::string_view key) { return find_path_factor(key)->figure; }

double rate_of_device(std::string_view name) {
  constexpr double kOmniPath = 100;
  return name.starts_with("hfi1_") ? kOmniPath : -1;
}

double over_nics(Operation op, int nranks, int nhosts, double network) {
  const double per_host = std::max(1.0, static_cast<double>(nranks) / nhosts);
  if (op == Operation::SendRecv) return network / per_host;
  if (traits_of(op).made_of == "messages") {
    return network / per_host * (nranks - 1) / std::max(1.0, nranks - per_host);
  }
  return network;
}

double by_trees_over_nics(int nranks, int nhosts, double network) {
  const double others = static_cast<double>(nranks - 1) / nranks;
  const double other_hosts = static_cast<double>(nhosts - 1) / nhosts;
  return network * others / other_hosts;
}

double ring_in_host(const GpuModel& model, int gpus) {
  // XGMI has no switch: fewer GPUs have fewer links.
  return model.links == "xgmi" && gpus < 8 ? ring_by_pairs(model, gpus) : model.ring;
}

double ring_by_pairs(const GpuModel& model, int gpus) {
  return model.peer > 0 ? std::min(model.ring, model.peer * std::max(1, gpus - 1)) : model.ring;
}

double nvls_of(const GpuModel& model, Operation op, int gpus) {
  return op == Operation::AllReduce && model.nvls_from > 0 && gpus >= model.nvls_from ? model.nvls
                                                                                      : -1;
}

double pcie_slot(int generation, int lanes) {
  constexpr double kGen3 = 12;
  if (generation < 1 || generation > 6 || lanes < 1) return -1;
  double bw = kGen3;
  for (int above = 3; above < generation; ++above) bw *= 2;
  for (int below = 3; below > generation; --below) bw /= 2;
  return bw * std::min(lanes, 16) / 16;
}

}  // namespace ncclog
