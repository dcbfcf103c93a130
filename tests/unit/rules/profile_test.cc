#include "rules/profile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "model/derive/build_job.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

Profile profile_of(std::string_view yaml) {
  return load_profile({"p.yaml", read_yaml(yaml, "p.yaml")});
}

/// A profile of one expectation, as it stands in a file.
Profile expecting(std::string_view expectation) {
  return profile_of(fmt::format("name: p\ntitle: t\nexpect:\n  - {}\n", expectation));
}

std::string line(int rank, std::string_view message) {
  return fmt::format("gpu-{0}:{1}:{1} [{2}] NCCL INFO {3}\n", rank / 2, 100 + rank, rank % 2,
                     message);
}

/// Two hosts of two GPUs each.
std::string members() {
  std::string log;
  for (int r = 0; r < 4; ++r) {
    log += line(r, fmt::format("ncclCommInitRank comm 0x7a{0} rank {0} nranks 4 cudaDev {1} "
                               "nvmlDev {1} busId {1}9000 commId 0x77 - Init COMPLETE",
                               r, r % 2));
  }
  return log;
}

const std::string kMembers = members();
const std::string kRail = kMembers +
                          line(1, "Channel 00/0 : 1[1] -> 3[1] [send] via NET/IB/1/GDRDMA") +
                          line(3, "Channel 00/0 : 1[1] -> 3[1] [receive] via NET/IB/1/GDRDMA");
const std::string kStaged = kRail + line(0, "Channel 00/0 : 0[0] -> 2[0] [send] via NET/IB/0");
const std::string kLocal = kMembers + line(0, "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM");
const std::string kShm = kLocal + line(1, "Channel 00 : 1[1] -> 0[0] via SHM/direct/direct");

struct ExpectationCase {
  std::string_view expectation;
  std::string log;
  std::string_view outcome;  ///< And the ranks that break it.
};

const ExpectationCase kExpectations[] = {
    {"between_hosts: NET/IB", kRail, "met"},
    {"between_hosts: NET/IB", kMembers, "unknown"},
    {"between_hosts: NET/IB", kLocal, "unknown"},
    {"between_hosts: [P2P/MNNVL, NET/Socket]", kStaged, "broken 0 1 3"},
    {"gpudirect: true", kRail, "met"},
    {"gpudirect: true", kStaged, "broken 0"},
    {"gpudirect: false", kRail, "broken 1 3"},
    {"gpudirect: true", kLocal, "unknown"},
    {"within_host: P2P", kLocal, "met"},
    {"within_host: P2P", kShm, "broken 1"},
    {"within_host: [P2P, SHM]", kShm, "met"},
    {"within_host: P2P", kRail, "unknown"},
    {"network: IB", line(0, "Using network IB"), "met"},
    {"network: IB", line(0, "Using network IB") + line(1, "Using network Socket"), "broken"},
    {"network: IB", line(0, "hello"), "unknown"},
    {"link: IB", line(0, "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB e:10.4.4.1<0>"), "met"},
    {"link: RoCE", line(0, "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB e:10.4.4.1<0>"), "broken"},
    {"nics_per_host: 2",
     line(0, "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB e:10.4.4.1<0>"), "met"},
    {"nics_per_host: {at_least: 3}",
     line(0, "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB e:10.4.4.1<0>"), "broken"},
    {"nics_per_host: 2", kMembers, "unknown"},
    {"gpus_per_host: 2", kMembers, "met"},
    {"gpus_per_host: {at_most: 1}", kMembers, "broken 0 1 2 3"},
    {"gpus_per_host: 2", kMembers.substr(kMembers.find('\n') + 1), "unknown"},
    {"hosts: 2", kMembers, "met"},
    {"hosts: 1", kMembers, "broken"},
    {"ranks: {at_least: 4, at_most: 4}", kMembers, "met"},
    {"ranks: 8", kMembers, "broken"},
    {"ranks: 8", "hello\n", "unknown"},
    {"nvls: true", line(0, "NVLS multicast support is available on dev 0"), "met"},
    {"nvls: true", line(0, "NVLS multicast support is not available on dev 0"), "broken"},
    {"nvls: true", kMembers, "unknown"},
    {"nvls_used: true", line(0, "NVLS multicast support is available on dev 0"), "unknown"},
    {"nvls_used: true",
     line(0,
          "NVLS comm 0xa headRank 0 nHeads 2 buffSize 1048576 nvlsPerRankSize 4096 nvlsTotalSize "
          "8192"),
     "met"},
    {"nvls_used: true",
     line(0, "8 coll channels, 0 nvls channels, 8 p2p channels, 2 p2p channels per peer"),
     "broken"},
    {"nccl_version: {at_least: 2.18}", "NCCL version 2.18.5+cuda12.2\n", "met"},
    {"nccl_version: {at_least: 2.9}", "NCCL version 2.18.5+cuda12.2\n", "met"},
    {"nccl_version: {at_least: 2.20}", "NCCL version 2.18.5+cuda12.2\n", "broken"},
    {"nccl_version: {at_most: 2.18}", "NCCL version 2.18.5+cuda12.2\n", "met"},
    {"nccl_version: {at_most: 2.17.9}", "NCCL version 2.18.5+cuda12.2\n", "broken"},
    {"nccl_version: {at_least: 2.18}", kMembers, "unknown"},
    {"driver_version: {at_least: 12.2}", line(0, "cudaDriverVersion 12040"), "met"},
    {"driver_version: {at_least: 12.8}", line(0, "cudaDriverVersion 12040"), "broken"},
    {"unset: [NCCL_IB_DISABLE]", line(0, "NCCL_IB_DISABLE set by environment to 1."), "broken"},
    {"unset: [NCCL_IB_DISABLE]", line(0, "NCCL_IB_DISABLE set by environment to 0."), "met"},
    {"unset: [NCCL_IB_DISABLE]", line(0, "Using network IB"), "unknown"},
};

