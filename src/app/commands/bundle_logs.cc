#include "app/commands/bundle_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "app/read/read_document.h"
#include "base/collectives.h"
#include "base/error.h"
#include "base/text.h"
#include "import/document.h"
#include "input/input_walk.h"
#include "log/event_reader.h"
#include "log/known_messages.h"
#include "log/messages.h"
#include "model/calls.h"
#include "model/derive/writers.h"
#include "model/process_log.h"

namespace ncclog {
namespace {

// The inputs of a run as plain text: unpacked, taken out of archives, dumps turned into JSON.
//
//   logs/node1.log.gz               → "node1.log", its text
//   logs/all.tar.gz!/n2/nccl.txt    → "all/n2/nccl.txt"
//   logs/fr_3, a pickle             → "fr_3.json"
//   logs/core.4711                  → left out: "It is a program, a library or a core dump."

/// One readable thing of the inputs.
struct TextInput {
  std::string path;      ///< As a report names it.
  std::string name;      ///< Below the folder that all inputs are in; not unique.
  std::string left_out;  ///< Why it cannot be passed on as text, in one sentence; empty: it can.
  bool begins = true;    ///< Nothing of it was passed on before.
};

/// Takes what is passed on of an input: whole lines with their line ends, but for the last one and
/// those above kLongestText.
using TakeText = std::function<void(const TextInput& input, std::string_view text)>;

inline constexpr size_t kLongestText = size_t{1} << 20;

namespace fs = std::filesystem;

/// The folder that names are shortened by: the deepest one that all inputs are in, or the one above
/// a run's folder where torchrun made it, whose layout says who wrote what.
std::string common_folder(std::span<const std::string> inputs) {
  std::string folder = fs::path(inputs.front()).parent_path().string();
  for (const std::string& input : inputs) {
    while (!folder.empty() && folder != "/" && !input.starts_with(folder + "/")) {
      folder = fs::path(folder).parent_path().string();
    }
  }
  for (const std::string& input : inputs) {
    const auto worker = parse_torchrun_file(input);
    if (!worker) continue;
    const std::string run =
        fs::path(worker->folder).parent_path().parent_path().parent_path().string();
    if (run.size() < folder.size()) folder = run;
  }
  return folder;
}

/// "all" of "all.tar.gz".
std::string without_packing(std::string name) {
  for (const std::string_view ending :
       {".gz", ".bz2", ".xz", ".zst", ".tar", ".tgz", ".zip", ".7z"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) {
      name.resize(name.size() - ending.size());
    }
  }
  return name;
}

std::string name_of(std::string path, const std::string& folder) {
  if (path.starts_with(folder + "/")) path = path.substr(folder.size() + 1);
  std::string name;
  for (size_t at = path.find("!/"); at != path.npos; at = path.find("!/")) {
    name += without_packing(path.substr(0, at)) + "/";
    path = path.substr(at + 2);
  }
  name += without_packing(std::move(path));
  if (name == "-") return "stdin.log";
  std::string clean;
  for (const std::string_view part : split(name, '/')) {
    if (part.empty() || part == "." || part == "..") continue;
    if (!clean.empty()) clean += '/';
    clean += printable(part);
  }
  return clean.empty() ? "log.txt" : clean;
}

/// Gives the text of a log to `take`, cut behind line ends.
void read_log(UnitReader& reader, TextInput input, const TakeText& take) {
  std::string held;
  std::string block(size_t{256} << 10, '\0');
  while (const size_t count = reader.read_block(block.data(), block.size())) {
    held.append(block, 0, count);
    const size_t newline = held.rfind('\n');
    size_t ready = newline == held.npos ? 0 : newline + 1;
    // A file without line ends must not fill the memory.
    if (ready == 0 && held.size() >= kLongestText) ready = held.size();
    if (ready == 0) continue;
    take(input, std::string_view(held).substr(0, ready));
    input.begins = false;
    held.erase(0, ready);
  }
  if (!held.empty() || input.begins) take(input, held);  // An empty log is in the bundle, too.
}

bool is_pickle(std::string_view bytes) {
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != bytes.npos && bytes[first] != '{' && bytes[first] != '[';
}

/// A dump, an answer, measurements or a topology: JSON and XML are text already.
void read_companion(UnitReader& reader, TextInput input, const TakeText& take) {
  const bool may_be_pickle = reader.content() == Content::FlightRecorder;
  std::optional<std::string> bytes = read_document_bytes(reader);
  if (bytes && may_be_pickle && is_pickle(*bytes)) {
    const ParsedDocument document = read_pickle(*bytes);
    constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
    bytes = document.problem.empty() ? std::optional(document.value.dump(-1, ' ', false, kReplace))
                                     : std::nullopt;
    input.name += ".json";
  }
  if (!bytes) input.left_out = "It is a dump that cannot be read.";
  take(input, bytes ? *bytes : std::string_view());
}

/// Gives all text of `inputs`, paths as find_inputs gives them, to `take`, in input order. What
/// holds no text is given once with an empty one.
void read_texts(std::span<const std::string> inputs, const TakeText& take) {
  const std::string folder = common_folder(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    InputWalk walk({.index = static_cast<uint32_t>(i), .input = static_cast<uint32_t>(i)},
                   inputs[i]);
    while (UnitReader* reader = walk.next()) {
      TextInput input{.path = walk.current().path, .name = name_of(walk.current().path, folder)};
      if (is_log(reader->content())) {
        read_log(*reader, std::move(input), take);
      } else if (is_document(reader->content())) {
        read_companion(*reader, std::move(input), take);
      } else {
        input.left_out = content_note(reader->content());
        take(input, {});
      }
    }
  }
}

}  // namespace

Identities find_identities_of(const Job& job, std::span<const std::string> inputs) {
  Identities identities;
  identities.set_ordinary_words(message_words());
  for (const std::string& host : job.hosts) identities.add_host(host);
  for (const Process& process : job.processes) identities.add_host(process.host);
  for (const InspectedRank& rank : job.inspected) identities.add_host(rank.host);
  for (const PortCounter& counter : job.port_counters) identities.add_host(counter.host);
  for (const SpeakerLog& log : job.logs) identities.add_host(log.speaker.host);
  for (const JobInput& input : job.inputs) identities.add_host(input.host);
  for (const KernelEvent& event : job.kernel_events) identities.add_host(event.host);
  for (const Interface& interface : job.network.interfaces) {
    identities.add_host(interface.host);
    identities.add_address(interface.address);
  }
  read_texts(inputs, [&](const TextInput& input, std::string_view text) {
    if (input.begins) identities.read_path(input.name);
    identities.read(text);
  });
  return identities;
}

void read_for_leaks(std::span<const std::string> inputs, LeakCheck& check) {
  read_texts(inputs, [&](const TextInput& input, std::string_view text) {
    if (input.begins) check.read(input.name);
    check.read(text);
  });
}

std::vector<StagedLog> stage_logs(std::span<const std::string> inputs, const Anonymiser* anonymiser,
                                  const fs::path& folder) {
  std::vector<StagedLog> logs;
  std::set<std::string> names;
  std::ofstream file;  // Of the last of `logs`.
  const auto close = [&] {
    if (file.is_open()) file.close();
    if (file) return;
    throw Error("the logs cannot be copied", (folder / logs.back().path).string(),
                "set TMPDIR to a folder with room for all logs");
  };
  const auto begin = [&](const TextInput& input) {
    close();
    const std::string name = anonymiser == nullptr ? input.name : anonymiser->path(input.name);
    std::string free = name;  // Or with a number behind it where another input took that.
    for (int n = 2; !names.insert(free).second; ++n) free = fmt::format("{}.{}", name, n);
    logs.push_back({"logs/" + free, input.left_out, 0});
    if (!input.left_out.empty()) return;
    const fs::path place = folder / logs.back().path;
    std::error_code error;
    fs::create_directories(place.parent_path(), error);
    file.open(place, std::ios::binary);
  };
  read_texts(inputs, [&](const TextInput& input, std::string_view text) {
    if (input.begins) begin(input);
    if (!logs.back().left_out.empty()) return;
    const std::string kept = anonymiser == nullptr ? std::string(text) : anonymiser->text(text);
    file.write(kept.data(), static_cast<std::streamsize>(kept.size()));
    logs.back().bytes += kept.size();
  });
  close();
  return logs;
}

namespace {

// Which calls of a process may be left out of an excerpt?

/// Numbers of calls of one segment, counted from 0: how many went by, or the first that is kept.
struct CallNumbers {
  uint64_t collectives = 0;
  std::map<int, uint64_t> sent;      ///< By peer.
  std::map<int, uint64_t> received;  ///< By peer.
};

uint64_t beyond(uint64_t count, uint64_t keep) { return count > keep ? count - keep : 0; }

/// The number of collectives that all ranks of whom lines were seen made.
uint64_t common_calls(const Job& job, const Communicator& comm) {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (const CommRank& rank : comm.ranks) {
    if (rank.log < 0 || rank.segment < 0) continue;
    const CommSegment& segment = segment_of(job, rank);
    least = std::min(least, calls_of(segment).collectives.size());
    // Both kinds of lines tell of the same calls: what one of them lacks is not left out.
    if (segment.calls->total > 0 && segment.traces->total > 0) {
      least =
          std::min({least, segment.calls->collectives.size(), segment.traces->collectives.size()});
    }
  }
  return least == std::numeric_limits<uint64_t>::max() ? 0 : least;
}

const CommRank* rank_of(const Communicator& comm, int number) {
  for (const CommRank& rank : comm.ranks) {
    if (rank.rank == number && rank.log >= 0 && rank.segment >= 0) return &rank;
  }
  return nullptr;
}

/// Follows the calls in the lines of one run, in input order.
class ExcerptCalls {
 public:
  /// Keeps the last `keep` calls of each communicator, more where its ranks differ earlier.
  ExcerptCalls(const Job& job, uint64_t keep) {
    for (size_t log = 0; log < job.logs.size(); ++log) {
      const SpeakerLog& spoken = job.logs[log];
      const auto& all = spoken.comms.all;
      // Calls of an unknown communicator would be counted for another one: all calls are kept.
      if (spoken.speaker.pid < 0 || !spoken.unplaced.empty()) continue;
      for (size_t place = 0; place < all.size(); ++place) {
        keys_[{static_cast<int>(log), static_cast<int>(place)}] = {
            spoken.speaker.host, spoken.speaker.pid, all[place].comm, life_of(all, place)};
      }
    }
    for (const Communicator& comm : job.communicators) limit(job, comm, keep);
  }

