#include "bench/instruction_record.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace ncclog::testing {
namespace {

const InstructionRecord kRecord = {{{"GNU 12 -O2", "init"}, 1000}, {{"GNU 12 -O2", "storm"}, 20}};

TEST(InstructionRecord, WhatIsWrittenIsReadAgain) {
  EXPECT_EQ(parse_instruction_record(write_instruction_record(kRecord)), kRecord);
}

TEST(InstructionRecord, LineWithoutFigureIsNamed) {
  try {
    parse_instruction_record("# a comment\n\na | b | c\n");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "no figure: a | b | c");
  }
}

TEST(InstructionRecord, ATenthMoreIsTheMost) {
  struct Row {
    const char* build;
    double measured;
    Growth growth;
  };
  for (const Row& row :
       {Row{"GNU 12 -O2", 1100, Growth::Fine}, Row{"GNU 12 -O2", 1101, Growth::TooMuch},
        Row{"GNU 12 -O2", 10, Growth::Fine}, Row{"GNU 12 -O1", 1, Growth::Unrecorded}}) {
    EXPECT_EQ(growth_of(kRecord, row.build, "init", row.measured), row.growth) << row.measured;
  }
}

TEST(InstructionRecord, CountIsFoundInWhatCallgrindPrints) {
  EXPECT_EQ(collected_instructions("==1== Events    : Ir\n==1== Collected : 122226269\n==1==\n"),
            122226269);
  EXPECT_EQ(collected_instructions("valgrind: not found\n"), std::nullopt);
}

}  // namespace
}  // namespace ncclog::testing
