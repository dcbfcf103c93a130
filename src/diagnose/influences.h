// Which difference between two runs may explain which other one?
//
//   NCCL_P2P_DISABLE   →  transports within a host, number of channels, times
//   another network    →  interfaces, transports between hosts, channels
//
// What a variable acts on was read in NCCL's source (graph/, transport/, init.cc of 2.18 to 2.28).
// "May" is all that can be said: two runs differ in more than their logs show.

#pragma once

#include <string_view>

#include "diagnose/trait.h"

namespace ncclog {

/// What a difference is about.
struct DifferenceSubject {
  Topic topic = Topic::Setting;
  std::string_view name;
};

/// True if a difference in `cause` may bring about one in `effect`.
bool may_explain(const DifferenceSubject& cause, const DifferenceSubject& effect);

}  // namespace ncclog
