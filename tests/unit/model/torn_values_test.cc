#include "model/torn_values.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/job_from_text.h"

namespace ncclog {
namespace {

/// The logs of a text, those of `torn` as torn ones.
std::vector<SpeakerLog> logs_of(std::string_view text, const std::set<int64_t>& torn) {
  std::vector<SpeakerLog> logs;
  for (auto& [speaker, log] : read_text(text).take_speakers()) {
    log.speaker = speaker;
    log.torn = torn.contains(speaker.pid);
    logs.push_back(std::move(log));
  }
  return logs;
}

/// What is left, one line a record.
std::string left(std::vector<SpeakerLog> logs) {
  drop_contradicted_values(logs);
  std::string text;
  for (const SpeakerLog& log : logs) {
    for (const auto& [kind, list] : log.records) {
      EXPECT_EQ(list.kept.size(), list.hashes.size());
      for (const Record& record : list.kept) text += record.text + "\n";
    }
  }
  return text;
}

constexpr std::string_view kAlike =
    "n:1:1 [0] NCCL INFO NCCL_NVLS_ENABLE set by environment to 0.\n"
    "n:2:2 [1] NCCL INFO NCCL_NVLS_ENABLE set by environment to 0.\n";
constexpr std::string_view kOdd =
    "n:3:3 [2] NCCL INFO NCCL_NVLS_ENABLE set by environment to 0x7ef2\n";

TEST(TornValues, WhatOneTornLogSaysAgainstOthersIsForgotten) {
  const std::string all = std::string(kAlike) + std::string(kOdd);
  EXPECT_EQ(left(logs_of(all, {3})), kAlike);
  // A whole log counts, and so does a torn one that is confirmed.
  EXPECT_EQ(left(logs_of(all, {})), all);
  EXPECT_EQ(left(logs_of(all, {1})), all);
}

TEST(TornValues, WhatNobodyContradictsStays) {
  const std::string one = "n:3:3 [2] NCCL INFO NCCL_P2P_DISABLE set by environment to 1\n";
  const std::string all = std::string(kAlike) + one;
  EXPECT_EQ(left(logs_of(all, {1, 2, 3})), all);
}

TEST(TornValues, WhatNobodySetsIsForgottenOfATornLog) {
  const std::string odd = "n:3:3 [2] NCCL INFO NCCL_BUFFSIZE set by environment to 3).\n";
  const std::string all = std::string(kAlike) + odd;
  EXPECT_EQ(left(logs_of(all, {3})), kAlike);
  EXPECT_EQ(left(logs_of(all, {})), all);
}

TEST(TornValues, ANetworkThatOnlyOneNamesIsForgottenWhereAnyLogIsTorn) {
  const std::string alike =
      "n:1:1 [0] NCCL INFO Using network Socket\n"
      "n:2:2 [1] NCCL INFO Using network Socket\n";
  const std::string odd = "n:3:3 [2] NCCL INFO Using network Sockedone\n";
  EXPECT_EQ(left(logs_of(alike + odd, {1})), alike);
  EXPECT_EQ(left(logs_of(alike + odd, {})), alike + odd);
}

}  // namespace
}  // namespace ncclog
