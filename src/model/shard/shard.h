// What a stretch of one input says, in memory bounded by processes and communicators.
//
// A shard is an ordered, mergeable summary. merge(a, b) with b right behind a in input order gives
// what reading both in one go gives, in any grouping. Threads, stretches of a large file and many
// hosts are therefore the same code, and the number of threads changes nothing in a report.

#pragma once

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
#include "model/call_tape.h"
#include "model/flight_recorder.h"
#include "model/init_section.h"
#include "model/input_clock.h"
#include "model/process_log.h"
#include "model/ras.h"
#include "model/records.h"
#include "model/topology.h"

namespace ncclog {

struct KnownCall;
struct KnownLine;
class KnownCalls;

/// Whom the NCCL lines of a stretch name.
struct StretchWriter {
  std::string host;  ///< Of the first one.
  int64_t pid = -1;
  bool several = false;  ///< They name others as well.
};

/// The steps that were printed into one input.
struct StretchMarkers {
  uint64_t unit = 0;  ///< The one with the first of them.
  InputMarkers markers;
};

/// The times that were printed into one input.
struct StretchPulse {
  uint64_t unit = 0;  ///< The first one.
  Pulse pulse;
};

/// Lines of other programs, one behind the other, that mean nothing to anybody
/// (log/other_programs_filter.h): whole ones, each with its line end. Views bytes of whoever reads
/// the input.
struct ForeignRun {
  std::string_view text;
  uint64_t number = 0;  ///< Line of the first.
  uint64_t lines = 0;
  uint64_t empty = 0;    ///< Lines of no bytes.
  bool is_copy = false;  ///< The bytes are the holder's own, and go away with the run.
};

/// Collects events. Add lines in input order; then merge with neighbours.
class Shard {
 public:
  /// `unit` is the number of the stretch that is read, `input` that of its input.
  explicit Shard(uint64_t unit = 0, uint64_t input = 0, MarkerFinder finder = {})
      : unit_(unit), input_(input), finder_(std::move(finder)) {}

  /// `lines` is the number of input lines the record spans.
  void add(const Line& line, const Event& event, int lines, const std::vector<int>& matched);

  /// Adds lines about calls that were read before in other words, the first of which is line
  /// `number`, and the others those behind it. Their bytes must stay until settle().
  void add(std::span<const KnownLine> lines, uint64_t number);

  /// Adds lines of other programs. Their bytes must stay until settle().
  void add(const ForeignRun& run);

  /// Adds to the sums what known lines have not added yet. To be called once, behind the last line.
  void add_uncounted(KnownCalls& calls);

  /// Copies what is kept of lines whose bytes go away.
  void settle();

  /// Adds what a dump beside the logs says.
  void add(FlightRecorderDump&& dump) { flight_recorders_.push_back(std::move(dump)); }

  /// Adds what the RAS service answered in a file of its own.
  void add(RasReport&& report);

  /// Counts a record that may hold another process's words; nothing of it is kept.
  void add_in_doubt(const Event& event, int lines);

  /// Counts a record that another one cut off.
  void add_lost_record() { losses_.add(Loss::LineTorn); }

  /// Says whose records were lost: what those speakers do not say proves nothing.
  void note_torn(const std::function<bool(const Speaker&)>& lost_records);

  /// Says that the stretch ends inside a record: its file was cut, or copied while somebody wrote.
  void note_cut();

  /// True if the NCCL lines so far name one process.
  bool has_one_writer() const { return writers_.size() == 1 && !writers_.begin()->second.several; }

  /// Adds what a topology file says.
  void add(TopologyFile&& file) { topology_files_.push_back(std::move(file)); }

  /// Appends what a later stretch holds; `later` is spent.
  void merge(Shard&& later);

  const std::map<Speaker, SpeakerLog>& speakers() const { return speakers_; }
  std::map<Speaker, SpeakerLog> take_speakers() { return std::move(speakers_); }

  /// NCCL lines that no wording fits, and errors in unknown words, whoever printed them.
  UnknownShapes take_unknown() { return std::move(unknown_); }
  std::vector<FlightRecorderDump> take_flight_recorders() { return std::move(flight_recorders_); }

  std::vector<TopologyFile> take_topology_files() { return std::move(topology_files_); }

  /// By number of the input; only inputs with markers.
  const std::map<uint64_t, StretchMarkers>& markers() const { return markers_; }

  /// By number of the input.
  const std::map<uint64_t, StretchPulse>& pulses() const { return pulses_; }

  const RasLines& ras_lines() const { return ras_lines_; }
  std::vector<RasReport> take_ras_reports() { return std::move(ras_reports_); }
  /// By unit; without those whose lines name nobody.
  const std::map<uint64_t, StretchWriter>& writers() const { return writers_; }

  /// Only the line counts and what is dropped here; reading errors are the input layer's.
  const LossTable& losses() const { return losses_; }

  static constexpr size_t kMaxSpeakers = 65536;

 private:
  void count(LineFate fate, uint64_t lines);
  SpeakerLog& speaker_of(const Event& event);
  bool add_again(const KnownLine& line, uint64_t number);
  void add_first(const KnownLine& line, uint64_t number);
  void note_last_text(SpeakerLog& log, std::string_view text, bool is_copy);
  void add_uncounted(KnownCall& call);
  bool is_there(const KnownCall& call) const;
  void share_tables(std::map<Speaker, SpeakerLog>::iterator log);
  void limit_speakers();
  void limit_records();
  void note_writer(const Header& header);
  void note_markers(SourceRef where, std::string_view line, const Event& event);
  void note_time(SourceRef where, std::string_view line);

  uint64_t unit_;
  uint64_t input_;
  MarkerFinder finder_;
  std::map<uint64_t, StretchMarkers> markers_;
  uint64_t markers_seen_ = 0;               ///< In input_, while it is read.
  std::map<Speaker, SpeakerLog> speakers_;  ///< Its nodes do not move: recent_ points at them.
  std::vector<FlightRecorderDump> flight_recorders_;  ///< In input order.
  std::vector<TopologyFile> topology_files_;          ///< In input order.
  RasLines ras_lines_;
  std::vector<RasReport> ras_reports_;  ///< In input order, the last kMaxRasReports.
  LossTable losses_;
  UnknownShapes unknown_;
  std::map<uint64_t, StretchWriter> writers_;

  struct Recent {
    std::string host;
    int64_t pid = -1;
    SpeakerLog* log = nullptr;
  };
  /// By pid: the speaker of most lines without a search. Grows with the number of speakers.
  std::vector<Recent> recent_ = std::vector<Recent>(16);
  std::vector<SpeakerLog*> viewing_;         ///< Those with a last_view.
  SpeakerLog* others_ = nullptr;             ///< What other programs wrote into input_.
  RecordLimit limit_;                        ///< By the number of speakers.
  std::map<uint64_t, StretchPulse> pulses_;  ///< Its nodes do not move: pulse_ points at one.
  Pulse* pulse_ = nullptr;                   ///< Of input_; nullptr: nothing was added.
  bool has_dropped_ = false;                 ///< Speakers: places of known calls may point at none.
};

}  // namespace ncclog
