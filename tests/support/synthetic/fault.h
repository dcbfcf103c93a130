// What goes wrong in a synthetic job, and who did it.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "support/synthetic/program.h"

namespace ncclog::testing {

enum class Fault {
  None,
  Stop,   ///< A rank is busy outside of NCCL and never comes to a call.
  Skip,   ///< A rank leaves a call out and goes on.
  Extra,  ///< A rank makes a call that nobody else makes.
  Swap,   ///< A rank makes two calls of one communicator in the other order.
  WrongCount,
  WrongDatatype,
  WrongRoot,
  WrongOp,    ///< Another reduction, or another function.
  Inversion,  ///< A rank makes two calls of two communicators in the other order.
  Late,       ///< A rank comes after the others have given up.
  Killed,
  LostFile,      ///< The file of a rank is missing; in some of these jobs a rank stops as well.
  CutFile,       ///< The same with a file that ends early.
  CollOff,       ///< The same with a rank that does not log its collectives.
  SkipMessage,   ///< A rank leaves out a Send or a Recv and goes on.
  StopMessage,   ///< A rank is busy outside of NCCL and never comes to a Send or a Recv.
  WrongMessage,  ///< A Send or a Recv of another size than its other end.
  LostMessage,   ///< SkipMessage or StopMessage, and the file of one of both ends is missing.
};

/// All but None, in order.
std::span<const Fault> all_faults();
std::string_view name_of(Fault fault);

/// What was planted.
struct Planted {
  Fault fault = Fault::None;  ///< As asked for.
  Fault act = Fault::None;    ///< What a rank does wrong; None where only evidence is lost.
  std::vector<int> guilty;    ///< Ranks, ascending; empty where nobody does wrong.
  int group = -1;             ///< In whose sequence it happens; -1: nothing does.
  int other_group = -1;       ///< Of an inversion: whose call comes too early.
  uint64_t place = 0;         ///< The collective's place in the sequence of `group`, from 0.
  int damaged = -1;           ///< The rank whose evidence is lost; -1: none.
  int peer = -1;              ///< Of a message: the rank at its other end; -1: no message.
};

/// Changes the programs. Where a layout or a program has no place for a fault (no call with a root,
/// say), `act` is None and nothing is changed.
Planted plant(Fault fault, const Layout& layout, std::vector<Program>& programs, Seeded& seeded);

}  // namespace ncclog::testing
