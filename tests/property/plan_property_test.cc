// Plans at random: what is written is read as it was, whatever is read never crashes, and a plan
// that was simulated from consistent programs is refused by nobody.

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>

#include "base/collectives.h"
#include "base/error.h"
#include "replay/plan/plan.h"
#include "replay/plan/plan_json.h"
#include "support/sample_plan.h"

namespace ncclog {
namespace {

using Random = std::mt19937;

int pick(Random& random, int below) { return static_cast<int>(random() % below); }

template <typename T>
void fill(Random& random, T& value);

std::string text_of(Random& random) {
  constexpr const char* kPieces[] = {"a", "\"", "\\", "\n", "é", "漢", "\x01", "/", " ", "7"};
  std::string text;
  for (int i = pick(random, 6); i > 0; --i) text += kPieces[random() % std::size(kPieces)];
  return text;
}

template <typename T>
void fill(Random& random, T& value) {
  if constexpr (std::same_as<T, bool>) {
    value = random() % 2 == 0;
  } else if constexpr (std::integral<T>) {
    constexpr T kOdd[] = {T(0), T(-1), std::numeric_limits<T>::max(),
                          std::numeric_limits<T>::min()};
    value = random() % 2 == 0 ? T(random() % 100) : kOdd[random() % std::size(kOdd)];
  } else if constexpr (std::same_as<T, std::string>) {
    value = text_of(random);
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(pick(random, static_cast<int>(words_of_enum<T>().size())));
  } else if constexpr (is_optional<T>) {
    if (random() % 2 == 0) fill(random, value.emplace());
  } else if constexpr (is_vector<T>) {
    for (int i = pick(random, 4); i > 0; --i) fill(random, value.emplace_back());
  } else {
    // Each field gets a value at random, some of them odd.
    each_field<T>(value, [&](std::string_view key, auto& member, const auto&) {
      using Member = std::remove_cvref_t<decltype(member)>;
      const Words* words = words_for(FieldsOf<T>(), key);
      if constexpr (std::same_as<Member, int>) {
        if (words != nullptr) return void(member = pick(random, words->count));
      }
      if constexpr (std::same_as<Member, std::string>) {
        if (words != nullptr) return void(member = words->name(pick(random, words->count)));
      }
      fill(random, member);
    });
  }
}

TEST(PlanProperty, WhatIsWrittenIsReadAsItWas) {
  Random random(8);
  for (int i = 0; i < 300; ++i) {
    ReplayPlan plan;
    fill(random, plan);
    const std::string text = write_plan(plan);
    ASSERT_EQ(parse_plan(text, "plan"), plan) << text;
    ASSERT_EQ(write_plan(parse_plan(text, "plan")), text);
  }
}

TEST(PlanProperty, AnyPlanIsJudged) {
  Random random(9);
  for (int i = 0; i < 300; ++i) {
    ReplayPlan plan;
    fill(random, plan);
    ASSERT_TRUE(is_refused(check_plan(plan))) << write_plan(plan);
  }
}

TEST(PlanProperty, SpoiltTextIsReadOrRefused) {
  Random random(10);
  const std::string good = write_plan(testing::sample_plan());
  int read = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string text = good;
    for (int n = 1 + pick(random, 3); n > 0; --n) {
      text[random() % text.size()] = static_cast<char>(random() % 3 == 0 ? random() : good[n]);
    }
    if (random() % 4 == 0) text.resize(random() % text.size());
    try {
      check_plan(parse_plan(text, "plan"));
      ++read;
    } catch (const Error& error) {
      ASSERT_EQ(error.where().find("plan"), 0U) << error.where();
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_LT(read, 1500);
}

/// Programs that were made by letting ranks meet: whatever they are, the run ends.
ReplayPlan lived_plan(Random& random) {
  ReplayPlan plan;
  plan.ranks.resize(static_cast<size_t>(2 + pick(random, 5)));
  const int nranks = static_cast<int>(plan.ranks.size());
  for (int c = 0; c < 3; ++c) {
    PlannedCommunicator& communicator = plan.communicators.emplace_back();
    for (int r = 0; r < nranks; ++r) {
      if (c == 0 || random() % 2 == 0) communicator.ranks.push_back(r);
    }
    if (communicator.ranks.size() < 2) communicator.ranks = {0, 1};
    std::shuffle(communicator.ranks.begin(), communicator.ranks.end(), random);
  }
  for (int i = 5 + pick(random, 40); i > 0; --i) {
    PlannedCall call;
    call.communicator = pick(random, 3);
    const auto& ranks = plan.communicators[static_cast<size_t>(call.communicator)].ranks;
    call.count = pick(random, 1000);
    call.datatype = pick(random, 12);
    const int size = static_cast<int>(ranks.size());
    if (random() % 2 == 0) {
      call.op = kOperations[1 + random() % 8].name;  // A collective.
      if (has_root(call.op)) call.root = pick(random, size);
      for (const int rank : ranks) {
        call.stream = pick(random, 2);
        plan.ranks[static_cast<size_t>(rank)].calls.push_back(call);
      }
      continue;
    }
    const int from = pick(random, size);
    const int to = (from + 1 + pick(random, size - 1)) % size;
    call.op = "Send";
    call.root = to;
    plan.ranks[static_cast<size_t>(ranks[static_cast<size_t>(from)])].calls.push_back(call);
    call.op = "Recv";
    call.root = from;
    plan.ranks[static_cast<size_t>(ranks[static_cast<size_t>(to)])].calls.push_back(call);
  }
  return plan;
}

TEST(PlanProperty, WhatCouldHaveHappenedIsNotRefused) {
  Random random(11);
  for (int i = 0; i < 300; ++i) {
    const ReplayPlan plan = lived_plan(random);
    for (const PlanComplaint& complaint : check_plan(plan)) {
      ASSERT_FALSE(complaint.is_refusal) << complaint.where << ": " << complaint.what << "\n"
                                         << write_plan(plan);
      ASSERT_EQ(complaint.what.find("buffers messages"), std::string::npos) << complaint.what;
    }
  }
}

}  // namespace
}  // namespace ncclog
