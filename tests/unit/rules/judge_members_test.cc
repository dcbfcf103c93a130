// How many of a set, and do they agree: with members that are not known and members that are not
// there.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "unit/rules/sample_rules.h"
#include "unit/rules/three_answers.h"

namespace ncclog::testing {
namespace {

/// A rank that chose a network, or that did not come that far; '-': it has no lines.
///   S: socket, I: another one, w: its file ends before it says
std::string ranks(const std::string& each, const char* host = "n1") {
  std::string log;
  for (size_t i = 0; i < each.size(); ++i) {
    if (each[i] == '-') continue;
    const std::string header = fmt::format("{}:{}:{} [0] NCCL INFO ", host, 70 + i, 70 + i);
    const std::string comm = fmt::format(
        "ncclCommInitRank comm 0x7f1{} rank {} nranks {} cudaDev 0 nvmlDev 0 busId {}000 commId "
        "0x9c - Init ",
        i, i, each.size(), i + 1);
    log += header + comm + "START\n";
    log += header + "NET/Socket : Using [0]eth0:10.0.0.1<0>\n";
    if (each[i] == 'w') continue;
    log += header + (each[i] == 'S' ? "Using network Socket\n" : "Using network IB\n");
    log += header + comm + "COMPLETE\n";
  }
  return log;
}

std::string socket_among_ranks(const std::string& hold) {
  return "{among: rank, hold: " + hold +
         ", what: {event: network_selected, where: {network: Socket}}}";
}

struct Row {
  const char* hold;
  const char* ranks;
  char answer;
};

constexpr Row kRows[] = {
    {"all", "SSS", 'y'},
    {"all", "SSI", 'n'},
    {"all", "SSw", 'u'},
    {"all", "SS-", 'u'},
    {"all", "SI-", 'n'},
    {"none", "III", 'y'},
    {"none", "IIS", 'n'},
    {"none", "IIw", 'u'},
    {"none", "II-", 'u'},
    {"some_but_not_all", "SSI", 'y'},
    {"some_but_not_all", "SI-", 'y'},
    {"some_but_not_all", "SIw", 'y'},
    {"some_but_not_all", "SSS", 'n'},
    {"some_but_not_all", "III", 'n'},
    {"some_but_not_all", "SS-", 'u'},
    {"some_but_not_all", "SSw", 'u'},
    {"outlier", "SIII", 'y'},
    {"outlier", "SII", 'n'},
    {"outlier", "SSII", 'n'},
    {"outlier", "IIII", 'n'},
    {"outlier", "SIIIIIIw", 'y'},
    {"outlier", "SIIIw", 'u'},
    {"outlier", "SIIIII-", 'u'},
    {"outlier", "SSSI", 'n'},
    {"{exactly: 2}", "SSI", 'y'},
    {"{exactly: 2}", "SSS", 'n'},
    {"{exactly: 2}", "SII", 'n'},
    {"{exactly: 2}", "SSw", 'u'},
    {"{at_least: 2}", "SS-", 'y'},
    {"{at_least: 2}", "SI-", 'u'},
    {"{at_most: 1}", "SII", 'y'},
    {"{at_most: 1}", "SI-", 'u'},
    {"{at_most: 1}", "SSw", 'n'},
};

TEST(Among, CountsOnlyWhatIsProven) {
  for (const Row& row : kRows) {
    EXPECT_EQ(answer_of(socket_among_ranks(row.hold), ranks(row.ranks)), row.answer)
        << row.hold << " of " << row.ranks;
  }
}

TEST(Among, NamesTheFew) {
  const Rule rule = sample_rule("my-rule", socket_among_ranks("outlier"), "", "{among.what}.");
  const Finding finding = finding_of(rule, ranks("IISII"));
  EXPECT_EQ(finding.message, "rank 2 does, ranks 0,1,3,4 do not.");
  EXPECT_EQ(finding.ranks, std::vector<int>{2});
}

TEST(Among, NamesThoseWhoLackSomething) {
  const std::string when =
      "{among: rank, hold: outlier, what: {none: [{event: network_selected, where: {network: "
      "IB}}]}}";
  EXPECT_EQ(finding_of(sample_rule("my-rule", when), ranks("IISII")).ranks, std::vector<int>{2});
}

TEST(Among, EachSetIsJudgedOnItsOwn) {
  const auto in = [](const char* scope) {
    return std::string("{among: process, in: ") + scope +
           ", hold: some_but_not_all, what: {event: network_selected, where: {network: Socket}}}";
  };
  const std::string mixed = ranks("SI");
  const std::string apart =
      "n1:70:70 [0] NCCL INFO Using network Socket\nn1:70:70 [0] NCCL INFO GPU Direct RDMA Enabled "
      "for HCA 0 'mlx5_0'\n"
      "n2:80:80 [0] NCCL INFO Using network IB\nn2:80:80 [0] NCCL INFO GPU Direct RDMA Enabled "
      "for HCA 0 'mlx5_0'\n";
  EXPECT_EQ(answer_of(in("host"), mixed), 'y');
  EXPECT_EQ(answer_of(in("host"), mixed, "per: rank\n"), 'y');
  EXPECT_EQ(answer_of(in("job"), apart), 'y');
  EXPECT_NE(answer_of(in("host"), apart), 'y');
}

TEST(Among, ATornProcessIsNoProof) {
  const std::string torn =
      "n1:71:71 [0] NCCL INFO Usingn1:70:70 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n";
  EXPECT_EQ(answer_of(socket_among_ranks("none"), ranks("II") + torn), 'u');
}

struct DifferRow {
  const char* when;
  std::string log;
  char answer;
};

std::string setting(int pid, const char* value) {
  return fmt::format("n1:{}:{} [0] NCCL INFO NCCL_ALGO set by environment to {}\n", pid, pid,
                     value);
}

const char* const kAlgo = "{differs: environment.NCCL_ALGO, across: process}";
const char* const kNetwork = "{differs: network_selected.network, across: rank}";

const DifferRow kDiffers[] = {
    {kAlgo, setting(7, "Ring") + setting(8, "Tree"), 'y'},
    {kAlgo, setting(7, "Ring") + setting(8, "Ring"), 'u'},
    {kAlgo, setting(7, "Ring"), 'u'},
    {kNetwork, ranks("SI"), 'y'},
    {kNetwork, ranks("SI-"), 'y'},
    {kNetwork, ranks("SS"), 'n'},
    {kNetwork, ranks("SSw"), 'u'},
    {kNetwork, ranks("SS-"), 'u'},
    {"{differs: network_selected.network, across: rank, where: {network: IB}}", ranks("SI"), 'u'},
    {"{differs: nic.link, across: nic}", ranks("SS"), 'n'},
};

TEST(Differs, ComparesWhatIsKnown) {
  for (const DifferRow& row : kDiffers) {
    EXPECT_EQ(answer_of(row.when, row.log), row.answer) << row.when << "\n" << row.log;
  }
}

TEST(Differs, NamesTheMinorityOrNobody) {
  const auto finding = [](const std::string& each) {
    return finding_of(sample_rule("my-rule", kNetwork, "blame: facts\n", "{differs.what}."),
                      ranks(each));
  };
  EXPECT_EQ(finding("SIIII").ranks, std::vector<int>{0});
  EXPECT_EQ(finding("SIIII").message, "network is IB on ranks 1-4 and Socket on rank 0.");
  EXPECT_EQ(finding("SSII").ranks, std::vector<int>{});
}

TEST(Missing, IsYesOnlyWhereSilenceProvesSomething) {
  const std::string when = "{missing: network_selected, where: {network: IB}}";
  EXPECT_EQ(answer_of(when, ranks("SS")), 'y');
  EXPECT_EQ(answer_of(when, ranks("SI")), 'n');
  EXPECT_EQ(answer_of(when, ranks("Sw")), 'u');
  EXPECT_EQ(answer_of(when, ranks("S-")), 'u');
  EXPECT_EQ(answer_of("{missing: gpu_direct}", ranks("S")), 'y');
  // Nothing shows that such lines were logged.
  EXPECT_EQ(answer_of("{missing: nvls_comm}", ranks("S")), 'u');
  EXPECT_EQ(answer_of("{missing: watchdog_timeout}", ranks("S")), 'u');
  // A WARN is printed at every level that prints anything.
  EXPECT_EQ(answer_of("{missing: bootstrap_rank_twice}", ranks("S")), 'y');
}

}  // namespace
}  // namespace ncclog::testing
