// What one thread says between the start and the end of one initialisation.
//
//   node07:41:42 [3] NCCL INFO ncclCommInitRank comm 0x7f10a0 rank 3 … - Init START
//   node07:41:42 [3] NCCL INFO === System : maxBw 48.0 totalBw 240.0 ===
//   node07:41:42 [3] NCCL INFO Ring 00 : 2 -> 3 -> 0
//   node07:41:42 [3] NCCL INFO ncclCommInitRank comm 0x7f10a0 rank 3 … - Init COMPLETE
//   node07:41:42 [3] NCCL INFO Init timings - ncclCommInitRank: rank 3 nranks 4 total 1.09 (…)
//
// The lines in the middle name no communicator. They belong to the one that the same thread starts
// before them, completes after them (there is no START up to 2.18.1), or names in the layout line.
// A section therefore begins at a START or after the end of the one before it in its thread.
// Threads do not mix, so processes that drive several GPUs and interleaved files come out right.
//
// All ranks of a host print the same tables, and most channels the same ring. So tables that hold
// the same may share their bytes (BoundedLines), and what is said about many channels is kept once
// (ChannelSets).

#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/compact.h"
#include "base/line.h"
#include "log/event.h"
#include "model/bounded_map.h"

namespace ncclog {

/// Fills the `members` that `known` does not know, being as they are without any line, from `news`.
template <typename T, typename... Members>
void fill_unknown(T& known, const T& news, Members T::*... members) {
  static const T kUnknown{};
  const auto fill = [&](auto member) {
    if (known.*member == kUnknown.*member) known.*member = news.*member;
  };
  (fill(members), ...);
}

// The same thing said about many channels, kept once with the channels it holds for.
//
//   Ring 00 : 3 -> 0 -> 1
//   Ring 01 : 3 -> 0 -> 1      → {3, 0, 1} on channels 0 and 1
//
// NCCL has at most 64 channels, so a set of them is a word.

inline constexpr int kMaxChannels = 64;

/// Bit c stands for channel c; no bit for numbers that no channel has.
constexpr uint64_t channel_bit(int64_t channel) {
  return channel < 0 || channel >= kMaxChannels ? 0 : uint64_t{1} << channel;
}

struct ChannelMask {
  uint64_t bits = 0;

  ChannelMask& operator+=(ChannelMask more) {
    bits |= more.bits;
    return *this;
  }
  bool operator==(const ChannelMask&) const = default;
};

constexpr uint64_t count_of(ChannelMask) { return 1; }

template <typename Value, size_t kLimit>
using ChannelSets = BoundedMap<Value, ChannelMask, kLimit>;

// The lines of a table that a process prints, kept to be taken apart when the job is built.
//
//   === System : maxBw 48.0 totalBw 240.0 ===
//   CPU/0-0 (1/1/2)
//   + PCI[48.0] - GPU/0-a1000 (3)
//
// Invariant: the bytes are whole lines with the blanks in front of them; whoever adds to bytes that
// others hold too copies them first.

/// A line of a table. Its text is valid as long as the table is not changed.
struct IndentedLine {
  int indent = 0;  ///< Blanks in front of the text.
  std::string_view text;

  bool operator==(const IndentedLine&) const = default;
};

/// The first lines of a table, as many as fit into kMaxBytes. Tables that share their bytes are to
/// be changed by one thread at a time.
class BoundedLines {
 public:
  static constexpr size_t kMaxBytes = 128 * 1024;

  /// True if a line was added, kept or not.
  bool any() const { return cut_ || has_lines(); }

  /// True if a line is kept.
  bool has_lines() const { return size_ > 0; }

  /// True if there were more lines than are kept.
  bool cut() const { return cut_; }

  /// The lines that are kept, in order.
  std::vector<IndentedLine> lines() const;

  /// Adds a line. Where there is none yet, `like` is a table as which this one may begin: as long as
  /// their lines are the same, none is copied. nullptr: nobody knows one.
  void add(int indent, std::string_view text, const BoundedLines* like = nullptr);

  /// Appends what a later stretch holds.
  void merge(BoundedLines&& later);

  void drop();  ///< Forgets the lines, but not that there were some.

  /// Holds the lines by the bytes of `other` if they are the same; true if so.
  bool share(const BoundedLines& other);

  void fit();  ///< Gives back what its own bytes take beyond the lines.

  /// The lines, in one piece; of tables that share their bytes and have as many, the same piece.
  std::string_view bytes() const {
    return bytes_ == nullptr ? std::string_view() : std::string_view(*bytes_).substr(0, size_);
  }

  bool operator==(const BoundedLines& other) const;

 private:
  template <typename Io>
  friend void carry(Io& io, BoundedLines& table);  ///< part/carry_shard.h

  bool goes_on_with(size_t blanks, std::string_view text) const;
  void own();

