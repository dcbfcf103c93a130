// show fronts: for each communicator the last collective that all its ranks entered, who went on,
// who did not, and of whom the logs do not tell.
//
//   id      nranks  front  next                               ahead      behind  unknown
//   last_of_behind 0x7743       8     28  AllReduce of 1048576 float32 (sum)  0-4,6,7   5
//   ReduceScatter …

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnose/call_fronts.h"
#include "diagnose/call_words.h"
#include "report/tables.h"

namespace ncclog {
namespace {

/// "0-4,6,7": the words of ranks without the word "ranks".
std::string numbers(const Job& job, const CallFront& front, const std::vector<int>& members) {
  std::string words = members_words(job, front.communicator, members);
  for (const std::string_view word : {"ranks ", "rank "}) {
    if (words.starts_with(word)) words.erase(0, word.size());
  }
  return members.empty() ? std::string() : words;
}

std::string unknown_text(const Job& job, const CallFront& front) {
  std::string text = numbers(job, front, front.unknown);
  if (front.unseen == 0) return text;
  return text + (text.empty() ? "" : ", ") + fmt::format("{} not seen", front.unseen);
}

/// What the first of those behind did last, on any communicator.
std::string last_of_behind(const Job& job, const CallFront& front) {
  if (front.behind.empty()) return {};
  const auto& ranks = job.communicators[static_cast<size_t>(front.communicator)].ranks;
  return last_call_words(job, waiter_of(ranks[static_cast<size_t>(front.behind.front())]), nullptr);
}

/// The call at which ranks differ, or that some have entered.
std::string next_text(const Job& job, const CallFront& front) {
  const Communicator& comm = job.communicators[static_cast<size_t>(front.communicator)];
  if (comm.difference)
    return fmt::format("ranks differ from call {} on", comm.difference->index + 1);
  const PlacedCall* call = front.is_open() ? open_call(job, front) : nullptr;
  return call == nullptr ? std::string() : call_words(call->call);
}

std::vector<Cell> front_row(const Job& job, const CallFront& front) {
  const Communicator& comm = job.communicators[static_cast<size_t>(front.communicator)];
  const uint64_t entered = comm.difference ? comm.difference->index : front.front;
  return {text_cell(comm.id),
          number_cell(comm.nranks),
          number_cell(static_cast<int64_t>(entered)),
          text_cell(next_text(job, front)),
          text_cell(numbers(job, front, front.ahead)),
          text_cell(numbers(job, front, front.behind)),
          text_cell(unknown_text(job, front)),
          text_cell(last_of_behind(job, front))};
}

}  // namespace

Table fronts_table(const Job& job) {
  Table table{
      .name = "fronts",
      .columns = {"id", "nranks", "front", "next", "ahead", "behind", "unknown", "last_of_behind"},
      .rows = {},
      .notes = {}};
  for (const CallFront& front : call_fronts(job)) table.rows.push_back(front_row(job, front));
  table.notes.push_back(
      table.rows.empty()
          ? "No collective is logged; NCCL_DEBUG_SUBSYS=INIT,COLL makes NCCL print them."
          : "front: collectives that all ranks made of whom the logs tell; next: the one that "
            "those "
            "ahead entered. Ranks are a few calls apart in any job that runs.");
  return table;
}

}  // namespace ncclog
