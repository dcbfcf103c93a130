#include <gtest/gtest.h>

#include "replay/run/gpus.h"

namespace ncclog {
namespace {

ReplayMachine two_gpus() {
  return {.gpus = {{{0, "NVIDIA H200", "0000:0a:00.0", 150LL << 30},
                    149LL << 30,
                    std::vector<int64_t>{}},
                   {{1, "NVIDIA H200", "0000:18:00.0", 150LL << 30},
                    1LL << 30,
                    std::vector<int64_t>{4711, 4712}}},
          .runtime = "13.0",
          .driver = "13.0",
          .problem = ""};
}

TEST(GpuState, TextNamesGpusMemoryAndProcesses) {
  EXPECT_EQ(write_gpus_text(two_gpus()),
            "GPU 0: NVIDIA H200, 0000:0a:00.0, 149.0 of 150.0 GiB free, no process on it\n"
            "GPU 1: NVIDIA H200, 0000:18:00.0, 1.0 of 150.0 GiB free, busy: processes 4711, 4712\n"
            "CUDA 13.0, driver for CUDA 13.0\n");
}

TEST(GpuState, WhatIsUnknownIsSaidSo) {
  ReplayMachine machine = two_gpus();
  machine.gpus.pop_back();
  machine.gpus[0].processes.reset();
  EXPECT_EQ(write_gpus_json(machine),
            "{\"gpus\":[{\"gpu\":0,\"name\":\"NVIDIA H200\",\"bus_id\":\"0000:0a:00.0\","
            "\"memory\":161061273600,\"free\":159987531776,\"processes\":null}],"
            "\"runtime\":\"13.0\",\"driver\":\"13.0\",\"problem\":\"\"}\n");
}

TEST(GpuState, ProbeIsReadAsItIsWritten) {
  const GpuCheck check{
      .gpu = 1, .answers = false, .free_after = 512, .error = "cudaMalloc: \"no\" memory"};
  EXPECT_EQ(parse_line<GpuCheck>(write_line(check)), check);
}

TEST(GpuState, OtherTextIsNoProbe) {
  for (const char* text : {"", "{}", "[1]", "{\"gpu\":\"0\",\"answers\":true}",
                           "{\"gpu\":0,\"answers\":1}", "{\"gpu\":0", "\xff\xfe"}) {
    EXPECT_EQ(parse_line<GpuCheck>(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace ncclog
