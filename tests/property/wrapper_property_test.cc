// A job does not depend on who wrapped its lines: launchers, collectors, colours, in any nesting.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "input/find_inputs.h"
#include "input/line_reader.h"
#include "log/known_messages.h"
#include "log/line/prefix.h"
#include "log/line/scanner.h"
#include "log/messages.h"
#include "model/derive/build_job.h"
#include "support/launcher_wraps.h"
#include "support/paths.h"
#include "support/text_diff.h"

namespace ncclog {
namespace {

using testing::all_wraps;
using testing::Task;
using testing::Wrap;
using testing::wrapped;

/// Lines of one process, or of what a file says without naming one, in their order.
struct Voice {
  std::vector<std::string> lines;
  Task task;
};

using Voices = std::vector<Voice>;

/// The voices of a sample log. Processes are numbered in the order in which they first speak.
Voices read_voices(const std::string& name) {
  std::map<std::string, Voice> voices;
  const std::vector<std::string> paths =
      find_inputs(std::vector<std::string>{testing::sample_logs(name).string()});
  for (size_t i = 0; i < paths.size(); ++i) {
    std::string plain;
    read_unit({0, 0, 0, 0, true}, paths[i], {}, [&](const Line& line) {
      const std::string_view text = strip_ansi(line.text, plain);
      const Header header = parse_header(text);
      const bool named = !header.host.empty();
      Voice& voice =
          voices[named ? fmt::format("{}:{}", header.host, header.pid) : fmt::format("file {}", i)];
      voice.lines.emplace_back(text);
      if (named) voice.task.pid = header.pid;
    });
  }
  Voices list;
  for (auto& [key, voice] : voices) list.push_back(std::move(voice));
  return list;
}

/// Gives every process the number that NCCL gives it, as launchers do; others one of their own.
void number_tasks(const Job& job, Voices& voices) {
  int next = static_cast<int>(voices.size());  // Beyond every rank, where NCCL names none.
  for (Voice& voice : voices) {
    const int process = voice.task.pid > 0 ? process_of_pid(job, voice.task.pid) : -1;
    const int rank = process >= 0 ? job.processes[static_cast<size_t>(process)].rank : -1;
    voice.task.number = rank >= 0 ? rank : next++;
    voice.task.local_rank = voice.task.number;
    if (voice.task.pid == 0) voice.task.pid = 99991;
  }
}

std::string joined(const Voices& voices) {
  std::string text;
  for (const Voice& voice : voices) {
    for (const std::string& line : voice.lines) text += line + "\n";
  }
  return text;
}

std::string interleaved(const Voices& voices, std::mt19937& random) {
  std::vector<size_t> order;
  for (size_t v = 0; v < voices.size(); ++v) order.insert(order.end(), voices[v].lines.size(), v);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<size_t> next(voices.size(), 0);
  std::string text;
  for (const size_t v : order) text += voices[v].lines[next[v]++] + "\n";
  return text;
}

std::string name_of(const Process& process) {
  return fmt::format("{}:{}", process.host, process.pid);
}

bool is_nccl_process(const Job& job, const Process& process) {
  return std::any_of(process.logs.begin(), process.logs.end(), [&](size_t log) {
    return !job.logs[log].speaker.host.empty() && job.logs[log].speaker.pid >= 0;
  });
}

/// What a kept line says, without its prefix and its place. The rank counts where the framework
/// itself printed it.
std::string what(const Record& record) {
  const Event event = parse_record(record);
  const Header& header = event.header;
  const std::string text = record.text();
  const size_t bracket = text.rfind("[rank");
  const bool has_rank = bracket != std::string::npos && is_digit(text.c_str()[bracket + 5]);
  return fmt::format("    {} {}:{}:{} [{}] {}:{} pg={} rank={} | {}\n", to_string(header.level),
                     header.host, header.pid, header.tid, header.cuda_dev, header.file, header.line,
                     header.process_group, has_rank ? header.prefix.rank : -1,
                     trim(header.message));
}

/// Kept lines by kind; of everybody who is not an NCCL process together, because prefixes name
/// them.
using Kept = std::map<std::string, std::map<std::string, std::set<std::string>>>;

void keep(const std::string& speaker, const std::string& kind, const RecordList& list,
          std::map<std::string, uint64_t>& totals, Kept& kept) {
  totals[speaker + " " + kind] += list.total;
  for (const Record& record : list.kept) kept[speaker][kind].insert(what(record));
}

std::string describe_records(const Job& job) {
  std::map<std::string, uint64_t> totals;
  Kept kept;
  for (const SpeakerLog& log : job.logs) {
    const bool named = !log.speaker.host.empty() && log.speaker.pid >= 0;
    const std::string speaker =
        named ? fmt::format("{}:{}", log.speaker.host, log.speaker.pid) : "others";
    for (const auto& [kind, list] : log.records) {
      if (kind == kKindIndex<TracebackFrame>) continue;
      keep(speaker, std::string(all_kinds()[kind].name), list, totals, kept);
    }
    if (named) keep(speaker, "unrecognised", log.unrecognised.find(Record::kNoKind), totals, kept);
    for (const auto& [key, use] : log.connections.all) {
      kept[speaker]["connection"].insert(fmt::format("    {} -> {} {} {:x}\n", key.src_rank,
                                                     key.dst_rank, key.path, use.channels));
    }
    for (const CommSegment& segment : log.comms.all) {
      kept[speaker]["segment"].insert(fmt::format("    {:#x} rank={} id={:#x} calls={}\n",
                                                  segment.comm, segment.rank, segment.comm_id,
                                                  segment.calls->total));
    }
  }
  std::string text;
  for (const auto& [speaker, kinds] : kept) {
    for (const auto& [kind, lines] : kinds) {
      text += fmt::format("{} {} x{}\n{}", speaker, kind, totals[speaker + " " + kind],
                          fmt::join(lines, ""));
    }
  }
  return text;
}

/// Which processes share a communicator that no line names is inferred from all that is known of
/// them, tasks too: only their members count.
std::string describe_communicators(const Job& job) {
  std::string text;
  std::multiset<std::string> inferred;
  for (const Communicator& comm : job.communicators) {
    std::multiset<std::string> members;
    for (const CommRank& rank : comm.ranks) {
      members.insert(fmt::format(
          "  rank {} {} dev={} bus={} {} calls={}\n", rank.rank,
          rank.process < 0 ? "-" : name_of(job.processes[static_cast<size_t>(rank.process)]),
          rank.cuda_dev, rank.bus_id, to_string(rank.state), rank.calls));
    }
    if (comm.inferred) {
      inferred.merge(members);
      continue;
    }
    text += fmt::format("communicator {} nranks={} hosts={} child={} calls={}\n{}", comm.id,
                        comm.nranks, fmt::join(comm.hosts, ","), comm.is_child,
                        comm.calls.value_or(0), fmt::join(members, ""));
  }
  return text + fmt::format("inferred\n{}", fmt::join(inferred, ""));
}

/// Frames of tracebacks, which say something only where the first line of theirs is not before them:
/// lines of other processes come between, or prefixes that only some lines are known by.
uint64_t count_frames(const Job& job) {
  uint64_t count = 0;
  for (const SpeakerLog& log : job.logs)
    count += log.records.find(kKindIndex<TracebackFrame>).total;
  return count;
}

/// The job without places and without what prefixes add: tasks, their hosts and pids,
/// and all hosts where NCCL itself names none.
std::string describe_unwrapped(const Job& job) {
  const bool named = std::any_of(job.processes.begin(), job.processes.end(),
                                 [&](const Process& p) { return is_nccl_process(job, p); });
  const uint64_t frames = count_frames(job);
  std::string text = fmt::format("lines={} recognised={} unrecognised={} foreign={}\n",
                                 job.losses.lines, job.losses.recognised - frames,
                                 job.losses.unrecognised, job.losses.foreign + frames);
  text += fmt::format("hosts={} versions={} {} {} network={} plugin={}\n",
                      named ? fmt::format("{}", fmt::join(job.hosts, ",")) : "",
                      fmt::join(job.nccl_versions, ","), fmt::join(job.cuda_versions, ","),
                      fmt::join(job.pytorch_versions, ","), job.network.name, job.network.plugin);
  for (const Interface& i : job.network.interfaces) {
    text += fmt::format("interface {} {} {} {} {}\n", named ? i.host : "", i.name, i.address,
                        i.port, i.link);
  }
  std::set<std::string> parts;
  for (const EnvironmentSetting& setting : job.environment) {
    for (const int p : setting.processes) {
      parts.insert(fmt::format("setting {}={} by {}\n", setting.name, setting.value,
                               name_of(job.processes[static_cast<size_t>(p)])));
    }
  }
  for (const Process& process : job.processes) {
    if (!is_nccl_process(job, process)) continue;
    parts.insert(fmt::format("process {} dev={} bus={} nccl={}\n", name_of(process),
                             process.cuda_dev, process.bus_id, process.has_nccl));
  }
  return text + fmt::format("{}", fmt::join(parts, "")) + describe_communicators(job) +
         describe_records(job);
}

/// Ranks of the NCCL processes as NCCL's own lines give them.
std::map<std::string, int> ranks_of(const Job& job) {
  std::map<std::string, int> ranks;
  for (const Process& process : job.processes) {
    if (is_nccl_process(job, process) && process.rank >= 0) ranks[name_of(process)] = process.rank;
  }
  return ranks;
}

/// What every wrapped form of a log has to give.
struct UnwrappedJob {
  std::string job;
  std::map<std::string, int> ranks;
};

void expect_same(const UnwrappedJob& expected, const std::string& text, const std::string& how) {
  const Job job = job_from_text(text);
  const std::string described = describe_unwrapped(job);
  EXPECT_EQ(described == expected.job, true)
      << how << "\n"
      << testing::text_diff(expected.job, described).substr(0, 3000);
  const std::map<std::string, int> ranks = ranks_of(job);
  for (const auto& [name, rank] : expected.ranks) {
    const auto found = ranks.find(name);
    EXPECT_TRUE(found != ranks.end() && found->second == rank) << how << ": rank of " << name;
  }
}

/// Whether a form that looks like ordinary output may be put in front of `line`.
bool announces_itself(std::string_view line) {
  if (line.empty() || line.find("\"MESSAGE\" :") != line.npos) return false;
  const Header header = parse_header(line);
  return is_nccl(header) ? !header.host.empty() : begins_record(line);
}

/// Records of these logs span lines, which have to stay together. In healthy-coll-iterations
/// print() was torn: "loss 1.0E-04node:1:1 [0] NCCL INFO …" and later the line's end.
bool spans_lines(const std::string& name) {
  return name == "memlock-ib-single-node-8" || name == "reported-shm-wrapped-lines" ||
         name == "healthy-coll-iterations";
}

/// A tag that could be anything, "[1] ", is learnt from records: around a time and a line of a dump
/// of the proxy, say, it is not known.
std::string wrap_line(const Wrap& wrap, const Task& task, const std::string& line,
                      bool has_records = true) {
  const bool is_plain = wrap.only_records && (!has_records || !announces_itself(line));
  return is_plain ? line : wrapped(wrap, task, line);
}

/// `line` with a colour switched on and off somewhere in it.
std::string coloured(std::string line, std::mt19937& random) {
  if (line.find('\x1b') != std::string::npos) return line;
  line.insert(random() % (line.size() + 1), "\x1b[0m");
  line.insert(random() % (line.find('\x1b') + 1), random() % 2 ? "\x1b[1;36m" : "\x1b[33m");
  return line;
}

class WrapperProperty : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    voices_ = read_voices(GetParam());
    const Job job = job_from_text(joined(voices_));
    number_tasks(job, voices_);
    expected_ = {describe_unwrapped(job), ranks_of(job)};
  }

