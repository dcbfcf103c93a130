// Law: what reports an error is never clean: known WARNs after which a call fails, in any prefix, and
// lines in words that nobody has listed.

#include <gtest/gtest.h>

#include <string>

#include "log/known_messages.h"
#include "support/launcher_wraps.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

constexpr Task kTask{3, 3, 4242};

bool is_told(const Rulebook& rulebook, const std::string& log) {
  const Verdict verdict = diagnose(rulebook, log).verdict;
  return verdict.status == VerdictStatus::Problem || verdict.status == VerdictStatus::Suspicious;
}

std::string warning_line(std::string_view message) {
  return "node07:41:42 [3] misc/source.cc:57 NCCL WARN " + std::string(message);
}

/// Calls `check(line)` for an example of every wording of a WARN after which a call fails.
template <typename Check>
void for_every_fatal_warning(Check check) {
  for (const Kind& kind : all_kinds()) {
    for (const Wording& wording : kind.wordings) {
      const Warning* warning = warning_of(wording);
      if (warning == nullptr || warning->severity != WarnSeverity::Fatal) continue;
      SCOPED_TRACE(std::string(kind.name) + ": " + std::string(wording.text));
      check(warning_line(wording.example));
    }
  }
}

TEST(Unexplained, AFatalWarningAloneIsNeverClean) {
  const Rulebook rulebook = load_rulebook();
  int lines = 0;
  for_every_fatal_warning([&](const std::string& line) {
    EXPECT_TRUE(is_told(rulebook, line)) << line;
    ++lines;
  });
  EXPECT_GT(lines, 400);
}

/// All wordings times all prefixes would take minutes, and prefixes are read before the wording: so
/// each wording meets some of the prefixes, and each prefix many wordings.
TEST(Unexplained, AFatalWarningInAnyPrefixIsNeverClean) {
  constexpr size_t kStep = 7;
  const Rulebook rulebook = load_rulebook();
  const auto wraps = all_wraps();
  size_t next = 0;
  for_every_fatal_warning([&](const std::string& line) {
    const Wrap& wrap = wraps[next % wraps.size()];
    next += kStep;
    const std::string text = wrapped(wrap, kTask, line);
    EXPECT_TRUE(is_told(rulebook, text)) << wrap.name << ": " << text;
  });
}

TEST(Unexplained, AnErrorInUnknownWordsIsNeverClean) {
  const char* const kLines[] = {
      "node07:41:42 [3] misc/source.cc:57 NCCL WARN The flux capacitor is at 87 mph",
      "node07:41:42 [3] ours_send:812 NCCL WARN NET/Ours : rail 3 went dark",
      "ncclRemoteError: something that nobody has listed",
      "RuntimeError: [ours] ncclSystemError in step 4",
      "srun: error: node7: task 9: Exited with exit code 134",
      "node4.cluster.example: rank 4 died from signal 6 and dumped core",
      "worker 3 exited with code 1",
      "[W] lookup of head-0 failed (gai error: -2 - Name or service not known)",
      "node07:41:42 [3] NCCL INFO init.cc:1309 -> 5",
      "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>",
      "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n"
      "ours.Oddity: no idea",
  };
  const Rulebook rulebook = load_rulebook();
  for (const Wrap& wrap : all_wraps()) {
    if (wrap.only_records) continue;
    for (const char* line : kLines) {
      std::string text;
      std::string_view rest = line;
      while (!rest.empty()) {
        const size_t end = std::min(rest.find('\n'), rest.size());
        text += wrapped(wrap, kTask, rest.substr(0, end)) + "\n";
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      EXPECT_TRUE(is_told(rulebook, text)) << wrap.name << ": " << text;
    }
  }
}

TEST(Unexplained, OrdinaryWordsAreNoError) {
  const char* const kLines[] = {
      "node07:41:42 [3] NCCL INFO Using network Socket\nworker 3 exited with code 0",
      "node07:41:42 [3] NCCL INFO Using network Socket\nsrun: job 4711 exited with exit code 0",
      "node07:41:42 [3] NCCL INFO Using network Socket\n"
      "    raise RuntimeError('ncclSystemError: see the log')",
  };
  const Rulebook rulebook = load_rulebook();
  for (const char* lines : kLines) EXPECT_FALSE(is_told(rulebook, lines)) << lines;
}

}  // namespace
}  // namespace ncclog::testing
