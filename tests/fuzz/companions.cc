// Any bytes as one of the files that are read beside logs: what is refused has a reason, what is
// kept is what its readers rely on.

#include "base/text.h"
#include "diagnose/calls/call_verdict.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/rank_stacks.h"
#include "diagnose/outcome/stacks_apart.h"
#include "fuzz/fuzz.h"
#include "import/import.h"
#include "input/find_inputs.h"
#include "model/derive/build_job.h"
#include "report/tables/tables.h"

namespace ncclog::fuzz {

void fuzz_sniff(std::string_view bytes) {
  sniff_compression(bytes);
  const Content content = sniff_content(bytes);
  require(!to_string(content).empty());
  require(content_note(content).empty() == is_log(content));
  require((content == Content::Empty) == bytes.empty());
}

void fuzz_ras(std::string_view bytes) {
  const auto import = import_ras_json(bytes);
  require(import.value.empty() == !import.problem.empty());
  require(import.value.size() <= kMaxRasReports);
  for (const RasReport& report : import.value) {
    for (const RasStatement& statement : report.statements) require(statement.count >= -1);
    require(report.nranks < 0 || std::cmp_equal(report.world.size(), report.nranks));
  }
}

void fuzz_inspector(std::string_view bytes) {
  const auto import = import_inspector(bytes);
  require(import.value.empty() == !import.problem.empty());
  for (const InspectedRank& rank : import.value) require(rank.calls.size() <= rank.total);
}

void fuzz_topology(std::string_view bytes) {
  const auto import = import_topology(bytes);
  const SystemTopology& system = import.value;
  const auto count = static_cast<int>(system.nodes.size());
  const auto is_node = [count](int place) { return place >= 0 && place < count; };
  for (int i = 0; i < count; ++i) {
    int above = system.nodes[static_cast<size_t>(i)].parent;
    for (int steps = 0; above != -1; ++steps) {
      require(is_node(above) && steps < count);
      above = system.nodes[static_cast<size_t>(above)].parent;
    }
  }
  for (const SystemLink& link : system.links) require(is_node(link.from) && is_node(link.to));
  for (const SystemPath& path : system.paths) require(is_node(path.from) && is_node(path.to));
}

void fuzz_nccl_tests(std::string_view bytes) {
  const auto import = import_nccl_tests(bytes);
  require(import.problem.empty() || import.value.rows.empty());
}

void fuzz_counters(std::string_view bytes) {
  const auto import = import_counters(bytes, 1, "before/counters.txt");
  require(import.value.empty() == !import.problem.empty());
  for (const PortCounter& counter : import.value) {
    require(counter.value >= 0 && counter.port >= -1 && !counter.name.empty());
    require(counter.where.unit == 1 && counter.where.line > 0);
  }
  // The bytes as the path of a file, and as what stands in it.
  const auto file = import_counter_file("7", 1, bytes);
  require(!file || (file->value == 7 && !file->device.empty()));
  import_counter_file(bytes, 1, "sys/class/infiniband/mlx5_1/ports/1/counters/link_downed");
}

void fuzz_lspci(std::string_view bytes) {
  const auto import = import_lspci(bytes, 1);
  for (const PciListing& listing : import.value) {
    require(!listing.devices.empty());
    for (const PciDevice& device : listing.devices) require(device.where.unit == 1);
  }
}

void fuzz_stacks(std::string_view bytes) {
  import_py_spy(bytes);
  const Job job = job_from_text(bytes);
  for (const RankStacks& one : rank_stacks(job)) {
    require(one.refused || !one.stacks.empty());
    for (const MainStack& stack : one.stacks) {
      require(stack.own_place < stack.frames.size() && stack.telling_place < stack.frames.size());
      require(!stack.words.empty());
    }
  }
  require(stacks_summary(job).empty() == rank_stacks(job).empty());
  stacks_table(job);
}

void fuzz_proxy_dumps(std::string_view bytes) {
  const Job job = job_from_text(bytes);
  const FactValue waits = find_fact("job.proxy_waits")->ask(job, {});
  const FactValue stuck = find_fact("job.proxy_stuck")->ask(job, {});
  require(!is_yes(waits) || !is_yes(stuck));
  require(is_yes(waits) == !named_ranks(job, waits).empty());
  for (const int rank : named_ranks(job, waits)) require(rank >= 0);
  for (const FactValue& value : {waits, stuck}) {
    require(is_yes(value) == !value.evidence.empty());
    require(to_valid_utf8(value.what) == value.what);
  }
}

}  // namespace ncclog::fuzz
