// What a stretch of one input says, in memory bounded by processes and communicators.
//
// A shard is an ordered, mergeable summary, and holds values only. merge(a, b) with b right behind
// a in input order gives what reading both in one go gives, in any grouping. Threads, stretches of
// a large file and many hosts are therefore the same code, and the number of threads changes
// nothing in a report. What reading needs beside the values is in ShardWriter.

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "base/loss_table.h"
#include "log/event.h"
#include "log/iteration_marker.h"
#include "model/calls.h"
#include "model/companions/inspector.h"
#include "model/companions/nccl_tests.h"
#include "model/companions/pci_devices.h"
#include "model/companions/port_counters.h"
#include "model/flight_recorder.h"
#include "model/init_section.h"
#include "model/process_log.h"
#include "model/ras.h"
#include "model/timeline.h"
#include "model/topology.h"

namespace ncclog {

struct CachedLine;
struct CachedCall;
struct CachedCallLine;
struct CallTally;
class CallCache;

/// What a stretch says. Spent once it was merged into another one.
struct Shard {
  std::map<Speaker, SpeakerLog> speakers;
  SharedTables tables;  ///< Of `speakers`: most ranks print the same topology.
  SharedTrie trie;      ///< Of lists that are joined: most ranks print the same lines.
  RecordLimit limit;    ///< Of the lists in `speakers`, by their number.
  LossTable losses;     ///< The line counts and what is dropped here; reading errors are the input
                        ///< layer's.
  UnknownShapes unknown;  ///< NCCL lines that no wording fits, and errors in unknown words.
  std::map<uint64_t, FileWriter> writers;  ///< By unit; without those whose lines name nobody.
  std::map<uint64_t, InputClock> clocks;   ///< By number of the input.
  /// The last kMaxRasLines lines of ncclras answers, without prefixes and blanks at their ends. An
  /// answer means something only as a whole, and a large log may be cut for reading between its
  /// lines: build_job puts them together (read_ras_text). Keeping the last ones is associative.
  std::deque<OwnedRecord> ras_lines;
  // What stood in files of its own, in input order.
  std::vector<RasReport> ras_reports;  ///< The last kMaxRasReports.
  std::vector<FlightRecorderDump> flight_recorders;
  std::vector<InspectedRank> inspected;
  std::vector<HostTopology> topologies;  ///< Of whom nobody has said whose they are.
  std::vector<PciListing> pci_devices;
  std::vector<PortCounter> port_counters;
  std::vector<NcclTestsRun> nccl_tests;  ///< Those written as JSON.

  static constexpr size_t kMaxSpeakers = 65536;
  static constexpr size_t kMaxRasLines = 16384;

  void add(FlightRecorderDump&& dump) { flight_recorders.push_back(std::move(dump)); }
  void add(InspectedRank&& rank) { inspected.push_back(std::move(rank)); }
  void add(HostTopology&& file) { topologies.push_back(std::move(file)); }
  void add(PciListing&& listing) { pci_devices.push_back(std::move(listing)); }
  void add(PortCounter&& counter) { port_counters.push_back(std::move(counter)); }
  void add(RasReport&& report);
  /// `unit` is the file's number.
  void add(NcclTestsRun&& run, uint64_t unit);

  /// Appends what a later stretch holds.
  void merge(Shard&& later);

  /// Keeps fewer lines of each speaker, the more of them there are, and never more again. Their
  /// lists were opened in `opened`.
  void limit_records(SharedTrie& opened);

  /// Forgets the last speaker and counts its lines: ones that come again would be counted again.
  void drop_last_speaker();
};

/// Puts the events of one stretch into a shard, in input order.
class ShardWriter {
 public:
  /// `unit` is the number of the stretch that is read, `input` that of its input; `texts` and `trie`
  /// must outlive it.
  /// `limit` holds from the beginning.
  ShardWriter(uint64_t unit, uint64_t input, MarkerFinder finder, TextCache& texts,
              SharedTrie& trie, const RecordLimit& limit = {})
      : unit_(unit), input_(input), finder_(std::move(finder)), texts_(texts), trie_(trie) {
    shard_.limit = limit;
  }
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;

