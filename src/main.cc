// The executable: arguments in, text out, one exit status. All else is in app/.

#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "app/commands.h"
#include "base/error.h"
#include "base/text.h"

namespace {

using ncclog::Error;
using ncclog::ExitStatus;

void complain(const std::string& text) noexcept {
  try {
    ncclog::write_all(STDERR_FILENO, text);
  } catch (const std::exception&) {
    return;  // Nobody is left to tell.
  }
}

void complain_about(const Error& error) {
  const std::string where = error.where().empty() ? "" : error.where() + ": ";
  std::string text = "ncclog: " + ncclog::printable(where + error.what()) + "\n";
  if (!error.hint().empty()) text += "  hint: " + ncclog::printable(error.hint()) + "\n";
  complain(text);
}

ExitStatus run(const std::vector<std::string>& arguments) {
  ncclog::Console console = ncclog::make_console();
  const ExitStatus status = ncclog::run_command_line(arguments, console);
  ncclog::write_all(STDOUT_FILENO, console.out);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away shows as a failed write, which is not an error.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return static_cast<int>(run({argv + 1, argv + argc}));
  } catch (const Error& error) {
    complain_about(error);
  } catch (const std::bad_alloc&) {
    complain("ncclog: out of memory\n");
  } catch (const std::exception& error) {
    complain(std::string("ncclog: internal error: ") + error.what() + "\n");
  }
  return static_cast<int>(ExitStatus::CannotDo);
}
