#include "support/synthetic/nccl_lines.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace ncclog::testing {
namespace {

int element_bytes(int datatype) { return datatype == 4 ? 8 : datatype == 7 ? 4 : 2; }

/// A number that looks drawn, the same for the same parts.
uint64_t mixed(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t x = a * 0x9e3779b97f4a7c15 ^ (b + 1) * 0xbf58476d1ce4e5b9 ^ (c + 1) * 0x94d049bb133111eb;
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9;
  return x ^ x >> 29;
}

class Speaker {
 public:
  Speaker(const Layout& layout, const Setting& setting, const Program& program, int rank,
          bool logs_calls, Seeded& seeded)
      : layout_(layout),
        setting_(setting),
        release_(*setting.release),
        program_(program),
        rank_(rank),
        logs_calls_(logs_calls),
        seeded_(seeded),
        comms_(layout.groups.size()) {
    pid_ = pid_of(layout, setting, rank);
    next_pointer_ = 0x55d0a4001000 + 0x1000000 * (mixed(static_cast<uint64_t>(pid_), 1, 1) % 4096) +
                    0x100000000 * static_cast<uint64_t>(layout.local_rank(rank));
  }

  SpokenLines speak(const std::vector<Happening>& happenings) {
    time_ = happenings.empty() ? 0 : happenings.front().time;
    banner();
    for (const Happening& happening : happenings) {
      time_ = happening.time;
      const Step& step = program_[static_cast<size_t>(happening.step)];
      switch (happening.kind) {
        case Happening::Kind::InitStart:
          init_start(step.group);
          break;
        case Happening::Kind::InitComplete:
          init_complete(step.group);
          break;
        case Happening::Kind::Calls:
          if (!step.is_replayed) calls(step);
          break;
        case Happening::Kind::Destroy:
          destroy(step.group, setting_.aborts_at_end && step.iteration < 0);
          break;
        case Happening::Kind::Marker:
          break;
      }
    }
    return std::move(lines_);
  }

 private:
  struct Comm {
    uint64_t pointer = 0;
    int life = 0;
    uint64_t op_count = 0;
  };

  Comm& comm(int g) { return comms_[static_cast<size_t>(g)]; }
  const Group& group(int g) const { return layout_.groups[static_cast<size_t>(g)]; }
  int device() const { return layout_.local_rank(rank_); }
  int thread() const { return setting_.shares_process ? pid_ + 10 + device() : pid_; }

  void print(std::string_view level, std::string_view text, bool has_device = true) {
    std::string header = fmt::format("{}:{}:{} ", host_name(layout_, rank_), pid_, thread());
    if (has_device) header += fmt::format("[{}] ", device());
    lines_.push_back(
        {time_, rank_, SpokenLine::Voice::Nccl, fmt::format("{}NCCL {} {}", header, level, text)});
  }
  void info(std::string_view text) { print("INFO", text); }
  void init_info(std::string_view text) {
    if (setting_.logs_init) info(text);
  }

  void banner() {
    const std::string version = fmt::format("NCCL version {}+cuda{}", release_.name, release_.cuda);
    // The blank went with 2.24.3, as did the form without a child's number.
    init_info(fmt::format("Bootstrap{}: Using eth0:10.1.0.{}<0>",
                          release_.child_count.empty() ? " " : "", layout_.host_of(rank_) + 1));
    if (!release_.bare_banner) info(version);
    if (release_.bare_banner && rank_ == 0) {
      lines_.push_back({time_, rank_, SpokenLine::Voice::Worker, version});
    }
    init_info("cudaDriverVersion 12040");
  }

  void network() {
    const int host = layout_.host_of(rank_) + 1;
    if (setting_.uses_ib) {
      init_info(fmt::format(
          "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.1.0.{}<0>", host));
      init_info("Using network IB");
    } else {
      init_info("NET/IB : No device found.");
      init_info(fmt::format("NET/Socket : Using [0]eth0:10.1.0.{}<0>", host));
      init_info("Using network Socket");
    }
  }

