#include "app/shared_stream.h"

#include <exception>

#include "app/read_lines.h"
#include "log/event.h"

namespace ncclog {

SharedStream::SharedStream(UnitReader& input, const WalkedInput& name, const ReadSettings& settings)
    : name_(name), settings_(settings), lines_(input, may_start_unit) {}

void SharedStream::work(std::span<char> memory, const std::function<void()>& on_more) {
  try {
    while (!merge_.is_given_up() && read_stretch(memory, on_more)) {
    }
  } catch (...) {
    merge_.give_up(std::current_exception());
  }
}

/// False if there was none.
bool SharedStream::read_stretch(std::span<char> memory, const std::function<void()>& on_more) {
  Stretch stretch(lines_, memory);
  if (stretch.is_none()) return false;
  if (stretch.index() == 0 && !stretch.is_last() && on_more) on_more();
  if (!merge_.wait_for(stretch.index())) return false;
  merge_.put(stretch.index(), read_lines(stretch, name_, settings_));
  return true;
}

}  // namespace ncclog
