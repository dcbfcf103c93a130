// What does a client of `ncclog mcp` get? `./dev mcp-check` asks the protocol's own client the same.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

using nlohmann::json;

/// The answers to these lines, in order.
std::vector<json> answers_to(const std::string& lines) {
  const Outcome outcome =
      run_command({.arguments = {ncclog_binary().string(), "mcp"}, .standard_input = lines});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.standard_error, "");
  std::vector<json> answers;
  for (const std::string_view line : split(outcome.standard_output, '\n')) {
    if (!line.empty()) answers.push_back(json::parse(line));
  }
  return answers;
}

std::string request(int id, const char* method, const json& params) {
  return json({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}).dump() +
         '\n';
}

json call(const char* tool, const json& arguments) {
  const auto answers =
      answers_to(request(1, "tools/call", {{"name", tool}, {"arguments", arguments}}));
  return answers.size() == 1 ? answers.front() : json();
}

std::string text_of(const json& answer) {
  return answer.value("/result/content/0/text"_json_pointer, "");
}

TEST(McpManners, GreetsAndListsItsTools) {
  const auto answers =
      answers_to(request(1, "initialize", {{"protocolVersion", "2025-03-26"}}) +
                 R"({"jsonrpc":"2.0","method":"notifications/initialized"})" + "\n" +
                 request(2, "tools/list", json::object()) + request(3, "ping", json::object()));
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0]["result"]["protocolVersion"], "2025-03-26");
  EXPECT_NE(answers[0]["result"]["instructions"].get<std::string>().find("is not clean"),
            std::string::npos);
  std::map<std::string, json> tools;
  for (const json& tool : answers[1]["result"]["tools"]) tools[tool["name"]] = tool["inputSchema"];
  EXPECT_EQ(tools.size(), 9U);
  EXPECT_EQ(tools["analyze"]["required"], json::array({"paths"}));
  EXPECT_EQ(tools["show"]["required"], json::array({"table", "paths"}));
  EXPECT_EQ(tools["analyze"]["properties"]["format"]["enum"], json::array({"text", "json"}));
  EXPECT_EQ(tools["analyze"]["properties"]["with_host"]["type"], "array");
  EXPECT_EQ(answers[2]["result"], json::object());
}

TEST(McpManners, AnswersWhatTheCommandPrints) {
  const std::string logs = sample_logs("timeout-rank-skips").string();
  for (const char* format : {"text", "json"}) {
    const Outcome typed =
        run_command({.arguments = {ncclog_binary().string(), "analyze", "--format", format, logs}});
    const json answer = call("analyze", {{"paths", {logs}}, {"format", format}});
    EXPECT_EQ(text_of(answer), typed.standard_output) << format;
    EXPECT_EQ(answer["result"]["isError"], false);
  }
  EXPECT_NE(text_of(call("show", {{"table", "ranks"}, {"paths", {logs}}})).find("rank"),
            std::string::npos);
  EXPECT_NE(text_of(call("count", {{"paths", {logs}}, {"by", "rank,op"}})).find("AllReduce"),
            std::string::npos);
}

struct HostileRow {
  const char* line;
  int code;
};

TEST(McpManners, RefusesWhatIsNoRequest) {
  const HostileRow rows[] = {
      {"{", -32700},
      {"[]", -32600},
      {"7", -32600},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":7})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/delete"})", -32601},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run"}})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":{}}})", -32602},
  };
  for (const HostileRow& row : rows) {
    const auto answers = answers_to(std::string(row.line) + "\n");
    ASSERT_EQ(answers.size(), 1U) << row.line;
    EXPECT_EQ(answers[0]["error"]["code"], row.code) << row.line;
  }
  const auto long_one = answers_to(std::string(3 << 20, '[') + "\n" + request(2, "ping", {}));
  ASSERT_EQ(long_one.size(), 2U);
  EXPECT_EQ(long_one[0]["error"]["code"], -32600);
}

TEST(McpManners, SurvivesWhatIsNestedDeep) {
  for (const int depth : {100, 50'000, 400'000}) {
    const std::string nested = std::string(depth, '[') + std::string(depth, ']');
    const auto answers = answers_to(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":)" +
                                    nested + "}}\n" + request(2, "ping", json::object()));
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[0]["error"]["code"], -32600) << depth;
    EXPECT_EQ(answers[1]["result"], json::object());
  }
}

TEST(McpManners, AnswersALastRequestThatLacksItsEnd) {
  std::string last = request(1, "ping", json::object());
  last.pop_back();
  EXPECT_EQ(answers_to(last).size(), 1U);
}

TEST(McpManners, KeepsJsonApartFromWhatIsSaidOfIt) {
  const std::string logs = sample_logs("healthy").string();
  const json answer = call("analyze", {{"paths", {logs, "/no/such/folder"}}, {"format", "json"}});
  const json& content = answer["result"]["content"];
  for (const json& part : content) {
    const std::string text = part["text"];
    EXPECT_TRUE(!text.starts_with("{") || json::accept(text)) << text.substr(text.size() - 200);
  }
}

TEST(McpManners, ReadsNoDeviceAndWritesNoPage) {
  const auto code = [](const json& arguments) {
    return call("analyze", arguments).value("/error/code"_json_pointer, 0);
  };
  EXPECT_EQ(code({{"paths", {"/dev/zero"}}}), -32602);
  EXPECT_EQ(code({{"paths", {sample_logs("healthy").string()}}, {"format", "html"}}), -32602);
}

TEST(McpManners, TakesNoArgumentForAFlagOrForStandardInput) {
  const TempDir folder;
  const std::string file = (folder.path() / "written").string();
  const json rows[] = {{{"paths", {"-"}}},
                       {{"paths", "logs"}},
                       {{"paths", {7}}},
                       {{"paths", {"logs"}}, {"html", file}},
                       {{"paths", {"logs"}}, {"format", true}}};
  for (const json& arguments : rows)
    EXPECT_EQ(call("analyze", arguments)["error"]["code"], -32602) << arguments;
  for (const std::string& path : {"--html=" + file, std::string("/no/such/folder")}) {
    const json answer = call("analyze", {{"paths", {path}}});
    EXPECT_EQ(answer["result"]["isError"], true);
    EXPECT_NE(text_of(answer).find("ncclog: "), std::string::npos) << answer;
  }
  // What is no path of a log does not take the client's next line.
  const auto answers = answers_to(
      request(1, "tools/call", {{"name", "analyze"}, {"arguments", {{"paths", {"/dev/stdin"}}}}}) +
      request(2, "ping", json::object()));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[1]["id"], 2);
  EXPECT_EQ(call("show", {{"table", "--format=json"}, {"paths", {"/"}}})["result"]["isError"],
            true);
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace ncclog::testing
