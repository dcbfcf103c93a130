// From lines to a shard: the one path by which every log is read, from files and from text alike.

#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "log/event_reader.h"
#include "log/iteration_marker.h"
#include "log/other_programs_filter.h"
#include "model/shard/call_cache.h"
#include "model/shard/line_cache.h"
#include "model/shard/shard.h"

namespace ncclog {

// One filter of other programs' lines for all readers of a run, made when the first of them has use
// for it: a short log starts without.

/// Any number of threads may use one.
class SharedFilter {
 public:
  /// Lets lines go in which neither `matcher` nor `finder` can find anything. Both must outlive it.
  SharedFilter(const LineMatcher& matcher, const MarkerFinder& finder)
      : matcher_(matcher), finder_(finder) {}

  /// nullptr if any line may matter. Valid as long as this.
  const ForeignFilter* get() const;

 private:
  const LineMatcher& matcher_;
  const MarkerFinder& finder_;
  mutable std::once_flag once_;
  mutable std::optional<ForeignFilter> filter_;
};

// Which records are whole, where several processes wrote into one file in pieces?
//
//   node-a:41:41 [0] NCCL INFO comm 0x55 rank 0 nRanks 8 nNodes 2 node-b:52:52 [1] NCCL INFO Using…
//   node-b:52:52 [1] NCCL INFO Trees [0] 0/-1/-1->3->2 [1] 2localRanks 4 localRank 0 MNNVL 0
//   node-a:41:41 [0] NCCL INFO P2P Chunksize set to 131072
//
// NCCL writes a record at once and launchers hand pipes on in chunks, so damage is local: a record
// whose header stands where a line begins, behind whatever prefix, and whose wording fits to the
// end of the line is whole. A record that another one cut off is open: its rest comes where its
// process goes on. That is a line of its own ("Version 13000"), joined where nothing else is
// possible, or the end of the line before the process's next one, as above: then that line is in
// doubt although it fits a wording, and the record that it began is open in its turn. Nothing else
// is.
//
// Invariant: while no record is open, every line is handed on unchanged and in order.

/// Holds one line back until the next one shows whether it is whole. One guard reads one stretch;
/// its memory is bounded.
class TearGuard {
 public:
  /// Both must outlive the guard; `matcher` may be empty.
  TearGuard(ShardWriter& shard, const LineMatcher& matcher) : shard_(shard), matcher_(matcher) {}

  /// `event` views `record.text`; `lines` is the number of input lines that the record spans.
  void add(const Line& record, const Event& event, int lines);

  /// Notes who speaks in the next known line; false if it has to be read like any other, because
  /// another host has its pid.
  bool accepts(const CachedCallLine& line) {
    const CachedHead& head = *line.call->head;
    const KnownProcess& known = known_as(head.pid);
    return known.head == &head || note_speaker(head);
  }

  /// True until the stretch shows damage: only then lines may be added without reading them,
  /// because any line may hold the rest of a record that was cut off.
  bool is_quiet() const { return !is_damaged_; }

  /// Adds lines about calls that were read before in other words, from line `number` on. All have
  /// to be accepted, and the guard to be quiet. Their bytes must stay until the shard settles.
  void add(std::span<const CachedCallLine> lines, uint64_t number);

  /// Adds line `number`, the like of which was read before; the guard has to be quiet. False if it
  /// has to be read: another host has the pid of its process, or it is another program's and begins
  /// like a known process's. Its bytes must stay until the shard settles.
  bool add(const CachedLine& line, uint64_t number);

  /// Adds lines of other programs that mean nothing, as ShardWriter::add_skipped has them; the
  /// guard has to be quiet. Their bytes must stay until the shard settles.
  void add_skipped(std::string_view text, uint64_t number, uint64_t lines);

  /// True if the line added last is one whole record of a known process, so that ones like it are.
  bool is_last_whole() const { return last_is_whole_; }

  /// Hands on what is held back at the end of the stretch. Only where the input ends with it can its
  /// last line be cut: each stretch behind it begins with a whole one.
  void finish(bool ends_input);

 private:
  static constexpr int kOften = 3;  ///< Lines from which on a host is no torn name.

  struct KnownProcess {
    std::string host;
    int64_t pid = -1;
    const CachedHead* head = nullptr;                ///< One that names this process,
    boost::intrusive_ptr<const LineHead> line_head;  ///< and one of other lines.
    int lines = 0;                                   ///< That name it, counted up to a few.
    std::string other;         ///< Almost the same host, to which lines since then give the pid.
    int others = 0;            ///< How many lines do.
    std::set<uint64_t> comms;  ///< Pointers that its lines name as communicators.
  };
  /// A record whose rest has not come.
  struct OpenRecord {
    std::string text;
    std::string host;
    int64_t pid = -1;
  };
  struct Held {
    std::string text;  ///< `event` views it.
    Line line;
    Event event;
    int lines = 0;
    bool any = false;
  };

  const KnownProcess& known_as(int64_t pid) const {
    return recent_[static_cast<uint64_t>(pid) % recent_.size()];
  }
  KnownProcess& known_as(int64_t pid) {
    return recent_[static_cast<uint64_t>(pid) % recent_.size()];
  }
  bool is_known(const Header& header) const;
  template <typename Fits>
  const KnownProcess* find_known(Fits fits) const;
  bool is_known_host(std::string_view host) const;
  const KnownProcess* begun_by(std::string_view text, std::string_view other_than = {}) const;
  const KnownProcess* speaker_before(std::string_view text) const;
  void note_speaker(const Header& header);
  KnownProcess* speaker_of_known(std::string_view host, int64_t pid);
  bool note_speaker(const CachedHead& head);
  bool is_torn_form(KnownProcess& known, const Header& header);

