#include "part/part.h"

#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <exception>
#include <utility>

#include "base/hash.h"
#include "log/iteration_marker.h"
#include "log/known_messages.h"
#include "part/carry_shard.h"

namespace ncclog {

template <>
inline constexpr uint64_t kEnumSize<InputStatus> = static_cast<uint64_t>(InputStatus::Unreadable) +
                                                   1;
template <>
inline constexpr uint64_t kEnumSize<Compression> = static_cast<uint64_t>(Compression::Zstd) + 1;
template <>
inline constexpr uint64_t kEnumSize<Content> = static_cast<uint64_t>(Content::Binary) + 1;
template <>
inline constexpr uint64_t kEnumSize<Asked> = static_cast<uint64_t>(Asked::Message) + 1;

NCCLOG_FIELDS(PartKin, layout, messages, patterns)

/// Describes what carry() is asked to carry, instead of carrying it.
struct LayoutHash {
  static constexpr bool kReads = false;
  uint64_t hash = kFnvBasis;

  void note(uint64_t what) { hash = fnv_step(hash, what); }
  void number(uint64_t) { note(1); }
  void text(const std::string&) { note(2); }
  void size(size_t) { note(3); }
  void unit(uint64_t) { note(4); }
  void input(uint64_t) { note(5); }
  void place(const SourceRef&) { note(6); }
  void head(const boost::intrusive_ptr<const LineHead>&) { note(7); }
  void message(const boost::intrusive_ptr<const RecordText>&) { note(8); }
  bool is_pattern(uint16_t) const { return true; }
};

/// Its numbers are those of units and inputs.
template <typename Io>
void carry(Io& io, WalkedInput& input) {
  io.unit(input.number);
  io.input(input.input_number);
  carry_each(io, input.path, input.format, input.is_archive, input.is_member, input.result);
}

namespace {

template <typename Io>
void carry_head(Io& io, ScannedInput& input) {
  carry_each(io, input.path, input.stamp, input.units, input.walked);
}

/// Hash of the order in which the members of one of each thing come.
uint64_t layout_hash() {
  LayoutHash hash;
  ScannedInput input;
  input.units.emplace_back();
  input.walked.emplace_back().emplace_back();
  carry_head(hash, input);
  Shard shard;
  shard.ras_reports.emplace_back().communicators.emplace_back();
  shard.ras_reports.back().statements.emplace_back().members.emplace_back();
  shard.flight_recorders.emplace_back().groups.emplace_back();
  shard.flight_recorders.back().entries.emplace_back();
  shard.inspected.emplace_back().calls.emplace_back();
  HostTopology& topology = shard.topologies.emplace_back();
  topology.system.nodes.emplace_back();
  topology.system.links.change().emplace_back();
  topology.system.paths.change().emplace_back();
  NcclTestsRun& run = shard.nccl_tests.emplace_back();
  run.places.emplace_back();
  run.rows.emplace_back();
  shard.pci_devices.emplace_back().devices.emplace_back();
  shard.port_counters.emplace_back();
  InputClock& clock = shard.clocks[0];
  clock.add({});
  clock.starts.note({}, "loading the model");
  clock.starts.end(OutputBreak::End);
  clock.starts.keep_ending({});
  clock.starts.note({}, "loading the model");
  shard.unknown.all[""] = {};
  carry_rest(hash, shard);
  Speaker speaker;
  speaker.input = 0;
  carry(hash, speaker);
  SpeakerLog log;
  CommSegment& segment = log.comms.all.emplace_back();
  segment.calls.change().add({1, 1}, {}, {});
  segment.calls.change().peers.all[0] = {};
  log.calls.change().add(0, 0, 0, {});
  log.connections.all[{}] = {};
  log.allocations.change().all[""] = {};
  log.tuning.change().all[{}] = {};
  carry(hash, log);
  InitSection section;
  section.graphs.change().emplace_back();
  section.ring_places.all[{}] = {};
  carry(hash, section);
  return hash.hash;
}

uint64_t messages_hash() {
  uint64_t hash = kFnvBasis;
  for (const Kind& kind : all_kinds()) {
    hash = fnv_text(hash, kind.name);
    for (const Wording& wording : kind.wordings) hash = fnv_text(hash, wording.text);
  }
  for (const IterationWording& wording : iteration_wordings()) hash = fnv_text(hash, wording.regex);
  return hash;
}

}  // namespace

PartKin part_kin(const LineMatcher& matcher) {
  static const uint64_t kLayout = layout_hash();
  static const uint64_t kMessages = messages_hash();
  return {kLayout, kMessages, matcher.patterns_hash};
}

namespace bio = boost::iostreams;

struct PartFile::Packed {
  /// Where packed bytes go.
  struct Sink {
    using char_type = char;
    using category = bio::sink_tag;

