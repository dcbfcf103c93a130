#include "diagnose/compare/run_difference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/derive/build_job.h"

namespace ncclog {
namespace {

TEST(Influences, KnowWhatMayExplainWhat) {
  struct ComparedRow {
    std::string_view cause;
    std::string_view effect;
    bool may;
  };
  const ComparedRow kRows[] = {
      {"setting NCCL_P2P_DISABLE", "transport within a host", true},
      {"setting NCCL_P2P_DISABLE", "transport between hosts", false},
      {"setting NCCL_IB_DISABLE", "network network", true},
      {"setting NCCL_BUFFSIZE", "channels largest communicator", false},
      {"setting NCCL_LAUNCH_MODE", "timing x", false},
      {"network network", "transport between hosts", true},
      {"transport between hosts", "network network", false},
      {"shape number of ranks", "shape communicators", true},
      {"shape communicators", "shape number of ranks", false},
  };
  for (const ComparedRow& row : kRows) {
    EXPECT_EQ(may_explain(row.cause, row.effect), row.may) << row.cause << " → " << row.effect;
  }
}

TEST(Influences, NothingExplainsItself) {
  for (const TopicRow& row : topic_rows()) {
    for (const char* name : {"NCCL_P2P_DISABLE", "network", "number of ranks", "ranks on a host",
                             "within a host", "largest communicator", "AllReduce"}) {
      const std::string subject = fmt::format("{} {}", row.name, name);
      EXPECT_FALSE(may_explain(subject, subject)) << subject;
    }
  }
}

std::string line(int rank, std::string_view message) {
  return fmt::format("node-a:{0}:{0} [{1}] NCCL INFO {2}\n", 4100 + rank, rank, message);
}

std::string init_line(int rank, std::string_view phase) {
  return line(rank,
              fmt::format("ncclCommInitRank comm {:#x} rank {} nranks 2 cudaDev {} nvmlDev {} "
                          "busId {:x} commId 0x9c1b - Init {}",
                          0x7f1000 + rank, rank, rank, rank, (rank + 1) << 12, phase));
}

std::string on_both(std::string_view message) { return line(0, message) + line(1, message); }

/// What two ranks print who come to the end of their initialisation, with `middle` in it.
std::string run(std::string_view middle, std::string_view behind = "") {
  return on_both("NCCL version 2.28.9+cuda13.0") + on_both("Comm config Blocking set to 1") +
         init_line(0, "START") + init_line(1, "START") + std::string(middle) +
         init_line(0, "COMPLETE") + init_line(1, "COMPLETE") + std::string(behind);
}

RunDifference compared(const std::string& good, const std::string& bad) {
  const Job good_job = job_from_text(good);
  const Job bad_job = job_from_text(bad);
  return compare_runs({good_job, compared_facts(good_job, {})},
                      {bad_job, compared_facts(bad_job, {})});
}

std::string side_text(const FactValue& side) {
  if (!side.why.empty()) return "? " + side.why;
  return side.what.empty() ? "-" : side.what;
}

std::string rows_text(const RunDifference& difference) {
  std::string out;
  for (const DifferenceRow& row : difference.rows) {
    out += fmt::format("{} {} {}: {} | {}\n", to_string(row.state), to_string(row.topic), row.name,
                       side_text(row.good), side_text(row.bad));
  }
  return out;
}

struct ComparedRow {
  const char* what;
  std::string good;
  std::string bad;
  const char* rows;
};

void check_rows(std::initializer_list<ComparedRow> rows) {
  for (const ComparedRow& row : rows) {
    EXPECT_EQ(rows_text(compared(row.good, row.bad)), row.rows) << row.what;
  }
}

TEST(RunDifference, NamesSettings) {
  const std::string off = on_both("NCCL_P2P_DISABLE set by environment to 1.");
  const std::string on_one = line(1, "NCCL_P2P_DISABLE set by environment to 1.");
  check_rows({
      {"set in one run", run(""), run(off), "differs setting NCCL_P2P_DISABLE: - | 1\n"},
      {"the same in both", run(off), run(off), ""},
      {"on one rank only", run(off), run(on_one),
       "differs setting NCCL_P2P_DISABLE: 1 | 1 on rank 1; not printed by rank 0\n"},
      {"another value", run(on_both("NCCL_ALGO set by environment to Ring")),
       run(on_both("NCCL_ALGO set by environment to Tree")),
       "differs setting NCCL_ALGO: Ring | Tree\n"},
      {"what only says where to write",
       run(on_both("NCCL_DEBUG_FILE set by environment to /tmp/a.%h.%p")),
       run(on_both("NCCL_DEBUG_FILE set by environment to /tmp/b.%h.%p")), ""},
      {"an address of the run", run(on_both("NCCL_COMM_ID set by environment to 10.0.0.1:4000")),
       run(on_both("NCCL_COMM_ID set by environment to 10.0.9.7:4100")), ""},
  });
}

TEST(RunDifference, SilenceAboutASettingIsNoDifference) {
  const std::string set = on_both("NCCL_P2P_DISABLE set by environment to 1.");
  const std::string no_env = init_line(0, "START") + init_line(1, "START") +
                             init_line(0, "COMPLETE") + init_line(1, "COMPLETE");
  const std::string with_env =
      on_both("Comm config Blocking set to 1") + init_line(0, "START") + init_line(1, "START");
  check_rows({
      {"no setting is logged", no_env, no_env + set,
       "not_comparable setting NCCL_P2P_DISABLE: ? its logs show no setting: none is set, or ENV "
       "is "
       "not among its subsystems | 1\n"},
      {"read only where there is something to use it for", run(""),
       run(on_both("NCCL_IB_TIMEOUT set by environment to 22.")),
       "not_comparable setting NCCL_IB_TIMEOUT: ? NCCL reads it only where it is of use | 22\n"},
      {"not yet come to where it is read", with_env, with_env + set,
       "not_comparable setting NCCL_P2P_DISABLE: ? no rank came to the end of its initialisation | "
       "1\n"},
  });
}

TEST(RunDifference, ComparesTransportsBySharesOfTheConnections) {
  const std::string p2p = line(0, "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM") +
                          line(1, "Channel 00/0 : 1[1] -> 0[0] via P2P/CUMEM");
  const std::string shm = line(0, "Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct") +
                          line(1, "Channel 00/0 : 1[1] -> 0[0] via SHM/direct/direct");
  const std::string half = line(0, "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM");
  check_rows({
      {"another transport", run("", p2p), run("", shm),
       "differs transport within a host: P2P/CUMEM (2) | SHM/direct/direct (2)\n"},
      {"fewer pairs connected", run("", p2p), run("", half), ""},
      {"one of two pairs", run("", p2p), run("", p2p + shm),
       "differs transport within a host: P2P/CUMEM (2) | P2P/CUMEM 50% (2), SHM/direct/direct 50% "
       "(2)\n"},
      {"nothing connected", run("", p2p), run(""),
       "not_comparable transport within a host: P2P/CUMEM (2) | ? no line of its logs tells how "
       "ranks are connected\n"},
  });
}

TEST(RunDifference, SaysWhichDifferenceMayExplainWhich) {
  const std::string off = on_both("NCCL_P2P_DISABLE set by environment to 1.");
  const RunDifference difference =
      compared(run("", line(0, "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM")),
               run(off, line(0, "Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct")));
  ASSERT_EQ(difference.rows.size(), 2u) << rows_text(difference);
  EXPECT_EQ(difference.rows[0].name, "NCCL_P2P_DISABLE");
  EXPECT_TRUE(difference.rows[0].causes.empty());
  EXPECT_EQ(difference.rows[1].causes, std::vector<size_t>{0});
  EXPECT_EQ(root_of(difference, 1), 0u);
}

TEST(RunDifference, KnowsVersionsNetworksAndInterfaces) {
  const auto banner = [](std::string_view version) {
    return line(0, fmt::format("NCCL version {}+cuda13.0", version));
  };
  const auto socket = [](std::string_view devices) {
    return line(0, fmt::format("NET/Socket : Using {}", devices));
  };
  check_rows({
      {"a release", banner("2.27.3"), banner("2.28.9"), "differs version NCCL: 2.27.3 | 2.28.9\n"},
      {"a network", line(0, "Using network IB"), line(0, "Using network Socket"),
       "differs network network: IB | Socket\n"},
      {"an interface", socket("[0]eth0:10.2.2.3<0>"), socket("[0]docker0:172.17.0.1<0>"),
       "differs interface devices of Socket: eth0 | docker0\n"},
      {"another address", socket("[0]eth0:10.2.2.3<0>"), socket("[0]eth0:10.9.9.9<0>"), ""},
      {"interfaces of containers", socket("[0]eth0:10.2.2.3<0> [1]veth1a2:fe80::1%veth1a2<0>"),
       socket("[0]eth0:10.2.2.3<0> [1]veth7a9:fe80::2%veth7a9<0>"), ""},
      {"a plugin that the other run may have too", line(0, "Using network IB"),
       line(0, "Using network IB") + line(0, "NET/Plugin: Loaded net plugin Ours (v8)"),
       "not_comparable network network plugin: ? no line of its logs tells of plugins | Ours "
       "(v8)\n"},
  });
}

TEST(RunDifference, OnlyLargeDifferencesInTimeCount) {
  const auto timed = [](std::string_view total) {
    return run("", line(0, fmt::format("Init timings - ncclCommInitRank: rank 0 nranks 2 total {} "
                                       "(kernels 0.10, alloc 0.20)",
                                       total)));
  };
  check_rows({
      {"noise", timed("1.10"), timed("2.90"), ""},
      {"several times as long", timed("1.10"), timed("12.50"),
       "differs timing initialisation of the largest communicator: 1.10 s (kernels 0.10, alloc "
       "0.20)"
       " | 12.50 s (kernels 0.10, alloc 0.20)\n"},
  });
}

std::string call(int rank, std::string_view op, int count) {
  return line(rank, fmt::format("{}: opCount 0 sendbuff 0x1 recvbuff 0x2 count {} datatype 7 op 0 "
                                "root 0 comm {:#x} [nranks=2] stream 0x5",
                                op, count, 0x7f1000 + rank));
}

TEST(RunDifference, ComparesWhatIsCalledNotHowOften) {
  const std::string once = call(0, "AllReduce", 1024) + call(1, "AllReduce", 1024);
  check_rows({
      {"a longer run", run("", once), run("", once + once), ""},
      {"another size", run("", once), run("", once + call(1, "AllReduce", 512)),
       "differs calls AllReduce: nothing that the other run lacks | only here: 512 float32 "
       "(sum)\n"},
      {"another operation", run("", once), run("", once + call(1, "AllGather", 1024)),
       "differs calls AllGather: - | 1024 float32\n"},
      {"calls that one run does not log", run("", once), run(""),
       "not_comparable calls AllReduce: 1024 float32 (sum) | ? its logs show no call "
       "(subsystem COLL)\n"},
  });
}

TEST(RunDifference, ComparesWarningsByTheirWords) {
  const auto warning = [](std::string_view file) {
    return fmt::format(
        "node-a:4100:4100 [0] misc/shmutils.cc:87 NCCL WARN Error: failed to extend {} to 9637892 "
        "bytes, error: No space left on device (28)\n",
        file);
  };
  check_rows({
      {"the same words", run("", warning("/dev/shm/nccl-aXw2")),
       run("", warning("/dev/shm/nccl-7Qb1")), ""},
      {"new", run(""), run("", warning("/dev/shm/nccl-aXw2")),
       "differs warning Error: failed to extend # to # bytes, error: No space left on device (#): "
       "- "
       "| printed\n"},
  });
}

TEST(RunDifference, ARunWithoutLinesOfNcclTellsNothing) {
  const RunDifference difference = compared(run(""), "Traceback (most recent call last):\n");
  EXPECT_EQ(count_rows(difference, RowState::Differs), 0u) << rows_text(difference);
  EXPECT_EQ(difference.alike, 0u);
}

}  // namespace

}  // namespace ncclog