  Voices voices_;
  UnwrappedJob expected_;
};

TEST_P(WrapperProperty, EveryLauncherGivesTheSameJob) {
  // Sanitized, each sample is wrapped by some launchers, and each launcher wraps some samples.
  const size_t step = testing::is_sanitized() ? 5 : 1;
  for (size_t w = GetParam().size() % step; w < all_wraps().size(); w += step) {
    const Wrap& wrap = all_wraps()[w];
    Voices voices = voices_;
    for (Voice& voice : voices) {
      for (std::string& line : voice.lines) line = wrap_line(wrap, voice.task, line);
    }
    expect_same(expected_, joined(voices), std::string(wrap.name));
    if (HasFailure()) return;
  }
}

TEST_P(WrapperProperty, NestedColouredAndInterleavedLinesGiveTheSameJob) {
  std::mt19937 random(17);
  const bool has_records = expected_.job.find("proxy_op") == std::string::npos;
  for (uint64_t round = 0; round < testing::affordable(8); ++round) {
    Voices voices = voices_;
    std::string how = fmt::format("round {}:", round);
    for (Voice& voice : voices) {
      std::vector<const Wrap*> nesting(1 + random() % 3);
      for (const Wrap*& wrap : nesting) wrap = &all_wraps()[random() % all_wraps().size()];
      const bool colour = random() % 2;
      for (const Wrap* wrap : nesting) how += fmt::format(" {},", wrap->name);
      for (std::string& line : voice.lines) {
        for (const Wrap* wrap : nesting) {
          line = wrap_line(*wrap, voice.task, line, has_records);
        }
        if (colour) line = coloured(line, random);
      }
      how += colour ? " coloured;" : ";";
    }
    expect_same(expected_, spans_lines(GetParam()) ? joined(voices) : interleaved(voices, random),
                how);
    if (HasFailure()) return;
  }
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_word(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(SampleLogs, WrapperProperty,
                         ::testing::ValuesIn(testing::sample_log_names()), test_name);

}  // namespace
}  // namespace ncclog