std::string outcome_of(const Profile& profile, const std::string& log) {
  const Job job = job_from_text(log);
  const FactValue outcome = check_profile(profile, job).expectations.front().outcome;
  std::string text(outcome_word(outcome));
  for (const int process : outcome.processes) {
    const int rank = job.processes[static_cast<size_t>(process)].rank;
    if (rank >= 0) text += fmt::format(" {}", rank);
  }
  return text;
}

TEST(Profile, HoldsEachExpectationAgainstTheJob) {
  for (const ExpectationCase& row : kExpectations) {
    EXPECT_EQ(outcome_of(expecting(row.expectation), row.log), row.outcome)
        << row.expectation << "\n"
        << row.log;
  }
}

TEST(Profile, SaysOfEachUnknownHowToCaptureIt) {
  for (const ExpectedFact& expected : expected_facts()) {
    const Fact& fact = expected.fact;
    const std::string capture = fact.how_to_capture(Job());
    EXPECT_FALSE(capture.empty()) << fact.name;
    const Profile checked =
        check_profile({"p", "t", {}, {{&expected, {}, Severity::Info, "x"}}}, job_from_text(""));
    const Expectation& expectation = checked.expectations.front();
    EXPECT_FALSE(expectation.outcome.known()) << fact.name;
    EXPECT_EQ(expectation.how_to_capture, capture);
    EXPECT_FALSE(expectation.outcome.what.empty()) << fact.name;
  }
}

/// "where: what (hint)".
std::string refusal(std::string_view yaml) {
  try {
    profile_of(yaml);
  } catch (const Error& error) {
    return error.where() + ": " + error.what() +
           (error.hint().empty() ? "" : " (" + error.hint() + ")");
  }
  return {};
}

TEST(Profile, IsRefusedWithItsPlaceAndTheNearestWord) {
  const std::string head = "name: p\ntitle: t\n";
  EXPECT_EQ(refusal(head + "expect:\n  - gpudirct: true\n"),
            "p.yaml:4:5: unknown expectation 'gpudirct' (did you mean 'gpudirect'?)");
  EXPECT_EQ(refusal(head + "expect:\n  - gpudirect: maybe\n"),
            "p.yaml:4:16: expected true or false, found 'maybe'");
  EXPECT_EQ(refusal(head + "expect:\n  - hosts: 1\n    ranks: 2\n"),
            "p.yaml:5:5: 'ranks' is a second expectation (begin each one with '- ')");
  EXPECT_EQ(refusal(head + "expect:\n  - severity: error\n"),
            "p.yaml:4:5: an expectation has only a severity");
  EXPECT_EQ(refusal(head + "expect:\n  - hosts: {at_leest: 1}\n"),
            "p.yaml:4:13: unknown key 'at_leest' (did you mean 'at_least'?)");
  EXPECT_EQ(refusal(head + "expect:\n  - nccl_version: {at_least: new}\n"),
            "p.yaml:4:30: expected a version such as 2.18, found 'new'");
  EXPECT_EQ(refusal(head + "expects: []\n"),
            "p.yaml:3:1: unknown key 'expects' (did you mean 'expect'?)");
  EXPECT_EQ(refusal(head), "p.yaml:1:1: the key 'expect' is missing");
}

