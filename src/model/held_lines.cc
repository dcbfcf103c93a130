#include "model/held_lines.h"

namespace ncclog {

HeldLine& HeldLines::push(const Line& record, const Event& event, int lines) {
  HeldLine& line = read_[place(count_)];
  append(Kind::Read, record.text.size());
  line.line = record;
  line.lines = lines;
  line.spent = false;
  line.text.assign(record.text);
  line.event = moved(event, record.text, line.text);
  line.shape = 0;
  line.sign = TearSign::None;
  line.begin = 0;
  return line;
}

void HeldLines::push(const ForeignRun& run) {
  append(Kind::Run, run.text.size()).run = run;
  lines_ += run.lines - 1;
}

HeldLine& HeldLines::read(size_t i) {
  HeldLine& line = read_[place(i)];
  Entry& entry = entries_[place(i)];
  if (entry.kind == Kind::Read) return line;
  if (!entry.call.is_copy) line.text.assign(entry.call.text);
  line.line = {{}, entry.number, 0, false};
  line.lines = 1;
  line.spent = false;
  line.event = parse_event(line.text, all_wordings());
  line.shape = 0;
  line.sign = TearSign::None;
  line.begin = 0;
  entry.kind = Kind::Read;
  return line;
}

void HeldLines::set_text(HeldLine& line, std::string_view text) {
  bytes_ -= line.text.size();
  line.text.assign(text);
  bytes_ += line.text.size();
  line.event = parse_event(line.text, all_wordings());
}

size_t HeldLines::bytes(size_t i) const {
  switch (kind(i)) {
    case Kind::Read:
      return read_[place(i)].text.size();
    case Kind::Call:
      return call(i).text.size();
    case Kind::Run:
      return run(i).text.size();
  }
  return 0;
}

void HeldLines::pop() {
  bytes_ -= bytes(0);
  lines_ -= lines(0);
  oldest_ = place(1);
  --count_;
}

ForeignRun HeldLines::take_line_of_run() {
  const ForeignRun line = take_lines(entries_[oldest_].run, 1);
  bytes_ -= line.text.size();
  --lines_;
  return line;
}

void HeldLines::settle() {
  for (size_t i = 0; i < count_; ++i) {
    Entry& entry = entries_[place(i)];
    if (entry.kind == Kind::Read) continue;
    const bool is_call = entry.kind == Kind::Call;
    bool& is_copy = is_call ? entry.call.is_copy : entry.run.is_copy;
    std::string_view& text = is_call ? entry.call.text : entry.run.text;
    if (is_copy) continue;
    read_[place(i)].text.assign(text);
    text = read_[place(i)].text;
    is_copy = true;
  }
}

}  // namespace ncclog
