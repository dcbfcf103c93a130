// The keys of an outcome in JSON, in the order in which they are written.

#pragma once

#include <string>
#include <utility>

#include "replay/json_fields.h"
#include "replay/outcome.h"
#include "replay/plan_fields.h"

namespace ncclog {

template <>
struct EnumWords<ReplayPhase> {
  static constexpr std::string_view kNoun = "phase";
  static constexpr int kCount = 6;
};

template <>
struct EnumWords<RunEnd> {
  static constexpr std::string_view kNoun = "end of a run";
  static constexpr int kCount = 6;
};

template <>
struct EnumWords<ProcessEnd> {
  static constexpr std::string_view kNoun = "end of a process";
  static constexpr int kCount = 5;
};

/// A setting: its name and its value.
using NamedValue = std::pair<std::string, std::string>;

void each_field(auto& visit, FieldsOf<NamedValue>) {
  visit("name", &NamedValue::first, Field::Always);
  visit("value", &NamedValue::second, Field::Always);
}

void each_field(auto& visit, FieldsOf<WrongElement>) {
  visit("call", &WrongElement::call, Field::Always);
  visit("element", &WrongElement::element, Field::Always);
  visit("expected", &WrongElement::expected, Field::Always);
  visit("found", &WrongElement::found, Field::Always);
}

void each_field(auto& visit, FieldsOf<Verification>) {
  visit("calls", &Verification::calls, Field::Always);
  visit("elements", &Verification::elements, Field::Always);
  visit("wrong", &Verification::wrong, Field::Always);
  visit("shape_only", &Verification::shape_only, Field::Always);
  visit("first", &Verification::first, Field::IfSet);
}

void each_field(auto& visit, FieldsOf<RankOutcome>) {
  visit("rank", &RankOutcome::rank, Field::Always);
  visit("gpu", &RankOutcome::gpu, Field::Always);
  visit("pid", &RankOutcome::pid, Field::Always);
  visit("reached", &RankOutcome::reached, Field::Always);
  visit("entered", &RankOutcome::entered, Field::Always);
  visit("completed", &RankOutcome::completed, Field::Always);
  visit("open", &RankOutcome::open, Field::IfSet);
  visit("verified", &RankOutcome::verified, Field::Always);
  visit("end", &RankOutcome::end, Field::Always);
  visit("exit_code", &RankOutcome::exit_code, Field::Always);
  visit("signal", &RankOutcome::signal, Field::IfSet);
  visit("error", &RankOutcome::error, Field::IfSet);
  visit("init_seconds", &RankOutcome::init_seconds, Field::Always);
}

void each_field(auto& visit, FieldsOf<GpuCheck>) {
  visit("gpu", &GpuCheck::gpu, Field::Always);
  visit("answers", &GpuCheck::answers, Field::Always);
  visit("free_before", &GpuCheck::free_before, Field::Always);
  visit("free_after", &GpuCheck::free_after, Field::Always);
  visit("error", &GpuCheck::error, Field::IfSet);
}

void each_field(auto& visit, FieldsOf<CallTiming>) {
  visit("call", &CallTiming::call, Field::Always);
  visit("op", &CallTiming::op, Field::Always);
  visit("bytes", &CallTiming::bytes, Field::Always);
  visit("runs", &CallTiming::runs, Field::Always);
  visit("cold_us", &CallTiming::cold_us, Field::Always);
  visit("median_us", &CallTiming::median_us, Field::Always);
  visit("least_us", &CallTiming::least_us, Field::Always);
  visit("most_us", &CallTiming::most_us, Field::Always);
  visit("algbw", &CallTiming::algbw, Field::Always);
  visit("busbw", &CallTiming::busbw, Field::Always);
  visit("series_us", &CallTiming::series_us, Field::IfSet);
  visit("series_busbw", &CallTiming::series_busbw, Field::IfSet);
}

void each_field(auto& visit, FieldsOf<RunOutcome>) {
  visit("mode", &RunOutcome::mode, Field::Always);
  visit("settings", &RunOutcome::settings, Field::Always);
  visit("end", &RunOutcome::end, Field::Always);
  visit("phase", &RunOutcome::phase, Field::Always);
  visit("front", &RunOutcome::front, Field::Always);
  visit("reason", &RunOutcome::reason, Field::Always);
  visit("seconds", &RunOutcome::seconds, Field::Always);
  visit("ranks", &RunOutcome::ranks, Field::Always);
  visit("gpus", &RunOutcome::gpus, Field::Always);
  visit("leftovers", &RunOutcome::leftovers, Field::Always);
  visit("timings", &RunOutcome::timings, Field::Always);
  visit("logs", &RunOutcome::logs, Field::Always);
}

void each_field(auto& visit, FieldsOf<ReplayGpu>) {
  visit("gpu", &ReplayGpu::gpu, Field::Always);
  visit("name", &ReplayGpu::name, Field::Always);
  visit("bus_id", &ReplayGpu::bus_id, Field::Always);
  visit("memory", &ReplayGpu::memory, Field::Always);
}

void each_field(auto& visit, FieldsOf<ReplayOutcome>) {
  visit.schema(ReplayOutcome::kSchema);
  visit("tool_version", &ReplayOutcome::tool_version, Field::Always);
  visit("plan", &ReplayOutcome::plan, Field::Always);
  visit("refused", &ReplayOutcome::refused, Field::Always);
  visit("hint", &ReplayOutcome::hint, Field::Always);
  visit("nccl_version", &ReplayOutcome::nccl_version, Field::Always);
  visit("nccl_library", &ReplayOutcome::nccl_library, Field::Always);
  visit("cuda_version", &ReplayOutcome::cuda_version, Field::Always);
  visit("driver", &ReplayOutcome::driver, Field::Always);
  visit("threads", &ReplayOutcome::threads, Field::Always);
  visit("pseudo_hosts", &ReplayOutcome::pseudo_hosts, Field::Always);
  visit("gpus", &ReplayOutcome::gpus, Field::Always);
  visit("settings", &ReplayOutcome::settings, Field::Always);
  visit("runs", &ReplayOutcome::runs, Field::Always);
}

}  // namespace ncclog
