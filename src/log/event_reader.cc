#include "log/event_reader.h"

#include <utility>

#include "log/prefix.h"

namespace ncclog {

EventReader::EventReader(Receiver receive)
    : receive_(std::move(receive)),
      wordings_(all_wordings()),
      joiner_([this](const Line& record, int lines) {
        receive_(record, parse_event(record.text, wordings_), lines);
      }) {}

void EventReader::add(const Line& line) {
  Line plain = line;
  plain.text = strip_ansi(line.text, plain_);
  joiner_.add(plain);
}

void EventReader::finish() { joiner_.finish(); }

}  // namespace ncclog
