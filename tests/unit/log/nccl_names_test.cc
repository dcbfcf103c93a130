#include "log/nccl_names.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

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
