#include "log/iteration_marker.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "log/line/prefix.h"
#include "log/needle_filter.h"
#include "log/wording/other_programs.h"

namespace ncclog {
namespace {

constexpr std::string_view kBar = "%|";

constexpr IterationWording kWordings[] = {
    {.preset = "nemo",
     .needle = "Training epoch ",
     .regex = R"(Training epoch \d+, iteration \d+/\d+ \|.*\bglobal_step: (?P<step>\d+))",
     .example = "Training epoch 1, iteration 9/99 | lr: 0.0003 | global_step: 109 | "
                "reduced_train_loss: 7.1",
     .example_step = 109},
    {.preset = "nemo",
     .needle = "Training epoch ",
     .regex = R"(Training epoch (?P<epoch>\d+), iteration (?P<step>\d+)/(?P<total>\d+) \|)",
     .example = "Training epoch 1, iteration 9/100 | lr: 0.0003 | reduced_train_loss: 7.1",
     .example_step = 109},
    {.preset = "nemo",
     .needle = "global_step=",
     .regex = R"(\[[\d:?]+<[^\]]*\bglobal_step=(?P<step>[\d.]+(?:e\+?\d+)?))",
     .example = "Epoch 0:   6%|6  | 320/5001 [1:02:03<9:39:17,  1.37it/s, loss=2.6, v_num=ab, "
                "global_step=3.2e+4]",
     .example_step = 32000},
    {.preset = "megatron",
     .needle = "iteration ",
     .regex = R"((?:^|[\s\]:|])iteration +(?P<step>\d+)/ *(?P<total>\d+) \|)",
     .example = " [2026-01-05 12:00:00] iteration       10/     500 | consumed samples:         "
                "1280 | elapsed time per iteration (ms): 812.3 |",
     .example_step = 10},
    {.preset = "deepspeed",
     .needle = ", skipped=",
     .regex = R"(\bstep=(?P<step>\d+), skipped=\d+, lr=)",
     .example = "[2026-01-05 12:00:00,123] [INFO] [logging.py:128:log_dist] [Rank 0] step=10, "
                "skipped=0, lr=[0.0001], mom=[(0.9, 0.999)]",
     .example_step = 10},
    {.preset = "deepspeed",
     .needle = "/global_step=",
     .regex = R"(epoch=\d+/micro_step=\d+/global_step=(?P<step>\d+), RunningAvgSamplesPerSec=)",
     .example = "epoch=0/micro_step=40/global_step=10, RunningAvgSamplesPerSec=31.2, "
                "CurrSamplesPerSec=30.9, MemAllocated=1.0GB, MaxMemAllocated=2.0GB",
     .example_step = 10},
    {.preset = "deepspeed",
     .needle = "iter time (s):",
     .regex = R"((?:^|[\s\]:|])steps: (?P<step>\d+) loss: \S+ iter time \(s\):)",
     .example = "steps: 10 loss: 6.1234 iter time (s): 0.512 samples/sec: 62.5",
     .example_step = 10},
    {.preset = "lightning",
     .needle = "Epoch ",
     .regex =
         R"((?:^|[\]:|>])\s*Epoch (?P<epoch>\d+): +\d+%\|[^|]*\| (?P<step>\d+)/(?P<total>\d+) \[)",
     .example = "Epoch 2:  10%|#         | 100/1000 [00:10<01:30, 10.00it/s, v_num=0, "
                "train_loss=0.5]",
     .example_step = 2100},
    {.preset = "torchtitan",
     .needle = "loss:",
     .regex = R"(\bstep: +(?P<step>\d+) +loss: )",
     .example = "[titan] 2026-01-05 12:00:00,123 - root - INFO - step: 10  loss:  7.1234  "
                "grad_norm:  1.2000  memory: 40.00GiB(50.00%)  tps: 5,000",
     .example_step = 10},
    {.preset = "composer",
     .needle = "[batch=",
     .regex = R"(\[epoch=(?P<epoch>\d+)\]\[batch=(?P<step>\d+)/(?P<total>\d+)\])",
     .first_epoch = 1,
     .example = "[epoch=2][batch=10/500]:",
     .example_step = 510},
    {.preset = "composer",
     .needle = "[batch=",
     .regex = R"(\[batch=(?P<step>\d+)/(?P<total>\d+)\])",
     .example = "[batch=10/500]:",
     .example_step = 10},
    {.preset = "composer",
     .needle = "[token=",
     .regex = R"((?:^|[\s\]:|])\[token=\d+/\d+\])",
     .place = MarkerPlace::Tick,
     .example = "[token=40960/10000000]:"},
    {.preset = "composer",
     .needle = "[sample=",
     .regex = R"((?:^|[\s\]:|])\[sample=\d+/\d+\])",
     .place = MarkerPlace::Tick,
     .example = "[sample=512/100000]:"},
    {.preset = "nanogpt",
     .needle = ", time ",
     .regex = R"((?:^|[\s\]:|])iter (?P<step>\d+): loss [\d.nainf]+, time [\d.]+ms)",
     .example = "iter 10: loss 10.8123, time 512.34ms, mfu 41.20%",
     .example_step = 10},
    {.preset = "pytorch-examples",
     .needle = "Train Epoch: ",
     .regex = R"(Train Epoch: (?P<epoch>\d+) \[(?P<step>\d+)/(?P<total>\d+) \()",
     .example = "Train Epoch: 1 [640/60000 (1%)]\tLoss: 0.8613",
     .example_step = 60640},
    {.preset = "fairseq",
     .needle = "num_updates",
     .regex = R"(\bnum_updates[= ](?P<step>\d+))",
     .example = "2026-01-05 12:00:00 | INFO | train_inner | epoch 001:     50 / 1000 loss=12.3, "
                "ppl=5000, num_updates=50, lr=1e-05",
     .example_step = 50},
    {.preset = "olmo",
     .needle = "[step=",
     .regex = R"(\[step=(?P<step>\d+)/(?P<total>\d+)(?:,epoch=\d+)?\])",
     .example = "[step=10/1000,epoch=0]",
     .example_step = 10},
    {.preset = "hf",
     .needle = kBar,
     .regex = R"((?:^|\]:|> )\s*\d+%\|[^|]*\| *(?P<step>\d+)/(?P<total>\d+) \[[\d:?]+<)",
     .example = "  1%|1         | 24/1752 [01:08<1:23:01,  2.88s/it]",
     .example_step = 24},
    {.preset = "tqdm",
     .needle = kBar,
     .regex =
         R"((?:[Ee]poch (?P<epoch>\d+)[^|:]*)?: +\d+%\|[^|]*\| *(?P<step>\d+)/(?P<total>\d+) \[[\d:?]+<)",
     .place = MarkerPlace::AfterStep,
     .example = "Training Epoch 0:  12%|#2        | 230/1840 [02:50<16:50,  1.55it/s]",
     .example_step = 230},
    {.preset = "hf-log",
     .needle = "{'loss':",
     .regex = R"(\{'loss': '?[-\d.a-z]+'?, .*'epoch': )",
     .place = MarkerPlace::Tick,
     .example = "{'loss': 2.1034, 'grad_norm': 1.2, 'learning_rate': 2e-05, 'epoch': 0.01}"},
    {.preset = "vllm",
     .needle = "Avg prompt throughput:",
     .regex = R"(\bAvg prompt throughput: [\d.]+ tokens/s)",
     .place = MarkerPlace::Tick,
     .example = "INFO 01-05 12:00:00 [loggers.py:118] Engine 000: Avg prompt throughput: 512.3 "
                "tokens/s, Avg generation throughput: 60.1 tokens/s, Running: 4 reqs"},
    {.preset = "iteration",
     .needle = "teration",
     .regex =
         R"((?:^|[\]:|>]|INFO| - )\s*[Ii]teration:? *(?P<step>\d+)(?:\s*/\s*(?P<total>\d+))?(?:$|[\s|,:;)]))",
     .place = MarkerPlace::Unknown,
     .example = "iteration: 3 | consumed samples: 768 | lr: 1.0E-04",
     .example_step = 3},
    {.preset = "step",
     .needle = "",
     .regex =
         R"((?i)\b(?:global[_ ]?step|step|iter(?:ation)?)[ =:#]+(?P<step>\d+)(?:\s*/\s*(?P<total>\d+))?)",
     .place = MarkerPlace::Unknown,
     .by_name_only = true,
     .example = "Step 10/500 done",
     .example_step = 10},
};

re2::RE2::Options quiet() {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  return options;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

/// An expression with the places of its groups, -1 where it has none.
struct Expression {
  explicit Expression(std::string_view text) : regex(piece(text), quiet()) {
    const std::map<std::string, int>& names = regex.NamedCapturingGroups();
    const auto group = [&](const char* name) {
      const auto found = names.find(name);
      return found == names.end() ? -1 : found->second;
    };
    step = group("step");
    total = group("total");
    epoch = group("epoch");
  }

  re2::RE2 regex;
  int step;
  int total;
  int epoch;
};

/// A wording whose expression is compiled when a line first holds its needle: most jobs print their
/// steps in one way, if any.
class LazyWording {
 public:
  LazyWording(std::string_view text, std::string_view wanted, uint16_t place)
      : needle(wanted), number(place), text_(text) {}

  const Expression& expression() const {
    std::call_once(once_, [this] { expression_.emplace(text_); });
    return *expression_;
  }

  /// What the framework calls its first epoch.
  int first_epoch() const { return number == kOwnWording ? 0 : kWordings[number].first_epoch; }

  const std::string_view needle;
  const uint16_t number;

 private:
  std::string text_;
  mutable std::once_flag once_;
  mutable std::optional<Expression> expression_;
};

constexpr int kMaxGroups = 8;

/// Whole steps, also where they are printed as "3.2e+4"; -1 for anything else.
int64_t step_number(std::string_view text) {
  if (const auto whole = parse_int(text); whole && *whole >= 0) return *whole;
  const auto decimal = parse_decimal(text);
  constexpr double kMost = 1e15;
  return decimal && *decimal >= 0 && *decimal <= kMost ? static_cast<int64_t>(*decimal) : -1;
}

/// A bar of an evaluation, or of what is read before the training.
bool is_other_bar(std::string_view line) {
  constexpr std::string_view kOthers[] = {"oading", "alid", "anity", "esting", "redict"};
  const std::string_view title = parse_progress_bar(line).title;
  return is_eval_title(title) || holds_one_of(title, kOthers);
}

/// Steps since the first epoch.
int64_t step_in_all(int64_t step, int64_t epoch, int64_t total) {
  constexpr int64_t kMost = int64_t{1} << 30;
  if (step < 0 || epoch < 0 || total < 0 || epoch > kMost || total > kMost) return step;
  return epoch * total + step;
}

}  // namespace

/// In the order in which they are tried.
struct MarkerFinder::Compiled {
  explicit Compiled(std::vector<std::unique_ptr<const LazyWording>> tried, bool is_own = false)
      : wordings(std::move(tried)), own(is_own), present(distinct_needles()) {}

