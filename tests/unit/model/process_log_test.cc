#include "model/process_log.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "log/messages.h"
#include "model/derive/build_job.h"

namespace ncclog {
namespace {

CommInit init(uint64_t comm, std::string_view phase, int rank = 0) {
  CommInit message;
  message.comm = {comm};
  message.rank = rank;
  message.nranks = 2;
  message.comm_id = {0xabc};
  message.phase = phase;
  return message;
}

CommEnd end(uint64_t comm, std::string_view action = "Destroy") {
  CommEnd message;
  message.comm = {comm};
  message.action = action;
  message.phase = "COMPLETE";
  return message;
}

using Step = std::function<void(CommSegments&, SourceRef)>;

Step start(uint64_t comm) {
  return [=](CommSegments& c, SourceRef at) { c.add(at, init(comm, "START")); };
}
Step complete(uint64_t comm) {
  return [=](CommSegments& c, SourceRef at) { c.add(at, init(comm, "COMPLETE")); };
}
Step ended(uint64_t comm) {
  return [=](CommSegments& c, SourceRef at) { c.add(at, end(comm)); };
}
Step call(uint64_t comm) {
  return [=](CommSegments& c, SourceRef at) {
    c.add_call(at, "", {comm, 2, false, {"AllReduce", 1, 7, 0, 0}});
  };
}

Step announced(uint64_t comm) {
  return [=](CommSegments& c, SourceRef at) {
    CallInit message;
    message.function = "ncclCommInitRank";
    message.comm = {comm};
    message.rank = 1;
    message.nranks = 4;
    message.comm_id = {0xdef};
    c.add(at, message);
  };
}

Step layout(uint64_t comm) {
  return [=](CommSegments& c, SourceRef) {
    CommLayout message;
    message.comm = {comm};
    message.nnodes = 2;
    c.add(message);
  };
}

CommSegments run(const std::vector<Step>& steps, size_t begin, size_t end) {
  CommSegments segments;
  for (size_t i = begin; i < end; ++i) steps[i](segments, {0, i + 1});
  return segments;
}

CommSegments run(const std::vector<Step>& steps) { return run(steps, 0, steps.size()); }

TEST(CommSegments, StartCompleteCallsAndDestroyAreOneLife) {
  const CommSegments segments = run({start(1), complete(1), call(1), call(1), ended(1)});
  ASSERT_EQ(segments.all.size(), 1u);
  EXPECT_EQ(segments.all[0].started, (SourceRef{0, 1}));
  EXPECT_EQ(segments.all[0].completed, (SourceRef{0, 2}));
  EXPECT_EQ(segments.all[0].ended, (SourceRef{0, 5}));
  EXPECT_EQ(segments.all[0].end, CommFate::Destroyed);
  EXPECT_EQ(segments.all[0].calls->total, 2u);
}

TEST(CommSegments, APointerThatComesBackAfterDestroyIsAnotherLife) {
  const CommSegments segments =
      run({start(1), complete(1), ended(1), start(1), complete(1), call(1)});
  ASSERT_EQ(segments.all.size(), 2u);
  EXPECT_EQ(segments.all[0].calls->total, 0u);
  EXPECT_EQ(segments.all[1].calls->total, 1u);
}

TEST(CommSegments, ANewStartIsAnotherLifeWhereTheReleaseHidesDestroy) {
  EXPECT_EQ(run({start(1), complete(1), start(1), complete(1)}).all.size(), 2u);
  EXPECT_EQ(run({start(1), start(1)}).all.size(), 2u);
}

TEST(CommSegments, CallsWithoutInitialisationLinesAreKept) {
  const CommSegments segments = run({call(5), call(5), call(6)});
  ASSERT_EQ(segments.all.size(), 2u);
  EXPECT_EQ(segments.all[0].rank, -1);
  EXPECT_EQ(segments.all[0].nranks, 2);
  EXPECT_EQ(segments.all[0].calls->total, 2u);
}

TEST(CommSegments, ACompletionAfterACallIsAnotherLife) {
  const CommSegments segments = run({complete(1), call(1), complete(1), call(1), call(1)});
  ASSERT_EQ(segments.all.size(), 2u);
  EXPECT_EQ(segments.all[0].calls->total, 1u);
  EXPECT_EQ(segments.all[1].calls->total, 2u);
}

TEST(CommSegments, ACallLineNamesRankSizeAndIdWhereNoOtherLineDoes) {
  const CommSegments segments = run({announced(1), call(1), call(1)});
  ASSERT_EQ(segments.all.size(), 1u);
  EXPECT_EQ(segments.all[0].rank, 1);
  EXPECT_EQ(segments.all[0].nranks, 4);
  EXPECT_EQ(segments.all[0].comm_id, 0xdefu);
}

TEST(CommSegments, ACallLineBehindTheInitialisationIsNoOtherLife) {
  EXPECT_EQ(run({start(1), complete(1), announced(1), call(1)}).all.size(), 1u);
}

TEST(CommSegments, ACallLineBehindACallIsAnotherLife) {
  EXPECT_EQ(run({announced(1), call(1), announced(1), call(1)}).all.size(), 2u);
}

TEST(CommSegments, ManyCommunicatorsAreFoundWithoutSearching) {
  constexpr uint64_t kCommunicators = 200'000;
  CommSegments first;
  CommSegments second;
  for (uint64_t comm = 1; comm <= kCommunicators; ++comm) {
    start(comm)(first, {0, comm});
    call(comm)(second, {1, comm});
  }
  first.merge(std::move(second));
  ASSERT_EQ(first.all.size(), kCommunicators);
  EXPECT_EQ(first.all.front().calls->total, 1u);
  EXPECT_EQ(first.all.back().calls->total, 1u);
}

TEST(CommSegments, CuttingAnywhereAndMergingGivesTheSameLives) {
  const std::vector<std::vector<Step>> lives = {
      {start(1), complete(1), call(1), ended(1), start(1), complete(1), call(1), call(1)},
      {start(1), complete(1), start(2), complete(2), call(1), call(2), call(1), ended(2), call(1)},
      {call(1), call(1), ended(1), call(1), call(1)},
      {start(1), start(1), complete(1), call(1), start(1)},
      {complete(1), call(1), complete(1), call(1)},
      {ended(1), ended(1), call(1)},
      {complete(1), call(1), layout(1), complete(1), call(1)},
      {start(1), layout(1), complete(1), layout(1), complete(1)},
      {announced(1), complete(1), announced(1), call(1), announced(1), complete(1), call(1)},
      {start(1), complete(1), announced(1), call(1), call(1), announced(1), ended(1)},
      {layout(1), start(1), layout(1), call(1), complete(1), ended(1), layout(1)},
  };
  for (const std::vector<Step>& steps : lives) {
    for (size_t i = 0; i <= steps.size(); ++i) {
      for (size_t j = i; j <= steps.size(); ++j) {
        CommSegments left = run(steps, 0, i);
        left.merge(run(steps, i, j));
        left.merge(run(steps, j, steps.size()));
        CommSegments tail = run(steps, i, j);
        tail.merge(run(steps, j, steps.size()));
        CommSegments right = run(steps, 0, i);
        right.fit();
        right.merge(std::move(tail));
        EXPECT_EQ(left, run(steps)) << "cut at " << i << " and " << j;
        EXPECT_EQ(right, run(steps)) << "cut at " << i << " and " << j;
      }
    }
  }
}

TEST(CommSegments, RankThatTheCommunicatorDoesNotHaveWasMisread) {
  CommSegments comms;
  CommLayout torn;
  torn.comm = {0x1};
  torn.rank = 16;
  comms.add(torn);
  comms.add({0, 2}, init(0x1, "COMPLETE", 1));
  ASSERT_EQ(comms.all.size(), 1u);
  EXPECT_EQ(comms.all[0].rank, 1);
}

ChannelConnected connected(int channel, int src, int dst, std::string_view path) {
  ChannelConnected message;
  message.channel = channel;
  message.src_rank = src;
  message.dst_rank = dst;
  message.path = path;
  return message;
}

TEST(Transport, IsTheFirstWordOfThePathAsNcclPrintsIt) {
  struct Row {
    std::string_view path;
    Transport transport;
  };
  for (const Row& row :
       {Row{"P2P/CUMEM", Transport::P2P}, Row{"P2P/direct pointer", Transport::P2P},
        Row{"SHM/direct/direct", Transport::SHM}, Row{"direct shared memory", Transport::SHM},
        Row{"NET/AWS Libfabric/0/GDRDMA", Transport::NET},
        Row{"COLLNET/SHARP/0", Transport::COLLNET}, Row{"", Transport::Other}}) {
    EXPECT_EQ(transport_of(row.path), row.transport) << row.path;
  }
}

TEST(Connections, CountsChannelsNotLines) {
  Connections connections;
  for (const int channel : {0, 1, 1, 0}) {
    add_channel(connections, {0, 1}, connected(channel, 2, 3, "NET/IB/0"));
  }
  ASSERT_EQ(connections.all.size(), 1u);
  EXPECT_EQ(channel_count(connections.all.begin()->second), 2);
}

TEST(Connections, OddChannelNumbersOfTornLinesDoNoHarm) {
  Connections connections;
  add_channel(connections, {0, 1}, connected(-5, 0, 1, "P2P/IPC"));
  add_channel(connections, {0, 2}, connected(1 << 30, 0, 1, "P2P/IPC"));
  EXPECT_EQ(channel_count(connections.all.begin()->second), 2);
}

TEST(Connections, MergeGivesWhatOneReadingGives) {
  Connections whole;
  Connections first;
  Connections second;
  for (int i = 0; i < 20; ++i) {
    const ChannelConnected message = connected(i % 4, i % 3, i % 5, "SHM/direct/direct");
    const SourceRef where{0, static_cast<uint64_t>(i) + 1};
    add_channel(whole, where, message);
    add_channel(i < 9 ? first : second, where, message);
  }
  first.merge(second);
  EXPECT_EQ(first, whole);
}

TEST(ProcessTotals, AddUpAllocationsByWhatTheyAre) {
  const Job job = job_from_text(
      "h:1:1 [0] NCCL INFO init.cc:512 Cuda Alloc "
      "Size 100 pointer 0x7f3f7a200000\n"
      "h:1:1 [0] NCCL INFO init.cc:512 Cuda Alloc "
      "Size 100 pointer 0x7f3f7a200000\n"
      "h:1:1 [0] NCCL INFO init.cc:90 Cuda Host "
      "Alloc Size 7 pointer 0x7f3f7a200000\n");
  const decltype(AllocTotals::all) wanted = {{"Cuda Alloc", {2, 200}}, {"Cuda Host Alloc", {1, 7}}};
  EXPECT_EQ(job.logs.at(0).allocations->all, wanted);
}

TEST(ProcessTotals, AddUpHowOperationsRun) {
  const Job job = job_from_text(
      "h:1:1 [0] NCCL INFO AllReduce: 64 Bytes -> Algo RING proto LL "
      "channel{Lo..Hi}={0..1}\n"
      "h:1:1 [0] NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL "
      "channel{Lo..Hi}={0..0}\n"
      "h:1:1 [0] NCCL INFO AllGather [Copy Engine]: 16 Bytes -> cudaMemcpy\n");
  const decltype(TuningUses::all) wanted = {{{"AllGather", "cudaMemcpy", ""}, {1, 16, 16}},
                                            {{"AllReduce", "RING", "LL"}, {2, 8, 64}}};
  EXPECT_EQ(job.logs.at(0).tuning->all, wanted);
}

TEST(ProcessTotals, KeepTheSmallestKeysInAnyGrouping) {
  const auto uses_of = [](size_t from, size_t to) {
    TuningUses uses;
    for (size_t i = from; i < to; ++i) {
      const std::string name = std::to_string(i * 7919 % 1000 + 1000);
      add_tuning(uses, TuningChoice{name, 1, "RING", "LL", ""});
    }
    return uses;
  };
  const TuningUses whole = uses_of(0, 900);
  EXPECT_EQ(whole.all.size(), TuningUses::kLimit);
  EXPECT_EQ(whole.other, 900 - TuningUses::kLimit);
  for (const size_t cut : {1, 300, 700}) {
    TuningUses joined = uses_of(0, cut);
    joined.merge(uses_of(cut, 900));
    EXPECT_EQ(joined, whole);
  }
}

}  // namespace

}  // namespace ncclog