  /// Takes a record; for one about a call, whether it is kept. True for all others.
  bool keeps(const Event& event) {
    if (event.message.kind == nullptr || event.header.pid < 0) return true;
    const Header& header = event.header;
    CommSegments& lives = lives_[{std::string(header.host), header.pid}];
    const uint16_t kind = event.message.kind->index;
    if (kind == kKindIndex<CommInit>) lives.add({}, read_message<CommInit>(event.message));
    if (kind == kKindIndex<CommEnd>) lives.add({}, read_message<CommEnd>(event.message));
    if (kind == kKindIndex<CallInit>) lives.add({}, read_message<CallInit>(event.message));
    const auto call = read_call(event);
    if (!call) return true;
    int place = lives.living_segment(call->comm);
    if (place < 0) place = lives.add_call({}, {}, *call);
    const int generation = life_of(lives.all, static_cast<size_t>(place));
    const auto limits =
        limits_.find({std::string(header.host), header.pid, call->comm, generation});
    if (limits == limits_.end()) return true;
    CallNumbers& counted =
        counted_[{std::string(header.host), header.pid, call->comm, generation, call->is_trace}];
    if (is_point_to_point(call->call.op)) return keeps_message(call->call, counted, limits->second);
    return counted.collectives++ >= limits->second.collectives;
  }

