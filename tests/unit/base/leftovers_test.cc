// What is gone where a signal ends a process, and what stays?

#include "base/leftovers.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <functional>

#include "support/temp_dir.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

class Leftovers : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return dir_.path() / name; }

  /// Runs `work` in a process of its own, which the signal is to end.
  static void expect_ended_by(int signal, const std::function<void()>& work) {
    EXPECT_EXIT(
        {
          std::signal(signal, SIG_DFL);
          remove_leftovers_at_signals();
          work();
          _exit(1);
        },
        ::testing::KilledBySignal(signal), "");
  }

  testing::TempDir dir_;
};

TEST_F(Leftovers, FilesAndFoldersGoWithTheProcess) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    dir_.add("file", "x");
    dir_.add("kept", "x");
    for (int i = 0; i < 200; ++i) dir_.add("folder/a/" + std::to_string(i) + "/log", "x");
    fs::create_directory_symlink(at("kept-folder"), at("folder/link"));
    dir_.add("kept-folder/log", "x");
    expect_ended_by(signal, [&] {
      const Leftover file(at("file"));
      const Leftover folder(at("folder"));
      Leftover given_up(at("kept"));
      given_up = {};
      raise(signal);
    });
    EXPECT_FALSE(fs::exists(at("file")));
    EXPECT_FALSE(fs::exists(at("folder")));
    EXPECT_TRUE(fs::exists(at("kept")));
    EXPECT_TRUE(fs::exists(at("kept-folder/log"))) << "links are not followed";
  }
}

TEST_F(Leftovers, AreFoundFromAnotherWorkingDirectory) {
  dir_.add("file", "x");
  dir_.add("folder/file", "x");
  expect_ended_by(SIGTERM, [&] {
    fs::current_path(dir_.path());
    const Leftover file("file");
    fs::current_path(at("folder"));
    raise(SIGTERM);
  });
  EXPECT_FALSE(fs::exists(at("file")));
  EXPECT_TRUE(fs::exists(at("folder/file")));
}

TEST_F(Leftovers, AStepThatIsHeldBackIsDoneFirst) {
  expect_ended_by(SIGINT, [&] {
    {
      const HeldBack signals;
      raise(SIGINT);
      dir_.add("done", "x");
    }
    dir_.add("too late", "x");
  });
  EXPECT_TRUE(fs::exists(at("done")));
  EXPECT_FALSE(fs::exists(at("too late")));
}

TEST_F(Leftovers, AnIgnoredSignalEndsNothing) {
  dir_.add("file", "x");
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        remove_leftovers_at_signals();
        const Leftover file(at("file"));
        raise(SIGHUP);
        _exit(fs::exists(at("file")) ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ncclog
