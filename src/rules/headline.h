// How is a finding said in one sentence that can be pasted into a chat?
//
//   Rank 3 on c3 (pid 812; also ranks 4-7) got completion status 12 (vendor error 129): packets to
//   the peer were not acknowledged. It never …
//   → Ranks 3-7 on c3 got completion status 12 (vendor error 129): packets to the peer were not
//     acknowledged.
//
// What happened, to whom, where: of many ranks and hosts their number, of many values three. What is
// still too long loses what stands behind a semicolon, ids of communicators and places in programs,
// notes in parentheses from the last to the first, and last clauses: who and where stand in front.
// The whole story is the finding's message.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/job.h"
#include "rules/finding.h"

namespace ncclog {

/// Characters of a headline at most.
inline constexpr size_t kMaxHeadline = 120;

/// So many names of a sort stand in a headline; the rest are counted.
inline constexpr size_t kMostInHeadline = 3;

/// One sentence in at most `room` characters, of which each can be shown. Never ends within a word,
/// unless one is longer than that.
std::string fitted_headline(std::string_view sentence, size_t room = kMaxHeadline);

/// The text without "(unknown)", which stands for values that lines do not tell, and without notes
/// that hold it.
std::string without_unknown(std::string text);

/// The first sentence of a message: up to a full stop before a blank and an upper-case letter.
std::string first_sentence(std::string_view message);

/// The sentence without the full stop at its end.
std::string without_stop(std::string sentence);

/// Words that name nobody and nothing, where a headline is to name: "A process", "the quoted line".
/// The first one in `headline`; empty: none.
std::string_view empty_word(std::string_view headline);

/// The finding's headline; of one that has none, the first sentence of its message.
std::string headline_of(const Finding& finding);

/// "ranks 0-3", "12 of 64 ranks", "all 64 ranks"; empty for none.
std::string ranks_in_headline(const Job& job, const std::vector<int>& ranks);

/// "a, b", "7 of 8 hosts"; empty for none.
std::string hosts_in_headline(const Job& job, const std::vector<std::string>& hosts);

}  // namespace ncclog
