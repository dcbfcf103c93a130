// Law: every WARN says what it means, and means it in every shape in which a release prints it.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "log/event_reader.h"
#include "log/known_messages.h"
#include "log/wording/message_kind.h"
#include "support/paths.h"

namespace ncclog {
namespace {

template <typename Check>
void for_every_warning(Check check) {
  for (const Kind& kind : all_kinds()) {
    for (const Wording& wording : kind.wordings) {
      const Warning* warning = warning_of(wording);
      if (warning == nullptr) continue;
      SCOPED_TRACE(std::string(kind.name) + ": " + std::string(wording.text));
      check(kind, wording, *warning);
    }
  }
}

TEST(Warnings, MeaningsAreSentences) {
  for_every_warning([](const Kind&, const Wording&, const Warning& warning) {
    const std::string_view meaning = warning.meaning;
    EXPECT_GE(meaning.size(), 20u);
    EXPECT_LE(meaning.size(), 240u);
    EXPECT_TRUE(meaning.ends_with('.')) << meaning;
    EXPECT_FALSE(meaning.starts_with(' ')) << meaning;
    EXPECT_EQ(meaning.find("  "), meaning.npos) << meaning;
    for (const char c : meaning) EXPECT_TRUE(c >= ' ' && c <= '~') << meaning;
  });
}

TEST(Warnings, AMeaningBelongsToOneKindAndOneSeverity) {
  std::map<std::string_view, std::pair<std::string_view, const Warning*>> known;
  for_every_warning([&](const Kind& kind, const Wording&, const Warning& warning) {
    const auto [entry, added] = known.try_emplace(warning.meaning, kind.name, &warning);
    EXPECT_EQ(entry->second.first, kind.name) << warning.meaning;
    EXPECT_EQ(entry->second.second->severity, warning.severity) << warning.meaning;
    EXPECT_EQ(entry->second.second->origin, warning.origin) << warning.meaning;
  });
  EXPECT_GT(known.size(), 200u);
}

TEST(Warnings, AreStatedOnlyForWhatNcclPrints) {
  for_every_warning([](const Kind& kind, const Wording&, const Warning& warning) {
    EXPECT_EQ(kind.source, Source::Nccl);
    EXPECT_GT(warning.severity, WarnSeverity::None);
  });
}

/// The same WARN as releases print it: plain, with a time (2.26.2), with a function (2.30.7).
std::string line_with(std::string_view head, std::string_view message) {
  return std::string(head) + " NCCL WARN " + std::string(message);
}

TEST(Warnings, FitTheLinesOfEveryRelease) {
  const char* const kHeads[] = {
      "node07:41:42 [3] misc/socket.cc:57",
      "[2026-02-03 04:05:06] node07:41:42 [3] misc/socket.cc:57",
      "[2026-02-03 04:05:06] node07:41:42 [3] misc/socket.cc:57 (socketConnect)",
  };
  for_every_warning([&](const Kind& kind, const Wording& wording, const Warning& warning) {
    for (const char* head : kHeads) {
      const std::string line = line_with(head, wording.example);
      const Event event = parse_event(line, all_wordings());
      ASSERT_EQ(event.message.kind, &kind) << line;
      EXPECT_EQ(event.header.pid, 41) << line;
      EXPECT_EQ(event.header.file, "misc/socket.cc") << line;
      const Warning* found = warning_of(event);
      ASSERT_NE(found, nullptr) << line;
      EXPECT_EQ(found->meaning, warning.meaning) << line;
    }
  });
}

TEST(Warnings, FitTheSameWordsAtInfoWithoutWarning) {
  for_every_warning([](const Kind& kind, const Wording& wording, const Warning&) {
    const std::string line = "node07:41:42 [3] NCCL INFO " + std::string(wording.example);
    const Event event = parse_event(line, all_wordings());
    EXPECT_EQ(event.message.kind, &kind);
    EXPECT_EQ(warning_of(event), nullptr);
  });
}

TEST(Warnings, AreNotStatedForInfoWordingsOfWarningKinds) {
  const char* const kInfos[] = {
      "Loaded NVML from libnvidia-ml.so.1",
      "Call to ibv_query_ece not supported",
      "Detected ranks 0 and 1 sharing GPU with bus 50000 on this node",
      "Using network Socket",
  };
  for (const char* info : kInfos) {
    const std::string line = line_with("node07:41:42 [3] init.cc:57", info);
    const Event event = parse_event(line, all_wordings());
    EXPECT_EQ(event.fate, LineFate::Recognised) << info;
    EXPECT_EQ(warning_of(event), nullptr) << info;
  }
}

/// What ncclGetLastError returns is the text of a WARN, so what is recognised without header is
/// one, but for lines that stand without header anyway or that people quote for other reasons.
TEST(Warnings, WhatIsQuotedIsAWarning) {
  const std::set<std::string_view> kOthers = {
      "nccl_version",         // The banner of old releases has no header.
      "nvls_bind_hint",       // The further lines of a WARN of three.
      "nvls_bind_failed",     // One form of it is INFO.
      "cumem_host_fallback",  // INFO that issue reports quote.
      "rccl_build",           // Lines behind the banner, which stand without header.
      "nccl_1_note",         "inspector_version", "inspector_setting", "inspector_disabled",
  };
  for (const Kind& kind : all_kinds()) {
    if (kind.source != Source::Nccl || kOthers.contains(kind.name)) continue;
    for (const Wording& wording : kind.wordings) {
      if (wording.quotable) {
        EXPECT_NE(warning_of(wording), nullptr) << kind.name << ": " << wording.text;
      }
    }
  }
}

TEST(Warnings, TellFamiliesApart) {
  struct Row {
    const char* message;
    WarnSeverity severity;
    WarnOrigin origin;
  };
  const Row kRows[] = {
      {"Call to posix_fallocate failed : No space left on device", WarnSeverity::Fatal,
       WarnOrigin::System},
      {"AllReduce : sendbuff argument is NULL", WarnSeverity::Fatal, WarnOrigin::User},
      {"List loop at element 0-7", WarnSeverity::Fatal, WarnOrigin::Internal},
      {"[Service thread] Could not receive type from localRank 2, res=6, closed=0",
       WarnSeverity::Fatal, WarnOrigin::Symptom},
      {"NET/IB : mlx5_0:1 Got async error event: port error", WarnSeverity::Info,
       WarnOrigin::System},
      {"Could not find a path for pattern 4, falling back to simple order", WarnSeverity::Degraded,
       WarnOrigin::System},
      {"NCCL version mismatch with remote peer 10.1.2.3<41822> (local: 2.30.7, remote 2.29.7)",
       WarnSeverity::Degraded, WarnOrigin::System},
  };
  for (const Row& row : kRows) {
    const std::string line = line_with("node07:41:42 [3] init.cc:57", row.message);
    const Warning* warning = warning_of(parse_event(line, all_wordings()));
    ASSERT_NE(warning, nullptr) << row.message;
    EXPECT_EQ(to_string(warning->severity), to_string(row.severity)) << row.message;
    EXPECT_EQ(to_string(warning->origin), to_string(row.origin)) << row.message;
  }
}

/// A line that is a WARN, known, and yet has no meaning; empty if there is none in `text`.
std::string unexplained_warn(const std::string& text) {
  std::string found;
  EventReader reader([&](const Line& record, const Event& event, int) {
    const bool warn = event.header.level == Level::Warn && event.fate == LineFate::Recognised;
    if (warn && warning_of(event) == nullptr) found = record.text;
  });
  for (uint64_t number = 1, begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    reader.add({.text = std::string_view(text).substr(begin, end - begin), .number = number});
    begin = end + 1;
  }
  reader.finish();
  return found;
}

TEST(Warnings, EveryWarnOfTheSampleLogsHasAMeaning) {
  size_t files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(testing::source_dir() / "sample_logs")) {
    if (!entry.is_regular_file() || entry.path().extension() == ".gz") continue;
    ++files;
    EXPECT_EQ(unexplained_warn(testing::read_file(entry.path())), "") << entry.path();
  }
  EXPECT_GT(files, 10u);
}

}  // namespace
}  // namespace ncclog
