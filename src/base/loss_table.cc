#include "base/loss_table.h"

namespace ncclog {
namespace {

constexpr LossRow kLossRows[] = {
#include "base/loss_rows.inc"
};
static_assert(std::size(kLossRows) == static_cast<size_t>(Loss::kCount));

}  // namespace

std::span<const LossRow> loss_rows() { return kLossRows; }

LossTable& LossTable::operator+=(const LossTable& other) {
  lines += other.lines;
  recognised += other.recognised;
  unrecognised += other.unrecognised;
  foreign += other.foreign;
  unreadable += other.unreadable;
  for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  return *this;
}

}  // namespace ncclog
