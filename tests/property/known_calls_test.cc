// Lines that are recognised by their bytes say what they say when they are read.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "bench/log_generator.h"
#include "log/known_messages.h"
#include "model/derive/build_job.h"
#include "model/shard/read_log.h"
#include "support/describe_job.h"
#include "support/paths.h"
#include "support/torn_streams.h"

namespace ncclog::testing {
namespace {

/// A job, and how many of its lines were known.
struct Reading {
  std::string job;
  uint64_t lines = 0;
  uint64_t known = 0;
};

/// The line or piece with which `text` begins, of which it is taken. `number` is its and becomes
/// that of the next.
Line take_line(std::string_view& text, uint64_t& number) {
  const size_t end = std::min(text.find_first_of("\r\n"), text.size());
  const Line line{text.substr(0, end), number, 0, false};
  text.remove_prefix(end);
  const bool is_piece = text.starts_with('\r') && !text.starts_with("\r\n");
  if (!is_piece) ++number;
  text.remove_prefix(std::min<size_t>(text.starts_with("\r\n") ? 2 : 1, text.size()));
  return line;
}

/// Reads a log in blocks whose bytes are gone once they are read.
class BlockReader {
 public:
  explicit BlockReader(std::mt19937& random, LineMatcher matcher = {})
      : matcher_(std::move(matcher)), random_(random) {}

  Reading read(std::string_view text) {
    while (!text.empty()) {
      std::string block(text.substr(0, block_size(text)));
      text.remove_prefix(block.size());
      read_block(block);
      reader_.settle();
      std::fill(block.begin(), block.end(), '#');
    }
    Shard shard = reader_.finish();
    reading_.lines = shard.losses.lines;
    const LossTable losses = shard.losses;
    JobInput input;
    input.path = "log.txt";
    reading_.job = describe_job(build_job(std::move(shard), {input}, {JobUnit{}}, losses));
    return reading_;
  }

