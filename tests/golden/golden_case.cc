#include "golden/golden_case.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/text.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/text_diff.h"

namespace ncclog::testing {
namespace {

namespace fs = std::filesystem;

std::string read_if_there(const fs::path& path) {
  return fs::exists(path) ? read_file(path) : std::string();
}

/// Reports quote paths as they were given, so they are given relative to the case.
std::string fill_in(std::string word, const fs::path& folder) {
  constexpr std::string_view kSamples = "{samples}";
  size_t at = word.find(kSamples);
  if (at == std::string::npos) return word;
  fs::path samples = (source_dir() / "sample_logs").lexically_relative(folder);
  return word.replace(at, kSamples.size(), samples.generic_string());
}

/// Reports name the rulebook by its hash, which every edit of a rule changes.
std::string without_rulebook_hash(std::string text) {
  constexpr std::pair<std::string_view, char> kMarks[] = {
      {"\"rulebook\": \"", '"'}, {", rules `", '`'}, {", rules <code>", '<'}};
  for (const auto& [mark, end] : kMarks) {
    const size_t at = text.rfind(mark);
    if (at == std::string::npos) continue;
    const size_t begin = at + mark.size();
    text.replace(begin, text.find(end, begin) - begin, "…");
  }
  return text;
}

GoldenCase load_golden_case(const fs::path& folder) {
  GoldenCase golden{.folder = folder, .arguments = split_arguments(read_file(folder / "args"))};
  for (std::string& word : golden.arguments) word = fill_in(std::move(word), folder);
  return golden;
}

/// What the program does for the command line of the case.
/// Begins the line for a part that the output does not have.
const std::string kMissing = "missing: ";

Outcome outcome_of(const GoldenCase& golden) {
  Command command{.arguments = {ncclog_binary().string()}, .folder = golden.folder.string()};
  for (const auto& word : golden.arguments) command.arguments.push_back(word);
  Outcome outcome = run_command(command);
  outcome.standard_output = without_rulebook_hash(std::move(outcome.standard_output));
  return outcome;
}

/// The part of the output that the case compares.
std::string stated(const GoldenCase& golden, std::string output) {
  const std::string base = read_if_there(golden.folder / "base");
  if (!base.empty()) {
    const GoldenCase other =
        load_golden_case(golden.folder.parent_path() / base.substr(0, base.find('\n')));
    return text_diff(outcome_of(other).standard_output, output);
  }
  const std::string parts = read_if_there(golden.folder / "parts");
  return parts.empty() ? output : parts_of(output, parts);
}

/// The file that holds the expected output; its ending says what the text is.
fs::path expected_file(const GoldenCase& golden) {
  if (fs::exists(golden.folder / "base")) return golden.folder / "expected.diff";
  for (const char* ending : {"txt", "json", "md", "html", "csv", "xml"}) {
    fs::path file = golden.folder / (std::string("expected.") + ending);
    if (fs::exists(file)) return file;
  }
  const auto& arguments = golden.arguments;
  const auto asks_for = [&](std::string_view word) {
    return std::find(arguments.begin(), arguments.end(), word) != arguments.end();
  };
  if (asks_for("json")) return golden.folder / "expected.json";
  return golden.folder / (asks_for("report") ? "expected.md" : "expected.txt");
}

void write_unless_default(const fs::path& path, const std::string& text, bool is_default) {
  if (is_default) {
    fs::remove(path);
  } else {
    write_file(path, text);
  }
}

void rewrite(const GoldenCase& golden, const Outcome& outcome) {
  if (fs::exists(golden.folder / "parts") && outcome.standard_output.starts_with(kMissing)) {
    throw std::runtime_error(golden.folder.string() + ": " + outcome.standard_output);
  }
  write_file(expected_file(golden), outcome.standard_output);
  write_unless_default(golden.folder / "expected.stderr", outcome.standard_error,
                       outcome.standard_error.empty());
  write_unless_default(golden.folder / "exit_code", std::to_string(outcome.exit_code) + "\n",
                       outcome.exit_code == 0);
}

std::string section(std::string_view title, const std::string& diff) {
  return diff.empty() ? std::string() : std::string(title) + ":\n" + diff;
}

}  // namespace

std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> words;
  char quote = 0;
  bool in_word = false;
  for (char c : text) {
    bool blank = is_blank(c) || c == '\n' || c == '\r';
    if (quote == 0 && blank) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) throw std::runtime_error("open quote in: " + std::string(text));
  return words;
}

std::string parts_of(std::string_view text, std::string_view beginnings) {
  using Beginnings = std::vector<std::string_view>;
  // A page's sections hold headings and folds of their own.
  const Beginnings others = text.starts_with("<!DOCTYPE")
                                ? Beginnings{"<section ", "</section>"}
                                : Beginnings{"#", "<details>", "</details>", "  \""};
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::string parts;
  for (const std::string_view beginning : split(beginnings, '\n')) {
    if (beginning.empty()) continue;
    const size_t before = parts.size();
    bool inside = false;
    for (const std::string_view line : split(text, '\n')) {
      if (starts_with_one_of(line, others)) inside = false;
      if (line.starts_with(beginning)) inside = true;
      if (inside) parts += std::string(line) + "\n";
    }
    // First, where nobody overlooks it.
    if (parts.size() == before) parts = kMissing + std::string(beginning) + "\n" + parts;
  }
  return parts;
}

std::vector<GoldenCase> load_golden_cases(const fs::path& root) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (fs::exists(entry.path() / "args")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<GoldenCase> cases;
  for (const auto& folder : folders) cases.push_back(load_golden_case(folder));
  return cases;
}

std::string check_golden_case(const GoldenCase& golden, bool update) {
  Outcome outcome = outcome_of(golden);
  outcome.standard_output = stated(golden, std::move(outcome.standard_output));
  if (update) {
    rewrite(golden, outcome);
    return {};
  }
  // A difference that nobody wrote down is not the same as none.
  if (fs::exists(golden.folder / "base") && !fs::exists(expected_file(golden))) {
    return "no expected.diff\n";
  }
  std::string exit_code = read_if_there(golden.folder / "exit_code");
  return section("exit code", text_diff(exit_code.empty() ? "0\n" : exit_code,
                                        std::to_string(outcome.exit_code) + "\n")) +
         section("standard output",
                 text_diff(read_if_there(expected_file(golden)), outcome.standard_output)) +
         section("standard error", text_diff(read_if_there(golden.folder / "expected.stderr"),
                                             outcome.standard_error));
}

}  // namespace ncclog::testing
