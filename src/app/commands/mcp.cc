// ncclog mcp: commands that only read, as tools of a Model Context Protocol server over stdio.
//
//   → {"jsonrpc":"2.0","id":7,"method":"tools/call",
//      "params":{"name":"show","arguments":{"table":"ranks","paths":["logs/"]}}}
//   = ncclog show --format=text -- ranks logs/
//   ← {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"rank  host …"}],"isError":false}}
//
// A tool is a row below; its arguments are those of the command's rows (app/command_table.h), so that
// what a command learns its tool knows. What writes files, starts programs or reads standard input,
// which is the client's, is not offered. The protocol: modelcontextprotocol.io, revision 2025-06-18,
// "Lifecycle", "Transports", "Tools".

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/command_line.h"
#include "app/command_table.h"
#include "app/help.h"
#include "base/built_in.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/safe_json.h"
#include "base/text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

using nlohmann::ordered_json;

/// Revisions whose messages are the same as far as this server goes; the first is offered.
constexpr std::string_view kRevisions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};

/// Bytes of a request: paths and words.
constexpr size_t kLongestRequest = size_t{1} << 20;
/// Bytes of an answer: more fills the client's memory of the talk, and there are narrower questions.
constexpr size_t kLongestAnswer = size_t{256} << 10;

/// Arrays and objects within each other in a request; its own are four.
constexpr int kDeepestRequest = 64;

/// A command that is a tool.
struct Tool {
  std::string_view name;
  std::string_view command;     ///< Its row.
  std::string_view flags;       ///< Those that are arguments of the tool, with blanks between.
  bool needs_arguments = true;  ///< Without paths there is nothing to say.
};

constexpr Tool kTools[] = {
    {"analyze", "analyze", "format outcome expect with-host expect-hosts rules"},
    {"perf", "perf", "format"},
    {"explain", "explain", "format outcome rules"},
    {"show", "show", "format"},
    {"count", "count", "format by iteration cut"},
    {"diff", "diff", "format rules"},
    {"env_check", "env check", "format nccl interfaces hcas log", false},
    {"doctor", "doctor", "format root rules"},
    {"rules_show", "rules show", "rules"},
};

// Codes of JSON-RPC 2.0, section 5.1.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;

/// A request that cannot be carried out, as JSON-RPC says it.
struct Refusal {
  int code = 0;
  std::string message;
};

/// "with_host" of "--with-host FILE", "paths" of "PATH...", "rule" of "RULE".
std::string argument_name(const FlagRow& row) {
  std::string name = lower_case(main_name(row));
  const bool is_list = row.names.empty() && row.repeats;
  name.erase(0, name.find_first_not_of('-'));
  name.erase(std::min(name.find('.'), name.size()));
  std::ranges::replace(name, '-', '_');
  return is_list ? name + 's' : name;
}

/// The rows of the tool's arguments: flags first.
std::vector<const FlagRow*> rows_of(const Tool& tool, const CommandRow& command) {
  std::vector<const FlagRow*> rows;
  for (const std::string_view word : split(tool.flags, ' ')) {
    for (const FlagRow& flag : command.flags) {
      if (main_name(flag) == fmt::format("--{}", word)) rows.push_back(&flag);
    }
  }
  for (const FlagRow& argument : command.arguments) rows.push_back(&argument);
  return rows;
}

/// Of formats those that are read from a message; of other words all.
std::vector<std::string> words_for(const FlagRow& row) {
  std::vector<std::string> words = value_words(row);
  if (main_name(row) == "--format")
    std::erase_if(words, [](const std::string& word) { return word != "text" && word != "json"; });
  return words;
}

ordered_json schema_of(const FlagRow& row) {
  ordered_json value = {{"type", row.value.empty() ? "boolean" : "string"}};
  // "op,size" takes any of them with commas between, PROFILE and RULE a file's path, too.
  const bool is_choice = row.value == "TABLE" || row.value.find('|') != row.value.npos;
  if (is_choice) value["enum"] = words_for(row);
  if (!row.repeats) {
    value["description"] = row.help;
    return value;
  }
  return {{"type", "array"}, {"items", value}, {"description", row.help}};
}

ordered_json describe(const Tool& tool, const CommandRow& command) {
  ordered_json properties = ordered_json::object();
  ordered_json required = ordered_json::array();
  for (const FlagRow* row : rows_of(tool, command)) {
    properties[argument_name(*row)] = schema_of(*row);
    if (row->names.empty() && tool.needs_arguments) required.push_back(argument_name(*row));
  }
  return {{"name", tool.name},
          {"description", fmt::format("{}. {}", command.help, command.notes)},
          {"inputSchema",
           {{"type", "object"},
            {"properties", properties},
            {"required", required},
            {"additionalProperties", false}}},
          {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}};
}