 private:
  /// A process by host and pid; a segment by its pointer and how many lives that had before.
  using SegmentKey = std::tuple<std::string, int64_t, uint64_t, int>;

  void limit(const Job& job, const Communicator& comm, uint64_t keep) {
    // Where ranks begin to differ is shown with the calls before it, whatever `keep` is.
    constexpr uint64_t kBeforeDifference = 64;
    uint64_t from = beyond(common_calls(job, comm), keep);
    if (comm.difference) from = std::min(from, beyond(comm.difference->index, kBeforeDifference));
    for (const CommRank& rank : comm.ranks) {
      const SegmentKey* key = rank.log < 0 ? nullptr : key_of(rank);
      if (key == nullptr) continue;
      limits_[*key].collectives = from;
      for (const auto& [peer, totals] : calls_of(segment_of(job, rank)).peers.all) {
        const CommRank* other = rank_of(comm, peer);
        const SegmentKey* other_key = other == nullptr ? nullptr : key_of(*other);
        if (other_key == nullptr) continue;
        const auto& peers = calls_of(segment_of(job, *other)).peers.all;
        const auto back = peers.find(rank.rank);
        if (back == peers.end()) continue;
        const uint64_t met = std::min(totals.sent.count, back->second.received.count);
        limits_[*key].sent[peer] = beyond(met, keep);
        limits_[*other_key].received[rank.rank] = beyond(met, keep);
      }
    }
  }

