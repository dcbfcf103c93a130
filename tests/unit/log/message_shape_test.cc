#include <gtest/gtest.h>

#include "log/known_messages.h"

namespace ncclog {
namespace {

struct ShapeCase {
  const char* message;
  const char* shape;
};

TEST(MessageShape, ReplacesValuesAndKeepsNcclsWords) {
  const ShapeCase kCases[] = {
      {"Frobnicated mlx5_0:1 qpn 4711 at 0x7f10a0", "Frobnicated #:# qpn # at #"},
      {"NET/IB : weighed 3 rails [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE",
       "NET/IB : weighed # rails [#]#:#/IB [#]#:#/RoCE"},
      {"Could not weigh '/etc/nccl/topo.xml' (2)", "Could not weigh '…' (#)"},
      {"Could not weigh /sys/class/net/eth0/speed.", "Could not weigh #."},
      {"P2P is heavy between 3 and 4", "P2P is heavy between # and #"},
      {"rank 3 took 1.25 s", "rank # took # s"},
      {"it doesn't weigh, isn't it", "it doesn't weigh, isn't it"},
      {"Channel 00 :    0   1   2", "Channel # : # # #"},
      {"peer 10.1.2.3<41822> fe80::1%ib0<1>", "peer #<#> #::#%#<#>"},
      {"key='rank' value=\"3 4\"", "key='…' value=\"…\""},
      {"", ""},
  };
  for (const ShapeCase& c : kCases) EXPECT_EQ(message_shape(c.message), c.shape);
}

TEST(MessageShape, IsShortWhateverTheMessage) {
  EXPECT_LE(message_shape(std::string(5000, 'x')).size(), kMaxShapeBytes);
  EXPECT_LE(message_shape(std::string(5000, '\'')).size(), 3 * kMaxShapeBytes);
  EXPECT_EQ(message_shape("a\x01\xff b"), "a\x01\xff b");
}

}  // namespace
}  // namespace ncclog
