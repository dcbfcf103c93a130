#include "log/wording/message_file.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "log/messages.h"

namespace ncclog {
namespace {

/// The kinds of a file of this text, built on the built-in ones; the Error's whole text if that is
/// refused.
std::string refusal(const std::string& text) {
  try {
    const std::vector<KindText> kinds = parse_message_file(text, "site.messages");
    WordingTable table;
    build_messages(kBuiltInKinds, kinds, table);
    return "";
  } catch (const Error& error) {
    return error.where() + ": " + error.what() +
           (error.hint().empty() ? "" : " [" + error.hint() + "]");
  }
}

TEST(MessageFile, ReadsAKindWithAllThatItMayHave) {
  const auto kinds = parse_message_file(
      "# About the file.\n"
      "\n"
      "# A port went down.\n"
      "# Since 2.31.\n"
      "site_port  nccl NET  typed\n"
      "  device:text  As ibv_devinfo\n"
      "      prints it.\n"
      "  port:int  count:int64  at:hex\n"
      "  ! degraded system  Traffic stalls until\n"
      "    it is back.\n"
      "  = SITE/{device:word}:{port} down {count} at {at}\n"
      "  @ quotable\n"
      "  > SITE/mlx5_0:1 down 3 at 0x7f\n"
      "  ! never\n"
      "  = SITE\\t{{{device}}}\n"
      "  > SITE\\t{mlx5_0}\n",
      "site.messages");
  ASSERT_EQ(kinds.size(), 1u);
  const KindText& kind = kinds[0];
  EXPECT_EQ(kind.name, "site_port");
  EXPECT_EQ(kind.meaning, "A port went down.\nSince 2.31.");
  EXPECT_EQ(kind.library, Library::Nccl);
  EXPECT_EQ(kind.subsystem, Subsystem::Net);
  EXPECT_TRUE(kind.typed);
  ASSERT_EQ(kind.fields.size(), 4u);
  EXPECT_EQ(kind.fields[0].meaning, "As ibv_devinfo prints it.");
  EXPECT_EQ(kind.fields[1].type, FieldType::Integer);
  EXPECT_FALSE(kind.fields[1].wide);
  EXPECT_TRUE(kind.fields[2].wide);
  EXPECT_EQ(kind.fields[3].type, FieldType::Hex);
  ASSERT_EQ(kind.wordings.size(), 2u);
  EXPECT_EQ(kind.wordings[0].severity, WarnSeverity::Degraded);
  EXPECT_EQ(kind.wordings[0].meaning, "Traffic stalls until it is back.");
  EXPECT_TRUE(kind.wordings[0].quotable);
  EXPECT_EQ(kind.wordings[0].place.line, 11);
  EXPECT_EQ(kind.wordings[0].place.column, 5);
  EXPECT_EQ(kind.wordings[1].severity, WarnSeverity::None);
  EXPECT_EQ(kind.wordings[1].example, "SITE\t{mlx5_0}");
}

TEST(MessageFile, RefusesAMistakeWithItsPlaceAndTheNearestWord) {
  struct Row {
    std::string text;
    std::string refusal;
  };
  const std::string kind = "site_note  nccl NET\n";
  const Row rows[] = {
      {"site_note  ncl NET\n", "site.messages:1:12: unknown library 'ncl' [did you mean 'nccl'?]"},
      {"site_note  nccl BOOTSRAP\n",
       "site.messages:1:17: unknown subsystem 'BOOTSRAP' [did you mean 'BOOTSTRAP'?]"},
      {"SiteNote  nccl NET\n",
       "site.messages:1:1: a kind's name has small letters, digits and '_' only"},
      {"site_note  nccl\n", "site.messages:1:16: expected a subsystem, or '-'"},
      {kind + "  = SITE up\n",
       "site.messages:2:5: the wording has no example [add a line '> …' below it with what the log "
       "shows]"},
      {kind, "site.messages:1:1: the kind has no wording"},
      {kind + "  device:txt\n  = SITE {device}\n  > SITE a\n",
       "site.messages:2:3: unknown type 'txt' [did you mean 'text'?]"},
      {kind + "  device:text\n  = SITE {devise} is up\n  > SITE a is up\n",
       "site.messages:3:11: unknown field 'devise' [did you mean 'device'?]"},
      {kind + "  = SITE rank {:int} is up\n  > SITE rank a is up\n",
       "site.messages:3:15: the example does not fit its wording from here on [the wording is "
       "'SITE "
       "rank {:int} is up']"},
      {kind + "  device:text\n  = SITE is up\n  > SITE is up\n",
       "site.messages:3:5: no wording of the kind 'site_note' fills its field 'device'"},
      {kind + "  = Using network {...}\n  > Using network Site\n",
       "site.messages:3:5: the example also fits 'Using network {network...}' of the kind "
       "'network_selected' [wordings that are known already are tried first; say 'replaces: "
       "network_selected' to take them away]"},
      {kind + "  replaces: network_seleced\n  = Using network {...}\n  > Using network Site\n",
       "site.messages:1:1: replaces the kind 'network_seleced', which is not built in [did you "
       "mean "
       "'network_selected'?]"},
      {kind + "  = SITE up\n  > SITE up\n" + kind + "  = SITE down\n  > SITE down\n",
       "site.messages:4:1: the kind 'site_note' stands twice [the other is at site.messages:1]"},
      {kind + "  ! fatel system  The port went down for good.\n  = SITE up\n  > SITE up\n",
       "site.messages:2:5: unknown severity 'fatel' [did you mean 'fatal'?]"},
      {kind + "  ! fatal systen  The port went down for good.\n  = SITE up\n  > SITE up\n",
       "site.messages:2:11: unknown origin 'systen' [did you mean 'system'?]"},
      {kind + "  ! fatal system  Bad.\n  = SITE up\n  > SITE up\n",
       "site.messages:2:3: a meaning is a sentence of 20 bytes or more that ends with a full stop"},
      {kind + "  = SITE up\n  @ qotable\n  > SITE up\n",
       "site.messages:3:5: unknown word 'qotable' [did you mean 'quotable'?]"},
      {kind + "  = SITE up\n  @ by proces_end\n  > SITE up\n",
       "site.messages:3:8: unknown recogniser 'proces_end' [did you mean 'process_end'?]"},
      {kind + "  = SITE up\n  @ general\n  > SITE up\n",
       "site.messages:2:5: the wording is said to be general, and fits no other one's example "
       "[take "
       "the word 'general' away]"},
      {kind + "  = SITE up\n  > SITE\\q\n",
       "site.messages:3:9: unknown escape [\\t, \\\\ and \\xHH are known; \\x00 and \\x0a "
       "are not]"},
      {"env_set  nccl NET\n  = {name} is at {value} for the site\n  > A is at 3 for the site\n",
       "site.messages:1:1: the kind 'env_set' is known already: more wordings need its own library "
       "and "
       "subsystem, and list no fields [begin it with 'env_set  nccl ENV']"},
      {kind + "  = {:word} {...}\n  > SITE up\n",
       "site.messages:2:5: the wording has too little text of its own, and would fit anything"},
      {"  = SITE up\n", "site.messages:1:3: expected a kind: its name, its library, its subsystem"},
      {kind + "  = SITE up\n      and on\n  > SITE up\n",
       "site.messages:3:7: nothing before this line may go on"},
      {kind + "  = SITE up\n  > SITE\\x0a\n",
       "site.messages:3:9: unknown escape [\\t, \\\\ and \\xHH are known; \\x00 and \\x0a are "
       "not]"},
      {kind + "  replaces: env_set ib_note\n  = SITE up\n  > SITE up\n",
       "site.messages:2:21: expected nothing after the kind's name"},
      {kind + "  replaces: env_set\n  replaces: env_set\n  = SITE up\n  > SITE up\n",
       "site.messages:3:12: a kind replaces one other kind"},
      {kind + "  = SITE \xFF\n", "site.messages:2:1: the line is not valid UTF-8"},
  };
  for (const Row& row : rows) EXPECT_EQ(refusal(row.text), row.refusal) << row.text;
}

TEST(MessageFile, RefusesAWordingThatCannotBeCompiledWhereItIsWrong) {
  struct Row {
    std::string_view wording;
    std::string_view where;
    std::string_view what;
    std::string_view hint;
  };
  constexpr Row kRows[] = {
      {"", "f:7:5", "the wording is empty", ""},
      {"{text}{more}", "f:7:11", "two holes side by side", "put a literal between them"},
      {"a {numbre}", "f:7:8", "unknown field 'numbre'", "did you mean 'number'?"},
      {"open {text", "f:7:10", "unclosed hole", "write '{{' for a brace"},
      {"is {text:a||b}", "f:7:14", "empty choice", ""},
  };
  constexpr Field kFields[] = {{"text", FieldType::Text, {}},
                               {"number", FieldType::Integer, {}},
                               {"more", FieldType::Text, {}}};
  for (const Row& row : kRows) {
    SCOPED_TRACE(std::string(row.wording));
    WordingStore store;
    try {
      compile_wording(row.wording, kFields, {"f", 7, 5}, store);
      ADD_FAILURE() << "was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), row.where);
      EXPECT_EQ(error.what(), row.what);
      EXPECT_EQ(error.hint(), row.hint);
    }
  }
}

TEST(MessageFile, AnyBytesAreAFileOrAnError) {
  const std::string file =
      "# A note.\nsite_note  nccl NET  typed\n  device:text  What.\n  ! fatal system  It is down "
      "for "
      "good.\n    Ask.\n  = SITE/{device:a|b} {:int} {{x}}\n  @ quotable by titan_step\n  > SITE/a "
      "3 "
      "{x}\n  replaces: env_set\n";
  for (size_t cut = 0; cut <= file.size(); ++cut) {
    refusal(file.substr(0, cut));
    refusal(file.substr(cut));
    for (const char byte : {'\0', '{', '}', '\n', ' ', '\\', '\x80', ':', '='}) {
      std::string changed = file;
      if (cut < changed.size()) changed[cut] = byte;
      refusal(changed);
    }
  }
}

TEST(MessageFile, AddsWordingsToATypedKind) {
  const auto kinds = parse_message_file(
      "network_selected  nccl NET\n"
      "  = The site's network is {network}\n"
      "  > The site's network is Hyper\n",
      "site.messages");
  WordingTable table;
  build_messages(kBuiltInKinds, kinds, table);
  const Message added = table.nccl.parse("The site's network is Hyper");
  ASSERT_NE(added.kind, nullptr);
  EXPECT_EQ(added.kind->index, kKindIndex<NetworkSelected>);
  EXPECT_EQ(read_message<NetworkSelected>(added).network, "Hyper");
  const Message known = table.nccl.parse("Using network Socket");
  ASSERT_NE(known.kind, nullptr);
  EXPECT_EQ(known.kind, added.kind);
}

TEST(MessageFile, TakesReplacedWordingsAway) {
  const auto kinds = parse_message_file(
      "network_selected  nccl NET\n"
      "  replaces: network_selected\n"
      "  = Using network {network} of the site\n"
      "  > Using network Hyper of the site\n",
      "site.messages");
  WordingTable table;
  build_messages(kBuiltInKinds, kinds, table);
  EXPECT_EQ(table.nccl.parse("Using network Socket").kind, nullptr);
  EXPECT_EQ(table.nccl.parse("Using network Hyper of the site").field("network"), "Hyper");
}

}  // namespace
}  // namespace ncclog