  const SegmentKey* key_of(const CommRank& rank) const {
    const auto found = keys_.find({rank.log, rank.segment});
    return found == keys_.end() ? nullptr : &found->second;
  }

  bool keeps_message(const CallSignature& call, CallNumbers& counted, const CallNumbers& limits) {
    const Operation operation = call.op.operation();
    if (!traits_of(operation).is_message()) return true;
    const bool is_send = operation == Operation::Send;
    const uint64_t number = (is_send ? counted.sent : counted.received)[call.root]++;
    const auto& from = is_send ? limits.sent : limits.received;
    const auto found = from.find(call.root);
    return found == from.end() || number >= found->second;
  }

  std::map<std::pair<int, int>, SegmentKey> keys_;  ///< By log and segment.
  std::map<SegmentKey, CallNumbers> limits_;        ///< The first calls that are kept.
  std::map<std::pair<std::string, int64_t>, CommSegments> lives_;
  std::map<std::tuple<std::string, int64_t, uint64_t, int, bool>, CallNumbers> counted_;
};

constexpr uint64_t kAround = 3;    ///< Lines kept before and behind each line of evidence.
constexpr uint64_t kAtStart = 20;  ///< Lines kept of each file's beginning.

/// Which lines of a log are kept, by number from 1.
using LineMarks = std::vector<bool>;

void keep_lines(LineMarks& kept, uint64_t first, uint64_t last) {
  if (kept.size() <= last) kept.resize(last + 1);
  for (uint64_t line = first; line <= last; ++line) kept[line] = true;
}

/// Lines of one sort by one process: the first and the last of them are kept.
struct Sort {
  uint64_t seen = 0;
  std::deque<std::pair<uint64_t, uint64_t>> latest;  ///< First and last line of each.
};

/// A process and a message kind; or -1 and a pattern of the rules.
using SortKey = std::tuple<std::string, int64_t, int, int>;

/// Evidence of findings, by path of the log.
std::map<std::string, std::set<uint64_t>> evidence_lines(const Report& report) {
  std::map<std::string, std::set<uint64_t>> lines;
  for (const Finding& finding : report.diagnosis.findings) {
    for (const Evidence& evidence : finding.evidence) {
      const FileLine place = file_line(report.job, evidence.where);
      if (evidence.where.line != 0) lines[place.path].insert(place.line);
    }
  }
  return lines;
}

/// Calls `use(line)` for each line of a plain file; answers how many there are.
template <typename Use>
uint64_t each_line_of(const fs::path& file, Use&& use) {
  uint64_t lines = 0;
  InputWalk walk({}, file.string());
  while (UnitReader* reader = walk.next()) {
    for (Line line; reader->next(line);) {
      lines = line.number;
      use(line);
    }
  }
  return lines;
}

/// Which lines of one log are kept.
LineMarks choose_lines(const fs::path& file, const LineMatcher& matcher, const ExcerptSize& size,
                       ExcerptCalls& calls, const std::set<uint64_t>& evidence) {
  LineMarks kept;
  std::map<SortKey, Sort> sorts;
  const auto note = [&](SortKey key, std::pair<uint64_t, uint64_t> place) {
    Sort& sort = sorts[std::move(key)];
    if (++sort.seen <= size.first) return keep_lines(kept, place.first, place.second);
    sort.latest.push_back(place);
    if (sort.latest.size() > size.last) sort.latest.pop_front();
  };
  EventReader events([&](const Line& record, const Event& event, int lines) {
    const uint64_t last = record.number + static_cast<uint64_t>(std::max(lines, 1)) - 1;
    const std::pair<uint64_t, uint64_t> place = {record.number, last};
    if (!calls.keeps(event)) return;
    const Kind* const kind = event.message.kind;
    // Which calls stay is decided by their numbers; other lines by how many of their kind there
    // are.
    if (kind != nullptr && read_call(event)) return keep_lines(kept, place.first, last);
    if (event.fate != LineFate::Foreign) {
      const int number = kind == nullptr ? -1 : kind->index;
      note({std::string(event.header.host), event.header.pid, number, -1}, place);
    }
    std::vector<int> matched;
    if (matcher) matcher(record.text, matched);
    for (const int pattern : matched) note({{}, -1, -1, pattern}, place);
  });
  const uint64_t lines = each_line_of(file, [&](const Line& line) { events.add(line); });
  events.finish();
  for (const auto& [key, sort] : sorts) {
    for (const auto& [first, last] : sort.latest) keep_lines(kept, first, last);
  }
  for (const uint64_t line : evidence) {
    keep_lines(kept, line > kAround ? line - kAround : 1, std::min(line + kAround, lines));
  }
  keep_lines(kept, 1, std::min(kAtStart, lines));
  keep_lines(kept, lines > size.end ? lines - size.end + 1 : 1, lines);
  kept.resize(lines + 1);
  return kept;
}

/// Copies the kept lines, and says which they are.
ExcerptLog copy_lines(const fs::path& from, const fs::path& to, const LineMarks& kept) {
  ExcerptLog log;
  std::ofstream out(to, std::ios::binary);
  log.lines = each_line_of(from, [&](const Line& line) {
    if (!kept[line.number]) return;
    out << line.text << '\n';
    if (log.kept.empty() || log.kept.back().second + 1 < line.number) {
      log.kept.emplace_back(line.number, line.number);
    }
    log.kept.back().second = line.number;
  });
  out.close();
  if (!out) {
    throw Error("the logs cannot be copied", to.string(), "set TMPDIR to a folder with room");
  }
  return log;
}

}  // namespace

std::vector<ExcerptLog> write_excerpt(const Report& report, const LineMatcher& matcher,
                                      const ExcerptSize& size, const fs::path& from,
                                      const fs::path& to) {
  std::vector<ExcerptLog> logs;
  const auto evidence = evidence_lines(report);
  ExcerptCalls calls(report.job, size.calls);
  for (const JobInput& input : report.job.inputs) {
    const fs::path source = from / input.path;
    const fs::path copy = to / input.path;
    fs::create_directories(copy.parent_path());
    constexpr std::string_view kCompanions[] = {"flight_recorder", "ras",      "nccl_tests",
                                                "inspector",       "topology", "counters",
                                                "lspci",           "py_spy"};
    if (equals_one_of(input.format, kCompanions)) {
      fs::copy_file(source, copy, fs::copy_options::overwrite_existing);
      logs.push_back({input.path, 0, {}});
      continue;
    }
    const auto lines = evidence.find(input.path);
    const LineMarks kept =
        choose_lines(source, matcher, size, calls,
                     lines == evidence.end() ? std::set<uint64_t>() : lines->second);
    logs.push_back(copy_lines(source, copy, kept));
    logs.back().path = input.path;
  }
  return logs;
}

}  // namespace ncclog
