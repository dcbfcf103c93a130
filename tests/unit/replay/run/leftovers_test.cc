#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay/run/gpus.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

using Found = std::vector<std::string>;

/// A file that this process has mapped as long as it lives.
struct Mapped {
  explicit Mapped(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR);
    memory = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
    close(file);
  }
  ~Mapped() { munmap(memory, 4096); }

  void* memory;
};

TEST(Segments, AreRemovedUnlessTheyWereThereOrAreUsed) {
  TempDir folder;
  folder.add("nccl-before", "x");
  folder.add("sem.other", "x");
  folder.add("torch_77", "x");
  const std::set<std::string> before = segments_in(folder.path());
  EXPECT_EQ(before, std::set<std::string>{"nccl-before"});
  folder.add("nccl-new", "x");
  const std::string used = folder.add("nccl-used", std::string(4096, 'x'));
  const std::string foreign = folder.add("nccl-foreign", std::string(4096, 'x'));
  const std::string path = folder.path().native();
  {
    const Mapped one(used);
    const Mapped other(foreign);
    EXPECT_EQ(segments_of(getpid()), (std::set<std::string>{"nccl-foreign", "nccl-used"}));
    const std::string pid = std::to_string(getpid());
    EXPECT_EQ(remove_segments(before, {"nccl-new", "nccl-used"}, path),
              (Found{path + "/nccl-new (removed)",
                     path + "/nccl-used (still used by process " + pid + ")"}));
  }
  EXPECT_EQ(segments_in(path), (std::set<std::string>{"nccl-before", "nccl-foreign", "nccl-used"}));
}

TEST(Segments, ThatNoRankWasSeenToUseMayBeAnotherJobs) {
  // Names of their own: users are looked for by name, and other tests run beside this one.
  TempDir folder;
  folder.add("nccl-another", "x");
  folder.add("nccl-seen", "x");
  const std::string path = folder.path().native();
  EXPECT_EQ(
      remove_segments({}, {"nccl-seen"}, path),
      (Found{path + "/nccl-another (came up meanwhile; perhaps another job's, so it was left)",
             path + "/nccl-seen (removed)"}));
  EXPECT_EQ(segments_in(path), std::set<std::string>{"nccl-another"});
}

TEST(Segments, OfAProcessThatIsGoneAreNone) { EXPECT_TRUE(segments_of(0x7ffffff0).empty()); }

TEST(Segments, InAFolderThatIsNotThereAreNone) {
  EXPECT_TRUE(segments_in("/nowhere/shm").empty());
  EXPECT_EQ(free_bytes("/nowhere/shm"), -1);
}

TEST(Strays, AreNotThisProcess) {
  EXPECT_TRUE(end_strays({}, "").empty());
  EXPECT_TRUE(end_strays({}, "no such mark").empty());
}

}  // namespace
}  // namespace ncclog::testing
