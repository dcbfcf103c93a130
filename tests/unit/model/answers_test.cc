#include "model/answers.h"

#include <gtest/gtest.h>

#include <string>

namespace ncclog {
namespace {

struct Asked {
  mutable int times = 0;
  std::string name;
  Answers answers;
};

std::string greeting(const Asked& asked) {
  ++asked.times;
  return "hello " + asked.name;
}

size_t length(const Asked& asked) { return asked.answers.of<&greeting>(asked).size(); }

TEST(Answers, AreDerivedOnceAndKeptApartByFunction) {
  const Asked asked{.times = 0, .name = "node-a", .answers = {}};
  EXPECT_EQ(asked.answers.of<&greeting>(asked), "hello node-a");
  EXPECT_EQ(asked.answers.of<&length>(asked), 12u);
  EXPECT_EQ(&asked.answers.of<&greeting>(asked), &asked.answers.of<&greeting>(asked));
  EXPECT_EQ(asked.times, 1);
}

TEST(Answers, DoNotGoWithACopyThatMayBeChanged) {
  const Asked asked{.times = 0, .name = "node-a", .answers = {}};
  EXPECT_EQ(asked.answers.of<&greeting>(asked), "hello node-a");
  Asked copy = asked;
  copy.name = "node-b";
  EXPECT_EQ(copy.answers.of<&greeting>(copy), "hello node-b");
  Asked moved = std::move(copy);
  moved.name = "node-c";
  EXPECT_EQ(moved.answers.of<&greeting>(moved), "hello node-c");
  moved = asked;
  EXPECT_EQ(moved.answers.of<&greeting>(moved), "hello node-a");
}

}  // namespace
}  // namespace ncclog
