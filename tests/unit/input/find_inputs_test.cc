#include "input/find_inputs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>

#include "base/error.h"
#include "support/compressed.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
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

TEST_F(FindInputs, NamesFilesWithSingleSlashes) {
  dir_.add("logs/run/nccl.log", "x");
  EXPECT_EQ(found({"logs//run/"}), Paths{"logs/run/nccl.log"});
  EXPECT_EQ(found({"logs//run//nccl.log"}), Paths{"logs/run/nccl.log"});
}

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

TEST_F(FindInputs, NamesWhatIsNoFileAndLinksToIt) {
  dir_.add("logs/a.log", "x");
  ASSERT_EQ(mkfifo(at("logs/pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", at("logs/to_pipe"));
  fs::create_symlink("/dev/zero", at("logs/zero"));
  fs::create_symlink("/proc/self/status", at("logs/status"));
  fs::create_directory_symlink("/proc/self", at("logs/process"));
  Paths skipped;
  EXPECT_EQ(find_inputs(Paths{at("logs")}, &skipped), Paths{at("logs/a.log")});
  EXPECT_EQ(skipped, (Paths{at("logs/pipe"), at("logs/process"), at("logs/status"),
                            at("logs/to_pipe"), at("logs/zero")}));
}

TEST_F(FindInputs, TellsOfALinkThatLeadsOutOfWhatIsNamed) {
  const auto outside = [this](const Paths& arguments) {
    return find_link_outside(arguments, find_inputs(arguments));
  };
  dir_.add("logs/run/a.log", "x");
  dir_.add("logs-of-others/secret", "x");
  fs::create_directory_symlink("run", at("logs/latest"));
  fs::create_directory_symlink("logs", at("named"));
  EXPECT_EQ(outside({at("logs")}), "");
  EXPECT_EQ(outside({at("named")}), "");
  fs::create_symlink(at("logs-of-others/secret"), at("logs/run/b.log"));
  EXPECT_EQ(outside({at("logs")}), at("logs/run/b.log"));
  EXPECT_EQ(outside({at("logs"), at("logs-of-others")}), "");
  EXPECT_EQ(outside({at("logs"), at("logs/run/b.log")}), "") << "it is named itself";
  EXPECT_EQ(outside({at("logs/run/*")}), "") << "as patterns name it";
  EXPECT_EQ(outside({at("")}), "");
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

std::string repeated(const std::string& text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::string tar_head() {
  std::string head = "nccl.log" + std::string(249, '\0');
  return head + "ustar" + std::string(500, '\0');
}

struct ContentCase {
  const char* name;
  std::string head;
  Content content;
};

const std::string kLine = "gpu-a1:4711:4711 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n";

const ContentCase kContentCases[] = {
    {"nothing", "", Content::Empty},
    {"a log", repeated(kLine, 80), Content::Text},
    {"one letter", "x", Content::Text},
    {"terminal colours", repeated("\x1b[31m" + kLine + "\x1b[0m\r", 80), Content::Text},
    {"a few NULs", repeated(kLine, 20) + "\0\0\0\0"s + kLine, Content::Text},
    {"a NUL in a short text", "a\0b\n"s, Content::Text},
    {"a log truncated while open", std::string(kHeadBytes, '\0'), Content::Text},
    {"a hole, then text", std::string(3000, '\0') + repeated(kLine, 20), Content::Text},
    {"text, then a hole", repeated(kLine, 5) + std::string(2000, '\0') + kLine, Content::Text},
    {"Latin-1", repeated("M\xfcller k\xe4me sp\xe4t\n", 90), Content::Text},
    {"GBK", repeated("\xd6\xd0\xce\xc4\xc8\xd5\xd6\xbe\n", 90), Content::Text},
    {"UTF-8 with byte order mark", "\xef\xbb\xbf" + kLine, Content::Text},
    {"a JSON log", R"({"ts": 1, "msg": "NCCL INFO Init COMPLETE"})"s + "\n", Content::Text},
    {"JSON with entries of its own", R"({"entries": [{"level": "info"}]})", Content::Text},
    {"text that starts with PK", "PKI certificates\n", Content::Text},
    {"text that starts with BZh9", "BZh9 is a word\n", Content::Text},
    {"Flight Recorder pickle",
     "\x80\x02}(X\x07\0\0\0versionq\0X\x03\0\0\0002.4q\1X\x09\0\0\0pg_configq\2"s,
     Content::FlightRecorder},
    {"Flight Recorder JSON", R"({"version":"2.4","pg_config":{"0":{"ranks":"[0, 1]"}}})",
     Content::FlightRecorder},
    {"Flight Recorder JSON, entries first",
     "\n {\"entries\":[{\"collective_seq_id\":1,\"duration_ms\":0.1}", Content::FlightRecorder},
    {"Flight Recorder pickle of protocol 0", "(dp0\nVpg_config\np1\n(dp2\n",
     Content::FlightRecorder},
    {"Flight Recorder pickle of protocol 1", "}q\0(X\x07\0\0\0entriesq\1]q\2u."s,
     Content::FlightRecorder},
    {"RAS in JSON", "{\n  \"nccl_version\": \"2.28.9\",\n  \"communicators_count\": 1,\n",
     Content::Ras},
    {"RAS in JSON behind the service's greeting",
     "SERVER PROTOCOL 2\nOK\nOK\n{\n  \"nccl_version\": \"2.28.9\",\n  \"communicators_count\": "
     "1,\n",
     Content::Ras},
    {"a monitor of RAS in JSON",
     "{\n  \"timestamp\": \"2026-03-02 11:07:07\",\n  \"group\": \"LIFECYCLE\",\n"
     "  \"event\": \"PEER_DEAD\",\n",
     Content::Ras},
    {"events of something else", R"({"timestamp": "2026-03-02", "group": "a", "event": "b"})",
     Content::Text},
    {"results of nccl-tests",
     R"({"version":2,"start_time":"2026-01-05 12:00:00","args":["all_reduce_perf"],"env":["A=1")",
     Content::NcclTests},
    {"results of rccl-tests", R"([{"numCycle":0, "name":"AllReduce", "busBw":1.5}])",
     Content::NcclTests},
    {"results of rccl-tests as CSV",
     "numCycle,collective,ranks,size,type,redop,inplace,time,algbw,busbw,#wrong\n",
     Content::NcclTests},
    {"CSV of something else", "numCycle,collective\n", Content::Text},
    {"a list of something else", R"([{"numCycle":0}])", Content::Text},
    {"a topology file", "<?xml version=\"1.0\"?>\n<system version=\"1\">\n  <cpu numaid=\"0\">\n",
     Content::Topology},
    {"a topology file without declaration", "<system version=\"1\"><cpu/></system>",
     Content::Topology},
    {"a dump of py-spy",
     "[\n  {\n    \"pid\": 41,\n    \"thread_id\": 9,\n    \"owns_gil\": false,\n", Content::PySpy},
    {"counters of /sys", "/sys/class/infiniband/mlx5_1/ports/1/counters/link_downed:3\n",
     Content::Counters},
    {"a log that lists counters", "n1:7:7 [0] NCCL INFO x\nNIC statistics:\n", Content::Text},
    {"a listing of lspci",
     "00:00.0 Host bridge: Intel Corporation Device 09a2 (rev 04)\n\tControl: I/O- Mem+\n",
     Content::Lspci},
    {"a listing behind hosts' names",
     "== node-a ==\nnode-a: 0000:17:00.0 3D controller: NVIDIA\nnode-a: \tLnkSta:\tSpeed 8GT/s\n",
     Content::Lspci},
    {"a listing without properties", "00:00.0 Host bridge: Intel Corporation Device 09a2\n",
     Content::Text},
    {"a log that quotes a listing",
     "n1:7:8 [0] NCCL INFO x\n17:00.0 3D controller: NVIDIA\n\tLnkSta:\tSpeed 8GT/s\n",
     Content::Text},
    {"times of a log that speaks of links", "12:00:00.5 LnkSta: all well\n", Content::Text},
    {"a log that begins like one", "<system> is what the log says\n", Content::Text},
    {"the beginning of some XML", "<?xml version=\"1.0\"", Content::Text},
    {"a JSON log that names a version", R"({"nccl_version": "2.28.9", "msg": "hello"})",
     Content::Text},
    {"another pickle", "\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94"s, Content::Pickle},
    {"ELF",
     "\x7f"
     "ELF\2\1\1"s +
         std::string(9, '\0'),
     Content::Elf},
    {"a Markdown report", "<!-- ncclog report -->\n## CLEAN\n", Content::OwnReport},
    {"a JSON report", "{\n  \"schema\": \"ncclog.report/1\",\n", Content::OwnReport},
    {"an HTML page", "<!DOCTYPE html>\n<html>", Content::Html},
    {"SQLite", "SQLite format 3\0"s, Content::Sqlite},
    {"PNG", "\x89PNG\r\n\x1a\n"s, Content::Image},
    {"JPEG", "\xff\xd8\xff\xe0"s, Content::Image},
    {"PDF", "%PDF-1.7\n", Content::Pdf},
    {"tar", tar_head(), Content::Archive},
    {"zip", "PK\x03\x04\x14\0"s, Content::Archive},
    {"lz4", "\x04\x22\x4d\x18\x64"s, Content::Compressed},
    {"gzip inside another compression", "\x1f\x8b\x08\0\0\0"s, Content::Compressed},
    {"floats", repeated("\0\0\x80\x3f\x01\x02\x03\x04"s, 100), Content::Binary},
};

TEST(InputFormat, RecognisesContent) {
  for (const ContentCase& row : kContentCases) {
    EXPECT_EQ(to_string(sniff_content(row.head)), to_string(row.content)) << row.name;
  }
}

TEST(InputFormat, TellsUtf16) {
  struct Utf16Case {
    std::string_view name;
    std::string head;
    Utf16 order;
  };
  const auto spread = [](std::string_view text, bool is_big) {
    std::string bytes;
    for (const char c : text) bytes += is_big ? std::string{'\0', c} : std::string{c, '\0'};
    return bytes;
  };
  const Utf16Case rows[] = {
      {"little-endian, marked", "\xff\xfeN\0"s, Utf16::LittleEndian},
      {"big-endian, marked", "\xfe\xff\0N"s, Utf16::BigEndian},
      {"little-endian", spread(kLine, false), Utf16::LittleEndian},
      {"big-endian", spread(kLine, true), Utf16::BigEndian},
      {"a few characters of another script", spread(kLine, false) + "\x2d\x4e\x87\x65"s,
       Utf16::LittleEndian},
      {"too few to be sure", spread("NCCL INFO", false), Utf16::None},
      {"UTF-32", "\xff\xfe\0\0N\0\0\0"s, Utf16::None},
      {"a log", kLine, Utf16::None},
      {"a hole", std::string(4096, '\0'), Utf16::None},
      {"numbers of two bytes", repeated("\1\0\2\0\0\0\3\0"s, 100), Utf16::None},
      {"numbers of four bytes", repeated("a\0\0\0b\0\0\0"s, 100), Utf16::None},
      {"nothing", "", Utf16::None},
  };
  for (const Utf16Case& row : rows) EXPECT_EQ(sniff_utf16(row.head), row.order) << row.name;
}

TEST(InputFormat, LooksAtTheHeadOnly) {
  const std::string text = repeated("plain text\n", 400) + std::string(9000, '\1');
  EXPECT_EQ(sniff_content(text), Content::Text);
}

TEST(InputFormat, TakesRandomBytesForBinary) {
  std::mt19937 random(7);
  for (int i = 0; i < 50; ++i) {
    std::string head(kHeadBytes, ' ');
    for (char& c : head) c = static_cast<char>(random());
    head[0] = 'x';
    EXPECT_EQ(sniff_content(head), Content::Binary);
  }
}

TEST(InputFormat, NotesEveryContentThatIsNotParsed) {
  for (int i = 0; i <= static_cast<int>(Content::Binary); ++i) {
    const auto content = static_cast<Content>(i);
    EXPECT_EQ(content_note(content).empty(), is_log(content)) << to_string(content);
    EXPECT_FALSE(to_string(content).empty());
  }
}

TEST(InputFormat, RecognisesCompressionsByTheirFirstSixBytes) {
  for (const Compression compression : testing::kCompressions) {
    for (const std::string& text : {""s, "a line\n"s, repeated("many\n", 999)}) {
      const std::string bytes = testing::compressed(compression, text);
      EXPECT_EQ(sniff_compression(bytes), compression);
      EXPECT_EQ(sniff_compression(std::string_view(bytes).substr(0, 6)), compression);
    }
  }
}

TEST(InputFormat, RecognisesZstdBehindASkippableFrame) {
  EXPECT_EQ(sniff_compression("\x50\x2a\x4d\x18\4\0\0\0"s), Compression::Zstd);
  EXPECT_EQ(sniff_compression("\x5f\x2a\x4d\x18\4\0\0\0"s), Compression::Zstd);
  EXPECT_EQ(sniff_compression("\x60\x2a\x4d\x18\4\0\0\0"s), Compression::None);
}

TEST(InputFormat, TakesTextForUncompressed) {
  for (const std::string& text :
       {""s, "x"s, "BZh9"s, "BZh9 x"s, "BZip"s, "\x1f\x8b"s, "\xfd\x37z"s}) {
    EXPECT_EQ(sniff_compression(text), Compression::None) << text;
  }
}

}  // namespace
}  // namespace ncclog
