// A rank without a GPU: says what a rank says, and misbehaves on command.
//
//   FAKE_RANK="1@defect:hang:completion" fake_rank rank {"mode":"defect","rank":1,"gpu":0} plan.json
//
// The variable holds rows RANK[@MODE]:WHAT:PHASE[:NUMBER] between blanks. What a row does:
//
//   hang      stops there until it is told to abort         deaf      … and does not listen
//   stubborn  … and ignores SIGTERM                         die       ends by signal NUMBER
//   exit      ends with status NUMBER                       error     says an error, then hangs
//   garbage   sends what is no message                      flood     sends without end, deaf
//   endless   sends a line without an end                   early     says a phase that is not due
//   child     leaves a child that holds its connection      orphan    … in a session of its own
//   segment   leaves shared memory in FAKE_SHARED_MEMORY    wrong     reports NUMBER wrong elements
//   enter     enters NUMBER calls and completes one less, then hangs (PHASE is completion)
//   probe     of `probe GPU`: that GPU does not answer (PHASE is ignored)
//
// Who hangs or is stubborn says so by a byte into the pipe FAKE_READY, if there is one, and keeps it
// open until it ends.
//
// A corruption that its command names is found.

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "replay/plan/plan_json.h"
#include "replay/run/gpus.h"
#include "replay/run/processes.h"
#include "replay/run/protocol.h"
#include "support/paths.h"

namespace ncclog::testing {
namespace {

struct Misdeed {
  std::string what;
  std::string phase;
  int number = 0;
};

/// The rows of the variable that are meant for this rank in this mode.
std::vector<Misdeed> misdeeds_of(int rank, std::string_view mode) {
  const char* text = std::getenv("FAKE_RANK");
  std::vector<Misdeed> rows;
  for (std::string_view row : split_blanks(text == nullptr ? "" : text)) {
    const auto parts = split(row, ':');
    const auto who = split(parts[0], '@');
    if (parse_int(who[0]) != rank || (who.size() > 1 && who[1] != mode) || parts.size() < 3)
      continue;
    const auto number = parts.size() > 3 ? parse_int(parts[3]) : std::nullopt;
    rows.push_back(
        {std::string(parts[1]), std::string(parts[2]), static_cast<int>(number.value_or(0))});
  }
  return rows;
}

[[noreturn]] void sleep_for_ever() {
  while (true) pause();
}

class FakeRank {
 public:
  FakeRank(const ReplayPlan& plan, const RankCommand& command)
      : calls_(calls_in(plan.ranks[command.rank], command.mode).size()),
        command_(command),
        misdeeds_(misdeeds_of(command.rank, to_string(command.mode))),
        connection_(std::stoi(std::getenv(kChannelVariable))) {}

  int live() {
    misbehave("start");
    say({.at = ReplayPhase::Start, .nccl_version = "2.28.9"});
    await("init");
    misbehave("init");
    say({.at = ReplayPhase::Enqueue, .init_seconds = 0.25});
    await("enqueue");
    misbehave("enqueue");
    say({.at = ReplayPhase::Completion, .entered = calls_, .completed = 0, .open = open_calls()});
    misbehave("completion");
    say({.at = ReplayPhase::Teardown,
         .entered = calls_,
         .completed = calls_,
         .verified = verification()});
    await("teardown");
    misbehave("teardown");
    say({.at = ReplayPhase::Done, .entered = calls_, .completed = calls_});
    misbehave("done");
    return 0;
  }

 private:
  std::vector<uint64_t> open_calls() const {
    std::vector<uint64_t> open;
    for (uint64_t call = 0; call < calls_ && call < 64; ++call) open.push_back(call);
    return open;
  }

  Verification verification() const {
    Verification verified{.calls = calls_, .elements = 1024 * calls_};
    for (const Misdeed& misdeed : misdeeds_) {
      if (misdeed.what != "wrong") continue;
      verified.wrong = static_cast<uint64_t>(misdeed.number);
      verified.first = WrongElement{1, 7, "3", "4"};
    }
    if (command_.corrupt && command_.corrupt->rank == command_.rank) {
      ++verified.wrong;
      verified.first = WrongElement{command_.corrupt->call, command_.corrupt->element, "3", "4"};
    }
    return verified;
  }

  void say(const RankMessage& message) { send_all(write_line(message)); }

  void send_all(std::string_view bytes) {
    connection_.send(bytes);
    while (connection_.has_unsent()) {
      pollfd polled{connection_.descriptor(), POLLOUT, 0};
      poll(&polled, 1, -1);
      connection_.flush();
    }
  }

