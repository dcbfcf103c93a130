#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/iterations/folded_calls.h"
#include "diagnose/iterations/iterations.h"
#include "support/letter_calls.h"

namespace ncclog {
namespace {

using testing::LetterCalls;

struct FoldedProcess {
  FoldedProcess(std::string_view letters, std::string_view pattern, size_t per_step = 1)
      : calls(letters),
        folded(calls.folded()),
        repeats{{pattern.begin(), pattern.end()}, {}, per_step} {
    repeats.begins = find_repeats(folded, repeats.pattern);
  }

  LetterCalls calls;
  FoldedCalls folded;
  Repeats repeats;
};

/// "0:BGSR 1:GSR 2:GS!": number and calls of each iteration; "!" if it is cut short.
std::string text(const std::vector<IterationSpan>& spans, std::string_view letters) {
  std::string all;
  for (const IterationSpan& span : spans) {
    const int64_t parts = span.in_a_row ? span.last - span.first + 1 : 1;
    const size_t length = (span.end - span.begin) / static_cast<size_t>(parts);
    for (int64_t i = 0; i < parts; ++i) {
      if (!all.empty()) all += " ";
      all += std::to_string(span.first + i);
      if (!span.in_a_row && span.last != span.first) all += "-" + std::to_string(span.last);
      all +=
          ":" + std::string(letters.substr(span.begin + static_cast<size_t>(i) * length, length));
      if (span.cut_short) all += "!";
    }
  }
  return all;
}

TEST(CutIterations, MarkersBelongToTheNearerEndOfARepeat) {
  struct Row {
    std::string_view name;
    std::string_view letters;
    std::vector<Boundary> marks;
    bool after;
    std::string_view spans;
  };
  const Row rows[] = {
      {"markers before their steps, without drift",
       "rBGSRGSRGSRr",
       {{0, 1}, {1, 5}, {2, 8}},
       false,
       "0:BGSR 1:GSR 2:GSR"},
      {"one call ahead", "rBGSRGSRGSRr", {{0, 1}, {1, 6}, {2, 9}}, false, "0:BGSR 1:GSR 2:GSR"},
      {"one call behind", "rBGSRGSRGSRr", {{0, 1}, {1, 4}, {2, 7}}, false, "0:BGSR 1:GSR 2:GSR"},
      {"markers behind their steps",
       "rBGSRGSRGSRr",
       {{1, 5}, {2, 8}, {3, 11}},
       true,
       "1:GSR 2:GSR 3:GSR"},
      {"every second step is printed",
       "GSRGSRGSRGSRGSR",
       {{2, 6}, {4, 12}},
       true,
       "1:GSR 2:GSR 3:GSR 4:GSR 5:GSR"},
      {"steps that cannot be told apart",
       "GSRGSGSRGSR",
       {{0, 0}, {2, 5}, {3, 8}},
       false,
       "0-1:GSRGS 2:GSR 3:GSR"},
      {"the process stops inside a step",
       "GSRGSRGS",
       {{0, 0}, {1, 3}, {2, 6}},
       false,
       "0:GSR 1:GSR 2:GS!"},
      {"an evaluation stays with its step",
       "GSRGSREEGSR",
       {{0, 0}, {1, 3}, {2, 8}},
       false,
       "0:GSR 1:GSREE 2:GSR"},
      {"nothing repeats itself", "ABCDEF", {{0, 1}, {1, 3}, {2, 4}}, false, "0:BC 1:D 2:EF"},
  };
  for (const Row& row : rows) {
    const FoldedProcess p(row.letters, row.name == "nothing repeats itself" ? "" : "GSR");
    const auto boundaries = snap(row.marks, p.repeats, p.folded.size());
    EXPECT_EQ(text(spans_between(boundaries, p.repeats, p.folded, row.after), row.letters),
              row.spans)
        << row.name;
  }
}

TEST(CutIterations, SeveralRepeatsMayMakeAStep) {
  const std::string_view letters = "GSRGSRGSRGSRGSRGSR";
  const FoldedProcess p(letters, "GSR", 2);
  const auto boundaries = snap({{0, 1}, {1, 6}, {2, 11}}, p.repeats, p.folded.size());
  EXPECT_EQ(text(spans_between(boundaries, p.repeats, p.folded, false), letters),
            "0:GSRGSR 1:GSRGSR 2:GSRGSR");
}

TEST(CutIterations, AProcessFollowsTheOneThatPrints) {
  const std::string_view letters = "rBGSRGSRGSRr";
  const FoldedProcess p(letters, "GSR");
  const auto model = snap({{0, 1}, {1, 5}, {2, 8}}, p.repeats, p.folded.size());
  // So far ahead that the nearer end is the wrong one, and past the broadcast already.
  auto boundaries = snap({{0, 2}, {1, 7}, {2, 9}}, p.repeats, p.folded.size());
  EXPECT_EQ(text(spans_between(boundaries, p.repeats, p.folded, false), letters),
            "0:GSRGSR 1: 2:GSR");
  boundaries = aligned(boundaries, {p.repeats, p.folded}, model, {p.repeats, p.folded});
  EXPECT_EQ(text(spans_between(boundaries, p.repeats, p.folded, false), letters),
            "0:BGSR 1:GSR 2:GSR");
}

TEST(CutIterations, ExactCutsWhereTheMarkerStands) {
  const std::string_view letters = "rBGSRGSRGSRr";
  const FoldedProcess p(letters, "GSR");
  const auto boundaries = snap({{0, 1}, {1, 6}, {2, 9}}, p.repeats, p.folded.size());
  EXPECT_EQ(text(exact_spans(boundaries, letters.size(), false), letters), "0:BGSRG 1:SRG 2:SRr");
  EXPECT_EQ(text(exact_spans(boundaries, letters.size(), true), letters), "0:r 1:BGSRG 2:SRG");
}

TEST(CutIterations, LongRowsAreOneSpan) {
  std::string letters = "rB";
  for (int i = 0; i < 1000; ++i) letters += "GSR";
  letters += "EEGSR";
  const FoldedProcess p(letters, "GSR");
  const auto spans = spans_of_repeats(p.repeats, p.folded, 1);
  EXPECT_LT(spans.size(), 10u);
  EXPECT_EQ(text(spans, letters).substr(0, 17), "1:GSR 2:GSR 3:GSR");
  EXPECT_EQ(text(spans, letters).substr(text(spans, letters).find(" 999:")),
            " 999:GSR 1000:GSR 1001:EE 1002:GSR");
}

TEST(CutIterations, WithoutMarkersTheRepeatsAreNumbered) {
  struct Row {
    std::string_view letters;
    std::string_view spans;
  };
  const Row rows[] = {
      {"rBGSRGSRGSRr", "1:GSR 2:GSR 3:GSR"},
      {"GSRGSREGSR", "1:GSR 2:GSRE 3:GSR"},
      {"GSRGSTGSR", "1:GSR 2:GST 3:GSR"},
      {"GSRGSRGS", "1:GSR 2:GSR 3:GS!"},
      {"ABC", ""},
      {"", ""},
  };
  for (const Row& row : rows) {
    const FoldedProcess p(row.letters, "GSR");
    EXPECT_EQ(text(spans_of_repeats(p.repeats, p.folded, 1), row.letters), row.spans);
  }
}

}  // namespace

}  // namespace ncclog
