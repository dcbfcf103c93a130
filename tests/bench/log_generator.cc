#include "bench/log_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog::testing {
namespace {

struct Collective {
  std::string_view op;
  uint64_t count;
  int datatype;  ///< NCCL's number: 7 is float32, 9 bfloat16.
  bool in_place;
};

constexpr Collective kGather{"AllGather", 1048576, 9, false};
constexpr Collective kScatter{"ReduceScatter", 1048576, 9, false};
constexpr Collective kReduce{"AllReduce", 4194304, 7, true};
constexpr Collective kIteration[] = {kGather,  kGather,  kGather,  kGather, kScatter,
                                     kScatter, kScatter, kScatter, kReduce};

/// Lines go through a buffer: a stream call a line would make the generator the slow part.
class Writer {
 public:
  Writer(const LogOptions& options, std::ostream& out)
      : options_(options), out_(out), random_(options.seed) {}

  void write() {
    for (int rank = 0; rank < options_.ranks; ++rank) init(rank);
    while (!is_full()) iteration();
    flush();
  }

 private:
  bool is_full() const {
    return written_ + buffer_.size() >= options_.bytes || calls_ >= options_.calls;
  }

  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    written_ += buffer_.size();
    buffer_.clear();
  }

  template <typename... Values>
  void line(int rank, fmt::format_string<Values...> text, Values&&... values) {
    int dev = rank % options_.ranks_per_host;
    fmt::format_to(std::back_inserter(buffer_), "node-{:02}:{}:{} [{}] NCCL INFO ",
                   rank / options_.ranks_per_host, 4001 + rank, 4001 + rank, dev);
    fmt::format_to(std::back_inserter(buffer_), text, std::forward<Values>(values)...);
    buffer_ += '\n';
    if (buffer_.size() > (1 << 20)) flush();
  }

  static uint64_t comm(int rank) { return 0x2610000 + static_cast<uint64_t>(rank) * 0x1000; }

  void init(int rank) {
    int dev = rank % options_.ranks_per_host;
    auto state = [&](std::string_view word) {
      line(rank,
           "ncclCommInitRankConfig comm {:#x} rank {} nranks {} cudaDev {} nvmlDev {} busId {:x} "
           "commId 0x749998f53f4ea7f2 - Init {}",
           comm(rank), rank, options_.ranks, dev, dev, (dev + 1) << 12, word);
    };
    line(rank, "NCCL version 2.28.9+cuda13.0");
    line(rank, "Bootstrap: Using eth0:10.0.0.{}<0>", 1 + rank / options_.ranks_per_host);
    line(rank, "Using network Socket");
    state("START");
    state("COMPLETE");
  }

  void iteration() {
    ++iterations_;
    for (const Collective& call : kIteration) {
      std::vector<int> order(static_cast<size_t>(options_.ranks));
      for (int rank = 0; rank < options_.ranks; ++rank) order[static_cast<size_t>(rank)] = rank;
      // Not std::shuffle: its result is the library's choice.
      for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_() % i]);
      for (int rank : order) {
        if (is_full()) return;
        if (options_.mix == LogMix::Everything) something_else(rank);
        collective(rank, call);
      }
    }
  }

  void collective(int rank, const Collective& call) {
    ++calls_;
    uint64_t count = call.count + (options_.mix == LogMix::Irregular ? iterations_ : 0);
    uint64_t send = 0x7f0000000000 + static_cast<uint64_t>(rank) * 0x100000000 + 0xae00000;
    line(rank,
         "{}: opCount 0 sendbuff {:#x} recvbuff {:#x} count {} datatype {} op 0 root 0 comm {:#x} "
         "[nranks={}] stream (nil)",
         call.op, send, call.in_place ? send : send + 0x20000000, count, call.datatype, comm(rank),
         options_.ranks);
  }

  void something_else(int rank) {
    int next = (rank + 1) % options_.ranks;
    switch (random_() % 6) {
      case 0:
        return line(rank, "Channel {:02}/0 : {}[{}] -> {}[{}] via P2P/CUMEM", random_() % 16, rank,
                    rank, next, next);
      case 1:
        return line(rank, "NCCL_SOCKET_IFNAME set by environment to eth0");
      case 2:
        buffer_ += fmt::format("step {:6} loss 2.{:04}\n", random_() % 100000, random_() % 10000);
        return;
      default:
        return;
    }
  }

  const LogOptions& options_;
  std::ostream& out_;
  std::mt19937 random_;
  std::string buffer_;
  uint64_t written_ = 0;
  uint64_t calls_ = 0;
  uint64_t iterations_ = 0;
};

}  // namespace

void generate_log(const LogOptions& options, std::ostream& out) { Writer(options, out).write(); }

}  // namespace ncclog::testing
