// Is a name that is left found, however it is written, and is its place named?

#include "report/anonymise/leak_check.h"

#include <gtest/gtest.h>

#include <string>

namespace ncclog {
namespace {

std::string text_of(const std::vector<Leak>& leaks) {
  std::string text;
  for (const Leak& leak : leaks) {
    text += (text.empty() ? "" : ", ") + leak.place + " " + leak.name;
  }
  return text;
}

struct LeakRow {
  const char* text;
  const char* name;
};

constexpr LeakRow kLeft[] = {
    {"nothing here, gpu-n412", ""},
    {"on gpu-n41.", "gpu-n41"},
    {"on GPU-N41", "gpu-n41"},
    {"x,%67pu%2Dn41", "gpu-n41"},
    {"\"gpu\\u002dn41\"", "gpu-n41"},
    {"gpu\\-n41", "gpu-n41"},
    {"gpu&#45;n41 &amp; x", "gpu-n41"},
    {"gpu&#x2d;n41", "gpu-n41"},
    {"10.12.8.41", "10.12.8.41"},
    {"110.12.8.41", ""},
    {"xgpu-n41y", "gpu-n41"},
    {"Channels", ""},
    {"a chan here", "chan"},
    {"0x7fbeef04", ""},
};

TEST(LeakCheck, FindsWhatIsLeftHoweverItIsWritten) {
  const LeakCheck check({"channel", "channels"}, {"gpu-n41", "10.12.8.41", "chan", "beef"});
  for (const LeakRow& row : kLeft) {
    const auto leaks = check.find("a", row.text);
    EXPECT_EQ(leaks.empty() ? "" : leaks.front().name, row.name) << row.text;
  }
}

constexpr LeakRow kTexts[] = {
    {"?!hvd1:2918:3332 [0] NCCL INFO", "hvd1"},
    {"(Worker pid=7, ip=zebra7.corp)", "zebra7.corp"},
    {"srun: error: gpu-node-01: task 3", "gpu-node-01"},
    {"Using [0]eth0:10.12.8.41<0>", "10.12.8.41"},
    {"Using [0]ib0:fe80::ee0d:9aff%ib0<0>", "fe80::ee0d:9aff"},
    {"ether b8:59:9f:12:34:56 brd", "b8:59:9f:12:34:56"},
    {"to bob.smith@acme-labs.com.", "bob.smith@acme-labs.com"},
    {"x/home/alicew/y", "alicew"},
    {"--job-name=falcon-7b", "falcon-7b"},
    {"TOKEN=abcdef0123456789", "abcdef0123456789"},
    {"s3://acme-corpus/x", "acme-corpus"},
    {"ssh: connect to host zebra-q port 22", "zebra-q"},
    {"nid001234: task 3", "nid001234"},
    {"ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB", "aaaab3nzac1yc2eaaaadaqab"},
    {"x?se=1&sig=abcDEF0123456789%2B", "abcdef0123456789%2b"},
    {"C:\\Users\\alicew\\x", "alicew"},
    {"Serial Number   : 1654922003456", "1654922003456"},
    // Nobody's.
    {"localhost:29:30 [0] /home/ubuntu/x /home/user/", ""},
    {"Using lo:127.0.0.1<0> docker0:172.17.0.1<0> x:169.254.3.4<0>", ""},
    {"ether ff:ff:ff:ff:ff:ff brd, file.cc:717:20 x", ""},
    {"num_tokens: 1234567890123", ""},
    {"--job-name=nccl-tests /home/train2/x host=fe80::1", ""},
};

TEST(LeakCheck, TakesForANameWhatAReaderWould) {
  for (const LeakRow& row : kTexts) {
    LeakCheck check({}, {});
    check.read(row.text);
    const auto leaks = check.find("a", row.text);
    EXPECT_EQ(leaks.empty() ? "" : leaks.front().name, row.name) << row.text;
  }
}

TEST(LeakCheck, AWordOfAPageIsNobodysNameThere) {
  const LeakCheck check({}, {"max", "color", "h2", "gpu-n41"});
  constexpr const char* kPage = "<h2 style='max-width: 7em; color: red'>Ring</h2>";
  EXPECT_EQ(text_of(check.find("report.html", kPage, /*is_own=*/true)), "");
  EXPECT_EQ(text_of(check.find("logs/a", kPage)), "logs/a:1 h2");
  EXPECT_EQ(text_of(check.find("report.html", "color of gpu-n41", true)), "report.html:1 gpu-n41");
}

TEST(LeakCheck, NamesThePlaceAndWhy) {
  LeakCheck check({}, {"old-name7"});
  check.read("hvd1:2918:3332 [0] NCCL INFO x\n");
  EXPECT_EQ(text_of(check.find("logs/hvd1.log", "x\n\nshvd1\nold-name7\n")),
            "logs/hvd1.log hvd1, logs/hvd1.log:3 hvd1, logs/hvd1.log:4 old-name7");
  EXPECT_EQ(check.find("a", "hvd1").front().why, "stood before a process id");
}

TEST(Unescape, LeavesWhatIsNoEscape) {
  EXPECT_EQ(unescaped("50% of %zz %4", '%'), "50% of %zz %4");
  EXPECT_EQ(unescaped("a\\n \\u12 \\", '\\'), "a\\n \\u12 \\");
  EXPECT_EQ(unescaped("a & b; &nosuchname; &#; &lt;", '&'), "a & b; &nosuchname; &#; <");
}

}  // namespace
}  // namespace ncclog
