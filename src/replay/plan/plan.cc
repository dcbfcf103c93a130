#include "replay/plan/plan.h"

#include <fmt/format.h>

#include <iterator>
#include <limits>
#include <set>
#include <sstream>

#include "base/collectives.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/safe_json.h"
#include "base/text.h"
#include "replay/plan/plan_json.h"

namespace ncclog {

std::vector<PlannedCall> calls_in(const PlannedRank& rank, MadeIn mode) {
  std::vector<PlannedCall> calls;
  std::ranges::copy_if(rank.calls, std::back_inserter(calls), [mode](const PlannedCall& call) {
    return call.made_in == MadeIn::Both || call.made_in == mode;
  });
  return calls;
}

int host_group_count(const ReplayPlan& plan) {
  std::set<int> groups;
  for (const PlannedRank& rank : plan.ranks) groups.insert(rank.host_group);
  return static_cast<int>(groups.size());
}

bool is_empty(const ReplayPlan& plan) {
  return !any_call(plan, [](const PlannedCall&) { return true; });
}

bool has_defect(const ReplayPlan& plan) {
  return any_call(plan, [](const PlannedCall& call) { return call.made_in != MadeIn::Both; });
}

bool is_at(const PlannedCall& call, const FrontLine& front, bool by_message) {
  return call.communicator == front.communicator && call.index == front.index &&
         is_message(call.op) == by_message;
}

bool is_among(const std::vector<int>& ranks, int rank) {
  return std::ranges::find(ranks, rank) != ranks.end();
}

const PlannedCall* owed_message(const ReplayPlan& plan) {
  const auto& front = plan.hypothesis.front;
  if (plan.hypothesis.kind != DefectKind::Message || !front) return nullptr;
  for (const int rank : front->missing) {
    for (const PlannedCall& call : plan.ranks[rank].calls) {
      if (is_at(call, *front, true) && call.made_in == MadeIn::Clean) return &call;
    }
  }
  return nullptr;
}

int rank_in(const PlannedCommunicator& communicator, int rank) {
  const auto& ranks = communicator.ranks;
  const auto found = std::ranges::find(ranks, rank);
  return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

bool is_replayable(std::string_view op) { return traits_of(op).has_buffers(); }

bool is_message(std::string_view op) { return traits_of(op).is_message(); }

bool is_reduction(std::string_view op) { return traits_of(op).reduces(); }

bool has_root(std::string_view op) { return traits_of(op).has_root(); }

BufferSizes shape_of(const PlannedCall& call, int rank, int nranks) {
  const OperationTraits& traits = traits_of(call.op);
  const bool sends = !traits.only_root_sends() || rank == call.root;
  const bool receives = !traits.only_root_receives() || rank == call.root;
  return {sends ? elements_in(traits.sent, call.count, nranks) : 0,
          receives ? elements_in(traits.received, call.count, nranks) : 0};
}

int64_t operation_bytes(const PlannedCall& call, int nranks) {
  // As nccl-tests counts: all ranks' parts where one buffer holds them.
  const OperationTraits& traits = traits_of(call.op);
  const int64_t elements = std::max(elements_in(traits.sent, call.count, nranks),
                                    elements_in(traits.received, call.count, nranks));
  return elements * datatype_bytes(call.datatype).value_or(0);
}

// A call in words.

std::string words_of(const PlannedCall& call) {
  const std::string_view datatype = datatype_name(call.datatype);
  std::string words = fmt::format("{} of {} {}", printable(call.op), call.count,
                                  datatype.empty() ? "unknown elements" : datatype);
  if (is_reduction(call.op)) words += fmt::format(" ({})", reduction_name(call.redop));
  if (has_root(call.op)) words += fmt::format(" with root {}", call.root);
  if (is_message(call.op)) {
    words += fmt::format(" {} rank {}", operation_of(call.op) == Operation::Send ? "to" : "from",
                         call.root);
  }
  return words;
}

namespace {

// Where buffers lie.

/// Sums that stay at the largest number instead of running over.
int64_t add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

int64_t rounded_up(int64_t bytes) {
  return add(bytes, kBufferBoundary - 1) / kBufferBoundary * kBufferBoundary;
}

/// Where a call of a rank of the plan lies after what its group has taken so far.
BufferPlace place_call(const ReplayPlan& plan, int rank, const PlannedCall& call,
                       BufferSizes& taken) {
  const PlannedCommunicator& communicator = plan.communicators[call.communicator];
  const int own = rank_in(communicator, rank);
  const int64_t element = datatype_bytes(call.datatype).value_or(0);
  const BufferSizes shape = shape_of(call, own, static_cast<int>(communicator.ranks.size()));
  const int64_t sent = shape.send * element;
  const int64_t received = shape.receive * element;
  const auto on_element = [&](int64_t offset) {
    return element > 0 ? offset / element * element : 0;
  };
  taken = {rounded_up(taken.send), rounded_up(taken.receive)};
  if (!call.in_place || is_message(call.op)) {
    const BufferPlace place{.send = taken.send + on_element(call.send_offset),
                            .receive = taken.receive + on_element(call.recv_offset)};
    taken = {add(place.send, sent), add(place.receive, received)};
    return place;
  }
  const bool sends_more = sent > received;
  const int64_t start =
      taken.receive + on_element(sends_more ? call.send_offset : call.recv_offset);
  BufferPlace place{.sends_from_receive_arena = true, .send = start, .receive = start};
  // Where the larger buffer holds a block of each rank, the smaller one is the own block.
  const bool has_blocks = sent > 0 && received > 0 && sent != received;
  if (has_blocks) (sends_more ? place.receive : place.send) += own * call.count * element;
  taken.receive = add(start, std::max(sent, received));
  return place;
}

constexpr int64_t kMiB = int64_t{1} << 20;
/// What a process of CUDA 12 or 13 with NCCL's kernels takes before the first communicator.
constexpr int64_t kContext = 600 * kMiB;
/// Of each connection and channel besides NCCL_BUFFSIZE: the buffers of LL (512 KiB) and of LL128
/// (4.7 MiB), by src/include/device.h of NCCL 2.28.
constexpr int64_t kLowLatency = 524288 + 4915200;
constexpr int64_t kDefaultBuffer = 4 * kMiB;  // NCCL_BUFFSIZE.
constexpr int kUsualChannels = 16;
/// A rank receives from one neighbour in a ring, and in a tree from up to three.
constexpr int kMostConnections = 4;
/// Between an abort and the end of the last process, and for the GPUs to answer.
constexpr int64_t kGraceSeconds = 5 + 2 + 10 + 30;

/// What the calls of one run need.
int64_t buffers_of(const ReplayPlan& plan, int rank, MadeIn mode) {
  const BufferLayout layout = lay_out_buffers(plan, rank, calls_in(plan.ranks[rank], mode));
  int64_t sum = 0;
  for (const BufferSizes& arenas : layout.streams) sum = add(sum, add(arenas.send, arenas.receive));
  return sum;
}

/// NCCL_BUFFSIZE of the plan, where it is one.
int64_t buffer_size(const ReplayPlan& plan) {
  for (const PlannedSetting& setting : plan.settings) {
    if (setting.name != "NCCL_BUFFSIZE" || !setting.left_out.empty()) continue;
    const auto bytes = parse_int(setting.value);
    if (bytes && *bytes > 0 && *bytes <= 1024 * kMiB) return *bytes;
  }
  return kDefaultBuffer;
}

int64_t nccl_bytes(const ReplayPlan& plan, int rank) {
  int64_t bytes = kContext;
  for (const PlannedCommunicator& communicator : plan.communicators) {
    const auto& ranks = communicator.ranks;
    if (!is_among(ranks, rank)) continue;
    const int channels =
        std::clamp(communicator.channels > 0 ? communicator.channels : kUsualChannels, 1, 64);
    const int connections = std::min(static_cast<int>(ranks.size()), kMostConnections);
    bytes += channels * connections * (buffer_size(plan) + kLowLatency);
  }
  return bytes;
}

constexpr size_t kMostShapes = 8;
/// By ncclDataType_t, as its flag -d wants them.
constexpr std::array<std::string_view, 12> kDatatypes{"int8",   "uint8",    "int32",  "uint32",
                                                      "int64",  "uint64",   "half",   "float",
                                                      "double", "bfloat16", "f8e4m3", "f8e5m2"};

int nranks_of(const ReplayPlan& plan, const PlannedCall& call) {
  return static_cast<int>(plan.communicators[call.communicator].ranks.size());
}

/// Of a message: the one that the other side owes.
bool is_owed(const PlannedCall& call, const FrontLine& front, const ReplayPlan& plan) {
  const auto& members = plan.communicators[call.communicator].ranks;
  const auto peer = static_cast<size_t>(call.root);
  return call.root >= 0 && peer < members.size() && is_among(front.missing, members[peer]);
}

/// The call at the front as those made it who came so far.
const PlannedCall* call_at_front(const ReplayPlan& plan) {
  if (!plan.hypothesis.front) return nullptr;
  const FrontLine& front = *plan.hypothesis.front;
  const bool by_message = plan.hypothesis.kind == DefectKind::Message;
  for (const int rank : front.entered) {
    for (const PlannedCall& call : plan.ranks[rank].calls) {
      const bool is_meant =
          by_message ? is_owed(call, front, plan) : call.made_in != MadeIn::Defect;
      if (is_at(call, front, by_message) && is_meant) return &call;
    }
  }
  return nullptr;
}

/// One for each shape: function, size and number of ranks.
std::vector<const PlannedCall*> measured_calls(const ReplayPlan& plan) {
  if (const PlannedCall* front = call_at_front(plan)) return {front};
  std::vector<const PlannedCall*> calls;
  std::set<std::string> seen;
  for (const PlannedRank& rank : plan.ranks) {
    for (const PlannedCall& call : rank.calls) {
      if (call.made_in == MadeIn::Defect || operation_of(call.op) == Operation::Recv) continue;
      if (!seen.insert(fmt::format("{} {}", nranks_of(plan, call), words_of(call))).second)
        continue;
      if (calls.size() == kMostShapes) return calls;
      calls.push_back(&call);
    }
  }
  return calls;
}

/// `value` as a shell takes it for one word.
std::string in_quotes(std::string_view value) {
  const auto is_plain = [](char c) {
    return is_word(c) || std::string_view(",.:/=+-^@%").find(c) != std::string_view::npos;
  };
  if (!value.empty() && std::ranges::all_of(value, is_plain)) return std::string(value);
  std::string text = "'";
  for (const char c : value) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

constexpr std::string_view kMulticastOff = "NCCL_NVLS_ENABLE";

/// "NCCL_ALGO=Ring NCCL_NVLS_ENABLE=0 ".
std::string assignments(const ReplayPlan& plan) {
  std::string text;
  for (const PlannedSetting& setting : plan.settings) {
    const bool is_set_anyway = setting.name == kMulticastOff;
    if (is_set_anyway || !setting.left_out.empty() || !setting.ranks.empty()) continue;
    text += fmt::format("{}={} ", printable(setting.name), in_quotes(printable(setting.value)));
  }
  return text + fmt::format("{}=0 ", kMulticastOff);
}

std::string remark(const std::string& text) { return "# " + text + "\n"; }

/// Settings that one command line cannot give to some ranks.
std::string settings_remarks(const ReplayPlan& plan) {
  std::string text;
  for (const PlannedSetting& setting : plan.settings) {
    if (!setting.left_out.empty() || setting.ranks.empty()) continue;
    text += remark(fmt::format("Not set: {}={}, which only ranks[{}] of the plan had.",
                               printable(setting.name), printable(setting.value),
                               ranges_text(setting.ranks)));
  }
  return text;
}

std::string lines_of(const ReplayPlan& plan, const PlannedCall& call) {
  const int nranks = nranks_of(plan, call);
  const std::string_view test = name_of(measured_as(operation_of(call.op)), AliasSource::Test);
  std::string text = remark(fmt::format("{}, {} ranks", words_of(call), nranks));
  const auto datatype = static_cast<size_t>(call.datatype);
  const int64_t bytes = operation_bytes(call, nranks);
  if (test.empty() || call.datatype < 0 || datatype >= kDatatypes.size() || bytes <= 0) {
    return text + remark("nccl-tests cannot make this call.");
  }
  text += fmt::format("{0}{1}_perf -b {2} -e {2} -d {3}", assignments(plan), test, bytes,
                      kDatatypes[datatype]);
  if (is_reduction(call.op)) {
    const std::string_view redop = reduction_name(call.redop);
    text += fmt::format(" -o {}", redop == "user" ? "sum" : redop);
  }
  if (has_root(call.op)) text += fmt::format(" -r {}", call.root);
  return text + fmt::format(" -g {} -n 20 -w 5 -c 1\n", nranks);
}

// Plans and their like as JSON.

constexpr size_t kColumns = 100;

/// "plan.json:14:3" for a place in bytes, from 1.
std::string where_in(std::string_view text, const std::string& source, size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = std::ranges::count(before, '\n') + 1;
  const size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0.
  return fmt::format("{}:{}:{}", source, line, before.size() - begin + 1);
}

bool is_scalar(const WrittenJson& value) { return !value.is_structured(); }

/// A list of single values, or nothing.
bool is_plain_list(const WrittenJson& value) {
  return value.is_array() && std::ranges::all_of(value, is_scalar);
}

bool is_flat(const WrittenJson& value) {
  return std::ranges::all_of(
      value, [](const WrittenJson& part) { return is_scalar(part) || is_plain_list(part); });
}

/// Whether `value` stands on one line behind `indent` columns: rows and numbers always, else if it
/// is short.
bool fits_line(const WrittenJson& value, size_t indent, bool in_list);

/// `is_line`: all of it stands on the line that it begins on.
void append_value(std::string& out, const WrittenJson& value, size_t indent, bool in_list,
                  bool is_line) {
  if (is_scalar(value)) return void(out += safe_json(value.dump()));
  is_line = is_line || fits_line(value, indent, in_list);
  const bool is_list = value.is_array();
  out += is_list ? '[' : '{';
  for (auto part = value.begin(); part != value.end(); ++part) {
    if (part != value.begin()) out += is_line ? ", " : ",";
    if (!is_line) out += "\n" + std::string(indent + 2, ' ');
    if (!is_list) out += safe_json(WrittenJson(part.key()).dump()) + ": ";
    append_value(out, *part, indent + 2, is_list, is_line);
  }
  if (!is_line) out += "\n" + std::string(indent, ' ');
  out += is_list ? ']' : '}';
}

bool fits_line(const WrittenJson& value, size_t indent, bool in_list) {
  constexpr size_t kFew = 12;
  if (value.empty()) return true;
  if (in_list && value.is_object() && is_flat(value)) return true;
  if (is_plain_list(value) && !value.front().is_string()) return true;
  if (!is_flat(value) || value.size() > kFew) return false;
  std::string line;
  append_value(line, value, indent, in_list, true);
  return indent + line.size() <= kColumns;
}

std::string_view type_of(const ReadJson& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_integer()) return "a whole number";
  if (value.is_number()) return "a number that is not whole";
  if (value.is_string()) return "a text";
  return value.is_array() ? "a list" : "an object";
}

}  // namespace

size_t group_end(std::span<const PlannedCall> calls, size_t at) {
  size_t end = at + 1;
  if (calls[at].group < 0) return end;
  while (end < calls.size() && calls[end].group == calls[at].group) ++end;
  return end;
}

BufferLayout lay_out_buffers(const ReplayPlan& plan, int rank, std::span<const PlannedCall> calls) {
  BufferLayout layout;
  layout.calls.resize(calls.size());
  for (size_t at = 0; at < calls.size();) {
    std::vector<BufferSizes> taken(layout.streams.size());
    const size_t end = group_end(calls, at);
    for (; at < end; ++at) {
      const size_t stream = static_cast<size_t>(calls[at].stream);
      taken.resize(std::max(taken.size(), stream + 1));
      layout.calls[at] = place_call(plan, rank, calls[at], taken[stream]);
    }
    layout.streams.resize(taken.size());
    for (size_t i = 0; i < taken.size(); ++i) {
      BufferSizes& arenas = layout.streams[i];
      arenas.send = std::max(arenas.send, taken[i].send);
      arenas.receive = std::max(arenas.receive, taken[i].receive);
    }
  }
  return layout;
}

int64_t ReplayCost::bytes() const { return add(buffers, nccl); }

ReplayCost replay_cost(const ReplayPlan& plan) {
  ReplayCost most;
  for (int r = 0; r < static_cast<int>(plan.ranks.size()); ++r) {
    const int64_t buffers =
        std::max(buffers_of(plan, r, MadeIn::Clean), buffers_of(plan, r, MadeIn::Defect));
    const ReplayCost cost{buffers, nccl_bytes(plan, r)};
    if (cost.bytes() > most.bytes()) most = cost;
  }
  return most;
}

ReplayDeadlines with_deadline(ReplayDeadlines planned, int seconds) {
  if (seconds > 0) planned.enqueue = planned.completion = planned.teardown = seconds;
  return planned;
}

int timing_seconds(int time_runs) {
  // Two seconds for each run, five minutes at most.
  constexpr int kMost = 300;
  return std::min(std::max(time_runs, 0), kMost / 2) * 2;
}

int64_t longest_seconds(const ReplayDeadlines& deadlines, int runs) {
  const int64_t phases = int64_t{deadlines.start} + deadlines.init + deadlines.enqueue +
                         deadlines.completion + deadlines.teardown;
  return runs * (phases + kGraceSeconds);
}

double to_gib(int64_t bytes) { return static_cast<double>(bytes) / (int64_t{1} << 30); }

int runs_of(const ReplayPlan& plan) { return has_defect(plan) ? 2 : 1; }

std::string cost_words(const ReplayPlan& plan, int runs) {
  const double gib = to_gib(replay_cost(plan).bytes());
  const int64_t seconds = longest_seconds(plan.deadlines, runs);
  return fmt::format("{} GPU{} with about {:.1f} GiB free on each, and at most {} min {} s",
                     plan.ranks.size(), plan.ranks.size() == 1 ? "" : "s", gib, seconds / 60,
                     seconds % 60);
}

std::string nccl_tests_lines(const ReplayPlan& plan) {
  // What none of the lines can show.
  std::string text =
      "# One process holds all GPUs, on one host: add -t, or mpirun, as the job was laid out.\n"
      "# All ranks make this call alone, over and over: its order among others, groups,\n"
      "# streams and offsets of buffers are not as recorded. Messages go around a ring of all\n"
      "# ranks, the job's own reductions are sums, and of a buffer for all ranks each rank's part\n"
      "# is rounded down to 16 bytes.\n";
  if (has_defect(plan)) {
    text += "# No rank of nccl-tests departs from the others: the defect itself cannot be shown.\n";
  }
  text += settings_remarks(plan);
  for (const PlannedCall* call : measured_calls(plan)) text += "\n" + lines_of(plan, *call);
  return text;
}

JsonPlace JsonPlace::at(std::string_view key, const ReadJson& member) const {
  return {member, source, path + (path.empty() ? "" : ".") + printable(key)};
}

JsonPlace JsonPlace::at(size_t item) const {
  return {value[item], source, fmt::format("{}[{}]", path, item)};
}

void refuse(const JsonPlace& place, const std::string& what, const std::string& hint) {
  throw Error(what, std::string(place.source) + (place.path.empty() ? "" : ": " + place.path),
              hint);
}

void refuse_type(const JsonPlace& place, std::string_view wanted) {
  refuse(place, fmt::format("{} is expected, not {}", wanted, type_of(place.value)));
}

ReadJson parse_json_document(std::string_view text, const std::string& source) {
  if (text.size() > kMaxReplayText) {
    throw Error(fmt::format("longer than {} MiB", kMaxReplayText >> 20), source);
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw Error("the file is empty", source);
  }
  std::istringstream stream{std::string(text)};
  std::vector<std::set<std::string>> keys;  // Of all open objects, the outermost first.
  const auto look = [&](int, ReadJson::parse_event_t event, const ReadJson& parsed) {
    if (event == ReadJson::parse_event_t::object_start) keys.emplace_back();
    if (event == ReadJson::parse_event_t::object_end) keys.pop_back();
    if (event == ReadJson::parse_event_t::key &&
        !keys.back().insert(parsed.get<std::string>()).second) {
      const size_t begin = text.rfind('"', static_cast<size_t>(stream.tellg()) - 2);
      throw Error(fmt::format("the key '{}' stands twice in one object",
                              printable(parsed.get_ref<const std::string&>())),
                  where_in(text, source, begin + 1), "leave one of the two out");
    }
    return true;
  };
  try {
    return ReadJson::parse(stream, look);
  } catch (const ReadJson::parse_error& error) {
    throw Error("no JSON from here on", where_in(text, source, error.byte));
  } catch (const ReadJson::exception&) {  // A number beyond what a double holds.
    throw Error("a number is out of range", source);
  }
}

void check_schema(const JsonPlace& document, std::string_view schema, std::string_view noun) {
  const std::string hint = fmt::format("this ncclog reads {}", schema);
  if (!document.value.is_object()) refuse_type(document, fmt::format("a {}", noun));
  const auto found = document.value.find("schema");
  if (found == document.value.end() || !found->is_string()) {
    refuse(document, fmt::format("not a {}: it names no schema", noun), hint);
  }
  const std::string& named = found->get_ref<const std::string&>();
  if (named == schema) return;
  const std::string_view kind = schema.substr(0, schema.find('/') + 1);
  refuse(document.at("schema", *found),
         named.starts_with(kind)
             ? fmt::format("a {} of another version: {}", noun, printable(named))
             : fmt::format("not a {}, but {}", noun, printable(named)),
         hint);
}

std::string write_json_document(const WrittenJson& document) {
  std::string text;
  append_value(text, document, 0, false, false);
  return text + "\n";
}

std::vector<std::string_view> member_names(std::string_view list) {
  std::vector<std::string_view> names;
  for (const std::string_view name : split(list, ',')) {
    if (!trim(name).empty()) names.push_back(trim(name));
  }
  return names;
}

int Words::number_of(const JsonPlace& place, std::string_view word) const {
  std::vector<std::string_view> words;
  for (size_t number = 0; number < count; ++number) {
    words.push_back(name(static_cast<int64_t>(number)));
    if (words.back() == word) return static_cast<int>(number);
  }
  refuse(place, fmt::format("unknown {} '{}'", noun, printable(word)), hint_for(word, words));
}

std::string write_plan(const ReplayPlan& plan) { return write_json_document(to_json_value(plan)); }

ReplayPlan parse_plan(std::string_view text, const std::string& source) {
  return parse_json_as<ReplayPlan>(text, source, "replay plan");
}

std::string plan_hash(std::string_view text) { return sha256_hex(text); }

}  // namespace ncclog
