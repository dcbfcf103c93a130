#include "app/export_trace.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/analyze.h"
#include "app/event_walk.h"
#include "app/read_job.h"
#include "app/trace_clock.h"
#include "app/trace_speakers.h"
#include "app/write_event.h"
#include "app/write_recorded.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/version.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// One event of a trace.
struct TraceEvent {
  std::string_view phase;  ///< "B" and "E" of a slice, "i" an instant, "b" and "e" across threads.
  int64_t ns = 0;          ///< From the clock's origin.
  int64_t process = 0;
  int64_t thread = 0;  ///< 0: the line names none.
  std::string name;
  std::string_view category;
  std::string args;  ///< A JSON object; empty: none.
  std::string more;  ///< Further members: `,"s":"t"`.
};

std::string json_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

/// Lines that are not in the trace.
struct LeftOut {
  uint64_t without_time = 0;
  uint64_t other_clock = 0;
};

/// Writes a trace's events, and who is who before the first event of each.
class TraceWriter {
 public:
  TraceWriter(const Job& job, const TraceClock& clock, Console& console)
      : clock_(clock), speakers_(job), console_(console) {
    console_.out += "{\"traceEvents\":[";
  }

  /// False once nobody wants more.
  bool add(const WalkedEvent& walked) {
    const LineTime time = time_of(walked);
    const auto ns = place_on(clock_, time);
    if (!ns) {
      ++(time.known() ? left_out_.other_clock : left_out_.without_time);
      return true;
    }
    const Header& header = walked.event.header;
    TraceEvent event{.phase = "i", .ns = *ns};
    event.process = speakers_.number_of(walked.file, header);
    event.thread = std::max<int64_t>(0, header.tid);
    event.args = args_of(walked);
    set_kind(walked.event, event);
    return write(event);
  }

  bool add(std::string_view file, const FlightRecorderDump& dump, size_t index) {
    const FlightRecorderEntry& entry = dump.entries[index];
    if (!clock_.utc || entry.time_created_ns <= 0) {
      ++(entry.time_created_ns > 0 ? left_out_.other_clock : left_out_.without_time);
      return true;
    }
    TraceEvent event{.phase = "b", .ns = entry.time_created_ns - clock_.origin_ns};
    event.process = speakers_.number_of(file, dump.rank);
    event.name = entry.profiling_name.empty() ? "call" : entry.profiling_name;
    event.category = "flight_recorder";
    event.args = recorded_fields(dump, index);
    event.more = fmt::format(",\"id\":\"{}\"", ++recorded_);
    if (!write(event)) return false;
    if (entry.time_completed_ns < entry.time_created_ns) return true;
    event.phase = "e";
    event.ns = entry.time_completed_ns - clock_.origin_ns;
    event.args.clear();
    return write(event);
  }

  void finish() {
    console_.out += "\n],\"displayTimeUnit\":\"ms\",\"otherData\":{";
    std::string_view before;
    for (const auto& [name, value] : notes()) {
      console_.out += fmt::format("{}\n{}:{}", before, json_text(name), json_text(value));
      before = ",";
    }
    console_.out += "\n}}\n";
  }

 private:
  using Notes = std::vector<std::pair<std::string_view, std::string>>;

  static std::string args_of(const WalkedEvent& walked) {
    std::string args =
        fmt::format("{{\"at\":{},\"level\":{},\"fields\":{}",
                    json_text(fmt::format("{}:{}", walked.file, walked.line)),
                    json_text(exported_level(walked.event)), event_fields(walked.event));
    const std::string_view text = unrecognised_text(walked.event);
    if (!text.empty()) args += ",\"text\":" + json_text(text);
    const Warning* warning = warning_of(walked.event);
    if (warning != nullptr) args += ",\"meaning\":" + json_text(warning->meaning);
    return args + "}";
  }

  /// Name, category and phase, as the kind of the line has it.
  void set_kind(const Event& event, TraceEvent& made) {
    const Message& message = event.message;
    made.name = kind_name(event);
    made.category = event.header.level == Level::Warn ? "WARN" : "line";
    if (message.kind != nullptr && message.kind->index == kKindIndex<CollectiveCall>) {
      made.name = message.field("op");
      made.category = "call_entered";
    } else if (message.kind != nullptr && message.kind->index == kKindIndex<CommInit>) {
      made.name =
          fmt::format("init of rank {} of {}", message.field("rank"), message.field("nranks"));
      set_slice(message, "init", made);
    } else if (message.kind != nullptr && message.kind->index == kKindIndex<CommEnd>) {
      made.name = fmt::format("{} of rank {}", message.field("action"), message.field("rank"));
      set_slice(message, "end", made);
    }
    if (made.phase == "i") made.more = ",\"s\":\"t\"";
  }

