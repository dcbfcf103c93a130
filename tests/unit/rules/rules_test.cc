// Law: every rule of the project, and every example of the language's manual, proves itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "app/read/read_example.h"
#include "base/text.h"
#include "rules/check.h"
#include "rules/load_rules.h"
#include "rules/pattern.h"
#include "rules/rule_tools.h"
#include "support/paths.h"
#include "support/temp_dir.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

std::string failures_of(const RuleTest& test) {
  std::string out;
  for (const Error& failure : test.failures) {
    out += failure.where() + ": " + failure.what() + "\n";
  }
  return out;
}

TEST(Rules, EveryExampleDoesWhatItShould) {
  const Rulebook rulebook = load_rulebook_with_examples();
  const RuleTest test = test_rules(rulebook, false, read_example);
  EXPECT_EQ(failures_of(test), "");
  EXPECT_GT(test.examples, 2 * rulebook.rules.size() - 1);
}

TEST(Rules, TheEmbeddedOnesAreThoseOfTheSourceTree) {
  const std::filesystem::path root = source_dir() / "rules";
  std::vector<std::string> files = find_rule_files(root.string());
  ASSERT_EQ(embedded_rules().size(), files.size());
  for (const EmbeddedRule& file : embedded_rules()) {
    const std::string path = "rules/" + std::string(file.path);
    RuleFile source{path, read_yaml(read_file(source_dir() / path), path), false};
    if (!is_shared_names(source.root)) replace_shared_names(source, builtin_shared_names());
    std::string_view bytes = file.text;
    EXPECT_EQ(take_varint(bytes), rule_hash(source.root)) << path << " has changed since the build";
    if (const RuleNode* examples = source.root.find("examples")) {
      EXPECT_TRUE(read_compact(file.examples) == *examples)
          << path << " has changed since the build";
    }
    std::erase_if(source.root.entries, [](const auto& entry) { return entry.key == "examples"; });
    EXPECT_TRUE(read_compact(bytes) == source.root) << path << " has changed since the build";
  }
}

TEST(Rules, IdsAreUniqueAndNamedLikeTheirFiles) {
  std::set<std::string> ids;
  for (const std::string& file : find_rule_files((source_dir() / "rules").string())) {
    EXPECT_TRUE(ids.insert(std::filesystem::path(file).stem().string()).second) << file;
  }
}

TEST(Rules, SayWhyWhatToCheckAndWhatNotToDo) {
  for (const Rule& rule : load_rulebook().rules) {
    EXPECT_FALSE(rule.why.empty()) << rule.id;
    EXPECT_FALSE(rule.check.empty()) << rule.id;
    EXPECT_FALSE(rule.references.empty()) << rule.id;
    EXPECT_FALSE(rule.do_not.empty()) << rule.id;
    EXPECT_TRUE(rule.severity != Severity::Error || rule.role != Role::Cause || !rule.fix.empty())
        << rule.id;
  }
}

/// A bare prohibition teaches nobody: the reason stands behind a colon.
TEST(Rules, SayWhyNotToDoIt) {
  for (const Rule& rule : load_rulebook().rules) {
    for (const std::string& text : rule.do_not) {
      EXPECT_NE(text.find(": "), text.npos) << rule.id << ": " << text;
    }
  }
}

/// What may cure it is not forbidden in the same breath.
TEST(Rules, ForbidNothingThatTheyAskFor) {
  constexpr std::string_view kThings[] = {"interface", "plugin", "release", "time-out", "driver"};
  for (const Rule& rule : load_rulebook().rules) {
    const auto asks_for = [&](std::string_view thing) {
      return std::ranges::any_of(rule.fix, [&](const std::string& fix) {
        return lower_case(fix).find(thing) != std::string::npos;
      });
    };
    for (const std::string& text : rule.do_not) {
      const std::string forbidden = text.substr(0, text.find(": "));
      if (!forbidden.starts_with("Change ")) continue;
      for (const std::string_view thing : kThings) {
        EXPECT_FALSE(forbidden.find(thing) != std::string::npos && asks_for(thing))
            << rule.id << ": " << text;
      }
    }
  }
}

/// Nothing that is called a check changes the machine.
TEST(Rules, ChecksOnlyLook) {
  constexpr std::string_view kChanging[] = {"rm ",    "modprobe",    "mount -o", "kill ",
                                            "sudo",   "sysctl -w",   "insmod",   "rmmod",
                                            "reboot", "systemctl re"};
  for (const Rule& rule : load_rulebook().rules) {
    for (const std::string& check : rule.check) {
      for (const std::string_view word : kChanging) {
        EXPECT_FALSE(check.starts_with(word) || check.find("; " + std::string(word)) != check.npos)
            << rule.id << ": " << check;
      }
    }
  }
}

