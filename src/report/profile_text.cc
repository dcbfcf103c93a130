#include "report/profile_text.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

Tone tone_of(OutcomeState state) {
  switch (state) {
    case OutcomeState::Met:
      return Tone::Good;
    case OutcomeState::Broken:
      return Tone::Warning;
    case OutcomeState::Unknown:
      return Tone::Quiet;
  }
  return Tone::Plain;
}

std::string expectation_line(const CheckedExpectation& expectation, const TextStyle& style) {
  const std::string lead =
      pad(fmt::format("  {}", to_string(expectation.outcome.state)), kMargin + 1);
  std::string out = hang(lead, printable(expectation_words(expectation)), style);
  return out.replace(0, lead.size(), paint(lead, tone_of(expectation.outcome.state), style));
}

}  // namespace

std::string expectation_words(const CheckedExpectation& expectation) {
  const std::string& what = expectation.outcome.what;
  switch (expectation.outcome.state) {
    case OutcomeState::Met:
      return fmt::format("{} ({})", expectation.text, what);
    case OutcomeState::Broken:
      return fmt::format("{}, but {}", expectation.text, what);
    case OutcomeState::Unknown:
      return fmt::format("{}; {}", expectation.text, what);
  }
  return expectation.text;
}

std::string profile_text(const CheckedProfile& profile, const TextStyle& style) {
  std::string out =
      "\n" + paint("Expectations of " + printable(profile.name), Tone::Strong, style) + "\n";
  std::set<std::string> captures;
  for (const CheckedExpectation& expectation : profile.expectations) {
    out += expectation_line(expectation, style);
    if (!expectation.how_to_capture.empty()) captures.insert(expectation.how_to_capture);
  }
  for (const std::string& capture : captures) {
    out += hang("    ", "To tell what is unknown: " + printable(capture) + ".", style);
  }
  return out;
}

}  // namespace ncclog
