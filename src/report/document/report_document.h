// What a report says to people, in which order and in which words? The verdict first, then why,
// then what to do.
//
//   PROBLEM   /dev/shm on gpu-node-01 is full: NCCL could not create its segments.
//             train.log:412  12:04:11  NCCL WARN Error: failed to extend /dev/shm/nccl-8aCq …
//             cause (certain), shm-no-space; ranks 0-3 on gpu-node-01; explains 2 others: …
//
// A finding is told in one order: title, headline and the line that decides it, standing, message,
// why, seen, check, fix, do not, references, what it explains. On a screen one problem fits: findings that follow from another
// one are named below it, titles and references are left out. A page has room for all of that, and
// for the job itself (report/document/job_sections.cc). Texts may hold any bytes of the logs.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/settings/lint.h"
#include "report/document/document.h"
#include "report/report.h"
#include "rules/finding.h"

namespace ncclog {

struct Explanation;

/// A screen that asked for it shows more; a page has room for all.
enum class Reader { Screen, WholeScreen, Page };

/// All that the report says to that reader.
Document report_document(const Report& report, Reader reader);

/// The verdict alone.
Document verdict_document(const Report& report);

/// The finding of that id; nullptr if there is none.
const Finding* find_finding(const Report& report, std::string_view id);

/// The lines that show the finding: of those that many ranks print alike, the first, and one of the
/// process that the finding is about, at most `most`; then the rest. Of some lines only the place
/// is kept; they come last.
Quotes evidence_quotes(const Job& job, const Finding& finding, size_t most);

/// What a replay of the job came to in one sentence, for a report of one line: "A replay on 2 x
/// NVIDIA H200, NCCL 2.28.9 came out as reproduced-fault (likely)."
std::string replay_sentence(const ReplaySummary& replay);

/// The same one paragraph each, the outcome first, then where, then what nobody may conclude.
std::vector<std::string> replay_paragraphs(const ReplaySummary& replay);

/// "export NCCL_DEBUG=INFO", ready to be pasted into a script.
Code capture_code(const CaptureAdvice& advice);

/// Which program and which rules say so, from logs alone or with reports of hosts.
std::string signature_of(const Tool& tool, bool with_hosts = false);

// What the logs say of the job itself.

/// Size, versions, hosts and network, as far as the log says them, in the order in which people
/// ask: ranks: 8 on 2 hosts; NCCL: 2.28.9; connections: P2P/CUMEM 24, NET/IB/GDRDMA 8.
KeyValues job_shape(const Job& job);

/// The job on a page, section by section: machine, ranks, time, connections, iterations, settings.
/// What the logs say nothing about is left out. `main`: the verdict's finding, if there is one.
std::vector<Section> job_sections(const Job& job, const Finding* main = nullptr);

/// What reports of hosts show: of each a section with all that was read, else one that lists them.
/// None without reports.
std::vector<Section> host_sections(const Job& job, bool whole);

/// "Ended: finished; nccl-tests printed its summary (bench.out:412). 4 of 8 processes finished, 4
/// unfinished." The processes only where some of them ended otherwise than the job.
std::string outcome_text(const Job& job);

/// What was read, what of it could not be used, and how the job ended: "Read 318 lines from 8
/// files: 4 ranks on 2 hosts, NCCL 2.28.9. Cut: logs/a.gz. The gzip …". Of several runs, each one's
/// point says how it ended.
Section inputs_section(const Report& report, Reader reader);

// How a rule stands with a job (rules/rule_tools.h). `job` is the one that was explained: it knows
// the files of the lines.

/// At most a screen.
Document explanation_document(const Explanation& explanation, const Job& job);

/// All of it, for scripts: one object, schema "ncclog.explain/1".
std::string write_explanation_json(const Explanation& explanation, const Job& job);

// What `ncclog env check` found, and how it is printed (environment_check.cc).
//
//   train.sh (script): 9 settings, 1 error, 4 warnings
//
//   error    train.sh:8  NCCL_SOCKET_IFNAME==eth0
//            admits none of the interfaces of node-a: lo, ens5; did you mean ens5?
//
// Places are of the file that sets something, so that an editor finds them.

/// A remark, and where the setting stands: "train.sh:8"; empty: nowhere in particular.
struct PlacedRemark {
  Remark remark;
  std::string place;
};

/// One thing that was checked.
struct CheckedSource {
  std::string path;    ///< As given; "this shell".
  std::string format;  ///< "script", "env_file", "nccl_conf", "yaml", "log", "environment".
  /// What it sets that concerns NCCL, in its order; a name twice where it is set twice.
  std::vector<Setting> settings;
  std::vector<PlacedRemark> remarks;
  std::string note;         ///< One sentence about the reading; empty if there is nothing to say.
  bool is_partial = false;  ///< Part of a log was unreadable or cut.
};

struct EnvironmentCheck {
  std::vector<CheckedSource> sources;
  std::string nccl_version;  ///< Against which settings were held; empty: none.
};

/// How many remarks of that level all sources have.
size_t count_remarks(const EnvironmentCheck& check, RemarkLevel level);

/// For people: worst first, then what is set without remark.
Document environment_document(const EnvironmentCheck& check);

/// For scripts: {"schema": "ncclog.env_check/1", "sources": […], …}.
std::string write_check_json(const EnvironmentCheck& check);

/// The JSON Schema of write_check_json().
std::string check_schema();

}  // namespace ncclog
