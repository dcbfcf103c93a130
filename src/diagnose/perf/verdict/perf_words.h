// What is said of a verdict, as perf_words.table has it.
//
//   try  no-gdr  Load nvidia_peermem or use DMA-BUF …
//
// A sentence belongs to a kind and to what it is about: a cause, a trap, what a log lacks.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// Figures and settings that stand for "{name}" in a sentence.
using PerfFigures = std::map<std::string_view, std::string>;

/// All sentences of that kind ("cause", "try", "not", "capture", "note") about `of`, in the table's
/// order. What `figures` lack stays empty.
std::vector<std::string> perf_words(std::string_view kind, std::string_view of,
                                    const PerfFigures& figures = {});

/// "487", "92.2", "2.84": GB/s with three digits.
std::string bandwidth_text(double value);

/// "2 GiB", "704.6 MB": whole where a power of two names it.
std::string bytes_text(int64_t bytes);

}  // namespace ncclog
