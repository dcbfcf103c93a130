// Does every include go the way the data flows, does the build name every source, has every unit
// test its source or its law, and is what has a table listed there alone? Planted faults show that
// this can fail.

#include <gtest/gtest.h>

#include "base/text.h"
#include "layering/operation_lists.h"
#include "layering/source_includes.h"
#include "layering/type_names.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

TEST(Layering, SourcesIncludeOnlyWhatTheirLayerMay) {
  auto forbidden = forbidden_includes(source_dir() / "src");
  EXPECT_TRUE(forbidden.empty()) << join(forbidden, "\n");
}

struct Row {
  const char* path;
  const char* text;
  const char* complaint;  ///< Empty: allowed.
};

constexpr Row kRows[] = {
    {"log/line/header.cc", "#include \"base/text.h\"\n#include <string>\n", ""},
    {"log/event.cc", "#include \"log/line/header.h\"\n#include <re2/re2.h>\n", ""},
    {"log/messages/net.h", "#include \"log/event.h\"\n", ""},
    {"main.cc", "#include \"app/output.h\"\n#include <unistd.h>\n", ""},
    {"base/text.h", "#pragma once\n\n#include \"log/event.h\"\n",
     "base/text.h:3: base may not include log/event.h"},
    {"log/line/header.cc", "#include \"input/line_reader.h\"\n",
     "log/line/header.cc:1: log/line may not include input/line_reader.h"},
    {"log/line/header.cc", "#include \"log/event.h\"\n",
     "log/line/header.cc:1: log/line may not include log/event.h"},
    {"log/wording/wording_table.cc", "#include \"log/line/scanner.h\"\n", ""},
    {"log/line/scanner.cc", "#include \"log/wording/message_kind.h\"\n",
     "log/line/scanner.cc:1: log/line may not include log/wording/message_kind.h"},
    {"model/job.h", "#include \"log/line/header.h\"\n", ""},
    {"input/line_reader.cc", "#include \"log/line/header.h\"\n",
     "input/line_reader.cc:1: input may not include log/line/header.h"},
    {"model/job.cc", "  #  include \"diagnose/facts/coverage.h\"\n",
     "model/job.cc:1: model may not include diagnose/facts/coverage.h"},
    {"model/derive/runs.cc", "#include \"model/job.h\"\n#include \"model/shard/shard.h\"\n", ""},
    {"model/job.h", "#include \"model/shard/shard.h\"\n",
     "model/job.h:1: model may not include model/shard/shard.h"},
    {"model/shard/shard.h", "#include \"model/derive/build_job.h\"\n",
     "model/shard/shard.h:1: model/shard may not include model/derive/build_job.h"},
    {"diagnose/facts/fact.cc", "#include \"model/shard/shard.h\"\n",
     "diagnose/facts/fact.cc:1: diagnose/facts may not include model/shard/shard.h"},
    {"diagnose/network/gids.cc", "#include \"diagnose/facts/fact.h\"\n", ""},
    {"diagnose/facts/fact.cc", "#include \"diagnose/network/gids.h\"\n",
     "diagnose/facts/fact.cc:1: diagnose/facts may not include diagnose/network/gids.h"},
    {"diagnose/perf/verdict/expectation.cc", "#include \"diagnose/perf/machine/machine.h\"\n", ""},
    {"diagnose/compare/work_facts.cc", "#include \"diagnose/perf/late/late_ranks.h\"\n", ""},
    {"diagnose/perf/machine/machine.cc", "#include \"diagnose/perf/verdict/expectation.h\"\n",
     "diagnose/perf/machine/machine.cc:1: diagnose/perf/machine may not include "
     "diagnose/perf/verdict/expectation.h"},
    {"diagnose/perf/curve.cc", "", "diagnose/perf/curve.cc:1: no layer of this name"},
    {"rules/load_rules.cc", "#include \"report/report.h\"\n",
     "rules/load_rules.cc:1: rules may not include report/report.h"},
    {"model/job.cc", "#include <re2/re2.h>\n", "model/job.cc:1: model may not include re2/re2.h"},
    {"model/job.cc", "#include \"re2/re2.h\"\n", "model/job.cc:1: model may not include re2/re2.h"},
    {"report/text.cc", "#include <yaml-cpp/yaml.h>\n",
     "report/text.cc:1: report may not include yaml-cpp/yaml.h"},
    {"rules/facts.cc", "#include <nlohmann/json.hpp>\n",
     "rules/facts.cc:1: rules may not include nlohmann/json.hpp"},
    {"log/event.cc", "#include <boost/iostreams/copy.hpp>\n",
     "log/event.cc:1: log may not include boost/iostreams/copy.hpp"},
    {"report/text.cc", "#include <CLI/CLI.hpp>\n",
     "report/text.cc:1: report may not include CLI/CLI.hpp"},
    {"app/show.cc", "#include \"text.h\"\n", "app/show.cc:1: app may not include text.h"},
    {"replay/plan/plan.cc", "#include \"model/job.h\"\n", ""},
    {"replay/plan/plan.cc", "#include <cuda_runtime.h>\n",
     "replay/plan/plan.cc:1: replay/plan may not include cuda_runtime.h"},
    {"replay/plan/plan.cc", "#include \"replay/run/protocol.h\"\n",
     "replay/plan/plan.cc:1: replay/plan may not include replay/run/protocol.h"},
    {"replay/plan/plan.cc", "#include \"replay/judge/outcome.h\"\n",
     "replay/plan/plan.cc:1: replay/plan may not include replay/judge/outcome.h"},
    {"replay/judge/verdict.cc", "#include \"replay/plan/plan.h\"\n", ""},
    {"replay/judge/verdict.cc", "#include \"replay/run/protocol.h\"\n",
     "replay/judge/verdict.cc:1: replay/judge may not include replay/run/protocol.h"},
    {"replay/run/rank.cc", "#include \"replay/plan/plan.h\"\n#include <nccl.h>\n", ""},
    {"replay/run/rank.cc", "#include \"model/job.h\"\n",
     "replay/run/rank.cc:1: replay/run may not include model/job.h"},
    {"app/commands/replay.cc", "#include \"replay/run/protocol.h\"\n",
     "app/commands/replay.cc:1: app may not include replay/run/protocol.h"},
    {"replay/plan.cc", "", "replay/plan.cc:1: no layer of this name"},
    {"helpers/text.cc", "", "helpers/text.cc:1: no layer of this name"},
};

