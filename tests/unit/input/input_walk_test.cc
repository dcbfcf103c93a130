#include "input/input_walk.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/archives.h"
#include "support/compressed.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using namespace std::string_literals;
using testing::archive_of;
using testing::compressed;
using testing::encrypted_zip;
using testing::Entry;
using testing::Packed;
using testing::Packing;
using testing::TempDir;

/// "path [format status] note", a line each, and behind it the lines that were read.
std::string walk(const std::string& path, const std::string& folder,
                 const ReadOptions& options = {}) {
  InputWalk inputs({}, path, options);
  std::vector<std::string> texts;
  std::vector<uint64_t> numbers;
  while (UnitReader* reader = inputs.next()) {
    numbers.push_back(inputs.current().number);
    std::string text;
    for (Line line; reader->next(line);) text += ' ' + std::string(line.text);
    texts.push_back(std::move(text));
  }
  std::string all;
  size_t read = 0;
  for (const WalkedInput& input : inputs.take()) {
    const UnitResult& result = input.result;
    const std::string name =
        input.path.starts_with(folder) ? input.path.substr(folder.size() + 1) : input.path;
    all += name + " [" + input.format + ' ' + std::string(to_string(result.status)) + ']';
    if (!result.note.empty()) all += ' ' + result.note;
    if (read < numbers.size() && numbers[read] == input.number) all += texts[read++];
    all += '\n';
  }
  EXPECT_EQ(read, texts.size());
  return all;
}

struct WalkCase {
  const char* name;
  std::string bytes;
  const char* summary;
};

const std::vector<Packed> kTwo = {{"./node1/a.txt", "one\ntwo\n"}, {"node2/b.txt", "three"}};

std::string tar(const std::vector<Packed>& entries) { return archive_of(Packing::Tar, entries); }

// Made when a test asks: packing at every start of the tests would take longer than most of them.
std::vector<WalkCase> walk_cases() {
  return {
      {"a file", "one\n", "in [plain whole] one\n"},
      {"a tar", tar(kTwo),
       "in [tar whole]\n"
       "in!/node1/a.txt [plain whole] one two\n"
       "in!/node2/b.txt [plain whole] three\n"},
      {"a zip", archive_of(Packing::Zip, kTwo),
       "in [zip whole]\n"
       "in!/node1/a.txt [plain whole] one two\n"
       "in!/node2/b.txt [plain whole] three\n"},
      {"a 7z", archive_of(Packing::SevenZip, kTwo),
       "in [7z whole]\n"
       "in!/node1/a.txt [plain whole] one two\n"
       "in!/node2/b.txt [plain whole] three\n"},
      {"a zip of nothing", "PK\x05\x06"s + std::string(18, '\0'), "in [zip whole]\n"},
      {"compressed members",
       tar({{"a.gz", compressed(Compression::Gzip, "one\n")},
            {"b.xz", compressed(Compression::Xz, "two\n")}}),
       "in [tar whole]\n"
       "in!/a.gz [gzip whole] one\n"
       "in!/b.xz [xz whole] two\n"},
      {"an archive in an archive",
       tar({{"before", "one\n"},
            {"in.tgz", compressed(Compression::Gzip, tar({{"x", "two\n"}, {"y", "three\n"}}))},
            {"z.zip", archive_of(Packing::Zip, {{"x", "four\n"}})},
            {"after", "five\n"}}),
       "in [tar whole]\n"
       "in!/before [plain whole] one\n"
       "in!/in.tgz [tar+gzip whole]\n"
       "in!/in.tgz!/x [plain whole] two\n"
       "in!/in.tgz!/y [plain whole] three\n"
       "in!/z.zip [zip whole]\n"
       "in!/z.zip!/x [plain whole] four\n"
       "in!/after [plain whole] five\n"},
      {"archives three deep", tar({{"2", tar({{"3", tar({{"x", "one\n"}})}})}}),
       "in [tar whole]\n"
       "in!/2 [tar whole]\n"
       "in!/2!/3 [plain skipped] An archive that is not opened here; unpack it to have the logs in "
       "it read.\n"},
      {"a 7z in a tar, which cannot be sought",
       tar({{"x.7z", archive_of(Packing::SevenZip, kTwo)}}),
       "in [tar whole]\n"
       "in!/x.7z [7z unreadable] The archive cannot be unpacked.\n"},
      {"what is no file",
       tar({{"d", "", Entry::Folder},
            {"d/a", "one\n"},
            {"l", "d/a", Entry::Link},
            {"h", "d/a", Entry::HardLink},
            {"p", "", Entry::Pipe},
            {".hidden", "two\n"},
            {"d/.git/x", "three\n"}}),
       "in [tar whole]\n"
       "in!/d/a [plain whole] one\n"
       "in!/l [plain skipped] A link; links in archives are not followed.\n"
       "in!/h [plain skipped] A link; links in archives are not followed.\n"
       "in!/p [plain skipped] A device or pipe, not a file.\n"},
      {"names that leave the archive", tar({{"/etc/passwd", "one\n"}, {"../../x", "two\n"}}),
       "in [tar whole]\n"
       "in!/etc/passwd [plain whole] one\n"
       "in!/../../x [plain whole] two\n"},
      {"a name twice", tar({{"a", "one\n"}, {"./a", "one\ntwo\n"}}),
       "in [tar whole]\n"
       "in!/a [plain whole] one\n"
       "in!/a [plain skipped] Another file of this name came before it and was read.\n"},
      {"names that are not UTF-8 or not ASCII",
       tar({{"gr\xfc\xdf", "one\n"}, {"gr\xc3\xbc\xc3\x9f", "two\n"}}),
       "in [tar whole]\n"
       "in!/gr\xfc\xdf [plain whole] one\n"
       "in!/gr\xc3\xbc\xc3\x9f [plain whole] two\n"},
      {"a binary among logs",
       tar({{"core",
             "\x7f"
             "ELF and more"},
            {"a", "one\n"}}),
       "in [tar whole]\n"
       "in!/core [plain skipped] A program, library or core dump, not a text log.\n"
       "in!/a [plain whole] one\n"},
      {"encrypted members", encrypted_zip({{"a", "one\n"}}),
       "in [zip whole]\n"
       "in!/a [plain skipped] Encrypted; unpack it to have it read.\n"},
      {"an archive of a kind that is not read", "Rar!\x1a\x07\x01\0........"s,
       "in [plain skipped] An archive of a kind that is not read here; unpack it first.\n"},
  };
}

