#include <gtest/gtest.h>

#include <string>

#include "log/nccl_names.h"
#include "replay/plan/build_plan.h"

namespace ncclog {
namespace {

struct EntryRow {
  const char* name;
  TensorSizes in;
  TensorSizes out;
  const char* type;
  const char* call;  ///< "AllReduce 8 float32"; empty: none.
};

const EntryRow kEntries[] = {
    {"nccl:all_reduce", {{2, 4}}, {{2, 4}}, "Float", "AllReduce 8 float32 in place"},
    {"nccl:all_reduce_barrier", {{1}}, {{1}}, "Byte", "AllReduce 1 uint8 in place"},
    {"nccl:_all_gather_base", {{8}}, {{32}}, "BFloat16", "AllGather 8 bfloat16"},
    {"nccl:_reduce_scatter_base", {{32}}, {{8}}, "Half", "ReduceScatter 8 float16"},
    {"nccl:broadcast", {{8}}, {{8}}, "Long", "Broadcast 8 int64 in place"},
    {"nccl:all_to_all", {{32}}, {{32}}, "Int", "AlltoAll 8 int32"},
    {"nccl:all_to_all", {{32}}, {{28}}, "Int", ""},
    {"nccl:all_to_all", {{30}}, {{30}}, "Int", ""},
    {"nccl:all_reduce", {{8}}, {{8}}, "ComplexFloat", ""},
    {"nccl:all_reduce", {}, {}, "Float", ""},
    {"nccl:send 0->1", {{8}}, {}, "Float", ""},
    {"gloo:all_reduce", {{8}}, {{8}}, "Float", ""},
};

TEST(CallOfEntry, CountsAsNcclDoes) {
  for (const EntryRow& row : kEntries) {
    FlightRecorderEntry entry{.collective_seq_id = 5, .profiling_name = row.name};
    entry.input_sizes = row.in;
    entry.output_sizes = row.out;
    entry.input_dtypes = {row.type};
    const auto call = call_of_entry(entry, 4);
    const std::string words = !call ? ""
                                    : call->op + " " + std::to_string(call->count) + " " +
                                          std::string(datatype_name(call->datatype)) +
                                          (call->in_place ? " in place" : "");
    EXPECT_EQ(words, row.call) << row.name;
    EXPECT_EQ(call ? call->index : 4, 4u) << row.name;
  }
}

}  // namespace
}  // namespace ncclog
