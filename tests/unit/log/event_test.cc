#include "log/event.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "log/known_messages.h"

namespace ncclog {
namespace {

std::vector<std::string_view> views_of(const Event& event) {
  const Header& header = event.header;
  std::vector<std::string_view> views = {header.host,
                                         header.file,
                                         header.process_group,
                                         header.process_group_name,
                                         header.unexplained,
                                         header.message,
                                         header.prefix.host,
                                         header.prefix.address,
                                         header.prefix.time,
                                         header.prefix.stream,
                                         header.prefix.progress_title};
  views.insert(views.end(), event.message.fields.begin(), event.message.fields.end());
  return views;
}

TEST(Event, MovesWithItsLine) {
  constexpr std::string_view kLines[] = {
      "(Trainer pid=7, ip=10.0.0.7) odd node-a:41:42 [3] misc/socket.cc:57 NCCL WARN Connect to "
      "10.0.0.8<5000> failed : Connection refused",
      "node-a:41:42 [3] NCCL INFO comm 0xa rank 1 nranks 2 cudaDev 1 busId 70 - Destroy COMPLETE",
      "[rank6]:[E717 13:20:49.407638053 ProcessGroupNCCL.cpp:632] [PG ID 0 PG GUID 0(default_pg) "
      "Rank 6] Watchdog caught collective operation timeout",
      "[pod/worker-3/pytorch] Validation:   1%|          | 2/210 [00:01<02:58,  1.16it/s]done", ""};
  for (const std::string_view line : kLines) {
    const std::string copy(line);
    const Event event = parse_event(line, all_wordings());
    const Event other = moved(event, line, copy);
    EXPECT_EQ(other.fate, event.fate);
    EXPECT_EQ(other.message.kind, event.message.kind);
    EXPECT_EQ(views_of(other), views_of(event)) << line;
    for (const std::string_view view : views_of(other)) {
      if (view.empty()) continue;
      EXPECT_TRUE(view.data() >= copy.data() && view.end() <= copy.data() + copy.size()) << view;
    }
  }
}

TEST(Event, TimeOfALineIsThatInFrontOfItsMessage) {
  EXPECT_EQ(time_of_line("[2026-02-03 04:05:06] n7:41:42 [3] NCCL INFO Using network IB").text,
            "2026-02-03 04:05:06");
  EXPECT_EQ(time_of_line("n7:41:42 [3] NCCL INFO until 2026-02-03 04:05:06").text, "");
  EXPECT_EQ(time_of_line("").text, "");
}

}  // namespace
}  // namespace ncclog