TEST(Layering, NamesTheLineThatLeavesItsLayer) {
  for (const Row& row : kRows) {
    EXPECT_EQ(join(forbidden_includes_of(row.path, row.text), "\n"), row.complaint)
        << row.path << "\n"
        << row.text;
  }
}

TEST(Layering, WalksTheWholeTree) {
  TempDir tree;
  tree.add("log/messages/net.h", "#include \"model/job.h\"\n");
  tree.add("base/text.cc", "#include \"base/text.h\"\n");
  tree.add("log/notes.md", "#include \"model/job.h\"\n");
  EXPECT_EQ(join(forbidden_includes(tree.path()), "\n"),
            "log/messages/net.h:1: log may not include model/job.h");
}

TEST(Layering, TheBuildNamesEverySource) {
  for (const char* folder : {"src", "tests"}) {
    EXPECT_EQ(join(unlisted_sources(source_dir() / folder), "\n"), "") << "in " << folder;
  }
}

TEST(Layering, FindsSourcesThatTheBuildForgot) {
  TempDir tree;
  tree.add("CMakeLists.txt", "add_library(all\n  log/event.cc\n  log/catalog/header.cc)\n");
  tree.add("log/event.cc", "");
  tree.add("log/line/header.cc", "");
  tree.add("event.cc", "");
  tree.add("fuzz/CMakeLists.txt", "foreach(source fuzz_event.cc fuzz_rules.cc)");
  tree.add("fuzz/fuzz_event.cc", "");
  tree.add("fuzz/rerun.cc", "");
  EXPECT_EQ(join(unlisted_sources(tree.path()), "\n"),
            "event.cc\nfuzz/rerun.cc\nlog/line/header.cc");
}

