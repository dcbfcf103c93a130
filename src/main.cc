// The executable: arguments in, text out, one exit status. All else is in app/.

#include <cxxabi.h>
#include <execinfo.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "app/command_line.h"
#include "app/read/progress.h"
#include "base/error.h"
#include "base/leftovers.h"

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

/// What is thrown where nothing may be thrown, in a destructor or where a thread begins, is mostly want
/// of memory; where there is not even enough to throw, nothing is being thrown.
[[noreturn]] void terminate() noexcept {
  const std::type_info* thrown = abi::__cxa_current_exception_type();
  if (thrown == nullptr || *thrown == typeid(std::bad_alloc) ||
      *thrown == typeid(std::bad_array_new_length))
    ncclog::end_without_memory();
  ncclog::remove_leftovers();
  std::abort();
}

[[noreturn]] void run(const std::vector<std::string>& arguments) {
  ncclog::Console console = ncclog::make_console();
  console.draws_progress = ncclog::ProgressLine::is_possible();
  console.write = [](std::string_view text) { return ncclog::write_all(STDOUT_FILENO, text); };
  const ExitStatus status = ncclog::run_command_line(arguments, console);
  ncclog::write_all(STDOUT_FILENO, console.out);
  complain(console.err);
  // Not returned from: what the console keeps is not taken apart.
  std::exit(static_cast<int>(status));
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away shows as a failed write, which is not an error.
  std::signal(SIGPIPE, SIG_IGN);
  std::set_terminate(terminate);
  // What is thrown through a function of the C library (std::call_once) needs libgcc, which is found at
  // the first use: without memory that is too late.
  void* frame = nullptr;
  backtrace(&frame, 1);
  ncclog::remove_leftovers_at_signals();
  try {
    run({argv + 1, argv + argc});
  } catch (const Error& error) {
    complain(ncclog::error_text(error.where(), error.what(), error.hint()));
  } catch (const std::bad_alloc&) {
    ncclog::end_without_memory();
  } catch (const std::exception& error) {
    complain(ncclog::error_text("internal error", error.what(), ""));
  }
  return static_cast<int>(ExitStatus::CannotDo);
}
