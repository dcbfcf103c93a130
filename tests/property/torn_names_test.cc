// Does a name survive, whole or in half, where its line was torn at any byte?
//
// Nothing here is understood on the way: no job is built, no host is known beforehand.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "log/known_messages.h"
#include "report/anonymise/anonymise.h"
#include "report/anonymise/leak_check.h"

namespace ncclog {
namespace {

/// A line in which a name stands, and where.
struct Slot {
  std::string_view before;
  std::string_view name;
  std::string_view after;
};

constexpr Slot kSlots[] = {
    {"", "kraken-n417", ":313:314 [0] NCCL INFO Bootstrap : Using eth0:172.20.1.9<0>"},
    {"[1,0]<stdout>:", "quokkabox7", ":313:314 [0] NCCL INFO Connected all rings"},
    {"(RayWorkerWrapper pid=4131, ip=", "jwbx0582i", ") NCCL INFO x"},
    {"srun: error: ", "nidx001261", ": task 3: Killed"},
    {"  host      : ", "zebra7.hpc.acmelabs.org", ""},
    {"[c10d] failed to connect to [", "wombat3.quux.edu", "]:29500 after 3 tries"},
    {"kraken-n417:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:", "10.112.138.141", "<0>"},
    {"    link/ether ", "b8:59:9f:a2:34:5e", " brd ff:ff:ff:ff:ff:ff"},
    {"mail ", "bobby.smithers@quokkalabs.com", " when it ends"},
    {"File \"/home/", "falconer", "/run/train.py\", line 3"},
    {"+ srun --job-name=", "quokka-pretrain-v3", " python train.py"},
    {"HF_TOKEN=", "hf_AbCdEfGhIjKlMnOpQr123456", " set"},
    {"Warning: Permanently added '", "quagga-worker9-0.acmesvc.svc.local", "' to known hosts"},
    {"SLURM_JOB_NODELIST=", "kraken-n[417-499,501]", " x"},
    {"pod/", "quagga-7d9f8b6c54-x2k4p", " was evicted"},
    {"aws s3 cp s3://", "acmelabs-corpus-9", "/x ."},
};

/// Whether the half is somebody's: from four bytes on, without the dots and dashes at its ends.
bool identifies(std::string_view half) {
  const auto is_joint = [](char c) {
    return std::string_view("-_.:@[],").find(c) != std::string_view::npos;
  };
  while (!half.empty() && is_joint(half.front())) half.remove_prefix(1);
  while (!half.empty() && is_joint(half.back())) half.remove_suffix(1);
  const bool has_letter = half.find_first_not_of("0123456789.:,-") != half.npos;
  return half.size() >= 4 && has_letter && half != "local" && half != "worker" &&
         half != "worker9" && half != "hf_A";
}

Anonymiser made_for(const std::string& log) {
  Identities identities;
  identities.set_ordinary_words(message_words());
  identities.read(log);
  return Anonymiser(std::move(identities));
}

std::string whole_lines() {
  std::string text;
  for (const Slot& slot : kSlots) {
    text += std::string(slot.before) + std::string(slot.name) + std::string(slot.after) + "\n";
  }
  return text;
}

TEST(TornNames, NoWholeNameIsLeft) {
  const std::string log = whole_lines();
  const std::string text = made_for(log).text(log);
  for (const Slot& slot : kSlots) EXPECT_EQ(text.find(slot.name), std::string::npos) << text;
}

TEST(TornNames, NoHalfIsLeftWhereALineWasTorn) {
  // What came between the two pieces: a line end, another process's record, a piece of one.
  constexpr std::string_view kBetween[] = {
      "\n", "\nwallaby2:77:78 [1] NCCL INFO Connected all trees\n",
      "wallaby2:77:78 [1] NCCL INFO Connected all trees\n", "\r\n"};
  for (const Slot& slot : kSlots) {
    for (size_t cut = 1; cut < slot.name.size(); ++cut) {
      const std::string front(slot.name.substr(0, cut)), back(slot.name.substr(cut));
      for (const std::string_view between : kBetween) {
        const std::string torn = std::string(slot.before) + front + std::string(between) + back +
                                 std::string(slot.after) + "\n";
        const std::string log = whole_lines() + torn;
        const std::string text = made_for(log).text(torn);
        EXPECT_FALSE(identifies(front) && text.find(front) != text.npos) << torn << text;
        EXPECT_FALSE(identifies(back) && text.find(back) != text.npos) << torn << text;
      }
    }
  }
}

TEST(TornNames, HalvesInTheMiddleOfALineGoWhereTheyAreMuchOfAName) {
  for (const Slot& slot : kSlots) {
    for (size_t cut = 6; cut < slot.name.size(); ++cut) {
      const std::string front(slot.name.substr(0, cut));
      const bool tells = front.find_first_of("0123456789") != front.npos &&
                         front.find_first_of("qwertzuiopasdfghjklyxcvbnm") != front.npos;
      if (!tells || !identifies(front)) continue;
      const std::string torn = std::string(slot.before) + front + "via P2P/CUMEM/read\n";
      const std::string text = made_for(whole_lines() + torn).text(torn);
      EXPECT_EQ(text.find(front), std::string::npos) << torn << text;
    }
  }
}

TEST(TornNames, ReplacingTwiceIsReplacingOnce) {
  const std::string log = whole_lines();
  const Anonymiser anonymiser = made_for(log);
  for (size_t cut = 0; cut < log.size(); cut += 5) {
    const std::string once = anonymiser.text(log.substr(0, cut) + "\n" + log.substr(cut));
    ASSERT_EQ(anonymiser.text(once), once) << cut;
  }
}

TEST(TornNames, TheCruderEyeFindsNothingLeft) {
  const std::string log = whole_lines();
  for (size_t cut = 0; cut < log.size(); cut += 5) {
    const std::string torn = log.substr(0, cut) + "\n" + log.substr(cut);
    const Anonymiser anonymiser = made_for(torn);
    LeakCheck check(message_words(), anonymiser.unmistakable());
    check.read(torn);
    const std::string text = anonymiser.text(torn);
    const auto leaks = check.find("a.log", text);
    ASSERT_TRUE(leaks.empty()) << leaks.front().place << ' ' << leaks.front().name << '\n' << text;
  }
}

}  // namespace
}  // namespace ncclog
