// The keys of an outcome in JSON, in the order in which they are written.

#pragma once

#include <string>
#include <utility>

#include "replay/judge/outcome.h"
#include "replay/plan/plan_json.h"

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
  visit("name", &NamedValue::first, Written::Always);
  visit("value", &NamedValue::second, Written::Always);
}

void each_field(auto& visit, FieldsOf<WrongElement>) {
  visit("call", &WrongElement::call, Written::Always);
  visit("element", &WrongElement::element, Written::Always);
  visit("expected", &WrongElement::expected, Written::Always);
  visit("found", &WrongElement::found, Written::Always);
}

void each_field(auto& visit, FieldsOf<Verification>) {
  visit("calls", &Verification::calls, Written::Always);
  visit("elements", &Verification::elements, Written::Always);
  visit("wrong", &Verification::wrong, Written::Always);
  visit("shape_only", &Verification::shape_only, Written::Always);
  visit("first", &Verification::first, Written::IfSet);
}

void each_field(auto& visit, FieldsOf<RankOutcome>) {
  visit("rank", &RankOutcome::rank, Written::Always);
  visit("gpu", &RankOutcome::gpu, Written::Always);
  visit("pid", &RankOutcome::pid, Written::Always);
  visit("reached", &RankOutcome::reached, Written::Always);
  visit("entered", &RankOutcome::entered, Written::Always);
  visit("completed", &RankOutcome::completed, Written::Always);
  visit("open", &RankOutcome::open, Written::IfSet);
  visit("verified", &RankOutcome::verified, Written::Always);
  visit("end", &RankOutcome::end, Written::Always);
  visit("exit_code", &RankOutcome::exit_code, Written::Always);
  visit("signal", &RankOutcome::signal, Written::IfSet);
  visit("error", &RankOutcome::error, Written::IfSet);
  visit("init_seconds", &RankOutcome::init_seconds, Written::Always);
}

void each_field(auto& visit, FieldsOf<GpuCheck>) {
  visit("gpu", &GpuCheck::gpu, Written::Always);
  visit("answers", &GpuCheck::answers, Written::Always);
  visit("free_before", &GpuCheck::free_before, Written::Always);
  visit("free_after", &GpuCheck::free_after, Written::Always);
  visit("error", &GpuCheck::error, Written::IfSet);
}

void each_field(auto& visit, FieldsOf<CallTiming>) {
  visit("call", &CallTiming::call, Written::Always);
  visit("op", &CallTiming::op, Written::Always);
  visit("bytes", &CallTiming::bytes, Written::Always);
  visit("runs", &CallTiming::runs, Written::Always);
  visit("cold_us", &CallTiming::cold_us, Written::Always);
  visit("median_us", &CallTiming::median_us, Written::Always);
  visit("least_us", &CallTiming::least_us, Written::Always);
  visit("most_us", &CallTiming::most_us, Written::Always);
  visit("algbw", &CallTiming::algbw, Written::Always);
  visit("busbw", &CallTiming::busbw, Written::Always);
  visit("series_us", &CallTiming::series_us, Written::IfSet);
  visit("series_busbw", &CallTiming::series_busbw, Written::IfSet);
}

void each_field(auto& visit, FieldsOf<RunOutcome>) {
  visit("mode", &RunOutcome::mode, Written::Always);
  visit("settings", &RunOutcome::settings, Written::Always);
  visit("end", &RunOutcome::end, Written::Always);
  visit("phase", &RunOutcome::phase, Written::Always);
  visit("front", &RunOutcome::front, Written::Always);
  visit("reason", &RunOutcome::reason, Written::Always);
  visit("seconds", &RunOutcome::seconds, Written::Always);
  visit("ranks", &RunOutcome::ranks, Written::Always);
  visit("gpus", &RunOutcome::gpus, Written::Always);
  visit("leftovers", &RunOutcome::leftovers, Written::Always);
  visit("timings", &RunOutcome::timings, Written::Always);
  visit("logs", &RunOutcome::logs, Written::Always);
}

void each_field(auto& visit, FieldsOf<ReplayGpu>) {
  visit("gpu", &ReplayGpu::gpu, Written::Always);
  visit("name", &ReplayGpu::name, Written::Always);
  visit("bus_id", &ReplayGpu::bus_id, Written::Always);
  visit("memory", &ReplayGpu::memory, Written::Always);
}

void each_field(auto& visit, FieldsOf<ReplayOutcome>) {
  visit.schema(ReplayOutcome::kSchema);
  visit("tool_version", &ReplayOutcome::tool_version, Written::Always);
  visit("plan", &ReplayOutcome::plan, Written::Always);
  visit("refused", &ReplayOutcome::refused, Written::Always);
  visit("hint", &ReplayOutcome::hint, Written::Always);
  visit("nccl_version", &ReplayOutcome::nccl_version, Written::Always);
  visit("nccl_library", &ReplayOutcome::nccl_library, Written::Always);
  visit("cuda_version", &ReplayOutcome::cuda_version, Written::Always);
  visit("driver", &ReplayOutcome::driver, Written::Always);
  visit("pseudo_hosts", &ReplayOutcome::pseudo_hosts, Written::Always);
  visit("gpus", &ReplayOutcome::gpus, Written::Always);
  visit("settings", &ReplayOutcome::settings, Written::Always);
  visit("runs", &ReplayOutcome::runs, Written::Always);
}

}  // namespace ncclog
