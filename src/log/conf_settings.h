// What NCCL reads from /etc/nccl.conf, ~/.nccl.conf and the file that NCCL_CONF_FILE names.
//
//   # a comment only where '#' begins the line
//   NCCL_IB_HCA=mlx5_0,mlx5_1
//   NCCL_DEBUG="INFO"             the quotes belong to the value, and so would a comment behind it
//
// Variables that the environment has already keep their values (misc/param.cc).

#pragma once

#include <string_view>
#include <vector>

#include "log/setting.h"

namespace ncclog {

/// The settings of such a file, in its order, as NCCL takes them: blanks and quotes included.
std::vector<Setting> read_conf_settings(std::string_view text);

}  // namespace ncclog