TEST(InputWalk, GivesEveryFileInOrder) {
  const TempDir folder;
  for (const WalkCase& row : walk_cases()) {
    const std::string path = folder.add("in", row.bytes);
    EXPECT_EQ(walk(path, folder.path()), row.summary) << row.name;
  }
}

TEST(InputWalk, ReadsCompressedArchives) {
  const TempDir folder;
  for (const Compression compression : testing::kCompressions) {
    const std::string path = folder.add("in", compressed(compression, tar({{"a", "one\n"}})));
    EXPECT_EQ(walk(path, folder.path()), "in [tar+" + std::string(to_string(compression)) +
                                             " whole]\nin!/a [plain whole] one\n");
  }
}

TEST(InputWalk, ReadsAnArchiveFromAPipe) {
  const TempDir folder;
  for (const Packing packing : {Packing::Tar, Packing::Zip}) {
    const std::string bytes = archive_of(packing, kTwo);
    const std::string path = (folder.path() / "pipe").string();
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(path, std::ios::binary) << bytes; });
    const std::string all = walk(path, folder.path());
    writer.join();
    unlink(path.c_str());
    EXPECT_EQ(all.substr(all.find('\n') + 1),
              "pipe!/node1/a.txt [plain whole] one two\npipe!/node2/b.txt [plain whole] three\n");
  }
}

/// What of `whole`, a walk of an uncut archive, is in `cut`: as many lines, each a beginning.
bool is_part_of(const std::string& cut, const std::string& whole) {
  size_t at = 0;
  for (size_t from = 0; from < cut.size(); from = cut.find('\n', from) + 1) {
    const std::string line = cut.substr(from, cut.find('\n', from) - from);
    const std::string name = line.substr(0, line.find(' '));
    at = whole.find(name + ' ', at);
    if (at == std::string::npos) return false;
  }
  return true;
}

TEST(InputWalk, ReadsAnArchiveCutAnywhereAsFarAsItGoes) {
  const TempDir folder;
  const std::vector<Packed> entries = {{"a.txt", std::string(600, 'a') + "\nb\n"},
                                       {"b.gz", compressed(Compression::Gzip, "one\ntwo\n")},
                                       {"c.txt", "last\n"}};
  for (const Packing packing : {Packing::Tar, Packing::Zip, Packing::SevenZip}) {
    for (const Compression compression : {Compression::None, Compression::Gzip}) {
      const std::string bytes = compressed(compression, archive_of(packing, entries));
      const std::string whole = walk(folder.add("in", bytes), folder.path());
      for (size_t size = 1; size<bytes.size(); size += bytes.size()> 3000 ? 61 : 7) {
        const std::string cut = walk(folder.add("in", bytes.substr(0, size)), folder.path());
        EXPECT_TRUE(is_part_of(cut, whole)) << size << '\n' << cut << whole;
      }
    }
  }
}

