#include "model/ras.h"

#include <utility>

#include "base/text.h"
#include "log/known_messages.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr size_t kMaxTextBytes = 512;  ///< NCCL's own lines are far shorter.

}  // namespace

void RasLines::add(SourceRef where, const Event& event) {
  if (event.message.kind == nullptr || event.message.kind->library != Library::RasClient) return;
  if (kept.size() == kMaxKept) kept.pop_front();
  kept.push_back({where, std::string(trim(event.header.message).substr(0, kMaxTextBytes))});
}

void RasLines::merge(RasLines&& later) {
  for (RasLine& line : later.kept) kept.push_back(std::move(line));
  while (kept.size() > kMaxKept) kept.pop_front();
}

namespace {

/// What sets ranks apart, from whichever field a line has: "6649", "0", "INIT", "System error".
template <typename Said>
std::string value_of(const Said& said) {
  if (said.operation >= 0) return std::to_string(said.operation);
  if (!said.idle.empty()) return "0";
  return std::string(said.status.empty() ? said.error : said.status);
}

/// Takes the lines in order. Invariant: statements belong to the report that is open; without an
/// open report every line is left alone.
class RasTextReader {
 public:
  void add(const RasLine& line);
  std::vector<RasReport> take() { return std::move(reports_); }

 private:
  struct Adder;

  void begin(SourceRef where, std::string_view version);
  void add_cuda(const Message& message);
  void add_communicators(const Message& message);
  void add_problem(const Message& message);
  void add_no_answer(const Message& message);
  void add_dead(const Message& message);
  void add_difference(const Message& message);
  void add_errors(const Message& message);
  void add_ranks(const Message& message);
  void add_rank(const Message& message);
  void add_process(const Message& message);
  void add_late_answers(const Message& message);
  void head(RasStatement heading);
  void state(std::string value, int64_t count);
  void add_member(RasMember member);

  std::vector<RasReport> reports_;  ///< The last one is open, if there is any.
  RasStatement heading_;            ///< What the next statements are about.
  bool is_stated_ = false;          ///< The last statement is about heading_ and takes members.
  size_t members_ = 0;              ///< Of the open report.
};

/// Which line is added how.
struct RasTextReader::Adder {
  uint16_t kind;
  void (RasTextReader::*add)(const Message& message);
  bool begins = false;  ///< People also quote from here on, without the lines before.
};

void RasTextReader::add(const RasLine& line) {
  static constexpr Adder kAdders[] = {
      {kKindIndex<RasClientCuda>, &RasTextReader::add_cuda},
      {kKindIndex<RasCommunicatorRow>, &RasTextReader::add_communicators, true},
      {kKindIndex<RasProblem>, &RasTextReader::add_problem, true},
      {kKindIndex<RasNoAnswer>, &RasTextReader::add_no_answer},
      {kKindIndex<RasDead>, &RasTextReader::add_dead},
      {kKindIndex<RasDifference>, &RasTextReader::add_difference},
      {kKindIndex<RasErrors>, &RasTextReader::add_errors},
      {kKindIndex<RasRanks>, &RasTextReader::add_ranks},
      {kKindIndex<RasRank>, &RasTextReader::add_rank},
      {kKindIndex<RasProcess>, &RasTextReader::add_process},
      {kKindIndex<RasLateAnswers>, &RasTextReader::add_late_answers},
  };
  const Message message = parse_event(line.text, all_wordings()).message;
  if (message.kind == nullptr) return;
  if (message.kind->index == kKindIndex<RasClientVersion>) {
    return begin(line.where, read_message<RasClientVersion>(message).version);
  }
  for (const Adder& adder : kAdders) {
    if (adder.kind != message.kind->index) continue;
    if (reports_.empty() && adder.begins) begin(line.where, {});
    if (!reports_.empty()) (this->*adder.add)(message);
  }
}

void RasTextReader::begin(SourceRef where, std::string_view version) {
  if (reports_.size() == kMaxRasReports) reports_.erase(reports_.begin());
  RasReport& report = reports_.emplace_back();
  report.where = where;
  report.nccl_version = version;
  head({});
  members_ = 0;
}

void RasTextReader::add_cuda(const Message& message) {
  const auto cuda = read_message<RasClientCuda>(message);
  reports_.back().cuda_runtime = cuda.runtime;
  reports_.back().cuda_driver = cuda.driver;
}

void RasTextReader::add_communicators(const Message& message) {
  std::vector<RasCommunicators>& list = reports_.back().communicators;
  if (list.size() == kMaxRasStatements) return;
  const auto row = read_message<RasCommunicatorRow>(message);
  list.push_back({.count = row.communicators,
                  .nodes = row.nodes,
                  .ranks_per_node = std::string(row.ranks_per_node),
                  .nranks = row.nranks,
                  .status = std::string(row.status),
                  .errors = std::string(row.errors)});
}

void RasTextReader::add_problem(const Message& message) {
  const auto problem = read_message<RasProblem>(message);
  head(
      {.communicator = std::string(problem.communicator), .problem = std::string(problem.problem)});
}

void RasTextReader::add_no_answer(const Message& message) {
  const auto lacking = read_message<RasNoAnswer>(message);
  if (lacking.of.starts_with("job")) head({.problem = "INCOMPLETE"});
  heading_.what = "communicator data";
  state({}, lacking.count);
}

void RasTextReader::add_dead(const Message& message) {
  head({.problem = "DEAD", .what = "unreachable"});
  state({}, read_message<RasDead>(message).count);
}

void RasTextReader::add_difference(const Message& message) {
  heading_.what = read_message<RasDifference>(message).what;
  is_stated_ = false;
}

void RasTextReader::add_errors(const Message& message) {
  heading_.what = std::string(read_message<RasErrors>(message).what) + " error";
  is_stated_ = false;
}

void RasTextReader::add_ranks(const Message& message) {
  const auto said = read_message<RasRanks>(message);
  state(value_of(said), said.count);
}

void RasTextReader::add_rank(const Message& message) {
  const auto said = read_message<RasRank>(message);
  std::string value = value_of(said);
  if (!value.empty()) state(std::move(value), 1);
  add_member({said.rank, said.pid, std::string(said.node), std::string(said.gpu)});
}

void RasTextReader::add_process(const Message& message) {
  const auto said = read_message<RasProcess>(message);
  add_member({-1, said.pid, std::string(said.node), std::string(said.gpus)});
}

void RasTextReader::add_late_answers(const Message& message) {
  reports_.back().timeouts = read_message<RasLateAnswers>(message).count;
}

void RasTextReader::head(RasStatement heading) {
  heading_ = std::move(heading);
  is_stated_ = false;
}

/// Adds a statement about `count` ranks or processes; those that are listed below become members.
void RasTextReader::state(std::string value, int64_t count) {
  std::vector<RasStatement>& list = reports_.back().statements;
  is_stated_ = list.size() < kMaxRasStatements;
  if (!is_stated_) return;
  list.push_back(heading_);
  list.back().value = std::move(value);
  list.back().count = count;
}

void RasTextReader::add_member(RasMember member) {
  if (!is_stated_ || members_ == kMaxRasMembers) return;
  ++members_;
  reports_.back().statements.back().members.push_back(std::move(member));
}

}  // namespace

std::vector<RasReport> read_ras_text(const std::deque<RasLine>& lines) {
  RasTextReader reader;
  for (const RasLine& line : lines) reader.add(line);
  return reader.take();
}

}  // namespace ncclog
