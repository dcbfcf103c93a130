#include "input/find_inputs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;
using testing::TempDir;
using Paths = std::vector<std::string>;

/// What is found below a folder, as names relative to it.
class FindInputs : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return dir_.path() / name; }

  Paths found(const Paths& names) const {
    Paths arguments;
    for (const std::string& name : names) arguments.push_back(name == "-" ? name : at(name));
    Paths paths = find_inputs(arguments);
    for (std::string& path : paths) {
      if (path != "-") path = path.substr(dir_.path().native().size() + 1);
    }
    return paths;
  }

  std::string error_for(const Paths& names) const {
    try {
      found(names);
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), at(names.front()));
      EXPECT_NE(error.hint(), "");
      return error.what();
    }
    return "no error";
  }

  TempDir dir_;
};

TEST_F(FindInputs, EntersTheFolderOfAReplayOnlyWhereItIsNamed) {
  dir_.add("logs/nccl.log", "x");
  dir_.add("logs/replay/outcome.json", "{\n  \"schema\": \"ncclog.replay-outcome/1\",\n");
  dir_.add("logs/replay/run-1-clean/nccl.log", "x");
  dir_.add("logs/other/outcome.json", "{\n  \"schema\": \"theirs\",\n");
  dir_.add("logs/other/nccl.log", "x");
  EXPECT_EQ(found({"logs"}), (Paths{"logs/nccl.log", "logs/other/nccl.log",
                                    "logs/other/outcome.json", "logs/replay/outcome.json"}));
  EXPECT_EQ(found({"logs/replay"}),
            (Paths{"logs/replay/outcome.json", "logs/replay/run-1-clean/nccl.log"}));
}

TEST_F(FindInputs, EntersFoldersAndSortsByBytes) {
  for (const char* name : {"b/2.log", "b/10.log", "a.log", "b/c/d/e", "B.log"}) dir_.add(name, "x");
  EXPECT_EQ(found({""}), (Paths{"B.log", "a.log", "b/10.log", "b/2.log", "b/c/d/e"}));
}

TEST_F(FindInputs, LeavesOutHiddenEntriesAndPipesOfFolders) {
  dir_.add("a.log", "x");
  dir_.add(".hidden", "x");
  dir_.add(".git/config", "x");
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(found({""}), Paths{"a.log"});
}

TEST_F(FindInputs, TakesWhatIsNamedItselfEvenIfHiddenOrAPipe) {
  dir_.add(".hidden", "x");
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  fs::create_symlink(at("pipe"), at("pipe_link"));
  EXPECT_EQ(found({".hidden", "pipe"}), (Paths{".hidden", "pipe"}));
  EXPECT_EQ(found({"pipe_link"}), Paths{"pipe_link"});
}

TEST_F(FindInputs, NamesEachFileOnceInAnyOrderOfArguments) {
  dir_.add("logs/a", "x");
  dir_.add("logs/b", "x");
  fs::create_hard_link(at("logs/a"), at("logs/z"));
  Paths arguments = {"logs", "logs/b", "logs/../logs/a", "-", "logs/*", "-"};
  std::sort(arguments.begin(), arguments.end());
  const Paths expected = found(arguments);
  EXPECT_EQ(expected.size(), 3u);
  while (std::next_permutation(arguments.begin(), arguments.end())) {
    ASSERT_EQ(found(arguments), expected);
  }
}

TEST_F(FindInputs, PrefersThePathWithoutLinks) {
  dir_.add("run3/a", "x");
  fs::create_directory_symlink(at("run3"), at("latest"));
  fs::create_symlink(at("run3/a"), at("current.log"));
  EXPECT_EQ(found({""}), Paths{"run3/a"});
  EXPECT_EQ(found({"latest"}), Paths{"latest/a"});
  EXPECT_EQ(found({"latest", "run3"}), Paths{"run3/a"});
}

TEST_F(FindInputs, EndsInLoopsOfLinks) {
  dir_.add("a/x", "x");
  dir_.add("b/y", "x");
  fs::create_directory_symlink(at(""), at("a/up"));
  fs::create_directory_symlink(at("a"), at("b/to_a"));
  fs::create_directory_symlink(at("b"), at("a/to_b"));
  fs::create_symlink(at("self"), at("self"));
  EXPECT_EQ(found({""}), (Paths{"a/x", "b/y", "self"}));
}

TEST_F(FindInputs, FollowsLinksThatLeaveTheFolder) {
  dir_.add("elsewhere/x", "x");
  dir_.add("logs/y", "x");
  fs::create_directory_symlink(at("elsewhere"), at("logs/more"));
  EXPECT_EQ(found({"logs"}), (Paths{"logs/more/x", "logs/y"}));
}

TEST_F(FindInputs, ListsLinksThatLeadNowhereSoThatTheyAreReported) {
  dir_.add("a", "x");
  fs::create_symlink(at("gone"), at("link"));
  EXPECT_EQ(found({""}), (Paths{"a", "link"}));
}

TEST_F(FindInputs, ExpandsPatternsThatTheShellLeftAlone) {
  for (const char* name : {"n1/a.txt", "n2/a.txt", "n2/b.log", "n1/sub/c"}) dir_.add(name, "x");
  EXPECT_EQ(found({"n*/*.txt"}), (Paths{"n1/a.txt", "n2/a.txt"}));
  EXPECT_EQ(found({"n[1]"}), (Paths{"n1/a.txt", "n1/sub/c"}));
  EXPECT_EQ(found({"n2/?.log"}), Paths{"n2/b.log"});
}

TEST_F(FindInputs, TakesAnExistingPathLiterally) {
  dir_.add("rank[0].log", "x");
  dir_.add("rank0.log", "x");
  EXPECT_EQ(found({"rank[0].log"}), Paths{"rank[0].log"});
}

TEST_F(FindInputs, RefusesWhatCannotBeMeant) {
  fs::create_directory(at("empty"));
  fs::create_directory_symlink(at("empty"), at("link_to_empty"));
  fs::create_symlink(at("gone"), at("link_to_nothing"));
  dir_.add("hidden_only/.x", "x");
  dir_.add("file", "x");
  EXPECT_EQ(error_for({"nowhere"}), "no such file or folder");
  EXPECT_EQ(error_for({"link_to_nothing"}), "no such file or folder");
  EXPECT_EQ(error_for({"file/below"}), "no such file or folder");
  EXPECT_EQ(error_for({"*.nothing"}), "no file matches this pattern");
  EXPECT_EQ(error_for({"empty"}), "no files in this folder");
  EXPECT_EQ(error_for({"link_to_empty"}), "no files in this folder");
  EXPECT_EQ(error_for({"hidden_only"}), "no files in this folder");
}

TEST_F(FindInputs, RefusesNoArguments) { EXPECT_THROW(find_inputs({}), Error); }

TEST_F(FindInputs, ListsSubfoldersItMayNotEnter) {
  if (geteuid() == 0) GTEST_SKIP() << "root may enter every folder";
  dir_.add("logs/a", "x");
  dir_.add("logs/closed/b", "x");
  fs::permissions(at("logs/closed"), fs::perms::none);
  EXPECT_EQ(found({"logs"}), (Paths{"logs/a", "logs/closed"}));
  EXPECT_EQ(error_for({"logs/closed"}), "Permission denied");
  fs::permissions(at("logs/closed"), fs::perms::owner_all);
}

}  // namespace
}  // namespace ncclog
