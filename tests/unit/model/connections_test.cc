#include "model/connections.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

ChannelConnected connected(int channel, int src, int dst, std::string_view path) {
  ChannelConnected message;
  message.channel = channel;
  message.src_rank = src;
  message.dst_rank = dst;
  message.path = path;
  return message;
}

TEST(Transport, IsTheFirstWordOfThePathAsNcclPrintsIt) {
  struct Row {
    std::string_view path;
    Transport transport;
  };
  for (const Row& row :
       {Row{"P2P/CUMEM", Transport::P2P}, Row{"P2P/direct pointer", Transport::P2P},
        Row{"SHM/direct/direct", Transport::SHM}, Row{"direct shared memory", Transport::SHM},
        Row{"NET/AWS Libfabric/0/GDRDMA", Transport::NET},
        Row{"COLLNET/SHARP/0", Transport::COLLNET}, Row{"", Transport::Other}}) {
    EXPECT_EQ(transport_of(row.path), row.transport) << row.path;
  }
}

TEST(Connections, CountsChannelsNotLines) {
  Connections connections;
  for (const int channel : {0, 1, 1, 0}) {
    connections.add({0, 1}, connected(channel, 2, 3, "NET/IB/0"));
  }
  ASSERT_EQ(connections.all.size(), 1u);
  EXPECT_EQ(channel_count(connections.all.begin()->second), 2);
}

TEST(Connections, OddChannelNumbersOfTornLinesDoNoHarm) {
  Connections connections;
  connections.add({0, 1}, connected(-5, 0, 1, "P2P/IPC"));
  connections.add({0, 2}, connected(1 << 30, 0, 1, "P2P/IPC"));
  EXPECT_EQ(channel_count(connections.all.begin()->second), 2);
}

TEST(Connections, MergeGivesWhatOneReadingGives) {
  Connections whole;
  Connections first;
  Connections second;
  for (int i = 0; i < 20; ++i) {
    const ChannelConnected message = connected(i % 4, i % 3, i % 5, "SHM/direct/direct");
    const SourceRef where{0, static_cast<uint64_t>(i) + 1};
    whole.add(where, message);
    (i < 9 ? first : second).add(where, message);
  }
  first.merge(second);
  EXPECT_EQ(first, whole);
}

}  // namespace
}  // namespace ncclog
