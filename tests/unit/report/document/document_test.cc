#include "report/document/document.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace ncclog {
namespace {

Document sample() {
  return {{{.heading = "train.sh", .blocks = {Paragraph{"Read\x1b[2J as a script.", 1}}},
           {.blocks = {Statement{.word = "error",
                                 .about = {"train.sh:8", "NCCL_DEBUG=a  value that is not wrapped"},
                                 .text = "is no level of NCCL, and not a list of subsystems either",
                                 .hint = "NCCL_DEBUG=INFO, and NCCL_DEBUG_SUBSYS=INIT,ENV"}}},
           {.blocks = {Statement{.word = "yes", .text = "all", .depth = 1},
                       Statement{.text = "it is 4", .depth = 2},
                       Quotes{.quotes = {{"log.txt:1", "a line that is cut where the screen ends"}},
                              .more = 2,
                              .depth = 2}}},
           {.blocks = {Labelled{"why", "A text."}, Labelled{"", "It goes on."},
                       Labelled{"Nothing to remark on", "NCCL_ALGO=Ring, NCCL_PROTO=Simple"},
                       Items{"fix", {"ulimit -l unlimited, which no screen wraps anywhere", "Do."}},
                       Quotes{.label = "seen", .quotes = {{"a.log:1", "here"}, {"b.log", ""}}}}},
           {.heading = "some-rule",
            .blocks = {Items{"", {"One point."}}, Code{{"export NCCL_DEBUG=INFO"}}},
            .aside = "A title that goes on in the next line"}}};
}

TEST(RenderText, LaysOutEveryBlock) {
  EXPECT_EQ(render_text(sample(), {.width = 44}),
            R"(train.sh
  Read\x1b[2J as a script.

error    train.sh:8  NCCL_DEBUG=a  value that is not wrapped
         is no level of NCCL, and not a list
         of subsystems either
         → NCCL_DEBUG=INFO, and
           NCCL_DEBUG_SUBSYS=INIT,ENV

  yes      all
             it is 4
             log.txt:1 and 2 lines more
             a line that is cut where the s…

  why     A text.
          It goes on.
Nothing to remark on: NCCL_ALGO=Ring,
                      NCCL_PROTO=Simple
  fix     ulimit -l unlimited, which no screen wraps anywhere
          Do.
  seen    a.log:1  here
          b.log

some-rule  A title that goes on in the next
           line
  - One point.
    export NCCL_DEBUG=INFO
)");
}

TEST(RenderText, ColourMovesNoColumn) {
  std::string coloured = render_text(sample(), {.width = 44, .colour = true});
  EXPECT_NE(coloured.find("\x1b[1msome-rule  \x1b[0mA title"), std::string::npos) << coloured;
  for (size_t at; (at = coloured.find('\x1b')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, render_text(sample(), {.width = 44}));
}

/// The words of the sample in the order in which each format has to say them.
TEST(Render, SaysTheSameInEachFormat) {
  const Document document = sample();
  for (const std::string& said :
       {render_text(document, {.width = 200}), render_markdown(document), render_html(document)}) {
    const std::string out = lower_case(said);  // "error" begins with a capital in some.
    size_t before = 0;
    for (const std::string_view words :
         {"train.sh", "Read\\x1b[2J", "error", "train.sh:8", "is no level of NCCL", "log.txt:1",
          "a line that is cut", "A text.", "It goes on.", "NCCL_ALGO=Ring", "ulimit -l unlimited",
          "a.log:1", "some-rule", "One point.", "export NCCL_DEBUG=INFO"}) {
      const size_t at = out.find(lower_case(words), before);
      EXPECT_NE(at, std::string::npos) << words << "\n" << out;
      if (at != std::string::npos) before = at;
    }
  }
}

}  // namespace
}  // namespace ncclog
