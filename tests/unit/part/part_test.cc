// What a part holds, which parts are refused, and that hostile ones do no harm.

#include "part/part.h"

#include <gtest/gtest.h>

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <random>
#include <sstream>

#include "app/read/read_job.h"
#include "app/read/scan.h"
#include "base/error.h"
#include "log/known_messages.h"
#include "part/carry_shard.h"
#include "part/part_stream.h"
#include "support/describe_job.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

namespace bio = boost::iostreams;

constexpr std::string_view kLog =
    "n1:41:41 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
    "n1:41:41 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n"
    "n1:41:41 [0] NCCL INFO Using network Socket\n"
    "n1:41:41 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId "
    "60 commId 0x9c1b - Init START\n"
    "n1:41:41 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0\n"
    "n1:41:41 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId "
    "60 commId 0x9c1b - Init COMPLETE\n"
    "n1:41:41 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f0 recvbuff 0x7f1 acc (nil) count 64 "
    "datatype 7 op 0 root 0 comm 0x5a [nranks=2] stream 0x6\n"
    "n1:41:41 [0] misc/socket.cc:42 NCCL WARN socketProgress: Connection closed by remote peer "
    "n2<5000>\n"
    "step 1 loss 0.5\n";

std::string part_of(const std::string& path, const std::string& host,
                    const LineMatcher& matcher = {}) {
  std::string bytes;
  scan({.inputs = std::span(&path, 1), .host = host}, {.threads = 1, .matcher = matcher},
       [&](std::string_view more) { bytes += more; });
  return bytes;
}

Job job_of(const std::vector<std::string>& paths) { return read_job(paths, {.threads = 1}); }

std::string unpacked(const std::string& part) {
  std::istringstream packed(part);
  bio::filtering_istream in;
  in.push(bio::zstd_decompressor());
  in.push(packed);
  std::ostringstream out;
  bio::copy(in, out);
  return std::move(out).str();
}

/// True if a reader takes what a writer wrote of the record.
bool is_carried(const RecordText& text) {
  OwnedRecord record{
      {kNumbersPerUnit, 3}, LineHead::make("n1:41:41 [0] NCCL INFO ", {Level::Info}), {}};
  record.rest = RecordText::make(text.text(), text);
  std::stringstream bytes;
  PartWriter writer(bytes);
  carry(writer, record);
  writer.end_frame(FrameKind::Request);
  writer.finish();
  FrameReader frames([&](char* buffer, size_t capacity) {
    bytes.read(buffer, static_cast<std::streamsize>(capacity));
    return static_cast<size_t>(bytes.gcount());
  });
  FrameKind kind = FrameKind::End;
  std::string frame;
  EXPECT_TRUE(frames.next(kind, frame));
  PartReader reader(frame, frames.tables(), 0, {.units = 1});
  OwnedRecord read;
  carry(reader, read);
  return reader.is_done();
}

TEST(Part, HoldsNoMessageBehindAHeadThatNothingReads) {
  const Event event = parse_event("n1:41:41 [0] NCCL INFO Using network IB", all_wordings());
  EXPECT_TRUE(is_carried(*make_text("Using network IB", 1, event.message.wording)));
  EXPECT_FALSE(is_carried(*make_text("Using network IB", 1, nullptr)));
}

TEST(Part, StandsForTheInputsInIt) {
  const TempDir folder;
  const std::string log = folder.add("a.log", kLog);
  const std::string part = folder.add("n1.part", part_of(log, "n1"));
  const Job merged = job_of({part});
  ASSERT_EQ(merged.inputs.size(), 1u);
  EXPECT_EQ(merged.inputs[0].path, log);
  EXPECT_EQ(describe_job(merged, Places::Shown), describe_job(job_of({log}), Places::Shown));
}

TEST(Part, IsTheSameWhateverTheNumberOfThreads) {
  const TempDir folder;
  const std::string log = folder.add("a.log", kLog);
  std::string three;
  scan({.inputs = std::span(&log, 1), .host = "n1"}, {.threads = 3},
       [&](std::string_view more) { three += more; });
  EXPECT_EQ(three, part_of(log, "n1"));
}

