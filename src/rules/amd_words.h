// Advice is written for NVIDIA's tools; over an RCCL job it names AMD's.
//
//   nvidia-smi topo -m    →   rocm-smi --showtopo

#pragma once

#include <string>
#include <vector>

namespace ncclog {

/// Turns the names of tools and variables in each text into AMD's.
void use_amd_words(std::vector<std::string>& texts);

}  // namespace ncclog