TEST(Layering, UnitTestsMirrorASourceOrNameTheirLaw) {
  EXPECT_EQ(join(unmirrored_tests(source_dir()), "\n"), "");
}

TEST(Layering, FindsUnitTestsWithoutASourceOrALaw) {
  TempDir tree;
  tree.add("src/log/event.h", "");
  tree.add("src/log/line/header.cc", "");
  tree.add("tests/support/text_diff.h", "");
  tree.add("tests/unit/log/event_test.cc", "");
  tree.add("tests/unit/log/line/header_test.cc", "");
  tree.add("tests/unit/log/header_test.cc", "#include <gtest/gtest.h>\n");
  tree.add("tests/unit/log/warning_test.cc", "// Law: every WARN says what it means.\n");
  tree.add("tests/unit/log/messages_test.cc", "// The law is that of all messages.\n");
  tree.add("tests/unit/support/text_diff_test.cc", "");
  EXPECT_EQ(join(unmirrored_tests(tree.path()), "\n"), "log/header_test.cc\nlog/messages_test.cc");
}

TEST(Layering, NoNameStandsForTwoTypes) {
  EXPECT_EQ(join(clashing_types(source_dir() / "src"), "\n"), "");
}

TEST(Layering, FindsNamesOfTwoTypes) {
  TempDir tree;
  tree.add("model/a.h", "namespace ncclog {\nstruct Other;\nstruct Run { int x; };\n}\n");
  tree.add("replay/b.cc",
           "namespace ncclog {\nvoid f() { struct Other {}; }\nclass Run final : Base {};\n}\n");
  tree.add("replay/c.h", "namespace ncclog::replay { struct Run {}; using Other = int; }\n");
  tree.add("replay/d.cc", "namespace ncclog {\nnamespace {\nstruct Run {};\n}\n}\n");
  EXPECT_EQ(join(clashing_types(tree.path()), "\n"), "ncclog::Run: model/a.h:3, replay/b.cc:3");
}

TEST(Layering, TypesAreFoundWhateverStandsAroundThem) {
  const std::vector<DefinedType> types = types_defined_in(
      "// struct A {\nnamespace n {\nconst char* s = \"struct B {\"; // }\nint k = 1'000;\n"
      "enum class C : int { X };\ntemplate <typename T>\nstruct D { struct E {}; };\n"
      "template <>\nstruct D<int> {};\nusing F = D<int>;\nstruct G;\nchar c = '{';\nunion H "
      "{};\nstruct I::J {};\nstruct K : a::B {};\n}\n");
  const std::vector<DefinedType> expected = {
      {"n::C", 5}, {"n::D", 7}, {"n::F", 10, true}, {"n::H", 13}, {"n::K", 15}};
  EXPECT_EQ(types, expected);
}

TEST(Layering, TheTableAloneListsOperations) {
  EXPECT_EQ(join(operation_lists(source_dir() / "src"), "\n"), "");
}

TEST(Layering, FindsListsOfOperations) {
  TempDir tree;
  tree.add("model/list.cc", "constexpr const char* kRooted[] = {\"Broadcast\",\n  \"Reduce\"};\n");
  tree.add("model/text.cc", "const char* tuned = \"AllGather|ReduceScatter\";\n");
  tree.add("model/torch.h",
           "// \"send\"\nif (op == \"_ALLGATHER_BASE\" || op == \"all_to_all\") {}\n");
  tree.add("model/one.cc", "op == \"AllReduce\" || op == \"all_reduce\" || c == '\"';\n");
  tree.add("model/words.cc",
           "warn(\"AllGather and Broadcast print \\\"bytes\\\"\"); // \"Send\"\n");
  tree.add("base/collectives.table", "\"AllReduce\" \"AllGather\"\n");
  EXPECT_EQ(join(operation_lists(tree.path()), "\n"),
            "model/list.cc: Broadcast, Reduce\n"
            "model/text.cc: AllGather, ReduceScatter\n"
            "model/torch.h: AllGather, AlltoAll");
}

}  // namespace
}  // namespace ncclog::testing