 private:
  /// Whole lines or pieces, of some kilobytes as a rule.
  size_t block_size(std::string_view text) {
    const size_t end = text.find_first_of("\r\n", random_() % 20'000);
    if (end == text.npos) return text.size();
    return end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
  }

  void read_block(std::string_view block) {
    while (!block.empty()) {
      const LineRun taken = reader_.take_known(block, number_);
      reading_.known += taken.lines;
      number_ += taken.numbers;
      block.remove_prefix(taken.bytes);
      if (block.empty()) return;
      reader_.add(take_line(block, number_));
    }
  }

  const LineMatcher matcher_;
  const MarkerFinder finder_;
  const SharedFilter filter_{matcher_, finder_};
  LogReader reader_{0, 0, matcher_, finder_, &filter_};
  std::mt19937& random_;
  uint64_t number_ = 1;
  Reading reading_;
};

/// Reads line by line.
std::string slowly(std::string_view text, const LineMatcher& matcher = {}) {
  LogReader reader(0, 0, matcher);
  uint64_t number = 1;
  while (!text.empty()) reader.add(take_line(text, number));
  Shard shard = reader.finish();
  const LossTable losses = shard.losses;
  JobInput input;
  input.path = "log.txt";
  return describe_job(build_job(std::move(shard), {input}, {JobUnit{}}, losses));
}

Reading expect_same(std::string_view text, std::mt19937& random, const std::string& what,
                    const LineMatcher& matcher = {}) {
  const Reading reading = BlockReader(random, matcher).read(text);
  EXPECT_EQ(reading.job, slowly(text, matcher)) << what;
  return reading;
}

/// Finds the words themselves: pattern n is word n.
LineMatcher matcher_of(const std::vector<std::string>& words) {
  const auto match = [words](std::string_view line, std::vector<int>& matched) {
    for (size_t i = 0; i < words.size(); ++i) {
      if (line.find(words[i]) != line.npos) matched.push_back(static_cast<int>(i));
    }
  };
  return {.match = match, .patterns = words.size(), .literals = words};
}

std::string generated(LogOptions options) {
  std::ostringstream out;
  generate_log(options, out);
  return out.str();
}

/// The log with `before(rank)` in front of every line.
std::string with_prefixes(const std::string& log, auto before) {
  std::istringstream in(log);
  std::string text;
  for (std::string line; std::getline(in, line);) text += before() + line + "\n";
  return text;
}

TEST(KnownCallsProperty, GeneratedLogsSayTheSame) {
  std::mt19937 random(3);
  for (const LogMix mix : {LogMix::Collectives, LogMix::Irregular, LogMix::Everything}) {
    const std::string log = generated({.bytes = 600'000, .mix = mix});
    const Reading reading =
        expect_same(log, random, "mix " + std::to_string(static_cast<int>(mix)));
    if (mix != LogMix::Everything) {
      EXPECT_GT(reading.known * 10, reading.lines * 9);
    }
  }
}

TEST(KnownCallsProperty, TrainingOutputSaysTheSame) {
  std::mt19937 random(8);
  for (const double share : {0.02, 0.3}) {
    std::string log = generated({.bytes = 500'000, .mix = LogMix::Training, .nccl_share = share});
    // What stands behind a carriage return is no line of its own here.
    std::replace(log.begin(), log.end(), '\r', ' ');
    const Reading reading = expect_same(log, random, "share " + std::to_string(share));
    EXPECT_GT(reading.known * 3, reading.lines);
  }
}

TEST(KnownCallsProperty, TornTrainingOutputSaysTheSame) {
  std::mt19937 random(9);
  std::vector<std::string> streams;
  for (const uint32_t seed : {1U, 2U}) {
    std::string log = generated(
        {.bytes = 60'000, .ranks = 1, .seed = seed, .mix = LogMix::Training, .nccl_share = 0.1});
    std::replace(log.begin(), log.end(), '\r', ' ');
    streams.push_back(log);
  }
  for (const int percent : {0, 1, 5, 30}) {
    for (uint64_t round = 0; round < affordable(15); ++round) {
      const std::string torn = tear(streams, {percent, 4000}, random);
      expect_same(torn, random, std::to_string(percent) + " % cut, round " + std::to_string(round));
    }
  }
}

TEST(KnownCallsProperty, TimesInFrontAreNoObstacle) {
  std::mt19937 random(4);
  const std::string log =
      generated({.bytes = 200'000}) + generated({.bytes = 400'000, .mix = LogMix::Irregular});
  int second = 0;
  const std::string timed = with_prefixes(log, [&] {
    second = (second + 1) % 5000;
    const std::string digits = std::to_string(10'000 + second);
    return "[2026-03-0" + digits.substr(1, 1) + " 12:" + digits.substr(1, 2) + ":" +
           digits.substr(3, 2) + "] ";
  });
  const Reading reading = expect_same(timed, random, "times");
  EXPECT_GT(reading.known * 10, reading.lines * 8);
}

TEST(KnownCallsProperty, LaunchersNamesInFrontAreNoObstacle) {
  std::mt19937 random(5);
  const std::string log = generated({.bytes = 300'000});
  const Reading reading =
      expect_same(with_prefixes(log, [] { return "[1,3]<stdout>:"; }), random, "mpirun");
  EXPECT_GT(reading.known * 10, reading.lines * 8);
}

TEST(KnownCallsProperty, TornLogsSayTheSame) {
  std::mt19937 random(6);
  std::vector<std::string> streams;
  for (int host = 0; host < 3; ++host) {
    const LogMix mix = host == 2 ? LogMix::Irregular : LogMix::Collectives;
    std::string log = generated({.bytes = 40'000, .ranks = 1, .mix = mix});
    for (size_t at = log.find("4001"); at != log.npos; at = log.find("4001", at + 4)) {
      log.replace(at, 4, std::to_string(4001 + host));
    }
    streams.push_back(log);
  }
  for (const int percent : {0, 1, 3, 30}) {
    for (uint64_t round = 0; round < affordable(25); ++round) {
      const std::string torn = tear(streams, {percent, 1500}, random);
      expect_same(torn, random, std::to_string(percent) + " % cut, round " + std::to_string(round));
    }
  }
}

TEST(KnownMessagesProperty, LinesOfRanksThatComeUpSayTheSame) {
  std::mt19937 random(10);
  const std::string log = generated({.bytes = 900'000, .ranks = 48, .mix = LogMix::Init});
  const Reading reading = expect_same(log, random, "init");
  EXPECT_GT(reading.known * 4, reading.lines);
  EXPECT_EQ(
      expect_same(with_prefixes(log, [] { return "[1,3]<stdout>:"; }), random, "mpirun").known, 0U);
}

/// The message with some of its numbers changed, and some of those made longer.
std::string in_other_numbers(std::string_view message, std::mt19937& random) {
  std::string text;
  for (const char c : message) {
    const bool changes = is_digit(c) && random() % 2 == 0;
    text += changes ? static_cast<char>('0' + random() % 10) : c;
    if (changes && random() % 4 == 0) text += static_cast<char>('0' + random() % 10);
  }
  return text;
}

TEST(KnownMessagesProperty, MessagesInOtherNumbersSayTheSame) {
  std::mt19937 random(13);
  uint64_t lines = 0;
  uint64_t known = 0;
  for (const Kind& kind : all_kinds()) {
    if (kind.source != Source::Nccl) continue;
    // A log for each kind, because nothing is known any more once lines of one look torn.
    std::string log;
    for (int round = 0; round < 12; ++round) {
      const std::string pid = std::to_string(4000 + round % 3);
      for (const Wording& wording : kind.wordings) {
        log += "node-a:" + pid + ":" + pid + " [0] NCCL INFO " +
               in_other_numbers(wording.example, random) + "\n";
      }
    }
    const Reading reading = expect_same(log, random, std::string(kind.name));
    lines += reading.lines;
    known += reading.known;
  }
  EXPECT_GT(known * 5, lines) << known << " of " << lines;
}

TEST(KnownMessagesProperty, LinesThatPatternsMayMatchSayTheSame) {
  std::mt19937 random(11);
  const std::string log = generated({.bytes = 300'000, .ranks = 24, .mix = LogMix::Init});
  const std::string host = log.substr(0, log.find(':'));
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"Connected all", "P2P"},
                                             {host},
                                             {host + ":4"},
                                             {"INFO Using"},
                                             {"] NCCL INFO C"},
                                             {"0"},
                                             {""},
                                             {"no such word"}}) {
    const Reading reading = expect_same(log, random, words.front(), matcher_of(words));
    EXPECT_EQ(reading.known > 0, words.front() != host + ":4" && words.front() != "" &&
                                     words.front() != "0" && words.front() != "] NCCL INFO C")
        << words.front();
  }
}

TEST(KnownMessagesProperty, TornLinesOfRanksThatComeUpSayTheSame) {
  std::mt19937 random(12);
  std::vector<std::string> streams;
  for (const int rank : {0, 1, 9}) {
    streams.push_back(generated(
        {.bytes = 60'000, .ranks = 16, .mix = LogMix::Init, .rank = rank, .channels = 2}));
  }
  for (const int percent : {0, 1, 5, 30}) {
    for (uint64_t round = 0; round < affordable(20); ++round) {
      const std::string torn = tear(streams, {percent, 4000}, random);
      expect_same(torn, random, std::to_string(percent) + " % cut, round " + std::to_string(round));
    }
  }
}

/// Lines as trainings print them at every step; each "~" is a digit.
constexpr std::string_view kShapes[] = {
    " iteration     ~~~/  ~~~~ | consumed samples:    ~~~~ | lm loss: ~.~~~E+~~ |",
    "[~~~~-~~-~~ ~~:~~:~~] iteration   ~~/ ~~~ | lm loss: ~.~~",
    "Epoch ~: ~~%|###| ~~/~~~ [00:~~<01:~~, ~.~~it/s, loss=~.~~]",
    "Validation: ~~%|#| ~/~~ [00:~~<01:~~, ~.~~it/s]",
    "step: ~~ loss: ~.~~",
    "[rank~]: step=~~, skipped=~, lr=[~.~]",
    "~~~~~~~: iteration ~/ ~~ | loss ~",
    "<~~~>Jan  ~ ~~:~~:~~ node~ app: iteration: ~",
    "~~~~-~~-~~ ~~:~~:~~,~~~ - root - INFO - step: ~~  loss:  ~.~~",
    "~ [~~~~-~~-~~ ~~:~~:~~] done with shard ~",
    "[~~~~-~~-~~ ~~:~~:~~,~~~] torch.distributed.run: [WARNING] worker ~ is late",
    "I~~~~ ~~:~~:~~.~~~~~~ ~~~~ torch/train.py:~~] step ~",
    "I~~~~ ~~:~~:~~.~~~~~~ ~~~~ train.py:~~] step ~",
    "iteration ~~~~~~~~~~~~~~~~~~~~/ ~~ | loss ~",
    "worker ~ exited with exit code ~",
    "node-a:~~:~~ [~] step ~",
    "[~mstep ~~ of ~~",
    "node-a:41:41 [0] NCCL INFO AllReduce: opCount ~ sendbuff 0x~ recvbuff 0x~ count ~ datatype 7 "
    "op 0 root 0 comm 0x55 [nranks=8] stream 0x7"};

/// Each line with one of `ends`.
std::string steps(std::mt19937& random, size_t lines, const std::vector<std::string>& ends) {
  std::string log;
  std::string line;
  for (size_t i = 0; i < lines; ++i) {
    line = kShapes[random() % std::size(kShapes)];
    for (char& c : line) c = c == '~' ? static_cast<char>('0' + random() % 10) : c;
    const size_t what = random() % 40;
    if (what == 0) line.resize(random() % line.size());  // Torn,
    if (what == 1) continue;
    log += line;
    if (what != 2) log += ends[random() % ends.size()];  // and spliced.
  }
  return log + "\n\n";
}

TEST(KnownShapesProperty, StepLinesSayTheSame) {
  std::mt19937 random(17);
  uint64_t known = 0;
  for (uint64_t round = 0; round < affordable(60); ++round) {
    known +=
        expect_same(steps(random, 600, {"\n"}), random, "round " + std::to_string(round)).known;
  }
  EXPECT_GT(known, affordable(3'000));
}

TEST(KnownShapesProperty, PiecesThatProgressBarsDrawSayTheSame) {
  std::mt19937 random(19);
  uint64_t known = 0;
  for (uint64_t round = 0; round < affordable(60); ++round) {
    // Long lines of pieces, lines of one or two, and such as Windows ends.
    const std::vector<std::vector<std::string>> ends = {
        {"\r"}, {"\r\n"}, {"\r", "\n"}, {"\r", "\r", "\r", "\r", "\r", "\n", "\r\n"}};
    const std::string log = steps(random, 600, ends[round % ends.size()]);
    known += expect_same(log, random, "round " + std::to_string(round)).known;
  }
  EXPECT_GT(known, affordable(3'000));
}

TEST(KnownCallsProperty, SampleLogsSayTheSame) {
  std::mt19937 random(7);
  uint64_t known = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(source_dir() / "sample_logs")) {
    const std::string name = entry.path().extension().string();
    if (!entry.is_regular_file() || (name != ".log" && name != ".txt")) continue;
    const std::string text = read_file(entry.path());
    if (text.size() > 2'000'000) continue;
    known += expect_same(text, random, entry.path().string()).known;
  }
  EXPECT_GT(known, 1000u);
}

}  // namespace
}  // namespace ncclog::testing
