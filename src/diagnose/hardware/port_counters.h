#pragma once

#include <string_view>

namespace ncclog {

/// A counter, or a state, of which port_counters.table says something; its name as
/// PortCounter::name has it.
bool tells_of_faults(std::string_view name);

}  // namespace ncclog