  uint64_t new_pointer(int g) {
    if (comm(g).pointer != 0 && freed_ == comm(g).pointer) return std::exchange(freed_, 0);
    next_pointer_ += 0x20410;
    return next_pointer_;
  }

  uint64_t comm_id(int g) {
    return mixed(static_cast<uint64_t>(setting_.first_pid), static_cast<uint64_t>(g),
                 static_cast<uint64_t>(comm(g).life));
  }

  bool prints_parent(int g) const { return group(g).is_split && release_.names_function; }

  /// "ncclCommInitRankConfig comm 0x… rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId a1000 commId 0x…".
  std::string init_words(int g) {
    std::string words;
    if (release_.names_function) {
      words = group(g).is_split ? "ncclCommSplit " : "ncclCommInitRankConfig ";
    }
    words += fmt::format("comm {:#x} rank {} nranks {} cudaDev {} nvmlDev {} busId {:x}000",
                         comm(g).pointer, group(g).rank_of(rank_), group(g).size(), device(),
                         device(), 0x1b + 0x10 * device());
    if (prints_parent(g)) {
      words += fmt::format(" parent {:#x}", comm(0).pointer);
      if (!release_.child_count.empty()) {
        words += fmt::format(" {} {}", release_.child_count, static_cast<int>(group(g).kind));
      }
      words += fmt::format(" color {} key {}", group(g).color, rank_);
      if (!release_.child_has_id) return words;
    }
    return words + fmt::format(" commId {:#x}", comm_id(g));
  }

  void init_start(int g) {
    comm(g).pointer = new_pointer(g);
    ++comm(g).life;
    comm(g).op_count = 0;
    if (g == 0 && comm(g).life == 1) network();
    const bool glued = prints_parent(g) && !release_.child_has_id;
    const bool names_rank = release_.start_names_rank && !group(g).is_split;
    const std::string rank =
        names_rank ? fmt::format("[Rank {}] ", group(g).rank_of(rank_)) : std::string();
    init_info(fmt::format("{}{}{}- Init START", rank, init_words(g), glued ? "" : " "));
    trace_init(g);
  }

  void trace_init(int g) {
    if (!setting_.logs_traces || !logs_calls_) return;
    const int own = group(g).rank_of(rank_);
    const std::string text =
        group(g).is_split
            ? fmt::format("ncclCommSplit({:#x}, {}, {}, {:#x}, {}, {})", comm(0).pointer,
                          group(g).color, rank_, comm(g).pointer, own, group(g).size())
            : fmt::format("ncclCommInitRank({:#x}, {}, {:#x}, {}, {})", comm(g).pointer,
                          group(g).size(), comm_id(g), own, device());
    print("CALL", text, false);
  }

  void init_complete(int g) {
    const Group& of = group(g);
    const int own = of.rank_of(rank_);
    if (own == 0 && of.size() <= 16) {
      std::string ring = "Channel 00/02 :";
      for (int r = 0; r < of.size(); ++r) ring += fmt::format(" {}", r);
      init_info(ring);
    }
    if (layout_.world <= 64) connections(of, own);
    init_info("Connected all rings");
    init_info(fmt::format("{} - Init COMPLETE", init_words(g)));
  }

  void connections(const Group& of, int own) {
    const int next = (own + 1) % of.size();
    const int peer = of.ranks[static_cast<size_t>(next)];
    const bool is_far = layout_.host_of(peer) != layout_.host_of(rank_);
    const std::string path = !is_far            ? "P2P/CUMEM"
                             : setting_.uses_ib ? "[send] via NET/IB/0"
                                                : "[send] via NET/Socket/0";
    init_info(fmt::format("Channel 00/0 : {}[{}] -> {}[{}] {}{}", own, device(), next,
                          layout_.local_rank(peer), is_far ? "" : "via ", path));
  }

