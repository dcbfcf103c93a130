// A job does not depend on where its log was cut for reading, nor on how the processes' lines mix.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "log/event_reader.h"
#include "log/known_messages.h"
#include "log/line/prefix.h"
#include "model/derive/build_job.h"
#include "model/shard/read_log.h"
#include "support/describe_job.h"

namespace ncclog {
namespace {

// Three eras, wrapped records, a launcher's prefix, framework lines, repeated lines and a reused
// pointer.
constexpr std::string_view kLog =
    "[1,0]<stdout>:node-a:10:10 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
    "[1,1]<stdout>:node-b:11:11 [1] NCCL INFO Bootstrap : Using eth0:10.0.0.2<0>\n"
    "NCCL version 2.18.3+cuda12.1\n"
    "node-a:10:12 [0] NCCL INFO comm 0xa rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0xc0 "
    "- Init START\n"
    "node-b:11:13 [1] NCCL INFO comm 0xb rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 70 commId 0xc0 "
    "- Init START\n"
    "node-a:10:12 [0] NCCL INFO === System : maxBw 48.0 totalBw 240.0 ===\n"
    "node-a:10:12 [0] NCCL INFO CPU/0-0 (1/1/2)\n"
    "node-a:10:14 [0] NCCL INFO Ring 00 : 5 -> 6 -> 7\n"
    "node-a:10:12 [0] NCCL INFO + PCI[48.0] - GPU/0-60 (0)\n"
    "node-a:10:12 [0] NCCL INFO               + NVL[240.0] - NVS/0-0\n"
    "node-a:10:12 [0] NCCL INFO ==========================================\n"
    "node-a:10:12 [0] NCCL INFO GPU/0-60 :GPU/0-60 (0/5000.0/LOC) CPU/0-0 (1/48.0/PHB) \n"
    "node-a:10:12 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 2, bw 40.000000/40.000000, type "
    "NVL/PIX, sameChannels 1\n"
    "node-a:10:12 [0] NCCL INFO  0 : GPU/0-60\n"
    "node-b:11:13 [1] NCCL INFO Ring 00 : 0 -> 1 -> 0\n"
    "node-a:10:12 [0] NCCL INFO  1 : GPU/0-60\n"
    "node-a:10:12 [0] NCCL INFO Channel 00/02 :    0   1\n"
    "node-a:10:12 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->1\n"
    "node-b:11:13 [1] NCCL INFO Trees [0] -1/-1/-1->1->0 [1] 0/-1/-1->1->-1\n"
    "node-a:10:12 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0\n"
    "node-a:10:12 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] [send] via NET/Socket/0\n"
    "node-a:10:12 [0] NCCL INFO comm 0xa rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0xc0 "
    "- Init COMPLETE\n"
    "node-a:10:12 [0] NCCL INFO Init timings - ncclCommInitRank: rank 0 nranks 2 total 1.09 "
    "(kernels 0.27, rest 0.08)\n"
    "node-b:11:13 [1] NCCL INFO comm 0xb rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 70 commId 0xc0 "
    "- Init COMPLETE\n"
    "  1%|1         | 24/1752 [01:08<1:23:01,  2.88s/it]\r  2%|1         | 25/1752 [01:08<1:23:01, "
    " 2.88s/it]\n"
    "node-a:10:10 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 "
    "op 0 root 0 comm 0xa [nranks=2] stream (nil)\n"
    "node-b:11:11 [1] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 "
    "op 0 root 0 comm 0xb [nranks=2] stream (nil)\n"
    "node-a:10:10 [0] NCCL INFO AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x1 count 9 datatype 7 "
    "op 0 root 0 comm 0xa [nranks=2] stream (nil)\n"
    "[2025-11-11 16:54:54] node-b:11:13 [1] misc/shmutils.cc:129\n"
    "NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl-\xd0 (size 0), \n"
    "error: No such file or directory (2)\n"
    "\n"
    "node-b:11:13 [1] NCCL INFO transport/shm.cc:101 -> 2\n"
    "node-a:10:10 [0] NCCL INFO comm 0xa rank 0 nranks 2 cudaDev 0 busId 60 - Destroy COMPLETE\n"
    "node-a:10:12 [0] NCCL INFO comm 0xa rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0xd0 "
    "- Init START\n"
    "$ mpirun -np 1 bash -c 'ulimit -l'\n"
    "8192\n"
    "[rank1]:[E105 09:14:02.907718211 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
    "Timeout(ms)=600000) ran for 600412 milliseconds before timing out.\n"
    "NCCL version 2.28.9 compiled with CUDA 13.0\n"
    "#0-0 (cf264af53edbe986) MISMATCH\n"
    "node-a:10:10 [0] NCCL INFO words that no release prints\n"
    "  Communicator ranks have different AllReduce operation counts\n"
    "  Rank 0 has launched up to operation 7 -- GPU 0 managed by process 10 on node 10.0.0.1\n"
    "node-b:11:11 [1] NCCL INFO other words that no release prints\n"
    "  Rank 1 has not launched any operations -- GPU 1 managed by process 11 on node 10.0.0.2\n"
    "node-b:11:11 [1] NCCL INFO AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x1 count 9 datatype 7 "
    "op 0 root 0 comm 0xb [nranks=2] stream (nil)";

struct Stretch {
  Shard shard;
  uint64_t newlines = 0;
};

Stretch read(std::string_view text, uint32_t unit) {
  const LineMatcher none;
  LogReader reader(unit, 0, none);
  Line line{{}, 1, 0, false};
  uint64_t newlines = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    line.text = text.substr(0, end);
    reader.add(line);
    if (end < text.size() && text[end] == '\n') {
      ++line.number;
      ++newlines;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {reader.finish(), newlines};
}

/// Where a stretch that is meant to begin at `at` really begins.
size_t next_start(std::string_view text, size_t at) {
  for (size_t p = at; p < text.size(); ++p) {
    const bool line_start = p == 0 || text[p - 1] == '\n' || text[p - 1] == '\r';
    if (line_start && may_start_unit(text.substr(p, text.find_first_of("\r\n", p) - p))) return p;
  }
  return text.size();
}

Job finish(std::vector<Stretch> stretches, bool from_the_right) {
  std::vector<JobUnit> units;
  uint64_t line = 1;
  for (const Stretch& stretch : stretches) {
    units.push_back({units.size(), 0, line});
    line += stretch.newlines;
  }
  if (from_the_right) {
    for (size_t i = stretches.size() - 1; i > 0; --i) {
      stretches[i - 1].shard.merge(std::move(stretches[i].shard));
    }
  } else {
    for (size_t i = 1; i < stretches.size(); ++i) {
      stretches[0].shard.merge(std::move(stretches[i].shard));
    }
  }
  JobInput input;
  input.path = "log.txt";
  const LossTable losses = stretches[0].shard.losses;
  return build_job(std::move(stretches[0].shard), {input}, units, losses);
}

std::string described(std::string_view text, std::vector<size_t> cuts,
                      bool from_the_right = false) {
  cuts.push_back(text.size());
  std::vector<Stretch> stretches;
  size_t begin = 0;
  for (const size_t cut : cuts) {
    stretches.push_back(
        read(text.substr(begin, cut - begin), static_cast<uint32_t>(stretches.size())));
    begin = cut;
  }
  return describe_job(finish(std::move(stretches), from_the_right));
}

TEST(CutAnywhereProperty, GivesTheSameJob) {
  const std::string whole = described(kLog, {});
  std::set<size_t> cuts;  // Most bytes lead to the cut of the byte before.
  for (size_t at = 0; at <= kLog.size(); ++at) cuts.insert(next_start(kLog, at));
  EXPECT_GT(cuts.size(), 30u);
  for (const size_t cut : cuts) {
    ASSERT_EQ(described(kLog, {cut}), whole) << "cut at byte " << cut;
  }
}

TEST(CutAnywhereProperty, GivesTheSameJobInAnyGrouping) {
  const std::string whole = described(kLog, {});
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<size_t> cuts(1 + random() % 6);
    for (size_t& cut : cuts) cut = next_start(kLog, random() % (kLog.size() + 1));
    std::sort(cuts.begin(), cuts.end());
    ASSERT_EQ(described(kLog, cuts, round % 2 == 0), whole) << "round " << round;
  }
}

/// The process that prints a line of kLog: its host where the line names one, else that of its
/// rank.
std::string process_of(const Header& header) {
  if (!header.host.empty()) return std::string(header.host);
  if (header.prefix.rank < 0) return "launcher";
  return header.prefix.rank == 0 ? "node-a" : "node-b";
}

/// Lines of one process, in its order; records that span lines stay together.
std::map<std::string, std::vector<std::string>> voices(std::string_view text) {
  std::map<std::string, std::vector<std::string>> lines;
  RecordJoiner joiner([&](const Line& record, int) {
    const Event event = parse_event(record.text, all_wordings());
    lines[process_of(event.header)].push_back(std::string(record.text));
  });
  for (uint64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    joiner.add({text.substr(0, end), number, 0, false});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  joiner.finish();
  return lines;
}

std::string interleaved(std::map<std::string, std::vector<std::string>> voices,
                        std::mt19937& random) {
  std::string text;
  while (!voices.empty()) {
    auto voice = std::next(voices.begin(), static_cast<long>(random() % voices.size()));
    text += voice->second.front() + "\n";
    voice->second.erase(voice->second.begin());
    if (voice->second.empty()) voices.erase(voice);
  }
  return text;
}

TEST(InterleavingProperty, OfDifferentProcessesGivesTheSameJobLineNumbersAside) {
  std::mt19937 random(5);
  const auto lines = voices(kLog);
  ASSERT_EQ(lines.size(), 3u);
  const std::string first = describe_job(job_from_text(interleaved(lines, random)), Places::Hidden);
  for (int round = 0; round < 200; ++round) {
    ASSERT_EQ(describe_job(job_from_text(interleaved(lines, random)), Places::Hidden), first)
        << "round " << round;
  }
}

TEST(EveryLineProperty, IsCountedOnceWhereverTheLogEnds) {
  for (size_t size = 0; size <= kLog.size(); size += 7) {
    const std::string_view text = kLog.substr(0, size);
    const LossTable losses = read_text(text).losses;
    EXPECT_EQ(losses.lines,
              losses.recognised + losses.unrecognised + losses.foreign + losses.unreadable);
    const auto ends = static_cast<uint64_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }));
    const bool open_end = !text.empty() && text.back() != '\n' && text.back() != '\r';
    EXPECT_EQ(losses.lines, ends + (open_end ? 1 : 0));
  }
}

}  // namespace
}  // namespace ncclog