TEST(Part, HoldsAFileOnceThatTwoHostsSee) {
  const TempDir folder;
  const std::string log = folder.add("a.log", kLog);
  const Job merged =
      job_of({folder.add("1.part", part_of(log, "n1")), folder.add("2.part", part_of(log, "n2"))});
  ASSERT_EQ(merged.inputs.size(), 1u);
  EXPECT_EQ(merged.losses.lines, 9u);
}

/// /var/log/nccl.log is another file on each host.
TEST(Part, NamesFilesOfOnePathByTheirHosts) {
  const TempDir folder;
  const std::string log = folder.add("a.log", kLog);
  const std::string first = part_of(log, "n1");
  folder.add("a.log", "n2:52:52 [0] NCCL INFO Using network Socket\n");
  const Job merged =
      job_of({folder.add("1.part", first), folder.add("2.part", part_of(log, "n2"))});
  ASSERT_EQ(merged.inputs.size(), 2u);
  EXPECT_EQ(merged.inputs[0].path, "n1:" + log);
  EXPECT_EQ(merged.inputs[1].path, "n2:" + log);
  EXPECT_EQ(merged.hosts, (std::vector<std::string>{"n1", "n2"}));
}

/// What is asked of lines elsewhere is noted, and its answer is used.
TEST(Part, AsksForLinesThatLieElsewhere) {
  const TempDir folder;
  const std::string log = folder.add("a.log", kLog);
  const std::string part = folder.add("1.part", part_of(log, "n1"));
  ReadUnits read;
  read_job(std::vector{part}, {.threads = 1}, read);
  Evidence line{{0, 3}, {}};
  Evidence* const lines[] = {&line};
  fill_lines(read, lines);
  EXPECT_EQ(line.text, "");
  ASSERT_EQ(read.asked->size(), 1u);
  const Request& request = *read.asked->begin();
  EXPECT_EQ(request.path, log);
  EXPECT_EQ(request.host, "n1");
  read.answers = answer_requests(std::span(&request, 1), log, CutOptions{}.unit_bytes);
  fill_lines(read, lines);
  EXPECT_EQ(line.text, "n1:41:41 [0] NCCL INFO Using network Socket");
}

// A log that grows.

TEST(Part, AnUpdateReadsOnWhereTheFileGrew) {
  const TempDir folder;
  std::string text;
  while (text.size() < (size_t{200} << 10)) text += kLog;
  const std::string log = folder.add("a.log", text);
  const ReadSettings settings{.threads = 1, .unit_bytes = size_t{32} << 10};
  const auto scanned = [&](const LoadedPart* before, uint64_t& read) {
    std::string bytes;
    read = scan({.inputs = std::span(&log, 1), .host = "n1", .before = before}, settings,
                [&](std::string_view more) { bytes += more; })
               .read_bytes;
    return bytes;
  };
  uint64_t read = 0;
  const LoadedPart before = read_part_file(folder.add("1.part", scanned(nullptr, read)), {});
  EXPECT_EQ(read, text.size());
  folder.add("a.log", text + std::string(kLog));
  const std::string updated = scanned(&before, read);
  EXPECT_LT(read, size_t{80} << 10);
  const auto described = [&](const std::string& part) {
    return describe_job(job_of({folder.add("2.part", part)}), Places::Shown);
  };
  EXPECT_EQ(described(updated), described(scanned(nullptr, read)));
}

TEST(Part, AnUpdateForgetsAFileThatWasWrittenAnew) {
  const TempDir folder;
  const std::string log = folder.add("a.log", kLog);
  const LoadedPart before = read_part_file(folder.add("1.part", part_of(log, "n1")), {});
  folder.add("a.log", "n2:52:52 [0] NCCL INFO Using network Socket\n");
  std::string bytes;
  scan({.inputs = std::span(&log, 1), .host = "n1", .before = &before}, {.threads = 1},
       [&](std::string_view more) { bytes += more; });
  EXPECT_EQ(bytes, part_of(log, "n1"));
}

