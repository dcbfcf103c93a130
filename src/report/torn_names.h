// What is left of a name where its line was torn, and whose name is it?
//
//   Channel 00/0 : 0[0] -> 1gpu-n4                 the front of gpu-n41, where the line ends
//   u-n42:414:414 [0] NCCL INFO Using eth0:10.12   the back of gpu-n42, where the line begins
//   gpu-n41:313:3gpu-n4via NET/IB/0                six bytes with a digit: wherever they stand
//
// Processes that write into one file cut each other's lines at any byte, and the pieces need not
// stand beside each other. A piece counts from kShortestPart bytes on, and only if it identifies
// somebody: "gpu-" and "node" do not. A name begins at the front of a word and ends at the back of
// one, so fronts are looked for where words begin, backs where they end; between letters and a
// number, too.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/known_names.h"

namespace ncclog {

/// A piece of a name in a line.
struct TornPart {
  size_t begin = 0;
  size_t length = 0;
  bool is_front = true;          ///< Else the back.
  size_t whole = 0;              ///< Bytes of the whole name.
  std::string_view replacement;  ///< Of the whole name; owned by TornNames.

  /// What replaces this piece, so that front and back of one name make its whole replacement.
  std::string_view replacement_part() const;
};

class TornNames {
 public:
  static constexpr size_t kShortestPart = 4;

  /// Adds a name and its replacement; shorter ones than kShortestPart + 1 have no pieces.
  void add(std::string_view name, std::string_view replacement);

  /// To be called once, after the last add.
  void finish();

  /// The pieces in a line without its line end, in order; they may overlap.
  std::vector<TornPart> find(std::string_view line, const OrdinaryWords& ordinary) const;

 private:
  using Row = std::pair<std::string, std::string>;  ///< A name in lower case, its replacement.

  void find_front(std::string_view line, size_t begin, const OrdinaryWords& ordinary,
                  std::vector<TornPart>& parts) const;
  void find_back(std::string_view line, size_t end, const OrdinaryWords& ordinary,
                 std::vector<TornPart>& parts) const;

  std::vector<Row> rows_;      ///< Sorted by name.
  std::vector<Row> reversed_;  ///< Sorted by the name read backwards, which is what it holds.
};

}  // namespace ncclog
