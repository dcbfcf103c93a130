// Parts that nobody wrote: they are merged or refused, in memory and time that their size bounds.
// The input is what is done to a sound part, so that it fits every layout.

#include "part/part.h"

#include <algorithm>
#include <array>

#include "app/read/scan.h"
#include "app/read/second_look.h"
#include "fuzz/fuzz.h"

namespace ncclog::fuzz {
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

/// What scanning the log came to, packed.
const std::string& packed_part() {
  static const std::string kPacked = [] {
    const MemoryFile log(kLog);
    const std::string path = log.path();
    std::string packed;
    scan({.inputs = std::span(&path, 1), .host = "n1"}, {.threads = 1},
         [&](std::string_view more) { packed += more; });
    return packed;
  }();
  return kPacked;
}

/// The bytes of its frames.
const std::string& frames_of_part() {
  static const std::string kFrames = [] {
    const MemoryFile file(packed_part());
    ByteSource source(file.path());
    std::string bytes(size_t{1} << 20, '\0');
    size_t size = 0;
    while (const size_t count = source.read(bytes.data() + size, bytes.size() - size))
      size += count;
    return bytes.substr(kPartMagic.size(), size - kPartMagic.size());
  }();
  return kFrames;
}

void merge(LoadedPart part) {
  std::vector<LoadedPart> parts;
  parts.push_back(std::move(part));
  merge_parts(std::move(parts));
}

uint64_t number_of(std::string_view bytes) {
  uint64_t number = 0;
  for (const char c : bytes) number = number << 8 | static_cast<uint8_t>(c);
  return number;
}

}  // namespace

/// Of four bytes the first names a frame, two a place in it, and the last one stands there then.
void fuzz_part(std::string_view bytes) {
  static const LoadedPart kSound = [] {
    const MemoryFile file(packed_part());
    return read_part_file(file.path(), {});
  }();
  LoadedPart part = kSound;
  std::vector<std::string>& frames = part.inputs.at(0).frames;
  for (; bytes.size() >= 4; bytes.remove_prefix(4)) {
    std::string& frame = frames[static_cast<uint8_t>(bytes[0]) % frames.size()];
    if (!frame.empty()) frame[number_of(bytes.substr(1, 2)) % frame.size()] = bytes[3];
  }
  merge(std::move(part));
}

/// Of four bytes two name a place in the row of frames; the third says whether the last one is
/// written there, or put there, or ends the part there, or takes bytes away.
void fuzz_part_frames(std::string_view bytes) {
  std::string frames = frames_of_part();
  for (; bytes.size() >= 4; bytes.remove_prefix(4)) {
    const size_t place = number_of(bytes.substr(0, 2)) % (frames.size() + 1);
    switch (static_cast<uint8_t>(bytes[2]) % 4) {
      case 0:
        frames.insert(place, 1, bytes[3]);
        break;
      case 1:
        frames.resize(place);
        break;
      case 2:
        frames.erase(place, static_cast<uint8_t>(bytes[3]));
        break;
      default:
        if (place < frames.size()) frames[place] = bytes[3];
    }
  }
  const bool is_sound = frames == frames_of_part();
  std::string_view rest = frames;
  const auto read = [&](char* buffer, size_t capacity) {
    const size_t count = rest.copy(buffer, capacity);
    rest.remove_prefix(count);
    return count;
  };
  std::string problem;
  std::optional<LoadedPart> part = load_part(read, part_kin({}), 0, problem);
  require(part.has_value() == problem.empty() && (part || !is_sound));
  if (part) merge(std::move(*part));
}

/// What a merge elsewhere asks of a log: any places and any owners.
void fuzz_requests(std::string_view bytes) {
  const MemoryFile log(kLog);
  std::vector<Request> requests;
  constexpr size_t kBytes = 12;
  for (; bytes.size() >= kBytes; bytes.remove_prefix(kBytes)) {
    Request& request = requests.emplace_back();
    request.path = log.path();
    if (const auto stamp = stamp_of(log.path()); stamp && bytes[0] != 'x') request.stamp = *stamp;
    request.asked = static_cast<Asked>(static_cast<uint8_t>(bytes[1]) % 3);
    request.from = {number_of(bytes.substr(2, 1)), number_of(bytes.substr(3, 2))};
    request.owner = {bytes[5] == 'x' ? "n2" : "n1",
                     static_cast<int64_t>(number_of(bytes.substr(6, 1))),
                     number_of(bytes.substr(7, 1)), bytes[8] == 'x'};
    request.most = number_of(bytes.substr(9, 1));
    request.wanted.count = number_of(bytes.substr(10, 1));
    if (bytes[11] != 'x') request.index = number_of(bytes.substr(11, 1));
  }
  const Replies replies = answer_requests(requests, log.path(), 256);
  for (const auto& [request, reply] : replies) require(reply.calls.size() <= request.most);
}

}  // namespace ncclog::fuzz
