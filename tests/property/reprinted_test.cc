// Logs of older releases as NCCL 2.31 would print them lead to the same job and the same findings:
//
//   ncclCommSplit comm 0x7f20b0 … busId a1000 parent 0x7f10a0 childCount 1 color 1 key 3- Init
//   START → … busId a1000 commId 0x27a079b8 parent 0x7f10a0 childCount 1 color 1 key 3 - Init START
//
// Formats are those of init.cc, transport/net.cc and enqueue.cc of both releases.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "app/commands/analyze.h"
#include "app/read/read_job.h"
#include "base/text.h"
#include "input/find_inputs.h"
#include "log/event.h"
#include "log/messages.h"
#include "model/derive/build_job.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "support/paths.h"
#include "support/renamed_run.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

/// Prints the lines of a run again. Ids of child communicators are made of their parent's id, as
/// NCCL does, so that all ranks print the same.
class Reprinter {
 public:
  std::string line(const std::string& line) {
    const Event event = parse_event(line, all_wordings());
    if (event.message.kind == nullptr) return line;
    const uint16_t kind = event.message.kind->index;
    if (kind == kKindIndex<CommInit>) return init_line(line, event);
    if (kind == kKindIndex<CommEnd>) return end_line(line, event);
    const bool is_gdr_receive =
        kind == kKindIndex<ChannelConnected> && line.find("[receive] via NET/") != line.npos &&
        line.find("/GDRDMA") != line.npos && line.find("/flush=") == line.npos;
    if (is_gdr_receive) return changed(line) + "/flush=Always";
    const bool is_choice = kind == kKindIndex<TuningChoice> && line.ends_with('}');
    return is_choice ? changed(line) + " cgaClusterSize 4" : line;
  }

  int changes() const { return changes_; }

 private:
  using Pointer = std::pair<std::string, uint64_t>;  ///< Process and pointer.

  static std::string process_of(const Event& event) {
    return fmt::format("{}:{}", event.header.host, event.header.pid);
  }

  const std::string& changed(const std::string& line) {
    ++changes_;
    return line;
  }

  std::string init_line(const std::string& line, const Event& event) {
    const auto init = read_message<CommInit>(event.message);
    uint64_t& id = ids_[{process_of(event), init.comm.value}];
    if (init.comm_id.value != 0) id = init.comm_id.value;
    if (init.comm_id.value != 0 || init.parent.value == 0 || init.child_count < 0) return line;
    const uint64_t parent = ids_[{process_of(event), init.parent.value}];
    const std::string seed = fmt::format("{} {} {}", parent, init.child_count, init.color);
    id = std::hash<std::string>()(seed) | 1;
    static const std::regex kChild("busId (\\w+) parent (.*key -?\\d+) ?- Init");
    return changed(std::regex_replace(line, kChild,
                                      fmt::format("busId $1 commId 0x{:x} parent $2 - Init", id)));
  }

  std::string end_line(const std::string& line, const Event& event) {
    const auto end = read_message<CommEnd>(event.message);
    const uint64_t id = ids_[{process_of(event), end.comm.value}];
    static const std::regex kEnd("busId (\\w+) - (Destroy|Abort|Revoke)");
    if (id == 0 || !std::regex_search(line, kEnd)) return line;
    return changed(std::regex_replace(line, kEnd, fmt::format("busId $1 commId 0x{:x} - $2", id)));
  }

  std::map<Pointer, uint64_t> ids_;
  int changes_ = 0;
};

