#include <fmt/format.h>

#include <algorithm>

#include "import/import.h"

namespace ncclog {

Imported<std::vector<std::string>> import_py_spy(std::string_view bytes) {
  constexpr size_t kMostFrames = 65536;
  Imported<std::vector<std::string>> import;
  const ParsedDocument document = read_json(bytes);
  import.problem = document.problem;
  int64_t process = -1;
  for (const auto& thread : as_list(document.value)) {
    const auto pid = whole_number(member(thread, "pid"));
    if (pid && *pid >= 0 && *pid != process) {
      process = *pid;
      const auto& command = member(member(thread, "process_info"), "command_line");
      import.value.push_back(fmt::format("Process {}: {}", process, text_of(command)));
    }
    const auto& own_id = member(thread, "os_thread_id");
    const auto id = whole_number(own_id.is_null() ? member(thread, "thread_id") : own_id);
    import.value.push_back(fmt::format("Thread {} ({}): \"{}\"",
                                       std::max<int64_t>(id.value_or(0), 0),
                                       truth(member(thread, "active")) == true ? "active" : "idle",
                                       text_of(member(thread, "thread_name"))));
    for (const auto& frame : as_list(member(thread, "frames"))) {
      if (import.value.size() >= kMostFrames) return import;
      const int line = small_number(member(frame, "line"));
      const std::string_view file = text_of(member(frame, "filename"));
      import.value.push_back(
          line > 0 ? fmt::format("    {} ({}:{})", text_of(member(frame, "name")), file, line)
                   : fmt::format("    {} ({})", text_of(member(frame, "name")),
                                 file.substr(file.rfind('/') + 1)));
    }
  }
  if (import.problem.empty() && import.value.empty()) import.problem = "there is no thread in it";
  return import;
}

}  // namespace ncclog
