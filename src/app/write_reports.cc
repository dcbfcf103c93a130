#include "app/write_reports.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "app/output_file.h"
#include "base/error.h"
#include "base/text.h"

namespace ncclog {
namespace {

bool is_console(const ReportOutput& output) { return output.path == kStandardOutput; }

std::string place_of(const ReportOutput& output) {
  return is_console(output) ? output.path : same_place(output.path);
}

}  // namespace

void check_outputs(std::span<const ReportOutput> outputs, std::span<const std::string> inputs,
                   bool prints) {
  std::set<std::string> places;
  if (prints) places.insert(kStandardOutput);
  for (const ReportOutput& output : outputs) {
    const bool is_new = places.insert(place_of(output)).second;
    if (!is_new && is_console(output)) {
      throw Error("two reports would go to standard output", fmt::format("--{}", output.kind->flag),
                  "name a file");
    }
    if (!is_new) throw Error("two reports would go to this file", output.path);
    if (!is_console(output)) check_output_file(output.path, inputs);
  }
}

void check_replay_is_kept(std::span<const ReportOutput> outputs, const std::string& result) {
  for (const ReportOutput& output : outputs) {
    if (!is_console(output)) {
      check_other_file(output.path, result, "the replay's result, which is to be read");
    }
  }
}

void write_reports(const Report& report, std::span<const ReportOutput> outputs, Console& console) {
  for (const ReportOutput& output : outputs) {
    if (is_console(output)) {
      console.out += output.kind->write(report, console.style(ColorChoice::Never));
    } else {
      write_output_file(output.path, output.kind->write(report, {}));
      console.err += fmt::format("wrote {}\n", printable(output.path));
    }
  }
}

}  // namespace ncclog