// Refused, by name.

std::string refusal_of(const TempDir& folder, std::string_view part) {
  const Job job = job_of({folder.add("x.part", part)});
  EXPECT_EQ(job.inputs.size(), 1u);
  EXPECT_EQ(job.inputs[0].status, InputStatus::Unreadable);
  return job.inputs[0].note;
}

TEST(Part, IsRefusedWhenItIsCut) {
  const TempDir folder;
  const std::string plain = unpacked(part_of(folder.add("a.log", kLog), "n1"));
  for (const size_t size : {plain.size() - 1, plain.size() / 2, size_t{40}}) {
    EXPECT_EQ(refusal_of(folder, plain.substr(0, size)),
              "A part of a scan that cannot be used: it is cut or damaged.");
  }
}

TEST(Part, IsRefusedByAnotherVersion) {
  const TempDir folder;
  std::string plain = unpacked(part_of(folder.add("a.log", kLog), "n1"));
  plain[12] = '9';
  EXPECT_EQ(refusal_of(folder, plain),
            "A part of a scan that cannot be used: it was made by another version of ncclog.");
}

TEST(Part, IsRefusedWhereOtherRulesAreUsed) {
  const TempDir folder;
  const std::string log = folder.add("a.log", kLog);
  LineMatcher ours{.match = [](std::string_view, std::vector<int>&) {},
                   .patterns = 1,
                   .literals = std::vector<std::string>{"x"},
                   .patterns_hash = 1};
  LineMatcher theirs = ours;
  theirs.patterns_hash = 2;
  const std::vector<std::string> parts = {folder.add("1.part", part_of(log, "n1", theirs))};
  const Job job = read_job(parts, {.threads = 1, .matcher = ours});
  EXPECT_EQ(job.inputs[0].note,
            "A part of a scan that cannot be used: it was made with other rules.");
}

/// Whatever the bytes are, a part is refused or merged.
TEST(Part, HostileBytesDoNoHarm) {
  const TempDir folder;
  const std::string plain = unpacked(part_of(folder.add("a.log", kLog), "n1"));
  std::mt19937_64 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = plain;
    const size_t flips = 1 + random() % 4;
    for (size_t f = 0; f < flips; ++f) {
      // Behind the magic line and the header's length.
      bytes[18 + random() % (bytes.size() - 18)] = static_cast<char>(random());
    }
    size_t at = kPartMagic.size();
    const auto read = [&](char* buffer, size_t capacity) {
      const size_t count = at < bytes.size() ? bytes.copy(buffer, capacity, at) : 0;
      at += count;
      return count;
    };
    std::string problem;
    auto part = load_part(read, part_kin({}), 0, problem);
    EXPECT_EQ(part.has_value(), problem.empty());
    if (!part) continue;
    std::vector<LoadedPart> parts;
    parts.push_back(std::move(*part));
    merge_parts(std::move(parts));
  }
}

/// The checksum guards against accidents only: values that nobody wrote are refused one by one.
TEST(Part, HostileNumbersDoNoHarm) {
  const TempDir folder;
  const std::string log = folder.add("a.log", kLog);
  const LoadedPart sound = read_part_file(folder.add("1.part", part_of(log, "n1")), {});
  std::mt19937_64 random(8);
  size_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    LoadedPart part = sound;
    std::string& frame = part.inputs[0].frames[random() % part.inputs[0].frames.size()];
    for (size_t f = 1 + random() % 3; f > 0; --f) {
      frame[random() % frame.size()] = static_cast<char>(random());
    }
    std::vector<LoadedPart> parts;
    parts.push_back(std::move(part));
    const MergedParts merged = merge_parts(std::move(parts));
    refused += !merged.walked.empty() && !merged.walked[0].empty() &&
               merged.walked[0][0].result.status == InputStatus::Unreadable;
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace ncclog::testing
