#include <gtest/gtest.h>

#include "report/report.h"
#include "support/sample_report.h"

namespace ncclog {
namespace {

using testing::sample_report;

TEST(WriteText, PutsTheVerdictFirstAndFoldsWhatFollows) {
  EXPECT_EQ(write_text(sample_report(), {.width = 80}),
            "PROBLEM   Rank 1 on trainbox could not extend a segment.\n"
            "          certain cause, shm-no-space; rank 1 on trainbox\n"
            "\n"
            "  what    Rank 1 on trainbox could not extend a segment: /dev/shm is full.\n"
            "  why     NCCL moves data between processes through files in /dev/shm.\n"
            "  seen    logs/run.txt:2\n"
            "          trainbox:502:541 [1] misc/shmutils.cc:87 NCCL WARN Error: failed\n"
            "          \\x1b[31m to � extend\n"
            "          … and 3 more lines\n"
            "  check   `df -h /dev/shm`\n"
            "  fix     Start the container with --shm-size=1g or with --ipc=host.\n"
            "  do not  Set NCCL_SHM_DISABLE=1: it hides the limit and slows everything down.\n"
            "  follows 1 other finding: peer-closed-secondary (ranks 0,2,3)\n"
            "\n"
            "warning   NCCL_IB_TIMEOUT=abc is not a number.\n"
            "          likely advice, env-invalid-value; host trainbox\n"
            "\n"
            "Worth knowing\n"
            "  - P2P is switched off by NCCL_P2P_DISABLE. [p2p-disabled-info]\n"
            "\n"
            "What these logs cannot tell\n"
            "  - Did all ranks make the same calls? No collective was logged.\n"
            "\n"
            "To capture it next time\n"
            "    export NCCL_DEBUG=INFO\n"
            "    export NCCL_DEBUG_SUBSYS=INIT,ENV,NET,COLL\n"
            "  - Collect the files of all ranks.\n"
            "  - Log size: about 30 kB a rank to begin with; it rests on usual logs.\n"
            "\n"
            "Read 3 lines from 1 file: 3 processes on 1 host, network Socket.\n"
            "Ended: unknown; these logs do not show how.\n");
}

TEST(WriteText, ColourChangesNoWord) {
  const std::string plain = write_text(sample_report(), {.width = 80});
  std::string coloured = write_text(sample_report(), {.width = 80, .colour = true});
  EXPECT_NE(coloured, plain);
  for (size_t at; (at = coloured.find('\x1b')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, plain);
}

TEST(WriteText, FitsTheWidthAndSteersNoTerminal) {
  for (const int width : {60, 80, 120}) {
    const std::string text = write_text(sample_report(), {.width = width});
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find("\u202e"), std::string::npos);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      EXPECT_LE(display_width(text.substr(begin, end - begin)), width);
      begin = end + 1;
    }
  }
}

}  // namespace
}  // namespace ncclog
