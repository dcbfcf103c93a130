// Ways of reading that are quick, in parallel or in parts say what the plain one says.

#include <algorithm>

#include "app/read/read_job.h"
#include "app/read/scan.h"
#include "fuzz/fuzz.h"
#include "log/known_messages.h"
#include "log/line/header.h"
#include "log/line/prefix.h"
#include "log/unwrapper.h"
#include "model/derive/build_job.h"
#include "model/shard/read_log.h"
#include "support/describe_job.h"

namespace ncclog::fuzz {
namespace {

const MarkerFinder& finder() {
  static const MarkerFinder kFinder;
  return kFinder;
}

/// Some of what rules look for in lines.
const LineMatcher& matcher() {
  static const LineMatcher kMatcher = [] {
    const std::vector<std::string> words = {"step", "Killed", "loss"};
    const auto match = [words](std::string_view line, std::vector<int>& matched) {
      for (size_t i = 0; i < words.size(); ++i) {
        if (line.find(words[i]) != line.npos) matched.push_back(static_cast<int>(i));
      }
    };
    return LineMatcher{.match = match, .patterns = words.size(), .literals = words};
  }();
  return kMatcher;
}

std::string described(LogReader& reader) {
  Shard shard = reader.finish();
  const LossTable losses = shard.losses;
  JobInput input;
  input.path = "log.txt";
  return describe_job(build_job(std::move(shard), {input}, {JobUnit{}}, losses));
}

/// The line with which `text` begins, of which it is taken.
Line take_line(std::string_view& text, uint64_t& number) {
  const size_t end = std::min(text.find('\n'), text.size());
  const Line line{text.substr(0, end), number++, 0, false};
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

/// Lines that are known by their bytes, and lines that are passed by as another program's, say what
/// they say when each is read. The first byte is the size of blocks; the text comes twice, so that
/// some of it is known.
void fuzz_known_lines(std::string_view bytes) {
  const size_t block_bytes = 1 + size_t{take_byte(bytes)} * 16;
  std::string text(bytes);
  std::erase(text, '\r');
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += text;

  LogReader plain(0, 0, matcher());
  uint64_t number = 1;
  for (std::string_view rest = text; !rest.empty();) plain.add(take_line(rest, number));

  const SharedFilter filter(matcher(), finder());
  LogReader quick(0, 0, matcher(), finder(), &filter);
  number = 1;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = rest.find('\n', std::min(block_bytes, rest.size() - 1));
    std::string block(rest.substr(0, end + 1));
    rest.remove_prefix(block.size());
    for (std::string_view left = block; !left.empty();) {
      const LineRun taken = quick.take_known(left, number);
      number += taken.numbers;
      left.remove_prefix(taken.bytes);
      if (!left.empty()) quick.add(take_line(left, number));
    }
    quick.settle();
    std::ranges::fill(block, '#');
  }
  require_equal(described(quick), described(plain));
}

/// What the filter of other programs' lines lets go means nothing to any later stage.
void fuzz_foreign_filter(std::string_view bytes) {
  static const ForeignFilter kFilter({}, finder());
  const std::string_view line = bytes.substr(0, bytes.find_first_of("\r\n"));
  if (!may_have_prefix(line) && line.find("%|") == line.npos) {
    require(parse_prefix(line).length == 0);
  }
  if (kFilter.boring_lines(std::string(line) + "\n", 1).lines == 0) return;
  std::string plain;
  require(strip_ansi(line, plain).data() == line.data());
  int records = 0;
  EventReader reader([&](const Line& record, const Event& event, int lines) {
    ++records;
    require(record.text == line && lines == 1);
    require(event.fate == LineFate::Foreign && event.header.level == Level::None);
    const Prefix& prefix = event.header.prefix;
    require(prefix.rank < 0 && prefix.local_rank < 0 && prefix.pid < 0 && prefix.host.empty());
    require(prefix.address.empty() && prefix.progress_title.empty());
    require(event.header.unexplained.empty() && event.header.repeated == 0);
    require(line.empty() == event.header.message.empty());
    require(find_task_tag(event.header.message) == event.header.message.npos);
  });
  reader.add({.text = line, .number = 1});
  require(records == 1);
  Marker marker;
  require(!finder().find(line, marker) && !holds_process(line));
}

namespace {

/// What logs consist of. "%" stands for the rank of who prints it.
constexpr std::string_view kLines[] = {
    "n1:4%:4% [%] NCCL INFO NCCL version 2.28.9+cuda13.0",
    "n1:4%:4% [%] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>",
    "n1:4%:4% [%] NCCL INFO ncclCommInitRank comm 0x5% rank % nranks 4 cudaDev % nvmlDev % busId "
    "6%0 "
    "commId 0x9c1b - Init START",
    "n1:4%:4% [%] NCCL INFO ncclCommInitRank comm 0x5% rank % nranks 4 cudaDev % nvmlDev % busId "
    "6%0 "
    "commId 0x9c1b - Init COMPLETE",
    "n1:4%:4% [%] NCCL INFO Channel 00/0 : %[0] -> 1[0] [send] via NET/Socket/0",
    "n1:4%:4% [%] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f0 recvbuff 0x7f1 acc (nil) count 64 "
    "datatype 7 op 0 root 0 comm 0x5% [nranks=4] stream 0x6",
    "n1:4%:4% [%] NCCL INFO AllGather: opCount 1 sendbuff 0x7f0 recvbuff 0x7f1 acc (nil) count 64 "
    "datatype 7 op 0 root 0 comm 0x5% [nranks=4] stream 0x6",
    "n1:4%:4% [%] misc/socket.cc:42 NCCL WARN socketProgress: Connection closed by remote peer",
    "[rank%]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank %] Watchdog caught "
    "collective "
    "operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
    "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.",
    "[rank%]: RuntimeError: NCCL communicator was aborted on rank %",
    "srun: error: n7: task %: Exited with exit code 134",
    "2026-01-05 12:00:0% step % loss 0.5",
    "training goes on",
};

/// A byte is a line: its kind and who prints it.
std::string log_of(std::string_view bytes) {
  std::string log;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    for (const char printed : kLines[(byte / 4) % std::size(kLines)]) {
      log += printed == '%' ? static_cast<char>('0' + byte % 4) : printed;
    }
    log += '\n';
  }
  return log;
}

}  // namespace

/// Three threads and small stretches read of whole lines what one thread reads in one go. The first
/// byte is the size of stretches.
void fuzz_threads(std::string_view bytes) {
  const uint64_t unit_bytes = 1 + uint64_t{take_byte(bytes)} * 8;
  const std::string text = log_of(bytes) + "the end\n";
  const MemoryFile log(text);
  const std::string path = log.path();
  const auto read = [&](int threads, uint64_t unit) {
    ReadSettings settings{.threads = threads, .unit_bytes = unit};
    settings.matcher = matcher();
    std::string job = describe_job(read_job(std::span(&path, 1), settings));
    // Told of each stretch by how it ends.
    for (size_t at; (at = job.find(" cut=true")) != job.npos;) job.replace(at, 9, " cut=false");
    return job;
  };
  require_equal(read(3, unit_bytes), read(1, uint64_t{1} << 30));
}

/// Files that a byte 0 ends, scanned on two hosts and merged, are what they are when they are read
/// in one go.
void fuzz_merge(std::string_view bytes) {
  std::vector<std::unique_ptr<MemoryFile>> files;
  std::vector<std::string> paths;
  for (const std::string_view text : parts_of(bytes, '\0', 4)) {
    paths.push_back(files.emplace_back(std::make_unique<MemoryFile>(text))->path());
  }
  std::ranges::sort(paths);
  const ReadSettings settings{.threads = 1};
  std::vector<std::unique_ptr<MemoryFile>> parts;
  std::vector<std::string> part_paths;
  for (size_t host = 0; host < std::min<size_t>(2, paths.size()); ++host) {
    std::vector<std::string> inputs;
    for (size_t i = host; i < paths.size(); i += 2) inputs.push_back(paths[i]);
    std::string packed;
    scan({.inputs = inputs, .host = "h" + std::to_string(host)}, settings,
         [&](std::string_view more) { packed += more; });
    part_paths.push_back(parts.emplace_back(std::make_unique<MemoryFile>(packed))->path());
  }
  require_equal(describe_job(read_job(part_paths, settings)),
                describe_job(read_job(paths, settings)));
}

}  // namespace ncclog::fuzz