  /// A slice begins with START and ends with COMPLETE of the same thread.
  void set_slice(const Message& message, std::string_view category, TraceEvent& made) {
    made.category = category;
    const auto slice =
        std::tuple(made.process, made.thread, made.name, std::string(message.field("comm")));
    if (message.field("phase") == "START") {
      if (open_.insert(slice).second) made.phase = "B";
    } else if (open_.erase(slice) > 0) {
      made.phase = "E";
    }
  }

  /// False once nobody wants more.
  bool write(const TraceEvent& event) {
    introduce(event.process, event.thread);
    append(event);
    return console_.pass_on();
  }

  void append(const TraceEvent& event) {
    const char* const sign = event.ns < 0 ? "-" : "";
    const uint64_t ns =
        event.ns < 0 ? 0 - static_cast<uint64_t>(event.ns) : static_cast<uint64_t>(event.ns);
    console_.out += before_;
    before_ = ",\n";
    fmt::format_to(std::back_inserter(console_.out),
                   R"({{"ph":"{}","ts":{}{}.{:03},"pid":{},"tid":{},"name":)", event.phase, sign,
                   ns / 1000, ns % 1000, event.process, event.thread);
    append_json_string(console_.out, event.name);
    if (!event.category.empty()) {
      console_.out += ",\"cat\":";
      append_json_string(console_.out, event.category);
    }
    if (!event.args.empty()) console_.out += ",\"args\":" + event.args;
    console_.out += event.more + "}";
  }

  void introduce(int64_t process, int64_t thread) {
    if (!threads_.emplace(process, thread).second) return;
    const auto name = [](std::string_view text) {
      return fmt::format("{{\"name\":{}}}", json_text(text));
    };
    TraceEvent event{.phase = "M", .process = process, .thread = thread};
    if (processes_.insert(process).second) {
      event.name = "process_name";
      event.args = name(speakers_.name_of(process));
      append(event);
      event.name = "process_sort_index";
      event.args = fmt::format("{{\"sort_index\":{}}}", speakers_.order_of(process));
      append(event);
    }
    event.name = "thread_name";
    event.args = name(thread == 0 ? "lines that name no thread" : fmt::format("thread {}", thread));
    append(event);
  }

  Notes notes() const {
    const std::time_t origin = clock_.origin_ns / 1'000'000'000;
    return {
        {"tool", fmt::format("ncclog {}", version())},
        {"clock",
         clock_.utc ? "UTC, of each host" : "local time of each host; the zone is unknown"},
        {"ts", fmt::format("microseconds since {:%Y-%m-%d} 00:00", fmt::gmtime(origin))},
        {"order", "within a process as printed; between hosts as far as their clocks agree"},
        {"call_entered", "the host entered the call; no line says when the collective finished"},
        {"flight_recorder", "from the call to when PyTorch's watchdog noticed its end"},
        {"lines_without_time", std::to_string(left_out_.without_time)},
        {"lines_of_another_clock", std::to_string(left_out_.other_clock)}};
  }

  const TraceClock clock_;
  TraceSpeakers speakers_;
  Console& console_;
  std::string_view before_ = "\n";
  std::set<int64_t> processes_;
  std::set<std::pair<int64_t, int64_t>> threads_;
  /// Slices without end: process, thread, name, communicator.
  std::set<std::tuple<int64_t, int64_t, std::string, std::string>> open_;
  uint64_t recorded_ = 0;
  LeftOut left_out_;
};

}  // namespace

ExitStatus export_trace(const ExportOptions& options, Console& console) {
  const std::vector<std::string> inputs = wanted_inputs(options.input);
  if (std::find(inputs.begin(), inputs.end(), "-") != inputs.end()) {
    throw Error("standard input can be read once, and a trace takes two readings", "export",
                "save the log to a file first");
  }
  const Job job = read_job(inputs, {.threads = options.input.threads});
  const auto clock = choose_clock(job);
  if (!clock) {
    throw Error("no line carries a time, so there is nothing to put on an axis", "export",
                "NCCL 2.26 and later stamps its lines with NCCL_DEBUG_TIMESTAMP_LEVELS=ALL and "
                "NCCL_DEBUG_TIMESTAMP_FORMAT='[%F %T.%6f] '; kubectl logs --timestamps and "
                "PyTorch's Flight Recorder give times, too");
  }
  TraceWriter writer(job, *clock, console);
  const EventTaker taker = {[&](const WalkedEvent& walked) { return writer.add(walked); },
                            [&](std::string_view file, const FlightRecorderDump& dump,
                                size_t index) { return writer.add(file, dump, index); }};
  const ExitStatus status = walk_events(inputs, taker, console);
  writer.finish();
  return status;
}

}  // namespace ncclog
