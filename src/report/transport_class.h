// How two ranks reach each other, in the few classes that a drawing can tell apart.
//
//   "P2P/CUMEM" → P2P, letter P        "NET/Socket/0" → Socket, letter T
//   "SHM/direct/direct" → SHM, S       "NET/IB/3/GDRDMA" → IB, I

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ncclog {

struct PathParts;  // diagnose/edges.h

enum class TransportClass : uint8_t { P2P, SHM, IB, Socket, OtherNet, Other };

/// What is written about a class. `letter` is its own, so that nobody has to tell colours apart.
struct TransportClassRow {
  TransportClass value;
  char letter;
  std::string_view name;    ///< "NET/IB".
  std::string_view help;    ///< "RDMA network".
  std::string_view css;     ///< Class in the style sheet of pages and drawings.
  std::string_view colour;  ///< Of lines in DOT, where there is no style sheet.
};

/// All classes, indexed by value; valid for the whole program.
std::span<const TransportClassRow> transport_classes();

const TransportClassRow& row_of(TransportClass value);

TransportClass transport_class(const PathParts& path);

}  // namespace ncclog
