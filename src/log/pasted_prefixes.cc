// Prefixes that lines get on their way into a mail, an issue, a diff or a terminal: quotes, line
// numbers, borders, bare numbers of ranks.
//
//   > > 12 | [3] node07:41:42 [3] NCCL INFO …
//
// All but quotes look like ordinary output, so they count only in front of text that begins a
// record of its own.

#include "log/prefix_forms.h"

namespace ncclog {
namespace {

/// "> ", ">> ", "> > ".
bool quote(Scanner& scan, PrefixReading&) {
  scan.blanks();
  const size_t marks = scan.take_while([](char c) { return c == '>'; }, 16).size();
  return marks > 0 && (scan.blanks() > 0 || scan.done());
}

/// "  12  ", "12 | ", "12) ", "12:" of an editor, of cat -n, of grep -n.
bool line_number(Scanner& scan, PrefixReading&) {
  int number = 0;
  scan.blanks();
  if (!scan.number(number)) return false;
  const size_t blanks = scan.blanks();
  const bool mark = scan.skip('|') || scan.skip(')') || scan.skip('.') || scan.skip(':');
  if (scan.blanks() > 0 || mark) return true;
  return blanks > 0;
}

/// "- " and "* " of a list.
bool list_item(Scanner& scan, PrefixReading&) {
  scan.blanks();
  return scan.skip("- ") || scan.skip("* ") || scan.skip("| ");
}

/// "│ " at the left of a pane of tmux.
bool border(Scanner& scan, PrefixReading&) { return scan.skip("│") && scan.blanks() > 0; }

/// "+" of a diff in front of a table's rows and of what nccl-tests comments: "+   1048576  …".
bool added_row(Scanner& scan, PrefixReading&) {
  if (!scan.skip('+')) return false;
  Scanner behind = scan;
  return behind.peek() == '#' || (behind.blanks() > 1 && is_digit(behind.peek()));
}

/// "[3] " of Intel MPI and MPICH, "[11]: " of torchrun's template.
bool bare_rank(Scanner& scan, PrefixReading& reading) {
  int rank = -1;
  if (!scan.skip('[') || !scan.number(rank) || !scan.skip(']')) return false;
  scan.skip(':');
  if (!scan.skip(' ')) return false;
  note_task(reading, rank);
  return true;
}

/// stern's "train-worker-3 pytorch ": the pod's name has a number, as replicas have.
bool stern_names(Scanner& scan, PrefixReading& reading) {
  const std::string_view pod = scan.take_while(is_host_char, kLongestPrefixName);
  if (pod.find('-') == pod.npos || pod.find_first_of("0123456789") == pod.npos) return false;
  if (!scan.skip(' ') || scan.take_while(is_host_char, kLongestPrefixName).empty()) return false;
  if (!scan.skip(' ')) return false;
  reading.prefix.host = pod;
  return true;
}

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
constexpr PrefixForm kForms[] = {
    {.first_bytes = " >", .recognise = quote},
    {.first_bytes = " 0123456789", .recognise = line_number, .needs_record = true},
    {.first_bytes = " -*|", .recognise = list_item, .needs_record = true},
    {.first_bytes = "\xE2", .recognise = border, .needs_record = true},
    {.first_bytes = "+", .recognise = added_row},
    {.first_bytes = "[", .recognise = bare_rank, .needs_record = true},
    {.first_bytes = kLetters, .recognise = stern_names, .needs_record = true, .mark = '-'},
};

}  // namespace

std::span<const PrefixForm> pasted_prefixes() { return kForms; }

}  // namespace ncclog
