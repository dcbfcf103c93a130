#include "base/posix.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "support/temp_dir.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;
using testing::TempDir;

bool is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

TEST(Descriptor, IsClosedOnceByItsLastOwner) {
  int number = -1;
  {
    Descriptor first(open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = first.get();
    Descriptor second(std::move(first));
    first = Descriptor();
    EXPECT_TRUE(second.is_open());
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
  EXPECT_TRUE(Descriptor().close());
  EXPECT_FALSE(Descriptor(number).close());
}

TEST(TemporaryFolder, IsTheOwnersAndGoesWithAllThatLiesInItUnlessItIsKept) {
  const TempDir above;
  const Error refusal("no");
  fs::path gone;
  fs::path kept;
  {
    const TemporaryFolder folder(above.path() / "a-", refusal);
    gone = folder.path();
    EXPECT_EQ(fs::status(gone).permissions(), fs::perms::owner_all);
    fs::create_directories(gone / "b" / "c");
    TemporaryFolder other(above.path() / "a-", refusal);
    other.keep();
    kept = other.path();
  }
  EXPECT_FALSE(fs::exists(gone));
  EXPECT_TRUE(fs::exists(kept));
  EXPECT_THROW(TemporaryFolder(above.path() / "not-there" / "a-", refusal), Error);
}

TEST(ReadWholeFile, TakesAllBytesOrNone) {
  const TempDir folder;
  std::string text(100'000, 'x');
  text += std::string("\0\n", 2);
  EXPECT_EQ(read_whole_file(folder.add("a", text)), text);
  EXPECT_EQ(read_whole_file(folder.add("empty", "")), "");
  EXPECT_EQ(read_whole_file(folder.path()), std::nullopt);
  EXPECT_EQ(read_whole_file(folder.path() / "none"), std::nullopt);
  EXPECT_THROW(read_file(folder.path() / "none"), Error);
}

/// What it prints before it ends.
std::string output_of(NewProcess start, int& status) {
  Pipe pipe("test");
  start.output = pipe.write.get();
  const pid_t pid = start_process(start);
  pipe.write.close();
  std::string output;
  char block[256];
  for (ssize_t count = 1; count > 0;) {
    count = read(pipe.read.get(), block, sizeof(block));
    if (count > 0) output.append(block, static_cast<size_t>(count));
  }
  if (waitpid(pid, &status, 0) != pid) status = -1;
  return output;
}

TEST(StartProcess, GivesItTheStreamsAndVariablesThatAreAskedFor) {
  int status = 0;
  EXPECT_EQ(output_of({.arguments = {"sh", "-c", "cat; echo \"$A $0 $1\"; exit 3", "zero", "one"},
                       .environment = {"A=b c", "PATH=/usr/bin:/bin"}},
                      status),
            "b c zero one\n");
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(output_of({.arguments = {"other name", "-c", "echo $0"}, .program = "/bin/sh"}, status),
            "other name\n");
}

TEST(StartProcess, PassesOnOneDescriptorBesidesTheStreams) {
  Pipe given("test");
  ASSERT_EQ(write(given.write.get(), "x\n", 2), 2);
  given.write.close();
  const std::string line = "cat <&" + std::to_string(given.read.get());
  int status = 0;
  EXPECT_EQ(output_of({.arguments = {"bash", "-c", line}, .inherited = given.read.get()}, status),
            "x\n");
  EXPECT_EQ(output_of({.arguments = {"bash", "-c", line + " 2>/dev/null"}}, status), "");
  EXPECT_NE(WEXITSTATUS(status), 0);
}

TEST(StartProcess, SaysWhyAProgramCannotBeStarted) {
  EXPECT_EQ(start_process({.arguments = {"/not/there"}}), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(start_process({.arguments = {"/tmp"}}), -1);
  EXPECT_EQ(errno, EACCES);
}

TEST(StartProcess, SignalsReachItAsIfNothingStoodAroundIt) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  int status = 0;
  output_of({.arguments = {"sh", "-c", "kill -PIPE $$"}}, status);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
  std::signal(SIGPIPE, before);
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGTERM);
  output_of({.arguments = {"sh", "-c", "kill -TERM $$; exit 4"}, .held = held}, status);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 4);
}

TEST(StartProcess, EndsWithTheProcessThatStartedItWhereThatIsAskedFor) {
  Pipe alive("test");
  const pid_t middle = fork();
  if (middle == 0) {
    const pid_t last = start_process({.arguments = {"sleep", "1000"},
                                      .output = alive.write.get(),
                                      .leads_group = true,
                                      .end_with_us = SIGKILL});
    _exit(last > 0 && getpgid(last) == last ? 0 : 1);
  }
  alive.write.close();
  int status = 0;
  ASSERT_EQ(waitpid(middle, &status, 0), middle);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  char none = 0;
  EXPECT_EQ(read(alive.read.get(), &none, 1), 0);  // Nobody has the other end any more.
}

}  // namespace
}  // namespace ncclog
