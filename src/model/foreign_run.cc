#include "model/foreign_run.h"

#include <cstring>

namespace ncclog {

ForeignRun take_lines(ForeignRun& run, uint64_t lines) {
  ForeignRun taken{run.text, run.number, lines, 0, run.is_copy};
  size_t end = 0;
  for (uint64_t line = 0; line < lines; ++line) {
    const size_t next = run.text.find('\n', end);
    taken.empty += next == end ? 1 : 0;
    end = next + 1;
  }
  taken.text = run.text.substr(0, end);
  run.text.remove_prefix(end);
  run.number += lines;
  run.lines -= lines;
  run.empty -= taken.empty;
  return taken;
}

ForeignRun take_last_lines(ForeignRun& run, uint64_t lines) {
  ForeignRun taken{{}, run.number + run.lines - lines, lines, 0, run.is_copy};
  size_t begin = run.text.size();
  for (uint64_t line = 0; line < lines; ++line) {
    const void* end = begin < 2 ? nullptr : ::memrchr(run.text.data(), '\n', begin - 1);
    const size_t start =
        end == nullptr ? 0
                       : static_cast<size_t>(static_cast<const char*>(end) - run.text.data()) + 1;
    taken.empty += begin - start == 1 ? 1 : 0;
    begin = start;
  }
  taken.text = run.text.substr(begin);
  run.text.remove_suffix(taken.text.size());
  run.lines -= lines;
  run.empty -= taken.empty;
  return taken;
}

}  // namespace ncclog