    std::function<void(std::string_view bytes)> take;

    std::streamsize write(const char* bytes, std::streamsize count) {
      take({bytes, static_cast<size_t>(count)});
      return count;
    }
  };

  std::exception_ptr failure;  ///< What `take` threw; a stream that is closed keeps it to itself.
  bio::filtering_ostream out;
  PartWriter writer{out};
};

PartFile::PartFile(std::function<void(std::string_view bytes)> write, const PartKin& kin,
                   const std::string& host)
    : packed_(std::make_unique<Packed>()) {
  constexpr unsigned kLevel = 9;
  packed_->out.push(bio::zstd_compressor(bio::zstd_params(kLevel)));
  packed_->out.push(Packed::Sink{[write = std::move(write), this](std::string_view bytes) {
    try {
      write(bytes);
    } catch (...) {
      packed_->failure = std::current_exception();
      throw;
    }
  }});
  packed_->out.exceptions(std::ios::badbit);
  packed_->out << kPartMagic;
  PartKin own = kin;
  std::string name = host;
  carry_each(packed_->writer, own, name);
  packed_->writer.end_frame(FrameKind::Header);
}

PartFile::~PartFile() = default;

void PartFile::add(ScannedInput&& input) {
  PartWriter& writer = packed_->writer;
  carry_head(writer, input);
  carry_rest(writer, input.before);
  carry_rest(writer, input.last);
  writer.end_frame(FrameKind::Input);
  for (Shard* shard : {&input.before, &input.last}) {
    bool is_last = shard == &input.last;
    for (auto& [name, log] : shard->speakers) {
      Speaker speaker = name;
      carry_each(writer, is_last, speaker, log);
      writer.end_frame(FrameKind::Speaker);
    }
  }
}

void PartFile::add(Request request) {
  carry(packed_->writer, request);
  packed_->writer.end_frame(FrameKind::Request);
}

void PartFile::add(Request request, Reply answer) {
  carry_each(packed_->writer, request, answer);
  packed_->writer.end_frame(FrameKind::Reply);
}

void PartFile::finish() {
  packed_->writer.finish();
  packed_->out.reset();
  if (packed_->failure != nullptr) std::rethrow_exception(packed_->failure);
}

namespace {

/// Of requests and answers any place may be meant: their files are asked when they are read.
constexpr PartPlace kAnyPlace{.units = uint64_t{1} << 40};

/// Why a part of another program cannot be read; empty: it can.
std::string stranger_problem(const PartKin& made, const PartKin& kin) {
  if (made.layout != kin.layout) return "it was made by another version of ncclog";
  if (made.messages != kin.messages) return "it was made with other messages";
  if (made.patterns != kin.patterns) return "it was made with other rules";
  return {};
}

bool add_frame(LoadedPart& part, const PartTables& tables, FrameKind kind, std::string& frame) {
  if (kind == FrameKind::Speaker) {
    if (part.inputs.empty()) return false;
    part.inputs.back().frames.push_back(std::move(frame));
    return true;
  }
  PartReader reader(frame, tables, part.patterns, kAnyPlace);
  switch (kind) {
    case FrameKind::Input: {
      ScannedInput& input = part.inputs.emplace_back();
      input.host = part.host;
      carry_head(reader, input);
      input.frames.push_back(std::move(frame));
      return !reader.failed() && input.units.size() == input.walked.size();
    }
    case FrameKind::Request:
      carry(reader, part.requests.emplace_back());
      return reader.is_done();
    case FrameKind::Reply: {
      Request request;
      Reply answer;
      carry_each(reader, request, answer);
      part.answers.emplace(std::move(request), std::move(answer));
      return reader.is_done();
    }
    default:
      return false;
  }
}

/// An input and the part that it is in.
struct Placed {
  LoadedPart* part;
  ScannedInput* input;
};

/// The newest scan of a file stands before older ones of the same host.
bool comes_before(const ScannedInput& one, const ScannedInput& other) {
  return std::tie(one.path, one.host, other.stamp) < std::tie(other.path, other.host, one.stamp);
}

/// True if both are scans of one file: on one host, or of a file system that both hosts see.
bool is_same_file(const ScannedInput& one, const ScannedInput& other) {
  const bool is_stamped = one.stamp != FileStamp();
  return one.path == other.path &&
         (one.host == other.host || (is_stamped && one.stamp == other.stamp));
}

/// Each file once, by path, then host.
std::vector<Placed> chosen_inputs(std::vector<LoadedPart>& parts) {
  std::vector<Placed> all;
  for (LoadedPart& part : parts) {
    for (ScannedInput& input : part.inputs) all.push_back({&part, &input});
  }
  std::ranges::stable_sort(all, comes_before,
                           [](const Placed& one) -> const ScannedInput& { return *one.input; });
  std::vector<Placed> chosen;
  for (const Placed& one : all) {
    auto known = chosen.rbegin();
    while (known != chosen.rend() && known->input->path == one.input->path &&
           !is_same_file(*known->input, *one.input)) {
      ++known;
    }
    if (known == chosen.rend() || !is_same_file(*known->input, *one.input)) chosen.push_back(one);
  }
  return chosen;
}

/// What stands there of an input whose shards cannot be read.
ScannedInput unreadable(const ScannedInput& head, const PartPlace& place) {
  ScannedInput lost = {
      .path = head.path, .host = head.host, .stamp = head.stamp, .units = head.units};
  lost.walked = {{}};
  WalkedInput& input = lost.walked.front().emplace_back();
  input.path = head.path;
  input.format = "plain";
  input.number = place.first_unit * kNumbersPerUnit;
  input.input_number = place.input * kNumbersPerUnit;
  input.result.status = InputStatus::Unreadable;
  input.result.note = "Its part of a scan is damaged.";
  input.result.losses.add(Loss::InputUnreadable);
  return lost;
}

void name_by_host(ScannedInput& scanned) {
  for (auto& unit : scanned.walked) {
    for (WalkedInput& input : unit) input.path = scanned.host + ":" + input.path;
  }
}

}  // namespace

std::optional<LoadedPart> load_part(FrameReader::ReadBytes read, const PartKin& kin,
                                    size_t patterns, std::string& problem) {
  LoadedPart part;
  part.patterns = patterns;
  FrameReader frames(std::move(read));
  FrameKind kind = FrameKind::End;
  std::string frame;
  const auto damaged = [&] {
    problem = "it is cut or damaged";
    return std::nullopt;
  };
  if (!frames.next(kind, frame) || kind != FrameKind::Header) return damaged();
  PartReader header(frame, frames.tables(), patterns, {});
  PartKin made;
  carry_each(header, made, part.host);
  if (header.failed()) return damaged();
  problem = stranger_problem(made, kin);
  if (!problem.empty()) return std::nullopt;
  while (frames.next(kind, frame)) {
    if (!add_frame(part, frames.tables(), kind, frame)) return damaged();
  }
  if (frames.is_damaged()) return damaged();
  part.tables = frames.tables();
  return part;
}

bool read_shards(const LoadedPart& part, const ScannedInput& input, const PartPlace& place,
                 ScannedInput& scanned) {
  bool is_first = true;
  SharedTrie trie;
  for (const std::string& frame : input.frames) {
    PartReader reader(frame, part.tables, part.patterns, place, &trie);
    if (is_first) {
      carry_head(reader, scanned);
      carry_rest(reader, scanned.before);
      carry_rest(reader, scanned.last);
      is_first = false;
    } else {
      bool is_last = false;
      Speaker speaker;
      carry_each(reader, is_last, speaker);
      if (reader.failed()) return false;
      carry(reader, (is_last ? scanned.last : scanned.before).speakers[speaker]);
    }
    if (!reader.is_done()) return false;
  }
  scanned.host = part.host;
  scanned.before.limit_records(trie);
  scanned.last.limit_records(trie);
  return true;
}

MergedParts merge_parts(std::vector<LoadedPart>&& parts) {
  MergedParts merged;
  const std::vector<Placed> chosen = chosen_inputs(parts);
  for (size_t i = 0; i < chosen.size(); ++i) {
    const auto& [part, input] = chosen[i];
    const std::string& path = input->path;
    const bool is_shared_name = (i > 0 && chosen[i - 1].input->path == path) ||
                                (i + 1 < chosen.size() && chosen[i + 1].input->path == path);
    const PartPlace place{
        .units = input->units.size(), .first_unit = merged.units.size(), .input = i};
    ScannedInput scanned;
    const bool is_sound = read_shards(*part, *input, place, scanned);
    if (!is_sound) scanned = unreadable(*input, place);
    if (is_shared_name && !scanned.host.empty()) name_by_host(scanned);
    merged.inputs.push_back({path, scanned.host, scanned.stamp, place.first_unit});
    scanned.walked.resize(input->units.size());
    for (size_t u = 0; u < scanned.walked.size(); ++u) {
      Unit unit = input->units[u];
      unit.index = static_cast<uint32_t>(merged.units.size());
      unit.input = static_cast<uint32_t>(i);
      merged.units.push_back(unit);
      merged.walked.push_back(std::move(scanned.walked[u]));
    }
    merged.shard.merge(std::move(scanned.before));
    merged.shard.merge(std::move(scanned.last));
    input->frames = {};
  }
  for (LoadedPart& part : parts) merged.answers.merge(part.answers);
  return merged;
}

}  // namespace ncclog
