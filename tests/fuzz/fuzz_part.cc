// A part whose numbers nobody wrote: it is merged or refused, in memory and time that its size
// bounds. The input is what is done to a sound part, so that it fits every layout: of four bytes
// the first names a frame, two a place in it, and the last one stands there then.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/read/scan.h"
#include "part/part.h"

namespace {

constexpr std::string_view kLog =
    "n1:41:41 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
    "n1:41:41 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n"
    "n1:41:41 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId "
    "60 commId 0x9c1b - Init START\n"
    "n1:41:41 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0\n"
    "n1:41:41 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId "
    "60 commId 0x9c1b - Init COMPLETE\n"
    "n1:41:41 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f0 recvbuff 0x7f1 acc (nil) count 64 "
    "datatype 7 op 0 root 0 comm 0x5a [nranks=2] stream 0x6\n"
    "n1:41:41 [0] misc/socket.cc:42 NCCL WARN socketProgress: Connection closed by remote peer\n"
    "2026-01-05 12:00:00 step 1 loss 0.5\n";

ncclog::LoadedPart make_sound_part() {
  namespace fs = std::filesystem;
  const std::string stem = fs::temp_directory_path() / ("fuzz_part." + std::to_string(std::rand()));
  const std::string log = stem + ".log";
  const std::string part = stem + ".part";
  std::ofstream(log, std::ios::binary) << kLog;
  std::ofstream out(part, std::ios::binary);
  ncclog::scan({.inputs = std::span(&log, 1), .host = "n1"}, {.threads = 1},
               [&](std::string_view more) { out << more; });
  out.close();
  ncclog::LoadedPart sound = ncclog::read_part_file(part, {});
  fs::remove(log);
  fs::remove(part);
  return sound;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ncclog::LoadedPart kSound = make_sound_part();
  ncclog::LoadedPart part = kSound;
  std::vector<std::string>& frames = part.inputs.at(0).frames;
  for (; size >= 4; data += 4, size -= 4) {
    std::string& frame = frames[data[0] % frames.size()];
    if (!frame.empty())
      frame[(data[1] + 256u * data[2]) % frame.size()] = static_cast<char>(data[3]);
  }
  std::vector<ncclog::LoadedPart> parts;
  parts.push_back(std::move(part));
  const ncclog::MergedParts merged = ncclog::merge_parts(std::move(parts));
  if (merged.walked.empty()) std::abort();
  return 0;
}
