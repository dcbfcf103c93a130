#include "app/tell_replay.h"

#include <fmt/format.h>

#include "app/options.h"
#include "app/output_file.h"
#include "app/replay_text.h"
#include "base/text.h"

namespace ncclog {

void tell_replay(const ReplayResult& result, const std::string& path, Console& console) {
  const std::string text = write_result(result);
  if (path == kStandardOutput) {
    console.out += text;
    return;
  }
  if (!path.empty()) write_output_file(path, text);
  const TextStyle style = console.style(ColorChoice::Auto);
  console.out += console.quiet ? replay_headline(result, style) : replay_text(result, style);
  if (!path.empty()) console.err += fmt::format("wrote {}\n", printable(path));
}

ExitStatus status_of(ReplayVerdictKind kind) {
  switch (kind) {
    case ReplayVerdictKind::ReproducedHypothesis:
    case ReplayVerdictKind::CleanWithoutDefect:
      return ExitStatus::Fine;
    case ReplayVerdictKind::ReproducedFault:
    case ReplayVerdictKind::NotReproduced:
      return ExitStatus::Findings;
    case ReplayVerdictKind::NotComparable:
    case ReplayVerdictKind::Inconclusive:
      return ExitStatus::Partial;
    case ReplayVerdictKind::Refused:
      break;
  }
  return ExitStatus::CannotDo;
}

}  // namespace ncclog