  size_t record_begin(const Header& header, std::string_view text) const;
  void add_followed(const Line& record, const Event& event);
  void add_cut_piece(const Line& piece);
  void add_whole(const Line& record, const Event& event, int lines);
  bool ends_with_pid(std::string_view text) const;
  bool ends_with_host(std::string_view text) const;
  bool is_torn_header(const Header& header) const;

  bool completes(const OpenRecord& open, std::string_view rest);
  bool is_record(std::string_view text) const;
  bool join(const Line& record, const Event& event, int lines);
  size_t end_of_open(const OpenRecord& open);
  void open(const Header& header, std::string_view text);
  void close(std::string_view host, int64_t pid);
  void give_up(size_t open);
  void lose(std::string_view host, int64_t pid);
  void note_lost(std::string_view host, int64_t pid);

  void hold(const Line& record, const Event& event, int lines);
  void note_whole(std::string_view text, const Event& event);
  bool is_in_strange_comm(const Event& event);
  bool has_torn_function(const Header& header) const;
  void lose_whole(const Event& event, int lines);
  void release(std::string_view host, int64_t pid);
  void hand_on(const Line& record, const Event& event, int lines);
  void doubt(const Event& event, int lines);
  bool ends_inside_record() const;
  bool has_lost(const Speaker& speaker) const;

  ShardWriter& shard_;
  const LineMatcher& matcher_;
  std::vector<int> matched_;
  std::array<KnownProcess, 64> recent_;  ///< By pid: who spoke.
  std::bitset<256> first_bytes_;         ///< With which a line of one of those begins, or more.
  std::vector<OpenRecord> open_;         ///< One a process, the oldest first.
  /// How lines begin of which some are lost: "node-a:41:", "node-a:", "".
  std::set<std::string> lost_;
  std::set<int64_t> lost_pids_;  ///< Of lines whose host may be a piece of a name.
  std::set<std::string> alike_;  ///< Names of one pid, of which one may be a torn form of another.
  std::set<int64_t> shared_pids_;  ///< That hosts of almost the same name are known to share.

  Held held_;
  std::string head_;   ///< What stood before the host of the last NCCL line that was handed on.
  std::string piece_;  ///< Two pieces side by side, while they are looked at.
  int tries_ = 0;      ///< To put pieces together, each of which costs a line.
  bool last_is_whole_ = false;
  bool is_damaged_ = false;  ///< Some record of the stretch was cut, lost, or is in doubt.
};

// The reader of a stretch.

/// What one thread's readers learn from lines, for the readers after them, whose shards are merged
/// behind theirs: files of thousands of ranks say the same.
struct ReadBefore {
  ReadBefore(const LineMatcher& matcher, const MarkerFinder& finder)
      : lines(matcher, finder, texts) {}

  TextCache texts;
  SharedTrie trie;
  /// Of the stretches before: as many speak in all, so lists need not be cut down once more.
  RecordLimit limit;
  LineCache lines;
};

/// Takes the lines of one stretch in order and collects what they say. Not copyable or movable: the
/// event reader calls back into it.
class LogReader {
 public:
  /// `matcher` may be empty; it must outlive the reader, as must `filter`, which is made of the
  /// same matcher and finder, and `before`. Without a filter all lines of other programs are read.
  LogReader(uint64_t unit, uint64_t input, const LineMatcher& matcher,
            const MarkerFinder& finder = MarkerFinder(), const SharedFilter* filter = nullptr,
            ReadBefore* before = nullptr);
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  void add(const Line& line);

  /// Takes the lines with which `block`, a row of whole ones, begins, as far as they are like lines
  /// that were read before, or lines of other programs that mean nothing; `number` is that of the
  /// first. Those behind them have to be added. Their bytes must stay until settle().
  LineRun take_known(std::string_view block, uint64_t number);

  /// To be called before the bytes of lines that were taken go away.
  void settle();

  /// Ends the stretch, and the input unless another one follows. The reader is spent afterwards.
  Shard finish(bool ends_input = true);

 private:
  void receive(const Line& record, const Event& event, int lines);
  bool take_calls(std::string_view block, uint64_t number, LineRun& taken);
  bool take_messages(std::string_view block, uint64_t number, LineRun& taken);
  bool take_others(std::string_view block, uint64_t number, LineRun& taken);
  bool take_other(std::string_view block, uint64_t number, LineRun& taken);
  bool take_foreign(std::string_view block, uint64_t number, LineRun& taken);

  std::optional<ReadBefore> own_;
  ReadBefore& before_;
  ShardWriter shard_;
  TearGuard guard_;
  CallCache calls_;
  /// Lines about calls, one behind the other, while they are taken.
  std::vector<CachedCallLine> run_;
  std::string_view line_;  ///< The line that is being added.
  bool learns_;            ///< Nobody looks at every line, whatever it says.
  const LineMatcher& matcher_;
  const SharedFilter* filter_;
  uint64_t foreign_ = 0;     ///< Lines of other programs that were read.
  bool is_foreign_ = false;  ///< The last line that was read is one.
  size_t stretch_ = 1;       ///< Lines to be filtered at a time: as many as lately meant nothing.
  uint64_t boring_end_ = 0;  ///< The line behind those that the filter let go last.
  uint64_t kept_ = 0;        ///< The line that the filter kept last.
  uint64_t stack_end_ = 0;   ///< The line up to which the lines of a stack may go on.
  EventReader events_;
};

}  // namespace ncclog