/// What was given for a row, as words. Throws Refusal unless it is of the row's type.
std::vector<std::string> words_given(const FlagRow& row, const ordered_json& value) {
  const auto refuse = [&](std::string_view what) {
    throw Refusal{kInvalidParams, fmt::format("'{}' is no {}", argument_name(row), what)};
  };
  std::vector<std::string> words;
  if (row.repeats) {
    if (!value.is_array()) refuse("array of strings");
    for (const ordered_json& item : value) {
      if (!item.is_string()) refuse("array of strings");
      words.push_back(item);
    }
  } else if (row.value.empty()) {
    if (!value.is_boolean()) refuse("boolean");
    words.push_back(value.get<bool>() ? "true" : "false");
  } else if (value.is_string()) {
    words.push_back(value);
  } else {
    refuse("string");
  }
  const bool is_format = main_name(row) == "--format";
  for (const std::string& word : words) {
    if (word == "-") refuse("path: standard input is the client's");
    if (word.find('\0') != word.npos) refuse("word");  // It would end before the zero.
    if (is_format && std::ranges::count(words_for(row), word) == 0) refuse("format of a message");
    // A device or a pipe may never end, and no other request is answered until it does.
    std::error_code unknown;
    const std::filesystem::file_status named = std::filesystem::status(word, unknown);
    if (std::filesystem::is_other(named)) refuse("path of a file or a folder");
  }
  return words;
}

/// The command line that a call stands for. Throws Refusal for arguments that the tool has not.
std::vector<std::string> command_line_of(const Tool& tool, const CommandRow& command,
                                         const ordered_json& arguments) {
  const std::vector<const FlagRow*> rows = rows_of(tool, command);
  for (const auto& [name, value] : arguments.items()) {
    const auto is_named = [&](const FlagRow* row) { return argument_name(*row) == name; };
    if (std::ranges::none_of(rows, is_named))
      throw Refusal{kInvalidParams, fmt::format("'{}' has no argument '{}'", tool.name, name)};
  }
  std::vector<std::string> words;
  for (const std::string_view word : split(tool.command, ' ')) words.emplace_back(word);
  words.insert(words.end(), {"--config=", "--no-progress"});
  std::vector<std::string> behind;
  for (const FlagRow* row : rows) {
    const auto given = arguments.find(argument_name(*row));
    if (given == arguments.end()) continue;
    for (std::string& word : words_given(*row, *given)) {
      if (row->names.empty())
        behind.push_back(std::move(word));
      else  // In one word: whatever it looks like, it is no flag.
        words.push_back(fmt::format("{}={}", main_name(*row), word));
    }
  }
  words.emplace_back("--");
  words.insert(words.end(), behind.begin(), behind.end());
  return words;
}

/// `notes` stand apart: the text may be JSON.
ordered_json call_result(std::string text, std::string notes, bool is_error) {
  if (text.size() > kLongestAnswer) {
    text.resize(kLongestAnswer);
    notes += "[cut: ask for less, such as one host's logs, or for text instead of json]\n";
  }
  ordered_json content = ordered_json::array();
  for (std::string* part : {&text, &notes}) {
    if (!part->empty()) content.push_back({{"type", "text"}, {"text", std::move(*part)}});
  }
  return {{"content", std::move(content)}, {"isError", is_error}};
}

ordered_json call_tool(const CommandRow& root, const ordered_json& params) {
  constexpr int kMostQuoted = 60;
  const std::string name = params.value("name", "");
  const auto tool = std::ranges::find(kTools, name, &Tool::name);
  if (tool == std::end(kTools))
    throw Refusal{kInvalidParams, fmt::format("there is no tool '{}'", clip(name, kMostQuoted))};
  const ordered_json arguments = params.value("arguments", ordered_json::object());
  if (!arguments.is_object()) throw Refusal{kInvalidParams, "'arguments' is no object"};
  const std::vector<std::string> words =
      command_line_of(*tool, *find_command(root, tool->command), arguments);
  Console console;
  try {
    const ExitStatus status = run_command_line(words, console);
    if (status == ExitStatus::Partial)
      console.err += "exit status 3: part of the input was unreadable, cut, or beyond a limit\n";
    return call_result(console.out, console.err, status == ExitStatus::CannotDo);
  } catch (const Error& error) {
    return call_result({}, error_text(error.where(), error.what(), error.hint()), true);
  } catch (const std::exception& error) {
    return call_result({}, error_text("internal error", error.what(), ""), true);
  }
}

