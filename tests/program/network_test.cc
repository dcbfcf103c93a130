// No command reaches a network: what it asks of the kernel is traced, and no socket is among it.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

/// One way to call each command. `{logs}` is a job that hung, `{out}` an empty folder.
/// `cluster` itself is left out: it starts Slurm's programs, whose business is the network.
constexpr std::string_view kCalls[] = {
    "analyze {logs} --with-host",
    "analyze {logs} --html {out}/page.html --md {out}/page.md --json {out}/page.json",
    "demo",
    "report {logs} --bundle {out}/bundle.tar.gz",
    "report {logs} --for nccl",
    "perf {samples}/bench-coll/logs",
    "count {logs}",
    "scan {logs} -o {out}/part",
    "diff {samples}/healthy/logs {logs}",
    "show ranks {logs}",
    "export {logs} --format sqlite -o {out}/tables.sqlite",
    "env check",
    "doctor",
    "run --logs {out}/run -- true",
    "explain mismatched-collectives {logs}",
    "replay plan {logs} -o {out}/plan.json",
    "replay run {out}/plan.json --yes --out {out}/replay",
    "mcp",
    "rules list",
    "rules check {source}/rules",
    "messages list",
    "expect list",
    "help logging",
    "man analyze",
    "completion bash"};

std::string filled_in(std::string_view word, const TempDir& out) {
  const std::pair<std::string_view, std::string> kHoles[] = {
      {"{logs}", sample_logs("timeout-rank-skips").string()},
      {"{samples}", (source_dir() / "sample_logs").string()},
      {"{source}", source_dir().string()},
      {"{out}", out.path().string()}};
  std::string text(word);
  for (const auto& [hole, value] : kHoles) {
    if (const size_t at = text.find(hole); at != text.npos) text.replace(at, hole.size(), value);
  }
  return text;
}

/// Sockets of the kind that a network needs. One to the kernel itself, which lists this host's
/// addresses, reaches nobody; neither does one to a program of this host by its name.
std::string network_calls(std::string_view trace) {
  std::string found;
  for (const std::string_view line : split(trace, '\n')) {
    const size_t socket = line.find(" socket(");
    const size_t address = line.find("sa_family=AF_INET");
    if (line.find("AF_NETLINK") != line.npos) continue;
    const bool reaches_out = socket != line.npos && line.find("AF_UNIX") == line.npos;
    if (reaches_out || address != line.npos) found += std::string(line) + "\n";
  }
  return found;
}

TEST(Manners, NoCommandReachesTheNetwork) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer's own calls would be traced";
  const TempDir out;
  const std::string trace_file = (out.path() / "trace").string();
  const std::vector<std::string> strace = {"strace", "-f",      "-e", "trace=network,execve",
                                           "-o",     trace_file};
  std::set<std::string, std::less<>> called;
  for (const std::string_view call : kCalls) {
    std::vector<std::string> words = strace;
    words.push_back(ncclog_binary().string());
    for (const std::string_view word : split(call, ' ')) words.push_back(filled_in(word, out));
    called.emplace(call.substr(0, call.find(' ')));
    const Outcome outcome = run_command({.arguments = words});
    if (outcome.exit_code > 3) GTEST_SKIP() << "strace is not installed, or may not trace";
    const std::string trace = read_file(trace_file);
    ASSERT_NE(trace.find("execve("), trace.npos) << call;
    EXPECT_EQ(outcome.standard_error.find("usage:"), std::string::npos) << call << "\n"
                                                                        << outcome.standard_error;
    EXPECT_EQ(network_calls(trace), "") << call;
  }
  const std::string table = read_file(source_dir() / "src/app/commands.table");
  for (const std::string_view line : split(table, '\n')) {
    const std::string_view command = line.substr(0, line.find(' '));
    if (command.empty() || command == "#" || command == "cluster") continue;
    EXPECT_TRUE(called.contains(command)) << command;
  }
}

TEST(Manners, AConnectionWouldBeSeen) {
  EXPECT_EQ(network_calls("7 execve(\"/bin/ncclog\") = 0\n7 socket(AF_NETLINK, SOCK_RAW, 0) = 3\n"),
            "");
  EXPECT_NE(network_calls("7 socket(AF_INET, SOCK_STREAM, 0) = 3\n"), "");
  EXPECT_NE(network_calls("7 connect(3, {sa_family=AF_INET6, sin6_port=htons(53)}, 28) = 0\n"), "");
}

}  // namespace
}  // namespace ncclog::testing
