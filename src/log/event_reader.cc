#include "log/event_reader.h"

#include <utility>

#include "log/prefix.h"

namespace ncclog {

EventReader::EventReader(Receiver receive)
    : unwrapper_([this](const Line& line, int lines) { joiner_.add(line, lines); }),
      joiner_([this](const Line& record, int lines) { messages_.add(record, lines); }),
      messages_(all_wordings(), std::move(receive)) {}

void EventReader::add(const Line& line) {
  Line plain = line;
  plain.text = strip_ansi(line.text, plain_);
  if (unwrapper_.concerns(plain.text)) return unwrapper_.add(plain);
  joiner_.add(plain);
}

void EventReader::finish() {
  unwrapper_.finish();
  joiner_.finish();
  messages_.finish();
}

}  // namespace ncclog