ordered_json initialize(const ordered_json& params) {
  const std::string wanted = params.value("protocolVersion", "");
  const bool is_known = std::ranges::find(kRevisions, wanted) != std::end(kRevisions);
  const auto page = std::ranges::find(help_pages(), "agents", topic_of);
  return {{"protocolVersion", is_known ? wanted : std::string(kRevisions[0])},
          {"capabilities", {{"tools", ordered_json::object()}}},
          {"serverInfo", {{"name", "ncclog"}, {"version", full_version()}}},
          {"instructions", page == help_pages().end() ? "" : page->text}};
}

/// The result of a request. Throws Refusal.
ordered_json answer(const CommandRow& root, const std::string& method, const ordered_json& params) {
  if (method == "initialize") return initialize(params);
  if (method == "ping") return ordered_json::object();
  if (method == "tools/call") return call_tool(root, params);
  if (method != "tools/list") throw Refusal{kMethodNotFound, fmt::format("no method '{}'", method)};
  ordered_json tools = ordered_json::array();
  for (const Tool& tool : kTools)
    tools.push_back(describe(tool, *find_command(root, tool.command)));
  return {{"tools", tools}};
}

/// Throws Refusal for what is no JSON, or nested deeper than any request.
ordered_json parse_request(std::string_view line) {
  const auto is_shallow = [](int depth, ordered_json::parse_event_t, ordered_json&) {
    if (depth > kDeepestRequest) throw Refusal{kInvalidRequest, "the request is nested too deep"};
    return true;
  };
  ordered_json request = ordered_json::parse(line, is_shallow, /*allow_exceptions=*/false);
  if (request.is_discarded()) throw Refusal{kParseError, "the request is no JSON"};
  return request;
}

/// What is said to a line of the client; empty: nothing, as to a notification.
std::string respond(const CommandRow& root, std::string_view line) {
  ordered_json response = {{"jsonrpc", "2.0"}, {"id", nullptr}};
  try {
    if (line.size() > kLongestRequest) throw Refusal{kInvalidRequest, "the request is too long"};
    const ordered_json request = parse_request(line);
    const bool is_call = request.is_object() && request.value("jsonrpc", ordered_json()) == "2.0" &&
                         request.value("method", ordered_json()).is_string();
    if (!is_call) throw Refusal{kInvalidRequest, "no request of JSON-RPC 2.0"};
    if (!request.contains("id")) return {};
    const ordered_json& id = request["id"];
    if (id.is_structured()) throw Refusal{kInvalidRequest, "'id' is no string and no number"};
    response["id"] = id;
    const ordered_json params = request.value("params", ordered_json::object());
    if (!params.is_object()) throw Refusal{kInvalidParams, "'params' is no object"};
    response["result"] = answer(root, request["method"], params);
  } catch (const Refusal& refusal) {
    response["error"] = {{"code", refusal.code}, {"message", refusal.message}};
  } catch (const ordered_json::exception& error) {  // A member of another type than its own.
    response["error"] = {{"code", kInvalidParams}, {"message", error.what()}};
  }
  return safe_json(response.dump(-1, ' ', false, ordered_json::error_handler_t::replace)) + '\n';
}

/// Answers each line of standard input until it ends, or until nobody reads the answers. What a tool
/// takes for standard input, /dev/stdin too, is empty.
ExitStatus serve(Console& console) {
  const CommandRow root = declared_commands();
  const Descriptor client(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  dup2(nothing.get(), STDIN_FILENO);
  std::array<char, 65536> piece{};
  std::string line;
  for (;;) {
    const ssize_t got = ::read(client.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) piece[0] = '\n';  // The last request may lack its end.
    const size_t size = got > 0 ? static_cast<size_t>(got) : 1;
    for (const char c : std::string_view(piece.data(), size)) {
      if (c != '\n') {
        if (line.size() <= kLongestRequest) line += c;
        continue;
      }
      if (!trim(line).empty()) console.out += respond(root, line);
      line.clear();
      if (!console.out.empty() && console.write && !console.write(std::exchange(console.out, {})))
        return ExitStatus::Fine;
    }
    if (got <= 0) return ExitStatus::Fine;
  }
}

}  // namespace

void declare_mcp(CommandRow& command) { command.run = serve; }

}  // namespace ncclog
