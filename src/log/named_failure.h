// What failed, in the words of a closed list, whoever prints them?
//
//   node0: Test CUDA failure common.cu:893 'no CUDA-capable device is d…'    cudaErrorNoDevice
//   UCX  ERROR failed to insert region 0x7f: Invalid parameter               UCS_ERR_INVALID_PARAM
//   connect to 10.0.0.1 returned Connection refused, retrying (21/34)        none: it goes on
//   loaded 12 files, no error                                                none
//
// CUDA, the C library, libibverbs, MPI and the like name what went wrong by a fixed set of
// identifiers and texts, and every program that meets one repeats it. So a cause is known by these
// words, not by the line that carries them. The lists are the tables in log/failures/; a new name
// is a row there.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// What it means that something failed so.
enum class FailureSort {
  Cause,        ///< It explains why what stands around it failed.
  Consequence,  ///< It says that something failed before or elsewhere, as "Broken pipe" does.
  Harmless,     ///< Healthy programs print it, too.
};

/// A row of a list. All texts are constants.
struct NamedFailure {
  std::string_view names;  ///< Identifiers, with '|' between them; empty: it has none.
  /// As the library's function for error texts gives it; empty: there is none. '~' in front: other
  /// lines hold it as well, so it counts only beside a word that tells its library.
  std::string_view text;
  std::string_view word;     ///< For `sort`: "cause", "consequence", "harmless".
  std::string_view finding;  ///< The rule about it; empty: none but that for all, failure-named.
  std::string_view meaning;  ///< Goes on after the text, without a full stop; empty: none.
  std::string_view list;     ///< "cuda": which table it is of.
  FailureSort sort = FailureSort::Cause;
};

/// The failure that a line reports by name, the most telling one where it holds several: a cause
/// before a consequence, the longer words before the shorter. nullptr: none, or the line says that
/// it is tried again, that it is no error, or that it is only information. Rows that are harmless
/// are never returned. `words`, if asked for, is where the line has them. Pure; any number of threads
/// may ask.
const NamedFailure* named_failure_in(std::string_view line, std::string_view* words = nullptr);

/// The text without its mark; where there is none, the first name.
std::string_view words_of(const NamedFailure& failure);

/// Its first name; empty where it has none, or no text besides.
std::string_view name_of(const NamedFailure& failure);

/// One of these stands in every line in which named_failure_in finds something.
const std::vector<std::string>& named_failure_needles();

/// All rows, list by list; valid for the whole program.
const std::vector<NamedFailure>& named_failures();

}  // namespace ncclog
