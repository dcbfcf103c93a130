// Law: a built-in message is read the same way with a header before it, and no beginning of one does
// harm. The generator cannot prove these.

#include "log/messages.h"

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <string>

#include "base/text.h"
#include "log/event.h"
#include "log/wording/message_file.h"
#include "support/paths.h"

namespace ncclog {
namespace {

template <typename Check>
void for_every_wording(Check check) {
  for (const Kind& kind : all_kinds()) {
    for (const Wording& wording : kind.wordings) {
      SCOPED_TRACE(std::string(kind.name) + ": " + std::string(wording.text));
      check(kind, wording);
    }
  }
}

TEST(Messages, IndexAndNameLeadToTheKind) {
  ASSERT_GT(all_kinds().size(), 400u);
  for (size_t i = 0; i < all_kinds().size(); ++i) {
    EXPECT_EQ(all_kinds()[i].index, i);
    EXPECT_EQ(find_kind(all_kinds()[i].name), &all_kinds()[i]);
  }
  EXPECT_EQ(find_kind("comm_init")->index, kKindIndex<CommInit>);
  EXPECT_EQ(find_kind("no_such_kind"), nullptr);
}

/// All of src/ that is compiled, as one text.
std::string sources() {
  std::string text;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(testing::source_dir() / "src")) {
    const auto extension = entry.path().extension();
    if (extension == ".cc" || extension == ".h") text += testing::read_file(entry.path());
  }
  return text;
}

TEST(Messages, StructsAreMadeOnlyOfKindsThatCodeNames) {
  const std::string code = sources();
  const auto folder = testing::source_dir() / "src" / "log" / "messages";
  size_t typed = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".messages") continue;
    for (const KindText& kind :
         parse_message_file(testing::read_file(entry.path()), entry.path())) {
      if (!kind.typed) continue;
      ++typed;
      std::string name;
      bool is_start = true;
      for (const char c : kind.name) {
        if (c != '_') name += is_start ? static_cast<char>(std::toupper(c)) : c;
        is_start = c == '_';
      }
      EXPECT_NE(code.find(name), code.npos) << kind.name;
    }
  }
  EXPECT_GT(typed, 100u);
}

TEST(Messages, ExamplesAreReadByTheirOwnWording) {
  for_every_wording([](const Kind& kind, const Wording& wording) {
    if (wording.is_only_asked()) return;
    const bool is_nccl = kind.source == Source::Nccl;
    const Message found = is_nccl ? all_wordings().nccl.parse(wording.example)
                                  : all_wordings().foreign.parse(wording.example);
    EXPECT_EQ(found.wording, &wording);
    EXPECT_EQ(found.kind, &kind);
  });
}

TEST(Messages, NoBeginningOfAnExampleIsDangerous) {
  for_every_wording([](const Kind&, const Wording& wording) {
    for (size_t length = 0; length <= wording.example.size(); ++length) {
      const std::string line(wording.example.substr(0, length));
      parse_event("node07:4121:4188 [3] NCCL INFO " + line, all_wordings());
      parse_event(line, all_wordings());
    }
  });
}

TEST(Messages, ReadsStructs) {
  const Message message = all_wordings().nccl.parse(
      "ncclCommInitRank comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 nvmlDev 5 busId a1000 commId "
      "0x9c1b2f0a77d01e55 - Init COMPLETE");
  const auto init = read_message<CommInit>(message);
  EXPECT_EQ(init.function, "ncclCommInitRank");
  EXPECT_EQ(init.comm.value, 0x7f10a0u);
  EXPECT_EQ(init.rank, 3);
  EXPECT_EQ(init.nranks, 16);
  EXPECT_EQ(init.nvml_dev, 5);
  EXPECT_EQ(init.bus_id, "a1000");
  EXPECT_EQ(init.comm_id.value, 0x9c1b2f0a77d01e55u);
  EXPECT_EQ(init.parent.value, 0u);
  EXPECT_EQ(init.color, -1);
  EXPECT_EQ(init.phase, "COMPLETE");
}

struct FieldCase {
  std::string_view text;
  std::string_view kind;
  std::string_view field;
  std::string_view value;
};

TEST(Messages, TellApartWhatLooksAlike) {
  const FieldCase cases[] = {
      {"Channel 00/02 : 0 1", "ring_members", "ranks", "0 1"},
      {"Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", "channel_connected", "path", "P2P/CUMEM"},
      {"Channel 00/0 : 1[1] -> 0[0] [send] via NET/AWS Libfabric/0/GDRDMA", "channel_connected",
       "path", "NET/AWS Libfabric/0/GDRDMA"},
      {"Ring 00 : 15 -> 0 -> 1", "ring_neighbours", "prev", "15"},
      {"Ring 00 : 15 -> 0 [send] via NET/IB/0", "channel_connected", "direction", "send"},
      {"NCCL_DEBUG_X set by environment to -1.", "env_set", "value", "-1"},
      {"NCCL_SOCKET_IFNAME set by environment to eth0.100", "env_set", "value", "eth0.100"},
      {"NCCL_SOCKET_IFNAME set by environment to ", "env_set", "value", ""},
      {"NET/IB : Using [RO]; OOB eth0:10.2.2.3<0>", "net_devices", "devices", ""},
      {"NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/I", "net_devices", "devices",
       "[0]mlx5_0:1/IB [1]mlx5_1:1/I"},
      {"NET/Plugin: Could not find: libnccl-net.so. Using internal net plugin.", "plugin_missing",
       "name", "libnccl-net.so"},
      {"NET/Plugin: Could not find: libnccl-net.so.", "plugin_missing", "name", "libnccl-net.so"},
      {"NET/Plugin: Could not find: a.so libnccl-net-a.so", "plugin_missing", "name",
       "a.so libnccl-net-a.so"},
      {"Cuda failure 'it's 'quoted''", "cuda_failure", "error", "it's 'quoted'"},
      {"Error while attaching to shared memory segment  (size 0)", "shm_attach_failed", "name", ""},
      {"Error while attaching to shared memory segment \xD0\x03 (size 0), error: No such file or "
       "directory (2)",
       "shm_attach_failed", "code", "2"},
      {"ncclAllReduce(7f21e0,7f21e0,1,7,0,0,0x7f10a0,(nil))", "call_trace", "op", "AllReduce"},
      {"Bootstrap : Using ib0:10.1.2.3<0>", "bootstrap_interface", "devices", "ib0:10.1.2.3<0>"},
      {"CollNet channel 0 rank 3 down nDown 0 up 3 nUp 1 nHeads 1 headRank -1 out 0 shift 1",
       "collnet_channel", "up", "3"},
      {"socketProgress: Connection closed by remote peer ", "peer_closed", "peer", ""},
      {"transport/net.cc:1034 -> 6", "error_trace", "code", "6"},
      {"NET/IB: Got completion from peer 10.1.2.3<41822> with status=IBV_WC_RETRY_EXC_ERR(12) "
       "opcode=IBV_WC_SEND(0) vendor_err=129  localGid fe80::1 remoteGidsfe80::2 hca mlx5_0",
       "ib_completion", "status", "12"},
      {"comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 nvmlDev 3", "comm_announced", "rank", "3"},
  };
  for (const FieldCase& c : cases) {
    SCOPED_TRACE(std::string(c.text));
    const Message message = all_wordings().nccl.parse(trim(c.text));
    ASSERT_NE(message.kind, nullptr);
    EXPECT_EQ(message.kind->name, c.kind);
    EXPECT_EQ(message.field(c.field), c.value);
  }
}

}  // namespace
}  // namespace ncclog
