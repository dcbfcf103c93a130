#include <gtest/gtest.h>

#include <string>

#include "log/unwrapper.h"

namespace ncclog {
namespace {

/// "prefix|text", with "+" behind a partial one; "none" if the line is no record.
std::string show_record(std::string_view line) {
  CollectorLine record;
  if (!read_collector_json(line, record)) return "none";
  return record.prefix + "|" + record.text + (record.is_partial ? "+" : "");
}

TEST(CollectorJson, ReadsWhatEveryCollectorWrites) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      // docker json-file: no line end means that the line goes on.
      {R"({"log":"x\n","stream":"stderr","time":"2026-01-05T12:00:00.1Z"})",
       "2026-01-05T12:00:00.1Z stderr F |x\n"},
      {R"({"log":"x","stream":"stdout","time":"2026-01-05T12:00:00.1Z"})",
       "2026-01-05T12:00:00.1Z stdout F |x+"},
      {R"({"log":"x\n","stream":"stdout","attrs":{"a":"b"},"time":"2026-01-05T12:00:00Z"})",
       "2026-01-05T12:00:00Z stdout F |x\n"},
      // Fluent Bit and Fluentd say so themselves.
      {R"({"log":"x","stream":"stdout","logtag":"P","time":"2026-01-05T12:00:00Z"})",
       "2026-01-05T12:00:00Z stdout F |x+"},
      {R"({"log":"x","stream":"stdout","logtag":"F"})", "|x"},
      {R"({"partial_message":"true","message":"x"})", "|x+"},
      {R"({"log":"x","kubernetes":{"pod_name":"w-3","container_name":"c"}})", "[pod/w-3/c] |x"},
      // Vector, logcli, CloudWatch, Google Cloud, Elasticsearch.
      {R"({"file":"/a","message":"x","source_type":"file"})", "|x"},
      {R"({"labels":{"pod":"w-3"},"line":"x","timestamp":"2026-01-05T12:00:00Z"})",
       "2026-01-05T12:00:00Z [pod/w-3/container] |x"},
      {R"({"timestamp":1767614400000,"message":"x"},)", "|x"},
      {R"({"textPayload":"x","timestamp":"2026-01-05T12:00:00Z"})", "2026-01-05T12:00:00Z |x"},
      {R"({"jsonPayload":{"message":"x"},"severity":"INFO"})", "|x"},
      {R"({"_index":"a","_source":{"@timestamp":"2026-01-05T12:00:00Z","message":"x"}})",
       "2026-01-05T12:00:00Z |x"},
      {R"({"level":"info","msg":"x"})", "|x"},
      // journalctl -o json; a list of bytes where the text holds control characters.
      {R"({"MESSAGE":"x","_HOSTNAME":"node7","SYSLOG_IDENTIFIER":"kernel",)"
       R"("__REALTIME_TIMESTAMP":"1767614400000001"})",
       "2026-01-05T12:00:00.000001Z node7 kernel: |x"},
      {R"({"MESSAGE":[27,91,48,109,120],"_HOSTNAME":"node7","SYSLOG_IDENTIFIER":"srun",)"
       R"("_PID":"77","__REALTIME_TIMESTAMP":"951782400000000"})",
       "2000-02-29T00:00:00.000000Z node7 srun[77]: |\x1b[0mx"},
      {R"(  "MESSAGE" : "x",)", "|x"},
      // Earlier names win; the order of members does not matter.
      {R"({"msg":"b","log":"a","message":"c"})", "|a"},
      {R"({"log": "a" , "n" : [1,"]",[2]], "o":{"message":"c"}, "t":true})", "|a"},
      {R"({"log":"\u001b[1m\u00e9\ud83d\ude00\"\\\/\t\ud83d"})",
       "|\x1b[1m\u00e9\U0001F600\"\\/\t\uFFFD"},
  };
  for (const auto& [line, expected] : rows) EXPECT_EQ(show_record(line), expected) << line;
}

TEST(CollectorJson, LeavesOtherTextAlone) {
  for (const std::string_view line :
       {"", "{", "{}", R"({"a":"b"})", R"({"log":5})", R"({"log":"x")", R"({"log":"x"} text)",
        R"({"log":"x\"})", R"({"message":{"message":"x"}})", R"(text {"log":"x"})", R"({log:"x"})",
        R"({"pg_config":{},"entries":[{"line":"x"}]})", R"("message")", R"("other" : "x")",
        R"({"log":"x",,})", R"({"log" "x"})", R"({"log":"x"]})"}) {
    EXPECT_EQ(show_record(line), "none") << line;
  }
}

TEST(CollectorJson, PutsNothingInFrontThatIsNoTimeOrName) {
  EXPECT_EQ(show_record(R"({"log":"x","time":"now","stream":"stdout"})"), "|x+");
  EXPECT_EQ(show_record(R"({"log":"x\n","time":"2026-01-05T12:00:00Z node: ","stream":"stdout"})"),
            "|x\n");
  EXPECT_EQ(show_record(R"({"log":"x","labels":{"pod":"a] b"}})"), "|x");
  EXPECT_EQ(show_record(R"({"MESSAGE":"x","__REALTIME_TIMESTAMP":"99999999999999999999"})"), "|x");
}

TEST(CollectorJson, SurvivesEveryCutAndDepth) {
  const std::string line =
      R"({"log":"\u00e9\ud83d\ude00\n","a":[1,"]"],"kubernetes":{"pod_name":"w-3"},"t":1})";
  for (size_t size = 0; size < line.size(); ++size) {
    const std::string cut = line.substr(0, size);  // Its own memory, for the sanitizer.
    EXPECT_EQ(show_record(cut), "none");
    std::string odd = line;
    for (const char byte : {'\0', '"', '\\', '{', '}', '[', ']', '\xFF'}) {
      odd[size] = byte;
      show_record(odd);
    }
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
  EXPECT_EQ(show_record(deep), "none");
  EXPECT_EQ(show_record(std::string("{\"a\":") + std::string(100000, '[')), "none");
}

}  // namespace
}  // namespace ncclog
