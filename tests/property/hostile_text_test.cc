// Law: whatever a log, a file's name or a rule's message holds, a report shows it and is not
// changed by it. Held for every format of report_kinds() and every table of `show`, with hostile
// words in every place of a log that a program or a person may name.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "base/error.h"
#include "base/text.h"
#include "report/document/document.h"
#include "report/report.h"
#include "report/tables/tables.h"
#include "report/text_layout.h"
#include "support/markdown_check.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using namespace std::string_literals;
using testing::check_markdown;
using testing::find_hidden_character;

const std::vector<std::string>& hostile_words() {
  static const std::vector<std::string> words = {
      "<script>alert(1)</script>",
      "<img/src=x/onerror=alert(1)>",
      "</details></pre></style><svg/onload=alert(1)>",
      "a|b||c\\|d",
      "`x`y``z```",
      "````",
      "]]>&lt;!--<![CDATA[",
      "@everyone",
      "@ops:#12/GH-3",
      "x#1&#60;",
      "[a](javascript:alert(1))",
      "http://evil.example/?q=\"'",
      "**b**_i_~~s~~$m$",
      ":tada:",
      "\u202eesrever\u202c",
      "zero\u200bwidth\ufeff",
      "\x1b[31mred\x1b]0;title\a",
      "nul\0byte"s,
      "bad\xff\xfe\xc3",
      "\xc2\x9b\x33\x31m",
      std::string(100'000, 'W'),
      std::string(3'000, '<') + "`|@",
  };
  return words;
}

/// What a process prints that hangs and fails, with the word wherever one can be.
std::string hostile_log(const std::string& host, const std::string& word, size_t rank,
                        size_t nranks) {
  const std::string head = fmt::format("{}:{}:{} [{}] ", host, 40 + rank, 50 + rank, rank % 8);
  std::string log;
  for (const std::string& text :
       {"NCCL version 2.28.9+cuda" + word, "NCCL_DEBUG_FILE set by environment to " + word,
        fmt::format("Bootstrap : Using {}:10.0.0.1<0>", word), "Using network " + word,
        fmt::format("NET/Plugin: Loaded net plugin {} (v9)", word),
        fmt::format("NET/IB : Using [0]{0}:1/RoCE [RO]; OOB {0}:10.0.0.1<0>", word),
        fmt::format(
            "ncclCommInitRank comm 0x{:x} rank {} nranks {} cudaDev {} nvmlDev 0 busId 1000 "
            "commId 0x77 - Init START",
            rank + 1, rank, nranks, rank % 8),
        fmt::format("Channel 00/0 : {}[0] -> {}[0] [send] via NET/{}/0", rank, (rank + 1) % nranks,
                    word),
        fmt::format("{}: opCount 0 sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 op 0 root 0 "
                    "comm 0x{:x} [nranks={}] stream 0x5",
                    rank == 2 ? word : "AllReduce", rank + 1, nranks),
        "no such line " + word}) {
    log += head + "NCCL INFO " + text + "\n";
  }
  log += head + "misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-" + word +
         " to 33030528 bytes, error: No space left on device (28)\n";
  log += head + "misc/socket.cc:57 NCCL WARN " + word + "\n";
  log += fmt::format(
      "[rank{0}]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank {0}] [PG {1}] Watchdog "
      "caught collective operation timeout: WorkNCCL(SeqNum=3, OpType={1}, NumelIn=8, NumelOut=8, "
      "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n",
      rank, word);
  return log + "RuntimeError: " + word + "\nexport NCCL_IB_HCA=" + word + "\n";
}

/// A name that a file can have.
std::string file_name(std::string word) {
  std::replace(word.begin(), word.end(), '/', '_');
  std::replace(word.begin(), word.end(), '\0', '_');
  return "f" + word.substr(0, 200);
}

/// Each process writes a file of its own, one word a rank; of one more rank there is no file.
/// Without `hosts`, the words are names of hosts, too.
void add_logs(const testing::TempDir& folder, const std::vector<std::string>& words, bool hosts) {
  const size_t nranks = words.size() + 1;
  for (size_t rank = 0; rank < words.size(); ++rank) {
    const std::string& word = words[rank];
    folder.add(fmt::format("{}/{}", rank, file_name(word)),
               hostile_log(hosts ? "node1" : word, word, rank, nranks));
  }
}

/// What a format's output may not hold.
std::string complaints_about(const ReportKind& kind, const std::string& out) {
  if (kind.name == "json") {
    return nlohmann::json::accept(out) ? std::string() : "no JSON";
  }
  if (kind.name == "markdown") {
    if (out.size() >= kMaxMarkdown) return "too long";
    return join(check_markdown(out), "\n");
  }
  for (const std::string_view raw : {"<script>alert", "<img/src", "<svg/onload", "<![CDATA["}) {
    if (kind.name == "html" && out.find(raw) != out.npos) return "raw " + std::string(raw);
  }
  return find_hidden_character(out);
}

std::string run(std::vector<std::string> words, Console console) {
  run_command_line(std::move(words), console);
  return std::move(console.out);
}

TEST(HostileTextProperty, StaysInertInEveryFormat) {
  size_t judged = 0;  // Some words make lines look torn, and then nothing is said about the job.
  for (const std::string& word : hostile_words()) {
    for (const bool hosts : {true, false}) {
      const testing::TempDir folder;
      const testing::TempDir reports;
      add_logs(folder, {word, word, word}, hosts);
      std::vector<std::string> command = {"analyze", folder.path().string()};
      for (const ReportKind& kind : report_kinds()) {
        command.push_back(fmt::format("--{}", kind.flag));
        command.push_back((reports.path() / kind.flag).string());
      }
      run(command, {});
      for (const ReportKind& kind : report_kinds()) {
        const std::string out = testing::read_file(reports.path() / kind.flag);
        if (hosts && out.find("node1") != out.npos) ++judged;
        EXPECT_EQ(complaints_about(kind, out), "")
            << kind.name << " with " << printable(word).substr(0, 100) << "\n"
            << out.substr(0, 20'000);
      }
    }
  }
  EXPECT_GT(judged, hostile_words().size() * report_kinds().size() / 2);
}

/// A terminal of 80 columns that wants no colour.
Console narrow_terminal() {
  return {.out = {}, .is_terminal = true, .columns = 80, .no_color = true};
}

TEST(HostileTextProperty, StaysInTheColumnsOfATerminal) {
  const testing::TempDir folder;
  add_logs(folder, hostile_words(), /*hosts=*/true);
  const std::string logs = folder.path().string();
  std::vector<std::vector<std::string>> commands = {
      {"count", logs}, {"rules", "list"}, {"rules", "show", "shm-no-space"}};
  for (const TableKind& kind : table_kinds()) {
    commands.push_back({"show", std::string(kind.name), logs});
  }
  for (const auto& command : commands) {
    const std::string out = run(command, narrow_terminal());
    EXPECT_EQ(find_hidden_character(out), "") << join(command, " ");
    for (const std::string_view line : split(out, '\n')) {
      EXPECT_LE(display_width(line), 80) << join(command, " ") << "\n" << line.substr(0, 500);
    }
  }
}

TEST(HostileTextProperty, StaysInertInWhatIsSaidOnStandardError) {
  for (const std::string& word : hostile_words()) {
    if (word.find('\0') != word.npos) continue;
    try {
      run({"analyze", "/nowhere/" + word}, {});
      ADD_FAILURE() << "no such file, and no mistake";
    } catch (const Error& error) {
      const std::string text = error_text(error.where(), error.what(), error.hint());
      EXPECT_EQ(find_hidden_character(text), "") << text.substr(0, 500);
    }
  }
}

}  // namespace
}  // namespace ncclog