  void destroy(int g, bool aborts) {
    freed_ = comm(g).pointer;
    if (release_.hides_destroy) return;
    const auto words = [&](std::string_view nranks, std::string_view end) {
      return fmt::format("comm {:#x} rank {} {} {} cudaDev {} busId {:x}000 - {}", comm(g).pointer,
                         group(g).rank_of(rank_), nranks, group(g).size(), device(),
                         0x1b + 0x10 * device(), end);
    };
    if (!aborts) return init_info(words("nranks", "Destroy COMPLETE"));
    init_info(words("nRanks", "Abort START"));
    for (const std::string_view place : {"64", "81", "868"}) {
      init_info(fmt::format("misc/socket.cc:{} -> 3", place));
    }
    init_info(words("nranks", "Abort COMPLETE"));
  }

  void calls(const Step& step) {
    if (!logs_calls_) return;
    const bool is_group = step.calls.size() > 1;
    if (setting_.logs_traces && is_group) print("CALL", "ncclGroupStart()", false);
    for (const Call& call : step.calls) one_call(call);
    if (setting_.logs_traces && is_group) print("CALL", "ncclGroupEnd()", false);
    const bool counts =
        !release_.counts_network || !is_on_one_host(layout_, group(step.calls.front().group));
    if (counts) ++comm(step.calls.front().group).op_count;
  }

  /// A reduction of the user's own is numbered by the communicator's address, so ranks differ.
  int redop_of(const Call& call) const {
    if (!call.is_user_redop) return call.redop;
    return 5 + static_cast<int>(
                   mixed(static_cast<uint64_t>(rank_), static_cast<uint64_t>(call.group), 7) %
                   2000000000);
  }

  void one_call(const Call& call) {
    int64_t count = call.count;
    int datatype = call.datatype;
    const bool is_gather = call.op == Op::AllGather || call.op == Op::Broadcast;
    if (release_.gathers_in_bytes && is_gather) {
      count *= element_bytes(datatype);
      datatype = 0;
    }
    const uint64_t buffer = 0x7f21e0000000 + 0x100000 * seeded_.below(64);
    const std::string_view op = name_of(call.op);
    if (setting_.logs_traces) {
      print("CALL",
            fmt::format("nccl{}({:x},{:x},{},{},{},{},{:#x},(nil))", op, buffer, buffer, count,
                        datatype, redop_of(call), call.root, comm(call.group).pointer),
            false);
      return;
    }
    const std::string send = is_point_to_point(call.op) ? "(nil)" : fmt::format("{:#x}", buffer);
    info(fmt::format(
        "{}: opCount {:x} sendbuff {} recvbuff {:#x} count {} datatype {} op {} root "
        "{} comm {:#x} [nranks={}] stream {:#x}",
        op, comm(call.group).op_count, send, buffer, count, datatype, redop_of(call), call.root,
        comm(call.group).pointer, group(call.group).size(), 0x5581aa30 + 0x100 * call.group));
  }

  const Layout& layout_;
  const Setting& setting_;
  const NcclRelease& release_;
  const Program& program_;
  int rank_;
  bool logs_calls_;
  Seeded& seeded_;
  int pid_ = 0;
  double time_ = 0;
  uint64_t next_pointer_ = 0;
  uint64_t freed_ = 0;       ///< The pointer that was freed last; 0: none, or it is used again.
  std::vector<Comm> comms_;  ///< By group.
  SpokenLines lines_;
};

}  // namespace

int pid_of(const Layout& layout, const Setting& setting, int rank) {
  return setting.first_pid + (setting.shares_process ? layout.host_of(rank) * 64 : rank);
}

SpokenLines nccl_lines(const Layout& layout, const Setting& setting, const Program& program,
                       const std::vector<Happening>& happenings, int rank, bool logs_calls,
                       Seeded& seeded) {
  return Speaker(layout, setting, program, rank, logs_calls, seeded).speak(happenings);
}

SpokenLines closing_lines(const Layout& layout, const Setting& setting, int rank, double time) {
  const int pid = pid_of(layout, setting, rank);
  return {{time, rank, SpokenLine::Voice::Nccl,
           fmt::format("{}:{}:{} [{}] NCCL INFO [Service thread] Connection closed by localRank {}",
                       host_name(layout, rank), pid, pid + 100, layout.local_rank(rank),
                       (layout.local_rank(rank) + 1) % layout.ranks_per_host)}};
}

}  // namespace ncclog::testing