  /// Returns when the order to enter `phase` came; ends the process on "abort" and on silence.
  void await(std::string_view phase) {
    while (true) {
      while (auto line = connection_.next_line()) {
        const auto order = parse_line<RunOrder>(*line);
        if (!order || order->kind == RunOrder::Kind::Abort) obey();
        if (to_string(order->phase) == phase) return;
      }
      if (!connection_.is_open()) obey();
      pollfd polled{connection_.descriptor(), POLLIN, 0};
      poll(&polled, 1, -1);
      connection_.receive();
    }
  }

  [[noreturn]] void obey() {
    if (connection_.is_open()) say({.kind = RankMessage::Kind::Aborted});
    std::_Exit(static_cast<int>(RankExit::Aborted));
  }

  void misbehave(std::string_view phase) {
    for (const Misdeed& misdeed : misdeeds_) {
      if (misdeed.phase == phase) commit(misdeed);
    }
  }

  void commit(const Misdeed& misdeed) {
    const std::string& what = misdeed.what;
    if (what == "stubborn") signal(SIGTERM, SIG_IGN);
    if (what == "hang" || what == "stubborn") tell_ready();
    if (what == "hang") await("never");
    if (what == "deaf" || what == "stubborn") sleep_for_ever();
    if (what == "die") die(misdeed.number);
    if (what == "exit") std::cerr << "fake: cannot go on\n", std::_Exit(misdeed.number);
    if (what == "error") {
      say({.kind = RankMessage::Kind::Error, .error = "ncclAllReduce on communicator 0: fake"});
      await("never");
    }
    if (what == "garbage") send_all("\xff no message\n"), await("never");
    if (what == "endless") send_all(std::string(Connection::kLongestLine + 2, 'x')), await("never");
    if (what == "early") say({.at = ReplayPhase::Done}), await("never");
    if (what == "flood") flood();
    if (what == "child" || what == "orphan") leave_child(what == "orphan");
    if (what == "segment") leave_segment(misdeed.number);
    if (what == "enter") enter(static_cast<uint64_t>(misdeed.number));
  }

  static void tell_ready() {
    const char* pipe = std::getenv("FAKE_READY");
    if (pipe == nullptr) return;
    if (write(open(pipe, O_WRONLY | O_CLOEXEC), "!", 1) != 1) std::_Exit(9);
  }

  [[noreturn]] static void die(int number) {
    signal(number, SIG_DFL);
    raise(number);
    sleep_for_ever();
  }

  [[noreturn]] void flood() {
    while (true) {
      say({.kind = RankMessage::Kind::Progress, .entered = 1, .completed = 0, .open = {0}});
    }
  }

  static void leave_child(bool in_new_session) {
    if (fork() != 0) return;
    if (in_new_session) setsid();
    sleep_for_ever();
  }

  /// Mapped, as NCCL has it, until this process ends.
  static void leave_segment(int number) {
    const char* folder = std::getenv("FAKE_SHARED_MEMORY");
    if (folder == nullptr) std::_Exit(9);
    const std::string path = std::string(folder) + "/nccl-fake" + std::to_string(number);
    const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0) std::_Exit(9);
    const void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) std::_Exit(9);
    close(file);
  }

  void enter(uint64_t calls) {
    RankMessage progress{.kind = RankMessage::Kind::Progress, .entered = calls};
    progress.completed = calls == 0 ? 0 : calls - 1;
    if (calls > 0) progress.open = {calls - 1};
    say(progress);
    await("never");
  }

  uint64_t calls_;
  RankCommand command_;
  std::vector<Misdeed> misdeeds_;
  Connection connection_;
};

int probe(int gpu) {
  GpuCheck check{.gpu = gpu, .answers = true, .free_after = int64_t{80} << 30};
  for (const Misdeed& misdeed : misdeeds_of(gpu, "clean")) {
    if (misdeed.what == "probe") check.answers = false, check.error = "fake: it fell off the bus";
    if (misdeed.what == "probe-hang") sleep_for_ever();
  }
  std::cout << write_line(check);
  return 0;
}

int live(const std::vector<std::string>& words) {
  if (words.size() > 1 && words[0] == "probe") return probe(std::stoi(words[1]));
  const RankCommand command = parse_command(words.at(1)).value();
  const ReplayPlan plan = parse_plan(read_file(words.at(2)), words.at(2));
  return FakeRank(plan, command).live();
}

}  // namespace
}  // namespace ncclog::testing

int main(int argc, char** argv) {
  try {
    return ncclog::testing::live(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::cerr << "fake_rank: " << error.what() << "\n";
    return 2;
  }
}
