#include "base/collectives.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/text.h"

namespace ncclog {
namespace {

std::string names_where(bool (OperationTraits::*is_such)() const) {
  std::vector<std::string> names;
  for (const OperationTraits& operation : kOperations) {
    if ((operation.*is_such)()) names.emplace_back(operation.name);
  }
  return join(names, " ");
}

TEST(Collectives, NamesAreThoseOfTheEnumerators) {
  EXPECT_EQ(name_of(Operation::AllReduce), "AllReduce");
  EXPECT_EQ(name_of(Operation::SendRecv), "SendRecv");
  EXPECT_EQ(name_of(Operation::Unknown), "");
  for (const OperationTraits& operation : kOperations) {
    EXPECT_EQ(name_of(operation_of(operation.name)), operation.name);
  }
  EXPECT_EQ(operation_of("allreduce"), Operation::Unknown);
  EXPECT_EQ(operation_of(""), Operation::Unknown);
}

TEST(Collectives, OnlyThoseOfBenchmarksStandAtTheEnd) {
  EXPECT_TRUE(std::ranges::is_partitioned(
      kOperations, [](const OperationTraits& row) { return row.kind != "measured"; }));
}

TEST(Collectives, SayWhatEachDoesWithData) {
  using Traits = OperationTraits;
  EXPECT_EQ(names_where(&Traits::is_collective),
            "AllReduce AllGather Broadcast Reduce ReduceScatter AlltoAll Gather Scatter");
  EXPECT_EQ(names_where(&Traits::is_message), "Send Recv");
  EXPECT_EQ(names_where(&Traits::is_point_to_point), "Send Recv PutSignal Signal WaitSignal");
  EXPECT_EQ(names_where(&Traits::only_root_sends), "Broadcast Scatter");
  EXPECT_EQ(names_where(&Traits::only_root_receives), "Reduce Gather");
  EXPECT_EQ(names_where(&Traits::has_root), "Broadcast Reduce Gather Scatter");
  EXPECT_EQ(names_where(&Traits::reduces), "AllReduce Reduce ReduceScatter");
  EXPECT_EQ(names_where(&Traits::joins), "AllReduce AllGather ReduceScatter AlltoAll");
  EXPECT_EQ(names_where(&Traits::has_kernel), "AllReduce AllGather Broadcast Reduce ReduceScatter");
  EXPECT_EQ(names_where(&Traits::counts_received), "ReduceScatter Scatter Recv");
  EXPECT_EQ(names_where(&Traits::exchanges_blocks), "AlltoAll");
  EXPECT_EQ(names_where(&Traits::may_count_bytes), "AllGather Broadcast");
}

TEST(Collectives, BuffersHoldCountElementsOrABlockOfEachRank) {
  const OperationTraits& gather = traits_of(Operation::Gather);
  EXPECT_EQ(elements_in(gather.sent, 10, 4), 10);
  EXPECT_EQ(elements_in(gather.received, 10, 4), 40);
  EXPECT_EQ(elements_in(traits_of(Operation::Send).received, 10, 4), 0);
}

TEST(Collectives, BusBandwidthIsAlgorithmBandwidthByAFactor) {
  EXPECT_EQ(bus_factor(Operation::AllReduce, 8), 1.75);
  EXPECT_EQ(bus_factor(Operation::AllGather, 4), 0.75);
  EXPECT_EQ(bus_factor(Operation::AlltoAllv, 4), 0.75);
  EXPECT_EQ(bus_factor(Operation::SendRecv, 4), 1);
  EXPECT_EQ(bus_factor(Operation::Broadcast, 4), 1);
  EXPECT_EQ(bus_factor(Operation::Unknown, 4), 1);
  EXPECT_EQ(bus_factor(Operation::AllReduce, 0), 0);
}

/// All rows, as "source name operation".
std::string all_names() {
  constexpr std::pair<AliasSource, const char*> kSources[] = {
      {AliasSource::Trace, "trace"},       {AliasSource::Recorder, "recorder"},
      {AliasSource::Watchdog, "watchdog"}, {AliasSource::Torch, "torch"},
      {AliasSource::Param, "param"},       {AliasSource::Test, "test"},
      {AliasSource::File, "file"}};
  std::string text;
  for (const auto& [source, word] : kSources) {
    text += std::string(word) + ":";
    for (const OperationTraits& operation : kOperations) {
      std::vector<std::string> names;
      for (const OperationAlias& row : kOperationAliases) {
        if (!row.is_used_by(source) || name_of(row.operation) != operation.name) continue;
        names.push_back(std::string(row.text) + (row.is_uneven ? "*" : ""));
      }
      if (!names.empty()) text += "\n  " + std::string(operation.name) + " " + join(names, " ");
    }
    text += "\n";
  }
  return text;
}

TEST(Collectives, EverySourceHasItsNames) {
  EXPECT_EQ(all_names(), R"(trace:
  Broadcast Bcast
recorder:
  AllReduce all_reduce all_reduce_barrier all_reduce_sparse allreduce_coalesced
  AllGather _all_gather_base all_gather_into_tensor_coalesced all_gather*
  Broadcast broadcast _broadcast_oop
  Reduce reduce _reduce_oop
  ReduceScatter _reduce_scatter_base reduce_scatter_tensor_coalesced reduce_scatter*
  AlltoAll all_to_all*
  Gather gather*
  Scatter scatter*
  Send send
  Recv recv
watchdog:
  AllReduce ALLREDUCE
  AllGather _ALLGATHER_BASE ALLGATHER*
  Broadcast BROADCAST
  Reduce REDUCE
  ReduceScatter _REDUCE_SCATTER_BASE REDUCE_SCATTER*
  AlltoAll ALLTOALL* ALLTOALL_BASE*
  Gather GATHER*
  Scatter SCATTER*
  Send SEND
  Recv RECV RECVANYSOURCE
torch:
  AllReduce all_reduce_coalesced inference_all_reduce all_reduce
  AllGather all_gather_into_tensor all_gather
  Broadcast broadcast
  Reduce reduce
  ReduceScatter reduce_scatter_tensor reduce_scatter
  AlltoAll all_to_all_single all_to_all
  Gather gather
  Scatter scatter
  SendRecv batch_isend_irecv isend irecv send recv
param:
  AllGather all_gather_base
  ReduceScatter reduce_scatter_base reduce_scatter_v
  AlltoAll all_to_allv
  SendRecv pt2pt
test:
  AllReduce all_reduce all_reduce_bias
  AllGather all_gather hypercube
  Broadcast broadcast
  Reduce reduce
  ReduceScatter reduce_scatter
  AlltoAll alltoall all_to_all
  Gather gather
  Scatter scatter
  AlltoAllv alltoallv
  SendRecv sendrecv
file:
  AllReduce allreduce
  AllGather allgather
  ReduceScatter reducescatter
  AlltoAll alltoall
  Gather gather
  Scatter scatter
  SendRecv sendrecv
)");
}

TEST(Collectives, ANameMeansOneOperationForEachSource) {
  std::set<std::pair<unsigned, std::string_view>> seen;
  for (const OperationAlias& row : kOperationAliases) {
    for (unsigned source = 0; source <= static_cast<unsigned>(AliasSource::File); ++source) {
      if (!row.is_used_by(static_cast<AliasSource>(source))) continue;
      EXPECT_TRUE(seen.emplace(source, row.text).second) << row.text;
      EXPECT_EQ(operation_of(row.text, static_cast<AliasSource>(source)), row.operation);
    }
  }
}

TEST(Collectives, LongerNamesStandBeforeThoseThatTheyContain) {
  for (const AliasSource source : {AliasSource::Torch, AliasSource::File}) {
    std::vector<std::string_view> before;
    for (const OperationAlias& row : kOperationAliases) {
      if (!row.is_used_by(source)) continue;
      for (const std::string_view earlier : before) {
        EXPECT_EQ(row.text.find(earlier), row.text.npos) << earlier << " before " << row.text;
      }
      before.push_back(row.text);
    }
  }
}

TEST(Collectives, ANameIsKnownFromItsSourceOnly) {
  EXPECT_EQ(operation_of("send", AliasSource::Recorder), Operation::Send);
  EXPECT_EQ(operation_of("send", AliasSource::Torch), Operation::SendRecv);
  EXPECT_EQ(operation_of("send", AliasSource::File), Operation::Unknown);
  EXPECT_EQ(operation_of("AllGather", AliasSource::Recorder), Operation::Unknown);
  EXPECT_EQ(name_of(Operation::AlltoAll, AliasSource::Test), "alltoall");
  EXPECT_EQ(name_of(Operation::Signal, AliasSource::Test), "");
}

TEST(Collectives, BothEndsOfAMessageAreMeasuredAsOne) {
  EXPECT_EQ(measured_as(Operation::Send), Operation::SendRecv);
  EXPECT_EQ(measured_as(Operation::Recv), Operation::SendRecv);
  EXPECT_EQ(measured_as(Operation::AllGather), Operation::AllGather);
  EXPECT_EQ(message_end(true), Operation::Recv);
}

TEST(NcclNames, KnowsDatatypes) {
  EXPECT_EQ(datatype_name(0), "int8");
  EXPECT_EQ(datatype_name(7), "float32");
  EXPECT_EQ(datatype_name(11), "float8e5m2");
  EXPECT_EQ(datatype_name(12), "");
  EXPECT_EQ(datatype_name(-1), "");
  EXPECT_EQ(datatype_bytes(7), 4);
  EXPECT_EQ(datatype_bytes(8), 8);
  EXPECT_EQ(datatype_bytes(9), 2);
  EXPECT_EQ(datatype_bytes(12), std::nullopt);
  EXPECT_EQ(datatype_bytes(INT64_MAX), std::nullopt);
}

TEST(NcclNames, KnowsReductions) {
  EXPECT_EQ(reduction_name(0), "sum");
  EXPECT_EQ(reduction_name(4), "avg");
  EXPECT_EQ(reduction_name(5), "user");
  EXPECT_EQ(reduction_name(-1), "");
}

TEST(NcclNames, KnowsResults) {
  EXPECT_EQ(result_name(2), "ncclSystemError");
  EXPECT_EQ(result_name(6), "ncclRemoteError");
  EXPECT_EQ(result_name(9), "");
}

}  // namespace
}  // namespace ncclog
