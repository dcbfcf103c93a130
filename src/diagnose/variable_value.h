// Can NCCL make anything of a value, and what will it make of it?
//
//   NCCL_IB_DISABLE=true      reads as 0: InfiniBand stays on
//   NCCL_BUFFSIZE=4M          reads as 4 bytes
//   NCCL_P2P_LEVEL=nvl        ignored: only NVL in upper case counts
//   NCCL_ALGO=Ring,Treee      the initialisation fails

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/nccl_variables.h"

namespace ncclog {

/// What is wrong with a value.
struct ValueFault {
  bool fails = false;  ///< NCCL ends with an error; else it goes on with something else.
  std::string what;    ///< A clause after "NAME=value": "is not a number, …".
  std::string hint;    ///< What to write instead; empty: nothing can be said.
};

/// The fault of a value; nullopt if it has none that is certain. An empty value counts as not set.
std::optional<ValueFault> judge_value(const NcclVariable& variable, std::string_view value);

/// The number that NCCL reads from a text: strtoll with base 0, so 0 from "true" and 4 from "4M".
/// 18446744073709551615, as releases up to 2.12.7 print -1, is -1.
int64_t read_number(std::string_view value);

/// The names that a list of algorithms or protocols admits for some function, in upper case:
/// of "^NVLS;allreduce:tree" all of `variable` but NVLS, and TREE.
std::vector<std::string> admitted_choices(const NcclVariable& variable, std::string_view value);

std::string upper_case(std::string_view text);

}  // namespace ncclog