/// What can be pasted into a shell stands before what it shows.
TEST(Rules, ChecksThatAreCommandsSayWhatTheyShow) {
  const Rulebook rulebook = load_rulebook();
  std::vector<std::pair<std::string, Check>> checks;
  for (const Rule& rule : rulebook.rules) {
    for (Check& check : find_checks({.check = rule.check}))
      checks.emplace_back(rule.id, std::move(check));
  }
  const auto first_word = [](std::string_view text) { return text.substr(0, text.find(' ')); };
  std::set<std::string_view> commands;
  for (const auto& [id, check] : checks) {
    if (!check.run.empty()) commands.insert(first_word(check.run));
  }
  EXPECT_TRUE(commands.contains("ncclog"));
  for (const auto& [id, check] : checks) {
    EXPECT_FALSE(check.why.empty()) << id << ": " << check.run;
    if (check.run.empty()) {
      EXPECT_FALSE(commands.contains(first_word(check.why))) << id << ": " << check.why;
    }
    const bool is_open =
        check.run.find("...") != check.run.npos || check.run.find("…") != check.run.npos;
    EXPECT_FALSE(is_open || check.why.find("    #") != check.why.npos) << id << ": " << check.run;
  }
}

/// Lines are let go before any expression sees them, if they lack what it needs.
TEST(Rules, NoPatternIsTriedOnEveryLine) {
  for (const std::string& pattern : load_rulebook().line_patterns) {
    const std::vector<std::string> texts = required_texts(pattern);
    EXPECT_FALSE(texts.empty()) << pattern;
    for (const std::string& text : texts) EXPECT_GE(text.size(), 4u) << pattern << ": " << text;
  }
}

/// Lines of calls are most of many logs, and are known by their bytes where no pattern may match them.
TEST(Rules, NoPatternIsTriedOnCalls) {
  std::string calls;
  for (const char* op : {"AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "Send",
                         "Recv", "AlltoAll", "Gather", "Scatter"}) {
    calls += lower_case("n1:7:7 [0] NCCL INFO " + std::string(op) +
                        ": opCount 1f sendbuff 0x7f0a recvbuff 0x7f0b count 1024 datatype 7 op 0 "
                        "root 0 comm 0x55 [nranks=8] stream 0x77 task 0 globalrank 3\n");
  }
  for (const std::string& pattern : load_rulebook().line_patterns) {
    for (const std::string& text : required_texts(pattern)) {
      EXPECT_EQ(calls.find(lower_case(text)), calls.npos) << pattern << ": " << text;
    }
  }
}

/// True if `name` stands in `text` and is not the end of a longer name.
bool names(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    if (at == 0 || !is_word(text[at - 1])) return true;
  }
  return false;
}

/// Settings that forums recommend and that never existed, or that only hide a hang. Rules may warn
/// of them in `do_not`, and nowhere else.
TEST(Rules, RecommendNoMyth) {
  constexpr std::string_view kMyths[] = {
      "NCCL_TIMEOUT",         "TORCH_NCCL_TIMEOUT",     "NCCL_SHM_DIR",
      "NCCL_SOCKET_TIMEOUT",  "NCCL_COMM_TIMEOUT",      "NCCL_SHM_USE_CUDA_MEMORY",
      "NCCL_CONNECT_TIMEOUT", "NCCL_LAUNCH_TIMEOUT",    "NCCL_HEARTBEAT",
      "NCCL_WATCHDOG",        "ASYNC_ERROR_HANDLING=0", "TORCH_NCCL_ENABLE_MONITORING=0",
  };
  for (const Rule& rule : load_rulebook().rules) {
    std::vector<std::string> texts = rule.fix;
    texts.insert(texts.end(), rule.check.begin(), rule.check.end());
    texts.push_back(rule.why);
    for (const std::string& text : texts) {
      for (const std::string_view myth : kMyths) EXPECT_FALSE(names(text, myth)) << rule.id;
    }
  }
}

/// The yaml blocks of the manual as files in `dir`; how many of them are rules.
size_t write_manual_rules(const TempDir& dir) {
  const std::string manual = read_file(source_dir() / "rules" / "README.md");
  const std::string fence = "```yaml\n";
  size_t rules = 0;
  size_t others = 0;
  for (size_t at = manual.find(fence); at != manual.npos; at = manual.find(fence, at)) {
    at += fence.size();
    const std::string block = manual.substr(at, manual.find("```", at) - at);
    if (block.starts_with("id: ")) {
      const std::string id(trim(block.substr(4, block.find_first_of("#\n") - 4)));
      dir.add(id + ".yaml", block);
      ++rules;
    } else {
      dir.add("block-" + std::to_string(++others) + ".yaml", block);
    }
  }
  return rules;
}

TEST(Rules, TheManualsExamplesLoadAndDoWhatTheyShould) {
  const TempDir dir;
  const size_t count = write_manual_rules(dir);
  EXPECT_GE(count, 8u);
  const RuleTest test = test_rules(load_rulebook({dir.path().string()}), true, read_example);
  EXPECT_EQ(test.rules, count);
  EXPECT_EQ(failures_of(test), "");
}

}  // namespace
}  // namespace ncclog::testing