TEST(Profile, MakesOneFindingOfAllThatIsBroken) {
  const Job job = job_from_text(kStaged);
  const Profile profile = profile_of(
      "name: ours\ntitle: t\nexpect:\n  - gpudirect: true\n    severity: error\n  - hosts: 3\n"
      "    severity: info\n  - within_host: P2P\n");
  const auto finding = profile_finding(check_profile(profile, job), job);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->id, "expectation-broken");
  EXPECT_EQ(finding->severity, Severity::Error);
  EXPECT_EQ(finding->ranks, std::vector<int>{0});
  EXPECT_EQ(finding->message,
            "The job is not as profile ours expects: gpudirect: true, but rank 0 -> rank 2 via "
            "NET/IB/0 (1 of 3 connections); hosts: 3, but 2 hosts of 3.");
  EXPECT_FALSE(profile_finding(check_profile(expecting("hosts: 2"), job), job).has_value());
}

TEST(Profile, IsFoundByNameOrPath) {
  EXPECT_EQ(find_profile("dgx-h100").name, "dgx-h100");
  testing::TempDir folder;
  const auto path = folder.add("ours.yaml", "name: ours\ntitle: t\nexpect: [{hosts: 1}]\n");
  EXPECT_EQ(find_profile(path).name, "ours");
  try {
    find_profile("dgx-h10");
    FAIL() << "no such profile";
  } catch (const Error& error) {
    EXPECT_EQ(error.hint(), "did you mean 'dgx-h100'?");
  }
}

TEST(Profile, ShippedOnesLoadAndAreNamedLikeTheirFiles) {
  EXPECT_FALSE(shipped_profiles().empty());
  for (const EmbeddedFile& file : shipped_profiles()) {
    const std::string name(file.path.substr(0, file.path.rfind('.')));
    const Profile profile = find_profile(name);
    EXPECT_EQ(profile.name, name);
    EXPECT_FALSE(profile.references.empty()) << name;
  }
}

/// A machine of a shipped profile as its log shows it, and as it shows itself when a part of it is
/// wrong.
struct Machine {
  std::string_view profile;
  std::string_view network;   ///< As after "Using network".
  std::string_view devices;   ///< Link layer of eight RDMA devices; empty: none is listed.
  std::string_view between;   ///< Path between hosts; empty: one host.
  std::string_view local;     ///< Path inside a host.
  std::string_view gpu_path;  ///< Path type between two GPUs.
  bool nvls;
  std::string_view wrong;  ///< A path that the profile does not allow between or inside hosts.
};

constexpr Machine kMachines[] = {
    {"dgx-h100", "IB", "IB", "NET/IB/0/GDRDMA", "P2P/CUMEM", "NVL", true, "NET/Socket/0"},
    {"hgx-h200", "IB", "RoCE", "NET/IB/0/GDRDMA", "P2P/CUMEM", "NVL", true, "NET/IB/0"},
    {"dgx-a100", "IB", "IB", "NET/IB/0/GDRDMA/Shared", "P2P/IPC", "NVL", false, "NET/IB/0"},
    {"gb200-nvl72", "IB", "", "P2P/MNNVL", "P2P/CUMEM", "NVL", true, "NET/Socket/0"},
    {"aws-p5", "AWS Libfabric", "", "NET/AWS Libfabric/0/GDRDMA", "P2P/CUMEM/read", "NVL", true,
     "NET/Socket/0"},
    {"gcp-a3-mega", "FasTrak", "", "NET/FasTrak/0", "P2P/CUMEM", "NVL", true, "NET/Socket/0"},
    {"azure-nd-h100-v5", "IB", "IB", "NET/IB/0/GDRDMA", "P2P/CUMEM", "NVL", true, "NET/IB/0"},
    {"single-host-8xnvlink", "Socket", "", "", "P2P/CUMEM", "NVL", true, "SHM/direct/direct"},
    {"pcie-host", "Socket", "", "", "SHM/direct/direct", "PHB", false, "NET/Socket/0"},
};

