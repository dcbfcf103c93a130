#include "diagnose/conditional_settings.h"

#include <algorithm>
#include <iterator>

namespace ncclog {

bool is_read_where_used(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"NCCL_IB_",     "NCCL_NET_GDR", "NCCL_GDR",
                                            "NCCL_SHM_",    "NCCL_MNNVL_",  "NCCL_DMABUF",
                                            "NCCL_SOCKET_N"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace ncclog
