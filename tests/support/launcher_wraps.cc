#include "support/launcher_wraps.h"

#include <fmt/format.h>

namespace ncclog::testing {
namespace {

constexpr Wrap kWraps[] = {
    {"plain", "{line}"},
    {"torchrun tee", "[default{local}]:{line}"},
    {"torchrun tee with a role", "[trainer{local}]:{line}"},
    {"Open MPI 4 tag", "[1,{task}]<stdout>:{line}"},
    {"Open MPI 4 tag, stderr", "[1,{task}]<stderr>:{line}"},
    {"Open MPI 4 time and tag", "Mon Jan  5 12:00:00 2026[1,{task}]<stderr>:{line}"},
    {"Open MPI 4 time", "Mon Jan  5 12:00:00 2026<stdout>:{line}"},
    {"PRRTE tag", "[prterun-node-77@1,{task}]<stdout>: {line}"},
    {"PRRTE detailed tag", "[1,{task}][node-{task}:4242]<stderr>: {line}"},
    {"PRRTE rank", "[{task}]<stdout>: {line}"},
    {"Horovod Gloo", "[{task}]<stderr>:{line}"},
    {"Horovod Gloo with time", "Mon Jan  5 12:00:00 2026[{task}]<stderr>:{line}"},
    {"SageMaker", "[1,mpirank:{task},algo-1]<stdout>:{line}"},
    {"Intel MPI", "[{task}] {line}", true},
    {"torchrun template", "[{task}]: {line}", true},
    {"milabench", "llm-full.node-{task}.nolog [stderr] {line}"},
    {"srun", "{task}: {line}"},
    {"srun, aligned", " {task}: {line}"},
    {"srun, zeros", "0{task}: {line}"},
    {"pdsh", "node-{task}: {line}"},
    {"pdsh, domain", "node{task}.cluster.example: {line}"},
    {"kubectl prefix", "[pod/worker-{task}/pytorch] {line}"},
    {"kubectl prefix and times", "[pod/worker-{task}/c] 2026-01-05T12:00:00.000000001Z {line}"},
    {"stern", "worker-{task} pytorch {line}", true},
    {"CRI", "2026-01-05T12:00:00.000000001Z stdout F {line}"},
    {"CRI, stderr and zone", "2026-01-05T12:00:00.1+01:00 stderr F {line}"},
    {"docker logs -t", "2026-01-05T12:00:00.000000001Z {line}"},
    {"docker compose", "worker-{task}  | {line}"},
    {"docker swarm", "job_worker.{task}.k3x9@node-{task}    | {line}"},
    {"docker json-file", R"({"log":"{json}\n","stream":"stderr","time":"2026-01-05T12:00:00.1Z"})"},
    {"journald short", "Jan 05 12:00:00 node-{task} slurmstepd[77]: {line}"},
    {"journald short-precise", "Jan 05 12:00:00.123456 node-{task} run.sh[77]: {line}"},
    {"journald short-iso", "2026-01-05T12:00:00+0000 node-{task} slurmstepd[77]: {line}"},
    {"journald json",
     R"({"_HOSTNAME":"node-{task}","MESSAGE":"{json}","SYSLOG_IDENTIFIER":"srun","_PID":"77",)"
     R"("__REALTIME_TIMESTAMP":"1767614400000001"})"},
    {"journald json-pretty", "\t\"MESSAGE\" : \"{json}\","},
    {"journald export", "MESSAGE={line}"},
    {"syslog", "<30>Jan 05 12:00:00 node-{task} slurmstepd[77]: {line}"},
    {"syslog 5424", "<134>1 2026-01-05T12:00:00.1Z node-{task} train 77 - - {line}"},
    {"CloudWatch", "2026-01-05T12:00:00.000Z\t{line}"},
    {"CloudWatch milliseconds", "1767614400000\t{line}"},
    {"CloudWatch json", R"({"timestamp":1767614400000,"message":"{json}"})"},
    {"Google Cloud text",
     R"({"textPayload":"{json}","timestamp":"2026-01-05T12:00:00.1Z","severity":"INFO"})"},
    {"Google Cloud json",
     R"({"timestamp":"2026-01-05T12:00:00.1Z","jsonPayload":{"message":"{json}","n":[1,"]"]}},)"},
    {"logcli", R"(2026-01-05T12:00:00Z {pod="worker-{task}"} {line})"},
    {"logcli jsonl",
     R"({"labels":{"pod":"worker-{task}"},"line":"{json}","timestamp":"2026-01-05T12:00:00Z"})"},
    {"Fluent Bit",
     R"({"time":"2026-01-05T12:00:00.1Z","stream":"stdout","logtag":"F","log":"{json}",)"
     R"("kubernetes":{"pod_name":"worker-{task}","container_name":"pytorch"}})"},
    {"Vector", R"({"file":"/a.log","message":"{json}","source_type":"file"})"},
    {"msg key", R"({"level":"info","msg":"{json}"})"},
    {"ISO time", "2026-01-05 12:00:00,123 {line}"},
    {"ISO time in brackets", "[2026-01-05 12:00:00] {line}"},
    {"Ray", "(TrainWorker pid={pid}) {line}"},
    {"Ray, remote", "(TrainWorker pid={pid}, ip=10.0.0.{task}) {line}"},
    {"Ray, coloured", "\x1b[36m(TrainWorker pid={pid})\x1b[0m {line}"},
    {"vLLM", "(VllmWorker rank={task} pid={pid}) {line}"},
    {"vLLM worker", "(Worker_TP{task} pid={pid}) {line}"},
    {"vLLM logger", "INFO 01-05 12:00:00 [core.py:58] {line}"},
    {"SGLang", "[2026-01-05 12:00:00 DP0 TP{task}] {line}"},
    {"DeepSpeed", "[2026-01-05 12:00:00,123] [INFO] [logging.py:128:log_dist] {line}"},
    {"torchtitan", "[titan] 2026-01-05 12:00:00,123 - root - INFO - {line}"},
    {"fairseq", "2026-01-05 12:00:00 | INFO | train_inner | {line}"},
    {"TensorFlow", "2026-01-05 12:00:00.000001: I external/xla/a.cc:12] {line}"},
    {"absl", "I0000 00:00:1767614400.000001    4242 a.cc:12] {line}"},
    {"Lightning", "[rank: {task}] {line}"},
    {"Hugging Face", "[INFO|trainer.py:3719] 2026-01-05 12:00:00,123 >> {line}"},
    {"quoted", "> {line}"},
    {"quoted twice", "> > {line}"},
    {"indented", "    {line}"},
    {"numbered", "  {task}\t{line}", true},
    {"numbered with a bar", "{task} | {line}", true},
    {"list", "- {line}", true},
};

/// `text` as it stands between the quotes of a JSON string.
std::string json_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      escaped += '\\';
      escaped += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void append_hole(std::string_view hole, const Task& task, std::string_view line,
                 std::string& text) {
  if (hole == "line") text += line;
  if (hole == "json") text += json_escaped(line);
  if (hole == "task") text += std::to_string(task.number);
  if (hole == "local") text += std::to_string(task.local_rank);
  if (hole == "pid") text += std::to_string(task.pid);
}

bool is_hole(std::string_view name) {
  return name == "line" || name == "json" || name == "task" || name == "local" || name == "pid";
}

}  // namespace

std::span<const Wrap> all_wraps() { return kWraps; }

std::string wrapped(const Wrap& wrap, const Task& task, std::string_view line) {
  std::string text;
  std::string_view rest = wrap.text;
  while (!rest.empty()) {
    const size_t open = rest.find('{');
    text += rest.substr(0, open);
    if (open == rest.npos) break;
    rest.remove_prefix(open);
    const size_t close = rest.find('}');
    const std::string_view hole = rest.substr(1, close == rest.npos ? 0 : close - 1);
    if (is_hole(hole)) {
      append_hole(hole, task, line, text);
      rest.remove_prefix(close + 1);
    } else {
      text += '{';
      rest.remove_prefix(1);
    }
  }
  return text;
}

}  // namespace ncclog::testing
