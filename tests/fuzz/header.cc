// Nearly every header is read by a short way. It gives what the long way gives, to which a blank in
// front leads.

#include "log/line/header.h"

#include <fmt/format.h>

#include "fuzz/fuzz.h"
#include "log/line/prefix.h"

namespace ncclog::fuzz {
namespace {

std::string show(const Header& header) {
  return fmt::format("{} {}:{}:{} [{}] {}:{} x{} {}{} '{}' | {}", to_string(header.level),
                     header.host, header.pid, header.tid, header.cuda_dev, header.file, header.line,
                     header.repeated, header.torn, header.anchored_twice, header.unexplained,
                     header.message);
}

}  // namespace

void fuzz_header(std::string_view bytes) {
  const Header header = parse_header(bytes);
  holds_process(bytes);
  find_task_tag(bytes);
  if (!is_nccl(header) || header.host.empty()) return;
  if (header.prefix.length > 0 || !header.unexplained.empty()) return;
  require_equal(show(header), show(parse_header(" " + std::string(bytes))));
}

}  // namespace ncclog::fuzz
