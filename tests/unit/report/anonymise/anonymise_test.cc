// Is every name replaced in every text, the same everywhere, and found again where it is left?

#include "report/anonymise/anonymise.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/processor_time.h"

namespace ncclog {
namespace {

constexpr std::string_view kPlanted =
    "+ ssh alice.w@gpu-n41.hpc.acme-labs.com srun --job-name=falcon-pretrain -A bigmoney python "
    "/home/alice.w/falcon-secret/train_falcon.py --data /lustre/acmefs/corpus-x7/zork_0001.jsonl\n"
    "gpu-n41:313:313 [0] NCCL INFO NET/Socket : Using [0]eth0:10.12.8.41<0> "
    "[1]ib0:fe80::ee0d:9aff:fe12:3456%ib0<0>\n"
    "gpu-n42:414:414 [0] NCCL INFO Call to connect to 10.12.8.41<2000> failed\n"
    "export HF_TOKEN=hf_AbCdEfGhIjKlMnOpQr123456 DB_PASSWORD='hunter2x!'\n"
    "link/ether b8:59:9f:12:34:56 node_guid: ec0d:9a03:0012:3456 mail bob.smith@acme-labs.com\n"
    "SLURM_JOB_ID=4815162 rdzv_id=falcon-rdzv-9 POD_NAMESPACE=team-zebra\n"
    "GPU 0 (UUID: GPU-2f1e07c4-9d0b-4c55-8a51-0f6c1d2e3f40) of 2a01:4f8:c17:b8f::2\n"
    "said ALICE.W on GPU-N41 about falcon-secret and team-zebra, host c2f6608d913e\n";

constexpr const char* kPlantedNames[] = {
    "alice",      "gpu-n4",     "acme",     "falcon",   "bigmoney",    "corpus-x7", "zork",
    "10.12.8.41", "ee0d:9aff",  "hf_Ab",    "hunter2x", "b8:59:9f",    "9a03",      "bob.smith",
    "4815162",    "team-zebra", "2f1e07c4", "4f8:c17",  "c2f6608d913e"};

Anonymiser made_for(std::string_view text) {
  Identities identities;
  for (const char* host : {"gpu-n41", "gpu-n42", "c2f6608d913e"}) identities.add_host(host);
  identities.read(text);
  return Anonymiser(std::move(identities));
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

TEST(Anonymise, NoPlantedNameIsLeft) {
  const std::string text = made_for(kPlanted).text(kPlanted);
  for (const char* name : kPlantedNames) {
    EXPECT_EQ(lower(text).find(lower(name)), std::string::npos) << name << " in\n" << text;
  }
}

TEST(Anonymise, ReplacesByNamesOfTheSameSort) {
  const Anonymiser anonymiser = made_for(kPlanted);
  EXPECT_EQ(anonymiser.text("gpu-n41:313:313 [0] NCCL INFO Using eth0:10.12.8.41<0>"),
            "host-2:313:313 [0] NCCL INFO Using eth0:10.0.0.17<0>");
  EXPECT_EQ(anonymiser.text("c2f6608d913e:1:1"), "c0de00000001:1:1");
  EXPECT_EQ(anonymiser.text("GPU-N42, /home/alice.w/falcon-secret/x"),
            "host-3, /home/user-1/" + anonymiser.text("falcon-secret") + "/x");
  EXPECT_EQ(anonymiser.path("node/nccl.gpu-n42.414.log"), "node/nccl.host-3.414.log");
}

TEST(Anonymise, NoTwoShortJobNumbersBecomeOne) {
  std::string text;
  for (int job = 2000; job < 3200; ++job) text += "SLURM_JOB_ID=" + std::to_string(job) + "\n";
  std::set<std::string> replacements;
  for (const Replacement& replaced : made_for(text).mapping()) {
    if (replaced.kind != IdentityKind::JobNumber) continue;
    EXPECT_TRUE(replacements.insert(replaced.replacement).second) << replaced.replacement;
  }
  EXPECT_EQ(replacements.size(), 1200U);
}

TEST(Anonymise, ReplacingTwiceIsReplacingOnce) {
  const Anonymiser anonymiser = made_for(kPlanted);
  const std::string once = anonymiser.text(kPlanted);
  EXPECT_EQ(anonymiser.text(once), once);
}

TEST(Anonymise, WhatOneLineShowsIsReplacedInAll) {
  const Anonymiser anonymiser = made_for("see bob and bob-x\n/home/bob/logs/a\n");
  EXPECT_EQ(anonymiser.text("see bob and bob-x, bobby"), "see user-1 and user-1-x, bobby");
  // Shorter than four bytes it may be any part of a word.
}

TEST(Anonymise, AKeyOfManyLinesIsReplacedWhole) {
  constexpr std::string_view kKey =
      "[rank0]: -----BEGIN OPENSSH PRIVATE KEY-----\n"
      "[rank0]: b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2g\n"
      "gpu-n41:313:313 [0] NCCL INFO Using network Socket\n"
      "[rank0]: QyNTUxOQAAACBJ0b8Zk8vYz1pYV0oF5bT9c2s4tQ1k2m3n4o5p6q7AAAAJgAAA+/xy\r\n"
      "[rank0]: aBc7xy==\n"
      "[rank0]: -----END OPENSSH PRIVATE KEY-----\n"
      "a/folder/of/a/name/that/is/longer/than/a/line/of/a/key\n";
  Identities identities;
  // As it comes where a block of the file ends in the key.
  const size_t half = kKey.find("gpu-n41");
  identities.read(kKey.substr(0, half));
  identities.read(kKey.substr(half));
  const std::string text = Anonymiser(std::move(identities)).text(kKey);
  for (const char* line : {"b3Blbn", "QyNTUx", "aBc7xy", "J0b8Zk"}) {
    EXPECT_EQ(text.find(line), std::string::npos) << line << " in\n" << text;
  }
  EXPECT_NE(text.find("Using network Socket"), std::string::npos) << text;
  EXPECT_NE(text.find("a/folder/of/a/name"), std::string::npos) << text;
}

TEST(Anonymise, ReplacementsAreNoneOfTheRunsOwnNames) {
  Identities identities;
  for (const char* host : {"host-1", "host-2", "n7"}) identities.add_host(host);
  const Anonymiser anonymiser(std::move(identities));
  for (const Replacement& replaced : anonymiser.mapping()) {
    EXPECT_TRUE(replaced.replacement != "host-1" && replaced.replacement != "host-2");
  }
  EXPECT_TRUE(anonymiser.unmistakable().contains("n7"));
}

struct ReplacedRow {
  const char* text;
  const char* replaced;
};

TEST(Anonymise, AWordOfNcclIsReplacedWhereItIsANameOnly) {
  Identities identities;
  identities.set_ordinary_words({"allreduce", "color"});
  identities.read("--job-name=allreduce TOKEN=AllReduce USER=color");
  const Anonymiser anonymiser(std::move(identities));
  EXPECT_EQ(anonymiser.text("AllReduce: opCount 0, job_name=allreduce"),
            "AllReduce: opCount 0, job_name=name-1");
  EXPECT_EQ(anonymiser.text("split color 3 in /home/color/x"), "split color 3 in /home/user-1/x");
  EXPECT_TRUE(anonymiser.unmistakable().empty());
}

TEST(Anonymise, ReplacesNamesInsideLongerWords) {
  Identities identities;
  for (const char* host : {"hvd1", "chan7"}) identities.add_host(host);
  const OrdinaryWords ordinary = {"channel"};
  identities.set_ordinary_words(ordinary);
  identities.read("/home/chan/x /home/frank/y hvd12");
  const Anonymiser anonymiser(std::move(identities));
  constexpr ReplacedRow kRows[] = {
      {"xhvd1:29:30 [0] NCCL INFO", "xhost-2:29:30 [0] NCCL INFO"},
      {"frankslab, chanlab", "user-2slab, user-1lab"},
      {"Channel 00/0", "Channel 00/0"},
      {"hvd12 is a fellow", "host-3 is a fellow"},
  };
  for (const ReplacedRow& row : kRows) {
    const std::string text = anonymiser.text(row.text);
    if (std::string_view(row.text).starts_with("hvd12")) {
      EXPECT_EQ(text.find("hvd1"), std::string::npos) << text;
    } else {
      EXPECT_EQ(text, row.replaced);
    }
  }
}

TEST(Anonymise, BothHalvesOfABrokenNameBecomeHalvesOfItsReplacement) {
  Identities identities;
  for (const char* host : {"kraken-n417", "kraken-n422"}) identities.add_host(host);
  identities.read("10.1.2.41 10.1.2.4 kraken-n4\nraken-n422:1:1 [0]");
  const Anonymiser anonymiser(std::move(identities));
  constexpr ReplacedRow kRows[] = {
      {"kraken-n41\n7:313:313 [0] NCCL INFO x\n", "host-2\n:313:313 [0] NCCL INFO x\n"},
      {"kra\r\nken-n417:313:313 [0]", "hos\r\nt-2:313:313 [0]"},
      {"on 10.1.2.4\n1: next", "on 10.0.0.17\n1: next"},
      {"of kraken-n4\nx", ""},
      {"raken-n422:1:1 [0]", ""},
  };
  for (const ReplacedRow& row : kRows) {
    const std::string text = anonymiser.text(row.text);
    EXPECT_EQ(text.find("ken"), std::string::npos) << text;
    if (*row.replaced != '\0') {
      EXPECT_EQ(text, row.replaced);
    }
  }
}

TEST(WordReplacer, TakesTheLongestWholeWord) {
  WordReplacer words;
  words.add("vm", "host-a");
  words.add("gpu-node-1", "host-1");
  words.add("gpu-node-1.corp", "host-2");
  const auto replaced = [&](std::string_view text) {
    std::string out;
    words.append_replaced(out, text, 0, text.size());
    return out;
  };
  EXPECT_EQ(replaced("vm VM kvm vm_1 vm"), "host-a VM kvm host-a_1 host-a");
  EXPECT_EQ(replaced("Gpu-Node-1.corp gpu-node-1.x gpu-node-12 xgpu-node-1"),
            "host-2 host-1.x gpu-node-12 xhost-1");
  EXPECT_EQ(replaced(""), "");
}

// Which words are replaced, and does the number of words cost nothing?

std::string replaced(const WordReplacer& words, std::string_view text) {
  std::string out;
  words.append_replaced(out, text, 0, text.size());
  return out;
}

TEST(WordReplacer, TakesTheLongestThatStandsAlone) {
  WordReplacer words;
  words.add("gpu-n1", "A");
  words.add("gpu-n1.acme", "B");
  words.add("GPU-N1", "second");
  words.add("Bob", "C");
  EXPECT_EQ(replaced(words, "gpu-n1 GPU-N1.ACME gpu-n12 xgpu-n1 Bob bob"), "A B gpu-n12 xA C bob");
}

TEST(WordReplacer, ALongOneIsTakenInsideOfOthersUnlessThoseAreOrdinary) {
  WordReplacer words;
  words.add("chan", "A");
  words.add("beef", "B");
  words.add("vm1", "C");
  words.set_ordinary_words({"channel"});
  EXPECT_EQ(replaced(words, "Channel 0 xchan1 channels 0xbeef04 roastbeefy kvm1"),
            "Channel 0 xA1 Anels 0xbeef04 roastBy kvm1");
}

TEST(WordReplacer, ManyWordsOfOneBeginningCostNoMore) {
  constexpr int kHosts = 100'000;
  WordReplacer words;
  std::string text;
  std::string expected;
  for (int host = 0; host < kHosts; ++host) {
    const std::string name = fmt::format("gpu-n{:05}", host);
    words.add(name, "host");
    text += name + ' ';
    expected += "host ";
  }
  EXPECT_EXIT(
      {
        testing::limit_processor_time();
        _exit(replaced(words, text) == expected ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ncclog
