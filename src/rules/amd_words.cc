#include "rules/amd_words.h"

#include <string_view>

namespace ncclog {
namespace {

struct WordPair {
  std::string_view nvidia;
  std::string_view amd;
};

/// Longer words before those that they begin with.
constexpr WordPair kWords[] = {
    {"nvidia-smi topo -p2p r", "rocm-smi --showtopoaccess"},
    {"nvidia-smi topo -p2p", "rocm-smi --showtopoaccess"},
    {"nvidia-smi topo -m", "rocm-smi --showtopo"},
    {"nvidia-smi nvlink -s", "rocm-smi --showtopotype"},
    {"nvidia-smi nvlink -e", "rocm-smi --showxgmierr"},
    {"nvidia-smi nvlink --errorcounters", "rocm-smi --showxgmierr"},
    {"nvidia-smi -q -d ECC", "rocm-smi --showrasinfo"},
    {"nvidia-smi -L", "rocm-smi --showid --showbus"},
    {"nvidia-smi --query-gpu=pci.bus_id --format=csv", "rocm-smi --showbus"},
    {"nvidia-smi --query-gpu=driver_version --format=csv", "rocm-smi --showdriverversion"},
    {"nvidia-smi --query-gpu=name --format=csv", "rocm-smi --showproductname"},
    {"nvidia-smi --query-gpu=name", "rocm-smi --showproductname"},
    {"nvidia-smi", "rocm-smi"},
    {"nccl-tests", "rccl-tests"},
    {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"},
};

}  // namespace

void use_amd_words(std::vector<std::string>& texts) {
  for (std::string& text : texts) {
    for (const WordPair& pair : kWords) {
      for (size_t at = text.find(pair.nvidia); at != text.npos;
           at = text.find(pair.nvidia, at + pair.amd.size())) {
        text.replace(at, pair.nvidia.size(), pair.amd);
      }
    }
  }
}

}  // namespace ncclog
