#include "app/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {
namespace {

constexpr int kMaxColumns = 1000;
constexpr size_t kPassedOnAtOnce = size_t{64} << 10;  ///< Bytes; fewer make too many writes.

std::string_view environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

int terminal_columns() {
  const auto wanted = parse_int(environment_value("COLUMNS"));
  if (wanted && *wanted > 0 && *wanted <= kMaxColumns) return static_cast<int>(*wanted);
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return Console{}.columns;
}

}  // namespace

bool Console::pass_on() {
  if (!write || out.size() < kPassedOnAtOnce) return true;
  const bool wanted = write(out);
  out.clear();
  return wanted;
}

TextStyle Console::style(ColorChoice color) const {
  const bool colour =
      color == ColorChoice::Always || (color == ColorChoice::Auto && is_terminal && !no_color);
  return {.width = columns, .colour = colour};
}

Console make_console() {
  Console console;
  console.is_terminal = isatty(STDOUT_FILENO) == 1;
  if (console.is_terminal) console.columns = terminal_columns();
  console.no_color = !environment_value("NO_COLOR").empty();
  return console;
}

std::string error_text(std::string_view where, std::string_view what, std::string_view hint) {
  std::string text = "ncclog: ";
  if (!where.empty()) text += printable(where) + ": ";
  text += printable(what) + "\n";
  if (!hint.empty()) text += "  hint: " + printable(hint) + "\n";
  return text;
}

bool write_all(int descriptor, std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno != EINTR) {
      throw Error(std::string("cannot write: ") + std::strerror(errno), std::string(name),
                  "free some space there, or write somewhere else");
    }
  }
  return true;
}

}  // namespace ncclog
