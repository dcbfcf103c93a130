// Walks every wording of every kind: its example is found, belongs to that kind alone, and fills
// the fields that the wording names.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "log/event.h"
#include "log/messages/all_messages.h"
#include "log/read_message.h"
#include "log/wording_pattern.h"
#include "support/paths.h"

namespace ncclog {
namespace {

Message parse(const Kind& kind, std::string_view text) {
  const WordingTable& wordings = all_wordings();
  return kind.source == Source::Nccl ? wordings.parse_nccl(text) : wordings.parse_foreign(text);
}

/// The fields that the message's kind has; what lies behind them means nothing.
std::vector<std::string_view> fields_of(const Message& message) {
  if (message.kind == nullptr) return {};
  return {message.fields.begin(), message.fields.begin() + message.kind->fields.size()};
}

std::string describe(const Kind& kind, const Wording& wording) {
  return std::string(kind.name) + ": " + std::string(wording.text) +
         "\n  example: " + std::string(wording.example);
}

template <typename Check>
void for_every_wording(Check check) {
  for (const Kind& kind : all_kinds()) {
    for (const Wording& wording : kind.wordings) {
      SCOPED_TRACE(describe(kind, wording));
      check(kind, wording);
    }
  }
}

TEST(Messages, KindsHaveNamesOfTheirOwnAndFitTheirFields) {
  std::set<std::string_view> names;
  for (const Kind& kind : all_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_LE(kind.fields.size(), kMaxFields) << kind.name;
    EXPECT_FALSE(kind.wordings.empty()) << kind.name;
    EXPECT_EQ(find_kind(kind.name), &kind);
    std::set<std::string_view> fields;
    for (const Field& field : kind.fields) {
      EXPECT_TRUE(fields.insert(field.name).second) << kind.name << "." << field.name;
    }
  }
}

/// The names of kinds that a header of log/messages/ spells.
std::vector<std::string> kinds_in(const std::filesystem::path& header) {
  constexpr std::string_view kMark = "kKind = \"";
  const std::string text = testing::read_file(header);
  std::vector<std::string> names;
  for (size_t at = text.find(kMark); at != text.npos; at = text.find(kMark, at + 1)) {
    const size_t begin = at + kMark.size();
    names.push_back(text.substr(begin, text.find('"', begin) - begin));
  }
  return names;
}

TEST(Messages, EveryKindIsInAListOfTheTable) {
  const auto folder = testing::source_dir() / "src" / "log" / "messages";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    for (const std::string& name : kinds_in(file.path())) {
      EXPECT_NE(find_kind(name), nullptr) << name << " in " << file.path();
    }
  }
}

TEST(Messages, ExamplesAreOfTheirOwnKind) {
  for_every_wording([](const Kind& kind, const Wording& wording) {
    const Message found = parse(kind, wording.example);
    ASSERT_NE(found.kind, nullptr);
    EXPECT_EQ(found.kind->name, kind.name);
  });
}

/// Whether `wording` is looked at before `other`, in the list of one kind.
bool stands_before(const Wording& wording, const Wording& other) { return &wording < &other; }

TEST(Messages, ExamplesFitNoOtherWording) {
  for_every_wording([](const Kind& kind, const Wording& wording) {
    for (const WordingPattern* match : all_wordings().all_matches(wording.example, kind.source)) {
      if (match->wording == &wording) continue;
      const Wording& other = *match->wording;
      EXPECT_TRUE(match->kind == &kind && other.general && stands_before(wording, other))
          << "also fits " << describe(*match->kind, other)
          << "\nmake one of them narrower, or mark a later one of the same kind as general";
    }
  });
}

TEST(Messages, GeneralWordingsAreGeneral) {
  for_every_wording([](const Kind& kind, const Wording& wording) {
    if (!wording.general) return;
    const auto fits = [&](const Wording& other) {
      Message ignored;
      return &other != &wording &&
             match_wording(compile_wording(kind, wording), other.example, ignored);
    };
    EXPECT_TRUE(std::any_of(kind.wordings.begin(), kind.wordings.end(), fits));
  });
}

TEST(Messages, ExamplesAreFoundByTheirOwnWordingFirst) {
  for_every_wording([](const Kind& kind, const Wording& wording) {
    Message own;
    ASSERT_TRUE(match_wording(compile_wording(kind, wording), wording.example, own));
    EXPECT_EQ(fields_of(parse(kind, wording.example)), fields_of(own));
  });
}

/// Whether the wording's example leaves the step's field empty on purpose: text may be missing.
bool may_be_empty(const PatternStep& step) {
  return step.hole == HoleType::Text || step.hole == HoleType::Rest;
}

TEST(Messages, ExamplesFillTheFieldsOfTheirWordings) {
  for_every_wording([](const Kind& kind, const Wording& wording) {
    if (wording.recognise != nullptr) return;
    const WordingPattern pattern = compile_wording(kind, wording);
    Message message;
    ASSERT_TRUE(match_wording(pattern, wording.example, message));
    for (const PatternStep& step : pattern.steps) {
      if (step.field < 0 || may_be_empty(step)) continue;
      const auto index = static_cast<size_t>(step.field);
      EXPECT_FALSE(message.fields[index].empty()) << kind.fields[index].name;
    }
  });
}

TEST(Messages, NumbersAreNumbers) {
  for_every_wording([](const Kind& kind, const Wording& wording) {
    const Message message = parse(kind, wording.example);
    for (size_t i = 0; i < kind.fields.size(); ++i) {
      const std::string_view text = message.fields[i];
      if (text.empty() || text == "(nil)") continue;
      if (kind.fields[i].type == FieldType::Integer) {
        EXPECT_TRUE(parse_int(text)) << kind.fields[i].name << " = " << text;
      }
      if (kind.fields[i].type == FieldType::Hex) {
        EXPECT_TRUE(parse_hex(text)) << kind.fields[i].name << " = " << text;
      }
    }
  });
}

TEST(Messages, QuotableWordingsAreFoundWithoutHeader) {
  for_every_wording([](const Kind& kind, const Wording& wording) {
    if (!wording.quotable) return;
    const Message found = all_wordings().parse_foreign(wording.example);
    ASSERT_NE(found.kind, nullptr);
    EXPECT_EQ(found.kind->name, kind.name);
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
  const Message message = all_wordings().parse_nccl(
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
    const Message message = all_wordings().parse_nccl(trim(c.text));
    ASSERT_NE(message.kind, nullptr);
    EXPECT_EQ(message.kind->name, c.kind);
    EXPECT_EQ(message.field(c.field), c.value);
  }
}

}  // namespace
}  // namespace ncclog