TEST(InputWalk, SaysWhereACutArchiveEnds) {
  const TempDir folder;
  const std::string bytes = tar({{"a.txt", "one\n"}, {"b.txt", std::string(900, 'b') + '\n'}});
  EXPECT_EQ(walk(folder.add("in", bytes.substr(0, 512 + 512 + 512 + 300)), folder.path()),
            "in [tar cut] The archive ends early or is damaged; what came before was read.\n"
            "in!/a.txt [plain whole] one\n"
            "in!/b.txt [plain cut] Reading stopped early: the archive ends early or is damaged. " +
                std::string(300, 'b') + "\n");
  const std::string zip = archive_of(Packing::Zip, {{"a.txt", "one\n"}, {"b.txt", "two\n"}});
  const std::string cut =
      walk(folder.add("in", zip.substr(0, zip.rfind("PK\x01\x02"))), folder.path());
  EXPECT_TRUE(cut.starts_with("in [zip cut] The archive ends early")) << cut;
  EXPECT_NE(cut.find("in!/b.txt [plain whole] two\n"), cut.npos) << cut;
}

TEST(InputWalk, StopsAtTheSizeLimitOverAllMembers) {
  const TempDir folder;
  const std::vector<Packed> entries = {
      {"a", std::string(60, '\n')}, {"b", std::string(60, '\n')}, {"c", "one\n"}};
  const std::string plain = walk(folder.add("in", tar(entries)), folder.path(), {100});
  EXPECT_TRUE(plain.starts_with("in [tar cut] Expands past the limit of 100 bytes")) << plain;
  EXPECT_EQ(plain.find("in!/c"), plain.npos) << plain;
  const std::string member = compressed(Compression::Xz, std::string(9000, '\n'));
  const std::string packed =
      walk(folder.add("in", tar({{"a.xz", member}, {"b.xz", member}, {"c", "one\n"}})),
           folder.path(), {9100});
  EXPECT_NE(packed.find("in!/a.xz [xz whole]"), packed.npos) << packed;
  EXPECT_NE(packed.find("in!/b.xz [xz cut] Expands past the limit of 9100 bytes"), packed.npos)
      << packed;
}

TEST(InputWalk, BoundsHowManyFilesAnArchiveHolds) {
  const TempDir folder;
  std::vector<Packed> entries;
  for (uint64_t i = 0; i < kMaxArchiveEntries + 10; ++i) {
    entries.push_back({"f" + std::to_string(i), "", i % 2 == 0 ? Entry::Folder : Entry::Link});
  }
  InputWalk inputs({}, folder.add("in", tar(entries)));
  while (inputs.next() != nullptr) {
  }
  const std::vector<WalkedInput> walked = inputs.take();
  EXPECT_EQ(walked.size(), 1 + kMaxArchiveEntries / 2);
  EXPECT_EQ(walked[0].result.status, InputStatus::Cut);
  EXPECT_EQ(walked[0].result.note, "Holds more than 65536 files; the others were left out.");
  EXPECT_EQ(walked[0].result.losses.count(Loss::SizeLimit), 1u);
}

TEST(InputWalk, NumbersMembersInOrder) {
  const TempDir folder;
  InputWalk inputs({.index = 3, .input = 2}, folder.add("in", tar(kTwo)));
  std::vector<uint64_t> numbers;
  while (inputs.next() != nullptr) numbers.push_back(inputs.current().number);
  EXPECT_EQ(numbers, (std::vector<uint64_t>{3 * kNumbersPerUnit + 1, 3 * kNumbersPerUnit + 2}));
}

TEST(InputWalk, GivesTheBytesOfWhatIsNoLog) {
  const TempDir folder;
  const std::string dump = "\x80\x02}(X\x09\0\0\0pg_config."s;
  InputWalk inputs({}, folder.add("in", tar({{"fr_0", dump}, {"fr_1", dump}, {"fr_2", dump}})));
  UnitReader* reader = inputs.next();
  ASSERT_EQ(reader->content(), Content::FlightRecorder);
  std::string bytes(100, ' ');
  bytes.resize(reader->read(bytes.data(), bytes.size()));
  EXPECT_EQ(bytes, dump);
  reader = inputs.next();
  (void)reader->read(bytes.data(), bytes.size());
  reader->refuse("Opcode GLOBAL at byte 7.");
  ASSERT_NE(inputs.next(), nullptr);
  EXPECT_EQ(inputs.next(), nullptr);
  const std::vector<WalkedInput> walked = inputs.take();
  EXPECT_EQ(walked[1].result.status, InputStatus::Whole);
  EXPECT_EQ(walked[1].result.bytes, dump.size());
  EXPECT_EQ(walked[2].result.status, InputStatus::Unreadable);
  EXPECT_EQ(walked[2].result.note, "Opcode GLOBAL at byte 7.");
  EXPECT_EQ(walked[3].result.status, InputStatus::Skipped);
}

}  // namespace
}  // namespace ncclog
