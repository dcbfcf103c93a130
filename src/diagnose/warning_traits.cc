// What does a run warn of, and which lines does it print that no wording fits?
//
//   misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-Kx to 9637892 bytes
//   → "Error: failed to extend # to # bytes"
//
// Lines count by their words: two runs differ if one of them says something that the other never
// says. How often it does, and about whom, makes no difference.

#include <algorithm>
#include <map>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/trait_tables.h"
#include "log/message_shape.h"

namespace ncclog {
namespace {

bool may_warn(const Kind& kind) {
  return std::any_of(kind.wordings.begin(), kind.wordings.end(),
                     [&](const Wording& wording) { return warning_of(wording) != nullptr; });
}

std::string shape_of(const Job& job, std::string_view message) {
  return message_shape(without_names(job, message.substr(0, kMaxShapeBytes)));
}

/// Lines by what they have in common.
using Shapes = std::map<std::string, Evidence>;

void add_line(const Evidence& line, std::string shape, Shapes& shapes) {
  Evidence& first = shapes.try_emplace(std::move(shape), line).first->second;
  if (line.where < first.where) first = line;
}

void add_warnings(const Job& job, const RecordList& list, Shapes& shapes) {
  for (const Record& record : list.kept) {
    const Event event = parse_record(record);
    if (event.header.level != Level::Warn || event.header.torn) continue;
    add_line(evidence_of(record), shape_of(job, event.header.message), shapes);
  }
}

void add_traits(Topic topic, bool are_notes, const Shapes& shapes, Traits& traits) {
  for (const auto& [shape, line] : shapes) {
    Trait trait{.topic = topic, .name = shape, .value = "printed"};
    trait.is_note = are_notes;
    trait.evidence = {line};
    traits.push_back(std::move(trait));
  }
}

}  // namespace

void add_warning_traits(const Job& job, Traits& traits) {
  Shapes warnings;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) {
      if (may_warn(all_kinds()[kind])) add_warnings(job, list, warnings);
    }
  }
  Shapes unknown;
  for (const auto& [shape, lines] : job.unknown.shapes) {
    const Evidence line{lines.first, lines.example};
    const bool is_warning = (lines.levels >> static_cast<unsigned>(Level::Warn) & 1) != 0;
    const Record record{lines.first, Record::kNoKind, lines.example};
    const Event event = parse_record(record);
    add_line(line, shape_of(job, event.header.message), is_warning ? warnings : unknown);
  }
  add_traits(Topic::Warning, false, warnings, traits);
  add_traits(Topic::UnknownLine, true, unknown, traits);
}

Absence warning_absence(const Job& job, const Trait&) {
  const bool speaks = std::any_of(job.processes.begin(), job.processes.end(),
                                  [](const Process& process) { return process.has_nccl; });
  return speaks ? proven() : not_told("its logs hold no line of NCCL");
}

}  // namespace ncclog
