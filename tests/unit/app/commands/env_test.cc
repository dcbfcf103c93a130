#include "app/commands/env.h"

#include <gtest/gtest.h>

#include "support/json_schema.h"

namespace ncclog {
namespace {

std::string described(const CheckedSource& source) {
  std::string text;
  for (const PlacedRemark& each : source.remarks) {
    text += each.place + " " + std::string(to_string(each.remark.kind)) + " " +
            each.remark.variable + "\n";
  }
  for (const Setting& setting : source.settings) text += setting.name + "=" + setting.value + "\n";
  return text;
}

TEST(ThisEnvironment, JoinsTheShellAndNcclsFilesInNcclsOrder) {
  const std::vector<ConfFile> files = {
      {"/home/u/.nccl.conf", "NCCL_DEBUG=WARN\nNCCL_IB_DISABLE=1\n"},
      {"/etc/nccl.conf", "NCCL_IB_DISABLE=0\nNCCL_IB_TC=106\nPATH=/x\n"}};
  EXPECT_EQ(described(check_environment({"PATH=/bin", "NCCL_DEBUG=INFO", "odd", "=x"}, files, {})),
            "/home/u/.nccl.conf:1 config_file NCCL_DEBUG\n"
            "/home/u/.nccl.conf:2 config_file NCCL_IB_DISABLE\n"
            "/etc/nccl.conf:1 config_file NCCL_IB_DISABLE\n"
            "/etc/nccl.conf:2 config_file NCCL_IB_TC\n"
            "/home/u/.nccl.conf:2 workaround NCCL_IB_DISABLE\n"
            "/etc/nccl.conf:2 contradictory NCCL_IB_TC\n"
            "NCCL_DEBUG=INFO\nNCCL_IB_DISABLE=1\nNCCL_IB_TC=106\n");
}

TEST(ThisEnvironment, KnowsThatItIsComplete) {
  EXPECT_EQ(described(check_environment({"NCCL_DEBUG_SUBSYS=NET"}, {}, {})),
            " contradictory NCCL_DEBUG_SUBSYS\nNCCL_DEBUG_SUBSYS=NET\n");
}

TEST(CheckJson, FitsItsSchema) {
  using nlohmann::json;
  EnvironmentCheck check;
  check.sources = {check_environment({"NCCL_DEBUG=INFO", "NCCL_IB_HCA=\xff"},
                                     {{"/etc/nccl.conf", "NCCL_IB_TC=106\nNCCL_ODD=1\n"}}, {})};
  json written = json::parse(write_check_json(check));
  const json schema = json::parse(check_schema());
  EXPECT_EQ(join(testing::schema_errors(schema, written), "\n"), "");
  EXPECT_FALSE(written["sources"][0]["remarks"].empty());
  written["sources"][0]["settings"][0]["line"] = 0;
  EXPECT_EQ(join(testing::schema_errors(schema, written), "\n"),
            "/sources/0/settings/0/line: 0 is below 1");
}

}  // namespace

}  // namespace ncclog
