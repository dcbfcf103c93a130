#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "import/document.h"
#include "import/import.h"

namespace ncclog {
namespace {

using Json = nlohmann::json;

/// Of a file the last so many objects are read: more calls than are kept of each communicator.
constexpr size_t kMaxObjects = size_t{1} << 16;

/// A verbose object has some lines for each of 64 channels.
constexpr size_t kMaxObjectBytes = size_t{1} << 20;

/// Communicators of a process, and bytes of a name; a file that has more is no Inspector's.
constexpr size_t kMaxCommunicators = 4096;
constexpr size_t kMaxNameBytes = 256;

/// A call that takes longer than a year took no such time.
constexpr double kLongestCall = 3.2e13;

/// The last whole objects of a text, oldest first, whether each stands on a line, over many, or in
/// a list.
std::deque<std::string_view> last_objects(std::string_view text) {
  std::deque<std::string_view> objects;
  size_t depth = 0;
  size_t start = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' && depth > 0) {
      // A text has no line end; what was cut inside of one goes on behind it.
      do {
        at += text[at] == '\\' ? 2 : 1;
      } while (at < text.size() && text[at] != '"' && text[at] != '\n');
      if (at < text.size() && text[at] == '\n') --at;
    } else if (c == '{') {
      if (depth++ == 0) start = at;
    } else if (c == '}' && depth > 0 && --depth == 0) {
      if (at + 1 - start > kMaxObjectBytes) continue;
      objects.push_back(text.substr(start, at + 1 - start));
      if (objects.size() > kMaxObjects) objects.pop_front();
    } else if (c == '\n' && text.substr(at + 1).starts_with('{')) {
      // The object before was cut: those inside of one are indented, or stand on its line.
      depth = 0;
    }
  }
  return objects;
}

std::string name_in(const Json& dict, const char* key) {
  return std::string(text_of(member(dict, key)).substr(0, kMaxNameBytes));
}

int rank_in(const Json& dict, const char* key) {
  const auto number = whole_number(member(dict, key));
  return number && *number >= 0 && *number < (1 << 24) ? static_cast<int>(*number) : -1;
}

/// Microseconds; NaN: no such time.
double time_in(const Json& dict, const char* key) {
  const auto time = real_number(member(dict, key));
  const bool is_time = time && std::isfinite(*time) && *time >= 0;
  return is_time ? *time : std::numeric_limits<double>::quiet_NaN();
}

/// When the first of its kernel's channels began; the plugin writes 0 for what it did not see.
double kernel_start(const Json& trace) {
  double first = std::numeric_limits<double>::quiet_NaN();
  for (const Json& channel : as_list(member(trace, "kernel_events"))) {
    const double start = time_in(channel, "kernel_start_ts");
    if (start > 0 && !(first <= start)) first = start;
  }
  return first;
}

/// Adds what one process measured.
class Reader {
 public:
  void add(const Json& object) {
    const Json& collective = member(object, "coll_perf");
    const Json& message = member(object, "p2p_perf");
    if (!collective.is_object()) {
      const double time = time_in(message, "p2p_exec_time_us");
      if (time <= kLongestCall) busy_ += time;
      return;
    }
    InspectedCall call;
    call.op = text_of(member(collective, "coll"));
    call.number = whole_number(member(collective, "coll_sn")).value_or(-1);
    call.duration = time_in(collective, "coll_exec_time_us");
    if (call.number < 0 || !(call.duration <= kLongestCall)) return;
    // What the host saw holds its own queues.
    if (text_of(member(collective, "coll_timing_source")) == "collective_cpu") return;
    call.started = kernel_start(member(collective, "event_trace_ts"));
    Rank* rank = rank_of(member(object, "header"), member(object, "metadata"));
    if (rank == nullptr) return;
    busy_ += call.duration;
    rank->busy += call.duration;
    const double elsewhere = busy_ - rank->busy;
    call.elsewhere = rank->known.total == 0 ? 0 : std::max(0.0, elsewhere - rank->elsewhere);
    rank->elsewhere = elsewhere;
    ++rank->known.total;
    rank->known.calls.push_back(call);
    if (rank->known.calls.size() > InspectedRank::kMaxCalls) rank->known.calls.pop_front();
  }

  std::vector<InspectedRank> take() {
    std::vector<InspectedRank> result;
    for (auto& [key, rank] : ranks_) result.push_back(std::move(rank.known));
    return result;
  }

 private:
  struct Rank {
    InspectedRank known;
    double busy = 0;       ///< In its calls.
    double elsewhere = 0;  ///< In all others, before its last call.
  };

  Rank* rank_of(const Json& header, const Json& metadata) {
    const std::string id = name_in(header, "id");
    const int number = rank_in(header, "rank");
    if (id.empty() || number < 0) return nullptr;
    const auto known = ranks_.find(std::pair(id, number));
    if (known != ranks_.end()) return &known->second;
    if (ranks_.size() == kMaxCommunicators) return nullptr;
    Rank& rank = ranks_[std::pair(id, number)];
    rank.known.communicator = id;
    rank.known.name = name_in(header, "comm_name");
    if (rank.known.name == "unknown") rank.known.name.clear();
    rank.known.rank = number;
    rank.known.nranks = rank_in(header, "n_ranks");
    rank.known.host = name_in(metadata, "hostname");
    rank.known.pid = whole_number(member(metadata, "pid")).value_or(-1);
    return &rank;
  }

  std::map<std::pair<std::string, int>, Rank> ranks_;
  double busy_ = 0;  ///< Of the process, in all operations so far.
};

}  // namespace

Imported<std::vector<InspectedRank>> import_inspector(std::string_view bytes) {
  Reader reader;
  for (const std::string_view object : last_objects(bytes)) {
    const ParsedDocument document = read_json(object);
    if (document.problem.empty()) reader.add(document.value);
  }
  Imported<std::vector<InspectedRank>> result{reader.take(), {}};
  if (result.value.empty()) result.problem = "it holds no collective with a rank and a time";
  return result;
}

}  // namespace ncclog