  /// `lines` is the number of input lines the record spans.
  void add(const Line& line, const Event& event, int lines, const std::vector<int>& matched);

  /// Adds lines about calls that were read before in other words, the first of which is line
  /// `number`, and the others those behind it. Their bytes must stay until settle().
  void add(std::span<const CachedCallLine> lines, uint64_t number);

  /// Adds line `number`, the like of which was read before, with the patterns that match it. Its
  /// bytes must stay until settle().
  void add(const CachedLine& line, uint64_t number, const std::vector<int>& matched);

  /// Adds the `lines` lines of `text`, whole ones, each with its line end: lines of other programs,
  /// from line `number` on, that mean nothing to anybody (log/other_programs_filter.h). Their bytes
  /// must stay until settle().
  void add_skipped(std::string_view text, uint64_t number, uint64_t lines);

  /// Copies what is kept of lines whose bytes go away.
  void settle();

  /// Counts a record that may hold another process's words; nothing of it is kept.
  void add_in_doubt(const Event& event, int lines);

  /// Counts a record that another one cut off.
  void add_lost_record() { shard_.losses.add(Loss::LineTorn); }

  /// Says whose records were lost: what those speakers do not say proves nothing.
  void note_torn(const std::function<bool(const Speaker&)>& lost_records);

  /// Says that the stretch ends inside a record: its file was cut, or copied while somebody wrote.
  void note_cut();

  /// What was added so far; calls of known lines are not in the sums yet.
  const Shard& shard() const { return shard_; }

  /// The shard, with the sums of what `calls` know. The writer is spent.
  Shard finish(CallCache& calls);

 private:
  /// Where the lines of a process go.
  struct Recent {
    std::string host;
    int64_t pid = -1;
    SpeakerLog* log = nullptr;
  };

  void count(LineFate fate, uint64_t lines);
  Recent& recent(int64_t pid) { return recent_[static_cast<uint64_t>(pid) % recent_.size()]; }
  SpeakerLog* recent_log(const Header& header);
  SpeakerLog& speaker_of(const Event& event);
  void view_last(SpeakerLog& log, SourceRef where, std::string_view text);
  void settle_last_view();
  bool add_again(const CachedCallLine& line, uint64_t number);
  bool add_other(const CachedCallLine& line, uint64_t number);
  void add_first(const CachedCallLine& line, uint64_t number);
  void add_uncounted(CachedCall& call);
  bool is_there(const CachedCall& call) const;
  void keep_limits();
  SpeakerLog& others();
  InputClock& clock();
  Pulse& pulse();
  void add_marker(SourceRef where, const Marker& marker);
  void note_markers(SourceRef where, std::string_view line, const Event& event);
  /// A line of another program, whose time was looked for.
  void note_output(SourceRef where, std::string_view line) {
    if (clock_->starts.is_listening()) clock_->starts.note(where, line);
  }
  void note_end(SourceRef where, std::string_view line, const Event& event);

  Shard shard_;  ///< Nodes of its maps do not move: all pointers below are to such.
  uint64_t unit_;
  uint64_t input_;
  MarkerFinder finder_;
  TextCache& texts_;
  SharedTrie& trie_;
  uint64_t markers_seen_ = 0;  ///< In input_.
  /// By pid: the speaker of most lines without a search. Grows with the number of speakers.
  std::vector<Recent> recent_ = std::vector<Recent>(16);
  // The last line whose like was read before, while its bytes stay.
  SpeakerLog* viewed_ = nullptr;  ///< Of its process; nullptr: there is none.
  SourceRef viewed_at_;
  std::string_view viewed_text_;
  std::vector<CallTally*> viewing_;  ///< Those with a last_view.
  SpeakerLog* others_ = nullptr;     ///< What other programs wrote into input_.
  InputClock* clock_ = nullptr;      ///< Of input_; nullptr: it has none yet.
  Pulse* pulse_ = nullptr;           ///< Of clock_; nullptr: nothing was added.
  bool has_dropped_ = false;         ///< Speakers: tallies of known calls may point at none.
};

}  // namespace ncclog