std::string machine_log(const Machine& machine, std::string_view between, std::string_view local) {
  const int hosts = machine.between.empty() ? 1 : 2;
  const bool mnnvl = machine.profile == "gb200-nvl72";
  std::string log;
  for (int r = 0; r < 2 * hosts; ++r) {
    log += line(r, "NCCL_DEBUG set by environment to INFO");
    log += line(r, fmt::format("Using network {}", machine.network));
    log += line(r, "NCCL version 2.28.9+cuda13.0");
    if (machine.nvls)
      log += line(r, fmt::format("NVLS multicast support is available on dev {}", r % 2));
    if (!machine.devices.empty()) {
      std::string devices;
      for (int d = 0; d < 8; ++d)
        devices += fmt::format(" [{0}]mlx5_{0}:1/{1}", d, machine.devices);
      log += line(r, fmt::format("NET/IB : Using{} [RO]; OOB eno1:10.4.4.1<0>", devices));
    }
    log += line(r, "=== System : maxBw 370.8 totalBw 370.8 ===") + line(r, "CPU/0-0 (1/1/2)") +
           line(r, "+ PCI[48.0] - GPU/0-9000 (0)") + line(r, "+ PCI[48.0] - GPU/0-19000 (1)") +
           line(r, "==========================================");
    log += line(r, fmt::format("GPU/0-9000 :GPU/0-9000 (0/5000.0/LOC) GPU/0-19000 (2/370.8/{}) ",
                               machine.gpu_path));
    log += line(r, fmt::format("comm 0x7a{} rank {} nRanks {} nNodes {} localRanks 2 localRank {} "
                               "MNNVL {}",
                               r, r, 2 * hosts, hosts, r % 2, mnnvl ? 1 : 0));
    log += line(r,
                "16 coll channels, 16 collnet channels, 0 nvls channels, 16 p2p channels, 2 p2p "
                "channels per peer");
    log += line(r, fmt::format("ncclCommInitRank comm 0x7a{0} rank {0} nranks {1} cudaDev {2} "
                               "nvmlDev {2} busId {2}9000 commId 0x77 - Init COMPLETE",
                               r, 2 * hosts, r % 2));
  }
  log += line(0, fmt::format("Channel 00 : 0[0] -> 1[1] via {}", local));
  if (hosts > 1) log += line(0, fmt::format("Channel 00/0 : 0[0] -> 2[0] [send] via {}", between));
  return log;
}

std::string states(const Profile& profile, const std::string& log, std::string_view word) {
  std::string found;
  for (const auto& expectation : check_profile(profile, job_from_text(log)).expectations) {
    if (outcome_word(expectation.outcome) != word) continue;
    found += expectation.text + ": " + expectation.outcome.what + "\n";
  }
  return found;
}

TEST(Profile, EachShippedOneIsMetByItsMachineAndBrokenByAWrongPath) {
  EXPECT_EQ(std::size(kMachines), shipped_profiles().size());
  for (const Machine& machine : kMachines) {
    const Profile profile = find_profile(std::string(machine.profile));
    const std::string good = machine_log(machine, machine.between, machine.local);
    EXPECT_EQ(states(profile, good, "broken"), "") << machine.profile;
    const std::string unknown = states(profile, good, "unknown");
    // A job inside one NVLink domain has no network path.
    EXPECT_EQ(unknown.substr(0, unknown.find(':')),
              machine.profile == "gb200-nvl72" ? "gpudirect" : "")
        << machine.profile << ": " << unknown;
    const bool one_host = machine.between.empty();
    const std::string bad = machine_log(machine, one_host ? "" : machine.wrong,
                                        one_host ? machine.wrong : machine.local);
    EXPECT_NE(states(profile, bad, "broken"), "") << machine.profile;
  }
}

}  // namespace
}  // namespace ncclog
