#include "log/unwrapper.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ncclog {
namespace {

using Lines = std::vector<std::string>;

/// Lines as "number+lines: text".
Lines unwrap(const Lines& lines) {
  Lines received;
  Unwrapper unwrapper([&](const Line& line, int count) {
    received.push_back(std::to_string(line.number) + "+" + std::to_string(count) + ": " +
                       std::string(line.text));
  });
  uint64_t number = 0;
  for (const std::string& text : lines) {
    Line line;
    line.text = text;
    line.number = ++number;
    line.offset = number * 100;
    unwrapper.add(line);
  }
  unwrapper.finish();
  return received;
}

constexpr std::string_view kTime = "2026-01-05T12:00:00.1Z ";

std::string cri(std::string_view text) { return std::string(kTime) + std::string(text); }

TEST(Unwrapper, HandsOrdinaryLinesOn) {
  EXPECT_EQ(unwrap({"a", "", "{\"a\":1}"}), (Lines{"1+1: a", "2+1: ", "3+1: {\"a\":1}"}));
}

TEST(Unwrapper, IsConcernedByWrappedLinesOnly) {
  const Unwrapper unwrapper([](const Line&, int) {});
  EXPECT_FALSE(unwrapper.concerns(""));
  EXPECT_FALSE(unwrapper.concerns("node:1:2 [0] NCCL INFO x"));
  EXPECT_FALSE(unwrapper.concerns("node:1:2 [0] NCCL INFO NET/IB : Using [0]={[0] mlx5_0:1/IB}"));
  EXPECT_TRUE(unwrapper.concerns(R"({"log":"x\n"})"));
  EXPECT_TRUE(unwrapper.concerns(cri("stdout P x")));
}

TEST(Unwrapper, JoinsTheHalvesOfALine) {
  EXPECT_EQ(unwrap({cri("stdout P node:1:2 [0] NCCL INFO Chan"), cri("stdout P nel 0"),
                    cri("stdout F 0 x"), cri("stdout F y")}),
            (Lines{"1+3: " + cri("stdout P node:1:2 [0] NCCL INFO Channel 00 x"),
                   "4+1: " + cri("stdout F y")}));
  EXPECT_EQ(unwrap({R"({"log":"a","stream":"stdout","time":"2026-01-05T12:00:00.1Z"})",
                    R"({"log":"b\n","stream":"stdout","time":"2026-01-05T12:00:00.2Z"})"}),
            (Lines{"1+2: " + cri("stdout F ab")}));
}

TEST(Unwrapper, KeepsTheStreamsApart) {
  EXPECT_EQ(unwrap({cri("stdout P a"), cri("stderr F x"), cri("stderr P y"), cri("stdout F b"),
                    cri("stderr F z")}),
            (Lines{"2+1: " + cri("stderr F x"), "1+2: " + cri("stdout P ab"),
                   "3+2: " + cri("stderr P yz")}));
}

TEST(Unwrapper, JoinsNothingToALineThatMayStartAUnit) {
  const std::string whole = cri("stdout F node:1:2 [0] NCCL INFO x");
  EXPECT_EQ(unwrap({cri("stdout P a"), whole}),
            (Lines{"1+1: " + cri("stdout P a"), "2+1: " + whole}));
  EXPECT_EQ(unwrap({cri("stdout P a"), "text", cri("stdout F b")}),
            (Lines{"1+1: " + cri("stdout P a"), "2+1: text", "3+1: " + cri("stdout F b")}));
  EXPECT_EQ(unwrap({cri("stderr P b"), cri("stdout P a")}),
            (Lines{"1+1: " + cri("stderr P b"), "2+1: " + cri("stdout P a")}));
}

TEST(Unwrapper, HandsTheLinesOfOneRecordOnOneByOne) {
  EXPECT_EQ(unwrap({R"({"message":"a\nb\r\nc\rd\n"})", R"({"message":"\n"})"}),
            (Lines{"1+1: a", "1+0: b", "1+0: c", "1+0: d", "2+1: "}));
}

TEST(Unwrapper, UndoesRecordsInsideRecordsAndBehindPrefixes) {
  const std::string inner = R"({\"log\":\"\\u001b[1mx\\n\",\"stream\":\"stdout\"})";
  EXPECT_EQ(unwrap({R"(3: {"message":")" + inner + R"("})"}), (Lines{"1+1: 3: x"}));
  const std::string bar = "a:  33%|###  | 5/15 [1:02<2:06, 6.59s/it]";
  EXPECT_EQ(unwrap({R"(3: {"msg":")" + bar + R"("})"}), (Lines{"1+1: 3: " + bar}));
  EXPECT_EQ(unwrap({cri("stdout F ") + R"({"message":"1: {\"msg\":\"x\"}"})"}),
            (Lines{"1+1: " + cri("stdout F 1: x")}));
}

TEST(Unwrapper, JoinsNoMoreThanALineMayHold) {
  Lines lines(40, cri("stdout P ") + std::string(4000, 'a'));
  const Lines joined = unwrap(lines);
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_LE(joined[0].size(), 70000u);
  EXPECT_EQ(joined[0].substr(0, 6), "1+40: ");
}

TEST(Unwrapper, CountsEveryLineOnce) {
  const Lines pieces{cri("stdout P a"),
                     cri("stderr P b"),
                     cri("stdout F c"),
                     R"({"log":"a","stream":"stdout"})",
                     R"({"log":"a\nb\n","stream":"stderr"})",
                     "text",
                     "node:1:2 [1] NCCL INFO y"};
  for (size_t seed = 0; seed < 2000; ++seed) {
    size_t state = seed;
    int count = 0;
    Unwrapper unwrapper([&](const Line&, int lines) { count += lines; });
    for (int i = 0; i < 8; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      Line line;
      line.text = pieces[(state >> 33) % pieces.size()];
      unwrapper.add(line);
    }
    unwrapper.finish();
    ASSERT_EQ(count, 8) << "seed " << seed;
  }
}

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

TEST(CollectorJson, HandsOnTheExceptionThatAnApplicationLogs) {
  const std::string head = "Traceback (most recent call last):\n";
  const std::pair<std::string_view, std::string> rows[] = {
      // structlog: a text, objects, and the parts alone.
      {R"({"event":"gave up","level":"error","rank":2,"exception":"Traceback (most recent call last):)"
       R"(\n  File \"a.py\", line 3, in f\nValueError: x","timestamp":"2026-01-05T12:00:00Z"})",
       "2026-01-05T12:00:00Z [rank2]: |gave up\n" + head +
           "  File \"a.py\", line 3, in f\nValueError: x"},
      {R"({"rank":"1","exception":[{"exc_type":"KeyError","exc_value":"'a'","frames":[{"lineno":3}]}],)"
       R"("event":"gave up"})",
       "[rank1]: |gave up\n" + head + "KeyError: 'a'"},
      {R"({"event":"gave up","exc_type":"ValueError","exc_value":"a\nb"})",
       "|gave up\n" + head + "ValueError: a\nb"},
      // A list of lines.
      {R"({"message":"x","exc_info":["Traceback (most recent call last):\n", "ValueError: a\n"]})",
       "|x\n" + head + "ValueError: a\n"},
      // loguru's serialize.
      {R"({"text":"… x\nTraceback (most recent call last):\nKeyError: 1\n","record":{"exception":)"
       R"({"type":"KeyError","value":"1","traceback":true},"extra":{"rank":3},"level":{"name":"ERROR",)"
       R"("no":40},"line":25,"message":"x","time":{"repr":"2026-01-05 12:00:00.123+00:00"}}})",
       "2026-01-05 12:00:00.123+00:00 [rank3]: |x\n" + head + "KeyError: 1\n"},
      // python-json-logger, zap, Google Cloud, the Elastic Common Schema.
      {R"({"levelname":"ERROR","message":"x","exc_info":"Traceback (most recent call last):\nA: b"})",
       "|x\n" + head + "A: b"},
      {R"({"level":"error","ts":1767614400.5,"msg":"no step","error":"disk quota exceeded"})",
       "|no step\ndisk quota exceeded"},
      {R"({"severity":"ERROR","jsonPayload":{"message":"x","stack_trace":"Traceback (most recent call)"
       R"( last):\nA: b"}})",
       "|x\n" + head + "A: b"},
      {R"({"@timestamp":"2026-01-05T12:00:00Z","log.level":"error","message":"x","host":{"name":"n7"},)"
       R"("process":{"pid":77},"error":{"type":"A","message":"b","stack_trace":""}})",
       "2026-01-05T12:00:00Z n7 app[77]: |x\n" + head + "A: b"},
      // Survived, says its level; said already; a number.
      {R"({"level":"warning","event":"again","exc_type":"A","exc_value":"b"})", "|again"},
      {R"({"message":"Traceback (most recent call last):\nA: b","exc_type":"A","exc_value":"b"})",
       "|" + head + "A: b"},
      {R"({"message":"x","error":0})", "|x"},
      // A step whose numbers stand beside the message.
      {R"({"event":"step","step":8,"loss":0.5,"rank":0})", "[rank0]: |step\nstep 8 loss 0.5"},
      {R"({"event":"step 8","step":8,"loss":0.5})", "|step 8"},
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
