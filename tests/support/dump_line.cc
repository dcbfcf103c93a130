#include "support/dump_line.h"

#include <fmt/format.h>

#include "base/text.h"

namespace ncclog::testing {

DumpLine& DumpLine::add(int64_t seq, int64_t elements, std::string_view op,
                        std::string_view state) {
  entries_.push_back(fmt::format(
      R"("pg_id":0,"process_group":["0","default_pg"],"collective_seq_id":{0},"op_id":{0},)"
      R"("profiling_name":"nccl:{1}","input_sizes":[[{2}]],"output_sizes":[[{2}]],)"
      R"("input_dtypes":["Float"],"state":"{3}","time_created_ns":{4}000000000)",
      seq, op, elements, state, start_s_ + seq % 1000000));
  return *this;
}

DumpLine& DumpLine::done(int64_t seq, int64_t elements, std::string_view op) {
  return add(seq, elements, op, "completed");
}

DumpLine& DumpLine::open(int64_t seq, int64_t elements, std::string_view op) {
  return add(seq, elements, op, "scheduled");
}

DumpLine& DumpLine::with(std::string_view members) {
  entries_.back() += members;
  return *this;
}

DumpLine& DumpLine::later_s(int64_t seconds) {
  start_s_ += seconds;
  return *this;
}

DumpLine& DumpLine::status(std::string_view members) {
  status_ = members;
  return *this;
}

std::string DumpLine::text() const {
  std::vector<std::string> ranks;
  for (int rank = 0; rank < world_; ++rank) ranks.push_back(fmt::format("{}", rank));
  std::vector<std::string> entries;
  for (const std::string& entry : entries_) entries.push_back("{" + entry + "}");
  return fmt::format(
      "{{\"version\":\"2.4\",\"pg_config\":{{\"0\":{{\"name\":\"0\",\"desc\":\"default_pg\","
      "\"ranks\":\"[{}]\"}}}}{},\"entries\":[{}]}}\n",
      join(ranks, ", "), status_, join(entries, ","));
}

}  // namespace ncclog::testing