/// What a reader of the report learns: findings with whom they name, and communicators with their
/// members; ids aside, which older releases do not print.
std::string outcome_of(const RunFiles& files, const Rulebook& rulebook) {
  const TempDir folder;
  for (const auto& [name, text] : files) folder.add(name, text);
  const LineMatcher matcher = make_line_matcher(rulebook);
  const std::vector<std::string> paths = {folder.path().string()};
  const Job job = read_job(find_inputs(paths), {.threads = 1, .matcher = matcher});
  const Diagnosis diagnosis = evaluate(rulebook, job);
  std::multiset<std::string> lines;
  for (const Finding& finding : diagnosis.findings) {
    lines.insert(fmt::format("finding {} ranks {} hosts {}", finding.id,
                             fmt::join(finding.ranks, ","), fmt::join(finding.hosts, ",")));
  }
  for (const Communicator& comm : job.communicators) {
    std::string members;
    for (const CommRank& rank : comm.ranks) {
      members += fmt::format(" {}:{}:{}", rank.rank, rank.process, static_cast<int>(rank.state));
    }
    lines.insert(fmt::format("communicator of {}, calls {}:{}", comm.nranks, comm.calls.value_or(0),
                             members));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

TEST(ReprintedProperty, OlderLogsIn231sWordsGiveTheSameJobAndFindings) {
  const Rulebook rulebook = load_rulebook();
  int changes = 0;
  for (const std::string& name : sample_log_names()) {
    const RunFiles files = sample_files(name);
    RunFiles reprinted;
    Reprinter reprinter;
    for (const auto& [path, text] : files) {
      std::string lines;
      for (const std::string_view line : split(text, '\n'))
        lines += reprinter.line(std::string(line)) + "\n";
      reprinted.emplace_back(path, lines);
    }
    changes += reprinter.changes();
    if (reprinter.changes() == 0) continue;
    EXPECT_EQ(outcome_of(reprinted, rulebook), outcome_of(files, rulebook)) << name;
  }
  EXPECT_GT(changes, 100);
}

/// Rank r of 8 in a world, then in its tensor, pipeline and data groups, as 2.31 prints them.
std::string split_job() {
  struct Group {
    const char* name;
    int color_of[8];
    int key_of[8];
    int nranks;
  };
  const Group groups[] = {
      {"tensor", {0, 0, 1, 1, 2, 2, 3, 3}, {0, 1, 0, 1, 0, 1, 0, 1}, 2},
      {"data", {0, 1, 0, 1, 2, 3, 2, 3}, {0, 0, 1, 1, 0, 0, 1, 1}, 2},
      {"pipeline", {0, 1, 2, 3, 0, 1, 2, 3}, {0, 0, 0, 0, 1, 1, 1, 1}, 2},
  };
  std::string text;
  for (int rank = 0; rank < 8; ++rank) {
    const std::string head =
        fmt::format("node0{}:{}:{} [{}] NCCL INFO ", rank / 4, 4100 + rank, 4200 + rank, rank % 4);
    const std::string place =
        fmt::format("cudaDev {0} nvmlDev {0} busId {1}000", rank % 4, rank % 4 + 1);
    for (const char* phase : {"START", "COMPLETE"}) {
      text += fmt::format(
          "{}{}ncclCommInitRankConfig comm 0x7f{}0a0 rank {} nranks 8 {} commId "
          "0x9c1b2f0a77d01e55 - Init {}\n",
          head, phase == std::string("START") ? fmt::format("[Rank {}] ", rank) : "", rank, rank,
          place, phase);
    }
    int child = 0;
    for (const Group& group : groups) {
      ++child;
      for (const char* phase : {"START", "COMPLETE"}) {
        text += fmt::format(
            "{}ncclCommSplit comm 0x7f{}{}b0 rank {} nranks {} {} commId 0x27a079b828ff{}{}75 "
            "parent 0x7f{}0a0 childCount {} color {} key {} - Init {}\n",
            head, rank, child, group.key_of[rank], group.nranks, place, child, group.color_of[rank],
            rank, child, group.color_of[rank], rank, phase);
      }
    }
  }
  return text;
}

TEST(Reprinted, ASplitJobOf231HasAllItsGroups) {
  const Job job = job_from_text(split_job());
  EXPECT_EQ(job.nranks, 8);
  std::map<int, int> by_size;
  for (const Communicator& comm : job.communicators) {
    ++by_size[comm.nranks];
    EXPECT_FALSE(comm.inferred) << comm.id;
    for (const CommRank& rank : comm.ranks) EXPECT_EQ(rank.state, RankState::Complete) << comm.id;
  }
  EXPECT_EQ(by_size, (std::map<int, int>{{8, 1}, {2, 12}}));
}

}  // namespace
}  // namespace ncclog::testing