  /// Those of the wordings, without empty ones. A wording's place in it is its bit in `find`.
  std::vector<std::string> distinct_needles() {
    std::vector<std::string> needles;
    for (const auto& wording : wordings) {
      const auto known = std::ranges::find(needles, wording->needle);
      bits.push_back(wording->needle.empty() ? kAlways : uint64_t{1} << (known - needles.begin()));
      if (known == needles.end() && !wording->needle.empty()) needles.emplace_back(wording->needle);
    }
    return needles;
  }

  /// Bits of the needles that the line holds.
  uint64_t needles_in(std::string_view line) const {
    uint64_t found = kAlways;
    present.any_of(line, [&](size_t number) {
      found |= uint64_t{1} << number;
      return false;
    });
    return found;
  }

  static constexpr uint64_t kAlways = uint64_t{1} << 63;

  std::vector<std::unique_ptr<const LazyWording>> wordings;
  std::vector<uint64_t> bits;  ///< By wording: of its needle.
  bool own = false;
  NeedleFilter present;
};

std::span<const IterationWording> iteration_wordings() { return kWordings; }

bool is_iteration_preset(std::string_view name) {
  return std::ranges::find(kWordings, name, &IterationWording::preset) != std::end(kWordings);
}

namespace {

template <typename Wanted>
auto wordings_of(Wanted wanted) {
  std::vector<std::unique_ptr<const LazyWording>> found;
  for (size_t i = 0; i < std::size(kWordings); ++i) {
    const IterationWording& wording = kWordings[i];
    if (!wanted(wording)) continue;
    found.push_back(std::make_unique<const LazyWording>(wording.regex, wording.needle,
                                                        static_cast<uint16_t>(i)));
  }
  return found;
}

}  // namespace

MarkerFinder::MarkerFinder() {
  static const auto all = std::make_shared<const Compiled>(
      wordings_of([](const IterationWording& wording) { return !wording.by_name_only; }));
  compiled_ = all;
}

MarkerFinder::MarkerFinder(std::string_view wanted) {
  auto wordings =
      wordings_of([&](const IterationWording& wording) { return wording.preset == wanted; });
  const bool own = wordings.empty();
  if (own) {
    wordings.push_back(std::make_unique<const LazyWording>(wanted, "", kOwnWording));
    const re2::RE2& regex = wordings.front()->expression().regex;
    if (!regex.ok()) {
      throw Error(fmt::format("invalid expression: {}", regex.error()), "--iteration",
                  "RE2 syntax; group 1 is the step");
    }
  }
  compiled_ = std::make_shared<const Compiled>(std::move(wordings), own);
}

bool MarkerFinder::wants_all_lines() const { return compiled_->own; }

namespace {

/// Reads the marker of one wording; false if the line does not fit it.
bool read_marker(const LazyWording& wording, std::string_view line, Marker& marker) {
  const Expression& expression = wording.expression();
  re2::StringPiece groups[kMaxGroups];
  const int count = std::min(kMaxGroups, 1 + expression.regex.NumberOfCapturingGroups());
  if (!expression.regex.Match(piece(line), 0, line.size(), re2::RE2::UNANCHORED, groups, count))
    return false;
  const auto number = [&](int group) {
    if (group < 0 || group >= count) return int64_t{-1};
    return step_number({groups[group].data(), groups[group].size()});
  };
  // In an expression of the user's own the first group is the step if none is named so.
  const bool is_first = wording.number == kOwnWording && expression.step < 0;
  marker.wording = wording.number;
  marker.total = number(expression.total);
  const int64_t epoch = number(expression.epoch) - wording.first_epoch();
  marker.step = step_in_all(number(is_first ? 1 : expression.step), epoch, marker.total);
  return true;
}

}  // namespace

bool MarkerFinder::find(std::string_view line, Marker& marker) const {
  const Compiled& compiled = *compiled_;
  const uint64_t present = compiled.needles_in(line);
  std::optional<bool> is_other;
  for (size_t i = 0; i < compiled.wordings.size(); ++i) {
    if ((compiled.bits[i] & present) == 0) continue;
    const LazyWording& wording = *compiled.wordings[i];
    if (wording.needle == kBar) {
      if (!is_other) is_other = is_other_bar(line);
      if (*is_other) continue;
    }
    if (read_marker(wording, line, marker)) return true;
  }
  return false;
}

std::vector<std::string> marker_needles(const MarkerFinder& finder) {
  if (finder.wants_all_lines()) return {""};
  std::vector<std::string> needles;
  for (const IterationWording& wording : iteration_wordings()) {
    Marker found;
    if (!wording.by_name_only) needles.emplace_back(wording.needle);
    // Only a finder that was made for it finds its example.
    if (wording.by_name_only && finder.find(wording.example, found)) return {""};
  }
  std::ranges::sort(needles);
  needles.erase(std::unique(needles.begin(), needles.end()), needles.end());
  return needles;
}

}  // namespace ncclog
