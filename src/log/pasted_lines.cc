#include "log/pasted_lines.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"
#include "log/foreign_needs.h"
#include "log/row_columns.h"
#include "log/scanner.h"

namespace ncclog {
namespace {

template <size_t N>
bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// "GPU3" → "3"; empty for anything else.
std::string_view gpu_number(std::string_view cell) {
  if (!cell.starts_with("GPU") || !parse_int(cell.substr(3))) return {};
  return cell.substr(3);
}

bool is_p2p_state(std::string_view cell) {
  constexpr std::string_view kStates[] = {"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"};
  return is_one_of(cell, kStates);
}

bool is_link(std::string_view cell) {
  constexpr std::string_view kLinks[] = {"PIX", "PXB", "PHB", "NODE", "SYS", "SOC", "PSB"};
  return is_one_of(cell, kLinks) || (cell.starts_with("NV") && parse_int(cell.substr(2)));
}

/// Sets gpu and cells from a matrix row with at least one cell that is `known`; the row's own cell
/// is "X". Cells from the first unknown column on (affinities) do not belong to the matrix.
bool take_matrix_row(std::string_view text, bool (*known)(std::string_view), Message& message) {
  if (!text.starts_with("GPU")) return false;
  const Columns row = columns_of(text);
  const std::string_view gpu = gpu_number(row[0]);
  if (gpu.empty()) return false;
  size_t end = 1;
  bool any = false;
  for (; end < row.count && (row[end] == "X" || known(row[end])); ++end) any |= row[end] != "X";
  if (!any) return false;
  message.set("gpu", gpu);
  const char* first = row[1].data();
  const char* last = row[end - 1].data() + row[end - 1].size();
  message.set("cells", {first, static_cast<size_t>(last - first)});
  return true;
}

/// "ulimit -l' 8192": the answer behind the command that asked for it.
std::string_view memlock_answer(std::string_view text) {
  if (text.empty() || !(is_digit(text.back()) || text.back() == 'd')) return {};
  const size_t at = text.find(kMemlockQuestion[0]);
  if (at == text.npos) return {};
  std::string_view rest = text.substr(at + kMemlockQuestion[0].size());
  while (!rest.empty() && (rest.front() == '\'' || rest.front() == '"')) rest.remove_prefix(1);
  rest = trim(rest);
  return rest == "unlimited" || parse_int(rest) ? rest : std::string_view{};
}

bool is_gid(std::string_view cell) {
  return cell.size() >= 15 && std::count(cell.begin(), cell.end(), ':') == 7 &&
         std::all_of(cell.begin(), cell.end(), [](char c) { return is_hex_digit(c) || c == ':'; });
}

/// Takes a prompt off the start; false if there is none.
bool skip_prompt(Scanner& scan) {
  if (scan.skip("$ ")) return true;
  std::string_view inside;
  if (scan.skip('[')) {
    if (!scan.until(']', inside, 80) || inside.find_first_of(" @") == inside.npos) return false;
  } else {
    if (scan.peek() == '(' && scan.until(')', inside, 60)) scan.skip(' ');
    const size_t at =
        scan.take_while([](char c) { return is_word(c) || c == '-' || c == '.'; }).size();
    if (at == 0 || !scan.skip('@')) return false;
    const std::string_view place =
        scan.take_while([](char c) { return !is_blank(c) && c != '$' && c != '#'; });
    if (place.find(':') == place.npos) return false;
  }
  return (scan.skip('$') || scan.skip('#')) && scan.skip(' ');
}

/// "8" or "4-8".
bool is_count_or_range(std::string_view cell) {
  const size_t dash = std::min(cell.find('-'), cell.size());
  const bool has_end = dash == cell.size() || parse_int(cell.substr(dash + 1)).has_value();
  return parse_int(cell.substr(0, dash)) && has_end;
}

/// "OK" or a list of what is wrong: "INCOMPLETE,MISMATCH".
bool is_ras_errors(std::string_view cell) {
  constexpr std::string_view kErrors[] = {"OK", "INCOMPLETE", "ERROR", "MISMATCH"};
  for (size_t begin = 0; begin <= cell.size();) {
    const size_t end = std::min(cell.find(',', begin), cell.size());
    if (!is_one_of(cell.substr(begin, end - begin), kErrors)) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

bool recognise_ras_communicator_row(std::string_view text, Message& message) {
  constexpr std::string_view kFields[] = {"group",  "communicators",  "nodes",  "ranks_per_node",
                                          "nranks", "ranks_in_group", "status", "errors"};
  constexpr std::string_view kStatuses[] = {"NOCOMM", "INIT", "RUNNING", "FINALIZE", "ABORT"};
  if (text.empty() || !is_digit(text.front()) || is_digit(text.back())) return false;
  const Columns row = columns_of(text);
  if (row.count != std::size(kFields)) return false;
  if (!is_one_of(row[6], kStatuses) || !is_ras_errors(row[7])) return false;
  for (size_t i = 0; i < 6; ++i) {
    if (!is_count_or_range(row[i])) return false;
  }
  for (size_t i = 0; i < row.count; ++i) message.set(kFields[i], row[i]);
  return true;
}

bool recognise_shm_usage(std::string_view text, Message& message) {
  if (!text.ends_with(kShmMount[0])) return false;
  const Columns row = columns_of(text);
  if (row.count != 6 || row[5] != kShmMount[0] || !row[4].ends_with('%')) return false;
  message.set("size", row[1]);
  message.set("used", row[2]);
  message.set("available", row[3]);
  message.set("percent", row[4].substr(0, row[4].size() - 1));
  message.set("mount", row[5]);
  return true;
}

bool recognise_memlock_answer(std::string_view text, Message& message) {
  const std::string_view answer = memlock_answer(text);
  if (!answer.empty()) message.set("limit", answer);
  return !answer.empty();
}

bool recognise_memlock_row(std::string_view text, Message& message) {
  const Columns row = columns_of(text.substr(0, 120));
  if (row[1] != "locked" || row[2] != "memory") return false;
  const bool in_kbytes = row[3] == "(kbytes," && row[4] == "-l)";
  const std::string_view limit = in_kbytes ? row[5] : row[3];
  if (limit != "unlimited" && !parse_int(limit)) return false;
  message.set("limit", limit);
  message.set("unit", in_kbytes ? row[3].substr(1, 6) : row[5]);
  return true;
}

bool recognise_p2p_row(std::string_view text, Message& message) {
  return take_matrix_row(text, is_p2p_state, message);
}

bool recognise_topo_row(std::string_view text, Message& message) {
  return take_matrix_row(text, is_link, message);
}

bool recognise_gid_row(std::string_view text, Message& message) {
  Scanner start(text);
  int number = 0;
  start.take_while([](char c) { return !is_blank(c); });
  for (int i = 0; i < 2; ++i) {
    if (start.blanks() == 0 || !start.number(number)) return false;
  }
  const Columns row = columns_of(text.substr(0, 200));
  if (row.count < 5 || !is_gid(row[3])) return false;
  const size_t version = row[4] == "v1" || row[4] == "v2" ? 4 : 5;
  if (row[version] != "v1" && row[version] != "v2") return false;
  message.set("device", row[0]);
  message.set("port", row[1]);
  message.set("index", row[2]);
  message.set("gid", row[3]);
  if (version == 5) message.set("address", row[4]);
  message.set("version", row[version]);
  message.set("interface", row[version + 1]);
  return true;
}

bool recognise_shell_command(std::string_view text, Message& message) {
  Scanner scan(text);
  if (!skip_prompt(scan) || trim(scan.rest()).empty() || !memlock_answer(text).empty())
    return false;
  message.set("command", trim(scan.rest()));
  return true;
}

}  // namespace ncclog
