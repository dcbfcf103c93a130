#include "log/prefix.h"
namespace ncclog {
Prefix parse_prefix(std::string_view) { return {}; }
std::string_view strip_ansi(std::string_view line, std::string &) {
  return line;
}
} // namespace ncclog
