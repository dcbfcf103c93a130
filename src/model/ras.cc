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
  void add(const RasLine& line) {
    const Message message = parse_event(line.text, all_wordings()).message;
    if (message.kind == nullptr) return;
    const uint16_t kind = message.kind->index;
    // People also quote from the row of a communicator or from a problem on.
    const bool begins = kind == kKindIndex<RasCommunicatorRow> || kind == kKindIndex<RasProblem>;
    if (kind == kKindIndex<RasClientVersion>) {
      begin(line.where, read_message<RasClientVersion>(message).version);
    } else if (begins && reports_.empty()) {
      begin(line.where, {});
    }
    if (reports_.empty()) return;
    take_one_of<RasClientCuda, RasCommunicatorRow, RasProblem, RasNoAnswer, RasDead, RasDifference,
                RasErrors, RasRanks, RasRank, RasProcess, RasLateAnswers>(message);
  }

  std::vector<RasReport> take() { return std::move(reports_); }

 private:
  template <typename... Kinds>
  void take_one_of(const Message& message) {
    const auto take_if = [&]<typename Kind>(const Kind*) {
      if (message.kind->index == kKindIndex<Kind>) take(read_message<Kind>(message));
    };
    (take_if(static_cast<const Kinds*>(nullptr)), ...);
  }

  void begin(SourceRef where, std::string_view version) {
    if (reports_.size() == kMaxRasReports) reports_.erase(reports_.begin());
    RasReport& report = reports_.emplace_back();
    report.where = where;
    report.nccl_version = version;
    head({});
    members_ = 0;
  }

  void take(const RasClientCuda& cuda) {
    reports_.back().cuda_runtime = cuda.runtime;
    reports_.back().cuda_driver = cuda.driver;
  }

  void take(const RasCommunicatorRow& row) {
    std::vector<RasCommunicators>& list = reports_.back().communicators;
    if (list.size() == kMaxRasStatements) return;
    list.push_back({.count = row.communicators,
                    .nodes = row.nodes,
                    .ranks_per_node = std::string(row.ranks_per_node),
                    .nranks = row.nranks,
                    .status = std::string(row.status),
                    .errors = std::string(row.errors)});
  }

  void take(const RasProblem& problem) {
    head({.communicator = std::string(problem.communicator),
          .problem = std::string(problem.problem)});
  }

  void take(const RasNoAnswer& lacking) {
    if (lacking.of.starts_with("job")) head({.problem = "INCOMPLETE"});
    heading_.what = "communicator data";
    state({}, lacking.count);
  }

  void take(const RasDead& dead) {
    head({.problem = "DEAD", .what = "unreachable"});
    state({}, dead.count);
  }

  void take(const RasDifference& difference) {
    heading_.what = difference.what;
    is_stated_ = false;
  }

  void take(const RasErrors& errors) {
    heading_.what = std::string(errors.what) + " error";
    is_stated_ = false;
  }

  void take(const RasRanks& said) { state(value_of(said), said.count); }

  void take(const RasRank& said) {
    std::string value = value_of(said);
    if (!value.empty()) state(std::move(value), 1);
    add_member({said.rank, said.pid, std::string(said.node), std::string(said.gpu)});
  }

  void take(const RasProcess& said) {
    add_member({-1, said.pid, std::string(said.node), std::string(said.gpus)});
  }

  void take(const RasLateAnswers& late) { reports_.back().timeouts = late.count; }

  void head(RasStatement heading) {
    heading_ = std::move(heading);
    is_stated_ = false;
  }

  /// Adds a statement about `count` ranks or processes; those that are listed below become members.
  void state(std::string value, int64_t count) {
    std::vector<RasStatement>& list = reports_.back().statements;
    is_stated_ = list.size() < kMaxRasStatements;
    if (!is_stated_) return;
    list.push_back(heading_);
    list.back().value = std::move(value);
    list.back().count = count;
  }

  void add_member(RasMember member) {
    if (!is_stated_ || members_ == kMaxRasMembers) return;
    ++members_;
    reports_.back().statements.back().members.push_back(std::move(member));
  }

  std::vector<RasReport> reports_;  ///< The last one is open, if there is any.
  RasStatement heading_;            ///< What the next statements are about.
  bool is_stated_ = false;          ///< The last statement is about heading_ and takes members.
  size_t members_ = 0;              ///< Of the open report.
};

}  // namespace

std::vector<RasReport> read_ras_text(const std::deque<RasLine>& lines) {
  RasTextReader reader;
  for (const RasLine& line : lines) reader.add(line);
  return reader.take();
}

}  // namespace ncclog
