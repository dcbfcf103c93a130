#include "diagnose/influences.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

TEST(Influences, KnowWhatMayExplainWhat) {
  struct Row {
    DifferenceSubject cause;
    DifferenceSubject effect;
    bool may;
  };
  const Row kRows[] = {
      {{Topic::Setting, "NCCL_P2P_DISABLE"}, {Topic::Transport, "within a host"}, true},
      {{Topic::Setting, "NCCL_P2P_DISABLE"}, {Topic::Transport, "between hosts"}, false},
      {{Topic::Setting, "NCCL_IB_DISABLE"}, {Topic::Network, "network"}, true},
      {{Topic::Setting, "NCCL_BUFFSIZE"}, {Topic::Channels, "largest communicator"}, false},
      {{Topic::Setting, "NCCL_LAUNCH_MODE"}, {Topic::Timing, "x"}, false},
      {{Topic::Network, "network"}, {Topic::Transport, "between hosts"}, true},
      {{Topic::Transport, "between hosts"}, {Topic::Network, "network"}, false},
      {{Topic::Shape, "number of ranks"}, {Topic::Shape, "communicators"}, true},
      {{Topic::Shape, "communicators"}, {Topic::Shape, "number of ranks"}, false},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(may_explain(row.cause, row.effect), row.may)
        << row.cause.name << " → " << row.effect.name;
  }
}

TEST(Influences, NothingExplainsItself) {
  for (int topic = 0; topic < kTopics; ++topic) {
    for (const char* name : {"NCCL_P2P_DISABLE", "network", "number of ranks", "ranks on a host",
                             "within a host", "largest communicator", "AllReduce"}) {
      const DifferenceSubject subject{static_cast<Topic>(topic), name};
      EXPECT_FALSE(may_explain(subject, subject)) << to_string(subject.topic) << " " << name;
    }
  }
}

}  // namespace
}  // namespace ncclog