  /// The first size_ of them are this table's; nullptr: no lines.
  std::shared_ptr<std::string> bytes_;
  size_t size_ = 0;
  bool cut_ = false;
};

// A section, and those of one process.

/// A rank's neighbours in the ring of a channel.
struct RingPlace {
  int rank = -1;
  int prev = -1;
  int next = -1;

  auto operator<=>(const RingPlace&) const = default;
};

/// Result of one search for channels: a "Pattern …" line and the channels after it.
struct SearchedGraph {
  int pattern = -1;   ///< 1 to 3 trees, 4 ring, 5 NVLS, 6 CollNet; -1: its line was not seen.
  int channels = -1;  ///< 0: not possible.
  std::string bw;     ///< "intra/inter", GB/s, as printed.
  std::string type;   ///< Path types "intra/inter"; a number in 2.5.
  ChannelSets<std::string, 64> members;  ///< "GPU/0-60 GPU/0-70", as printed, by channel.

  bool operator==(const SearchedGraph&) const = default;
};

/// How many channels serve what; -1 where not printed.
struct ChannelNumbers {
  int coll = -1;
  int nvls = -1;
  int p2p = -1;
  int p2p_per_peer = -1;

  bool operator==(const ChannelNumbers&) const = default;
};

/// What one thread says while it initialises a communicator.
struct InitSection {
  int64_t tid = -1;
  uint64_t comm = 0;    ///< Pointer; 0: no line of the section names it.
  int rank = -1;        ///< As the lines with the pointer say.
  int nvml_dev = -1;    ///< Physical index of the rank's GPU.
  int mnnvl = -1;       ///< 1 if NVLink reaches over several nodes; -1: not printed.
  SourceRef first;      ///< Its first line.
  SourceRef started;    ///< Init START; line 0: not seen.
  SourceRef completed;  ///< Init COMPLETE; line 0: not seen.
  bool closed = false;  ///< Nothing but timings can follow.

  BoundedLines system;                 ///< The topology, with the paths in it.
  BoundedLines tuning;                 ///< Rows of the tuning tables.
  SharedVector<SearchedGraph> graphs;  ///< The first kMaxGraphs, in the order of the searches.
  bool graphs_cut = false;             ///< There were more.
  ChannelSets<std::string, 64> ring_members;  ///< Ranks as rank 0 lists them.
  ChannelSets<RingPlace, 128> ring_places;
  std::string trees;       ///< The Trees line, as printed: "[0] 1/-1/-1->0->-1 [1] …".
  bool trees_cut = false;  ///< NCCL's buffer may have been too short for it.
  ChannelNumbers channels;
  std::string timings_total;  ///< Seconds, as printed; empty: no timings line.
  std::string timings;        ///< "kernels 0.33, alloc 0.11, …", seconds.
  SourceRef timings_at;

  static constexpr size_t kMaxGraphs = 16;
};

/// Tables and graphs that came lately, so that those that hold the same share their bytes.
struct SharedTables {
  std::vector<BoundedLines> tables;  ///< By hash; another one of the same place takes its place.
  BoundedLines last;                 ///< That came last: the next one is mostly the same.
  SharedVector<SearchedGraph> last_graphs;

  void share(BoundedLines& table);
  void share(SharedVector<SearchedGraph>& graphs);
};

/// The sections of one process in the order in which they begin: the first kLimit of them, with the
/// tables of the first kMaxTables that have some, because all of a process's are alike.
class InitSections {
 public:
  /// Takes a line that may belong to a section; others are ignored. `text` is the whole line.
  /// Topologies may begin like the last one of `tables`.
  void add(SourceRef where, std::string_view text, const Event& event,
           const SharedTables& tables = {});

  /// Appends what a later stretch holds. Associative.
  void merge(InitSections&& later);

  /// Holds topologies that came before by the same bytes.
  void share_tables(SharedTables& tables);

  const std::vector<InitSection>& all() const { return all_; }

  /// Puts the sections into fresh memory; gives back what they leave.
  std::vector<InitSection> move_away() {
    std::vector<InitSection> moved(std::move_iterator(all_.begin()),
                                   std::move_iterator(all_.end()));
    return std::exchange(all_, std::move(moved));
  }

  static constexpr size_t kLimit = 1024;
  static constexpr size_t kMaxTables = 4;

 private:
  template <typename Io>
  friend void carry(Io& io, InitSections& sections);  ///< part/carry_shard.h

  void add(InitSection&& news);
  void append(InitSection&& section);
  InitSection* open(SourceRef where, int64_t tid);
  void limit(BoundedLines InitSection::*table);

  std::vector<InitSection> all_;
  std::map<int64_t, size_t> latest_;  ///< By thread: its last section in all_; kLimit: not kept.
};

}  // namespace ncclog
