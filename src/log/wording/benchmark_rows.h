// Rows of the tables that benchmarks of bandwidth print, whose columns come and go.
//
//        8388608       2097152     float     sum      -1   4915.3    1.71    3.20      0   5012.1 …
//   | 8388608 | 2097152 | float | sum | -1 | 4915.3 | 1.71 | 3.20 | 0 | 5012.1 | …
//   |   32KiB |   1.44GBps |   0.82GBps |
//   31.67 GB            8501054668x4             3176.620 ms         171.272             149.863
//
// nccl-tests and rccl-tests of all releases (src/common.cu, src/util.cu), the benchmarks of
// ml-engineering, DeepSpeed's (deepspeed/utils/comms_logging.py and the communication benchmarks)
// and PARAM's. log/messages/framework/ says what the fields mean.

#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "base/collectives.h"
#include "log/wording/message_kind.h"

namespace ncclog {

/// How rows begin: a number, or a table's border before it.
inline constexpr std::string_view kRowBegins[] = {"0", "1", "2", "3", "4", "5",
                                                  "6", "7", "8", "9", "|"};
inline constexpr std::string_view kTableBorder[] = {"|"};
inline constexpr std::string_view kParamRow[] = {"COMMS-RES-"};

/// Operations as torch.distributed and DeepSpeed name them.
inline constexpr auto kTorchOps = [] {
  const auto is_torch = [](const OperationAlias& row) {
    return row.is_used_by(AliasSource::Torch);
  };
  std::array<std::string_view, std::ranges::count_if(kOperationAliases, is_torch)> names;
  size_t count = 0;
  for (const OperationAlias& row : kOperationAliases) {
    if (is_torch(row)) names[count++] = row.text;
  }
  return names;
}();

bool recognise_nccl_tests_rank(std::string_view text, Message& message);
bool recognise_nccl_tests_columns(std::string_view text, Message& message);
bool recognise_nccl_tests_result(std::string_view text, Message& message);
bool recognise_torch_bench_row(std::string_view text, Message& message);
bool recognise_ds_bench_row(std::string_view text, Message& message);
bool recognise_ds_comms_op(std::string_view text, Message& message);
bool recognise_ds_comms_row(std::string_view text, Message& message);
bool recognise_param_row(std::string_view text, Message& message);

}  // namespace ncclog
