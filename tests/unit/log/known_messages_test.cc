#include "log/known_messages.h"

#include <gtest/gtest.h>

#include "log/wording/message_file.h"

namespace ncclog {
namespace {

struct ShapeCase {
  const char* message;
  const char* shape;
};

TEST(MessageShape, ReplacesValuesAndKeepsNcclsWords) {
  const ShapeCase kCases[] = {
      {"Frobnicated mlx5_0:1 qpn 4711 at 0x7f10a0", "Frobnicated #:# qpn # at #"},
      {"NET/IB : weighed 3 rails [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE",
       "NET/IB : weighed # rails [#]#:#/IB [#]#:#/RoCE"},
      {"Could not weigh '/etc/nccl/topo.xml' (2)", "Could not weigh '…' (#)"},
      {"Could not weigh /sys/class/net/eth0/speed.", "Could not weigh #."},
      {"P2P is heavy between 3 and 4", "P2P is heavy between # and #"},
      {"rank 3 took 1.25 s", "rank # took # s"},
      {"it doesn't weigh, isn't it", "it doesn't weigh, isn't it"},
      {"Channel 00 :    0   1   2", "Channel # : # # #"},
      {"peer 10.1.2.3<41822> fe80::1%ib0<1>", "peer #<#> #::#%#<#>"},
      {"key='rank' value=\"3 4\"", "key='…' value=\"…\""},
      {"", ""},
  };
  for (const ShapeCase& c : kCases) EXPECT_EQ(message_shape(c.message), c.shape);
}

TEST(MessageShape, IsShortWhateverTheMessage) {
  EXPECT_LE(message_shape(std::string(5000, 'x')).size(), kMaxShapeBytes);
  EXPECT_LE(message_shape(std::string(5000, '\'')).size(), 3 * kMaxShapeBytes);
  EXPECT_EQ(message_shape("a\x01\xff b"), "a\x01\xff b");
}

TEST(MessageText, ReadsBackAsTheSameKind) {
  for (const Kind& kind : all_kinds()) {
    const auto kinds = parse_message_file(message_text(kind), std::string(kind.name));
    ASSERT_EQ(kinds.size(), 1u) << kind.name;
    ASSERT_EQ(kinds[0].wordings.size(), kind.wordings.size()) << kind.name;
    EXPECT_EQ(kinds[0].fields.size(), kind.fields.size()) << kind.name;
    for (size_t i = 0; i < kind.wordings.size(); ++i) {
      const WordingText& text = kinds[0].wordings[i];
      const Wording& wording = kind.wordings[i];
      EXPECT_EQ(text.text, wording.text);
      EXPECT_EQ(text.example, wording.example);
      EXPECT_EQ(text.quotable, wording.quotable) << text.text;
      EXPECT_EQ(text.general, wording.general) << text.text;
      EXPECT_EQ(text.severity, wording.warning.severity) << text.text;
      EXPECT_EQ(text.origin, wording.warning.origin) << text.text;
      EXPECT_EQ(text.meaning, wording.warning.meaning) << text.text;
    }
  }
}

TEST(MessageText, SteersNoTerminal) {
  const auto kinds = parse_message_file(
      "# Clears \x1b[2J it.\nsite_note  nccl NET\n  = \\x20SITE \\x1b[2J\\x7f up\n  > \\x20SITE "
      "\\x1b[2J\\x7f up\n",
      "site.messages");
  WordingTable table;
  build_messages({}, kinds, table);
  const std::string text = message_text(table.kinds[0]);
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_EQ(text.find('\x7f'), text.npos);
  EXPECT_EQ(parse_message_file(text, "again")[0].wordings[0].text, kinds[0].wordings[0].text);
}

TEST(MessageText, ProposesHolesForValues) {
  struct Row {
    const char* message;
    const char* wording;
  };
  const Row rows[] = {
      {"NET/IB: Frobnicated mlx5_0:1 qpn 4711 at 0x7f10a0",
       "NET/IB: Frobnicated {:word} qpn {:int} at {:hex}"},
      {"Could not weigh '/etc/nccl/topo.xml' (3 of {8})",
       "Could not weigh '{}' ({:int} of {{{:int}}})"},
      {"P2P weight is 2.5, LL128 is off.", "P2P weight is {:number}, LL128 is off."},
      {"rank 3 of 8", ""},  // Too little of its own.
      {"", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(proposed_wording(row.message), row.wording) << row.message;
}

TEST(MessageText, ProposalsAreAccepted) {
  const std::vector<UnknownMessage> unknown = {
      {"NET/IB: Frobnicated mlx5_0:1 qpn 4711 at 0x7f10a0", true, false, "Seen twice."},
      {"NET/IB: Frobnicated mlx5_1:1 qpn 12 at 0x7f", true, false, "Seen once."},
      {"NET/IB: Frobnicated nothing at all", true, true, "Seen once."},
      {"Could not weigh \"a\" {b}\tand \\ more", false, false, "Seen once."},
      {"bytes \xFF\xFE that are no text at all", true, false, "Seen once."},
  };
  const std::string text = proposed_messages(unknown);
  const auto kinds = parse_message_file(text, "proposed");
  EXPECT_EQ(kinds.size(), 3u) << text;
  WordingTable table;
  build_messages(all_kinds(), kinds, table);
  EXPECT_NE(table.nccl.parse(unknown[1].message).kind, nullptr);
}

}  // namespace
}  // namespace ncclog
