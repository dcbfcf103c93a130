// How fast do the GPUs of a host copy to each other, with peer-to-peer access and without?
//
//   Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
//      D\D     0      1      2
//        0 912.14  19.98  22.21
//        1  20.43 921.23  22.14
//        2  22.16  22.44 920.74
//   Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
//      …
//       → job.p2p_matrix = yes, "10.1-11.0 GB/s with P2P and 20.0-22.4 without between 3 GPUs"
//         job.p2p_slower = yes, "10.1-11.0 GB/s with P2P and 20.0-22.4 without, on all pairs of 3 GPUs"
//
// p2pBandwidthLatencyTest of NVIDIA/cuda-samples prints it. The diagonal is a GPU's own memory. Without
// P2P the driver copies through host memory, which a working P2P path is never much slower than.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// Copies from each GPU to each other one, in one direction at a time.
struct CopyMatrix {
  bool with_p2p = false;
  std::vector<std::vector<double>> rows;  ///< GB/s, by GPU and GPU; square once it is whole.
  Evidence title;
  Evidence first_row;

  bool is_whole() const {
    return rows.size() > 1 &&
           std::ranges::all_of(rows, [&](const auto& row) { return row.size() == rows.size(); });
  }
};

/// The cells behind the number of the row, which is to be `gpu`; empty: it is another row.
std::vector<double> row_of(std::string_view text, size_t gpu) {
  constexpr double kMostRate = 1e5;  // GB/s; no link is near it.
  std::vector<double> cells;
  const std::vector<std::string_view> words = split_blanks(text);
  if (words.empty() || words.front() != std::to_string(gpu)) return {};
  for (size_t i = 1; i < words.size(); ++i) {
    const auto number = parse_decimal(words[i]);
    if (!number || *number <= 0 || *number > kMostRate) return {};
    cells.push_back(*number);
  }
  return cells;
}

/// The matrices of one direction that a log prints, in order; cut ones among them.
std::vector<CopyMatrix> copy_matrices(const SpeakerLog& log) {
  std::vector<CopyMatrix> all;
  bool is_open = false;
  for (const Record record : log.benchmarks->kept) {
    if (record.kind() == kKindIndex<P2pMatrix>) {
      const Message message = parse_message(record);
      const P2pMatrix title = read_message<P2pMatrix>(message);
      is_open = title.direction == "Unidirectional";
      if (is_open) all.push_back({title.state == "Enabled", {}, evidence_of(record), {}});
    } else if (is_open && record.kind() == kKindIndex<BandwidthRow>) {
      CopyMatrix& matrix = all.back();
      const Message message = parse_message(record);
      const std::vector<double> row =
          row_of(read_message<BandwidthRow>(message).cells, matrix.rows.size());
      is_open = !row.empty();
      if (!is_open) continue;
      if (matrix.rows.empty()) matrix.first_row = evidence_of(record);
      matrix.rows.push_back(row);
    }
  }
  return all;
}

/// What a host's GPUs reach with P2P and without, by one test; of the former the slower way, as writes
/// may be.
struct CopyRates {
  CopyMatrix with;
  CopyMatrix without;
};

/// Of copies between two GPUs: the least and the most.
std::pair<double, double> range_of(const CopyMatrix& matrix) {
  std::vector<double> cells;
  for (size_t a = 0; a < matrix.rows.size(); ++a) {
    for (size_t b = 0; b < matrix.rows.size(); ++b) {
      if (a != b) cells.push_back(matrix.rows[a][b]);
    }
  }
  const auto [least, most] = std::ranges::minmax(cells);
  return {least, most};
}

/// The test prints what it reaches without P2P first, and once or twice what it reaches with it.
std::vector<CopyRates> copy_rates(const Job& job) {
  std::vector<CopyRates> tests;
  for (const SpeakerLog& log : job.logs) {
    const CopyMatrix* without = nullptr;
    bool is_known = false;  // That test has an entry.
    const std::vector<CopyMatrix> matrices = copy_matrices(log);
    for (const CopyMatrix& matrix : matrices) {
      if (!matrix.with_p2p || !matrix.is_whole()) {
        without = matrix.is_whole() ? &matrix : nullptr;
        is_known = false;
      } else if (without != nullptr && without->rows.size() == matrix.rows.size()) {
        if (!is_known) {
          tests.push_back({matrix, *without});
        } else if (range_of(matrix).second < range_of(tests.back().with).second) {
          tests.back().with = matrix;
        }
        is_known = true;
      }
    }
  }
  return tests;
}

/// Three digits: "9.87", "11.0", "395".
std::string rate_text(double rate) {
  return fmt::format("{:.{}f}", rate, rate < 10 ? 2 : rate < 100 ? 1 : 0);
}

/// "10.1-11.0 GB/s with P2P and 20.0-22.4 without".
std::string rates_words(const CopyRates& rates) {
  const auto range = [](const CopyMatrix& matrix) {
    const auto [least, most] = range_of(matrix);
    const std::string low = rate_text(least);
    const std::string high = rate_text(most);
    return low == high ? low : fmt::format("{}-{}", low, high);
  };
  return fmt::format("{} GB/s with P2P and {} without", range(rates.with), range(rates.without));
}

void quote(const CopyRates& rates, FactValue& value) {
  for (const CopyMatrix* matrix : {&rates.without, &rates.with}) {
    value.evidence.push_back(matrix->title);
    value.evidence.push_back(matrix->first_row);
  }
}

FactValue p2p_matrix(const Job& job, const Instance&) {
  const std::vector<CopyRates> hosts = copy_rates(job);
  if (hosts.empty()) return unknown();
  FactValue value = yes(fmt::format("{} between {} GPUs", rates_words(hosts.front()),
                                    hosts.front().with.rows.size()));
  quote(hosts.front(), value);
  return value;
}

/// Some pairs copy much slower with P2P than without.
FactValue p2p_slower(const Job& job, const Instance&) {
  constexpr double kMuchSlower = 0.75;
  const std::vector<CopyRates> hosts = copy_rates(job);
  if (hosts.empty()) return unknown();
  for (const CopyRates& rates : hosts) {
    std::vector<std::string> pairs;
    const size_t gpus = rates.with.rows.size();
    for (size_t a = 0; a < gpus; ++a) {
      for (size_t b = 0; b < gpus; ++b) {
        if (a != b && rates.with.rows[a][b] < kMuchSlower * rates.without.rows[a][b])
          pairs.push_back(fmt::format("{} to {}", a, b));
      }
    }
    if (pairs.empty()) continue;
    const std::string where = pairs.size() == gpus * (gpus - 1)
                                  ? fmt::format("all pairs of {} GPUs", gpus)
                                  : "GPUs " + few_of(pairs, kMostNamed, ", ");
    FactValue value = yes(fmt::format("{}, on {}", rates_words(rates), where));
    quote(rates, value);
    return value;
  }
  return no();
}

constexpr std::array kP2pMatrixFacts = {
    // Copies between the GPUs of a host were measured with P2P and without: how fast.
    job_fact("job.p2p_matrix", p2p_matrix),
    // With P2P they are much slower: on which pairs.
    job_fact("job.p2p_slower", p2p_slower),
};

}  // namespace

std::span<const Fact> p2p_matrix_facts() { return kP2pMatrixFacts; }

}  // namespace ncclog
