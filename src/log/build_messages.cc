#include "log/build_messages.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "log/foreign_needs.h"

namespace ncclog {
namespace {

/// Each example is held against all wordings, so twice as many kinds take four times as long.
constexpr size_t kMostKinds = 8192;

/// Of a wording that is added to the built-in ones, a few of which have less and were looked at.
constexpr size_t kFewestBytes = 5;

/// Where each wording of a file stands; those of known kinds are not here.
using Places = std::map<const Wording*, const WordingText*>;

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string place_text(const FilePlace& place) {
  return place.file + ":" + std::to_string(place.line);
}

/// A kind under construction: where its parts come from.
struct Plan {
  const Kind* known = nullptr;         ///< nullptr: all of it is new.
  std::vector<const KindText*> added;  ///< In their order.
  bool is_replaced = false;            ///< The known wordings are taken away.
};

/// What of the wording is not a hole, blanks aside; the shortest word of a choice counts.
size_t own_bytes(const Wording& wording) {
  size_t bytes = 0;
  for (const PatternStep& step : wording.steps) {
    bytes +=
        static_cast<size_t>(std::ranges::count_if(step.literal, [](char c) { return c != ' '; }));
    if (!step.choices.empty()) bytes += step.choices.back().size();
  }
  return bytes;
}

class Builder {
 public:
  Builder(std::span<const Kind> known, std::span<const KindText> added, OwnedWordingTable& result)
      : result_(result), adds_(!known.empty()) {
    for (const Kind& kind : known) plan_of(kind.name).known = &kind;
    for (const KindText& kind : added) add(kind);
    for (const KindText& kind : added) {
      if (!kind.replaces.empty()) replace(kind);
    }
  }

  void build() {
    std::vector<Kind>& kinds = result_.kinds;
    kinds.reserve(plans_.size());
    for (const Plan& plan : plans_) kinds.push_back(kind_of(plan));
    for (size_t i = 0; i < plans_.size(); ++i) add_wordings(plans_[i], kinds[i]);
    for (const Kind& kind : kinds) {
      for (const Wording& wording : kind.wordings) {
        if (kind.source == Source::Nccl) result_.nccl.add(wording);
        if (kind.source != Source::Nccl || wording.quotable) result_.foreign.add(wording);
      }
    }
    result_.table = {kinds, result_.nccl.dispatch(), result_.foreign.dispatch()};
  }

  const Places& places() const { return places_; }

 private:
  Plan& plan_of(std::string_view name) {
    const auto [entry, is_new] = by_name_.try_emplace(name, plans_.size());
    if (is_new) plans_.emplace_back();
    return plans_[entry->second];
  }

  void add(const KindText& kind) {
    Plan& plan = plan_of(kind.name);
    const std::string name = "the kind " + in_quotes(kind.name);
    if (!plan.added.empty()) {
      fail_at(kind.place, name + " stands twice",
              "the other is at " + place_text(plan.added.front()->place));
    }
    if (plan.known != nullptr) {
      const bool is_same =
          plan.known->library == kind.library && plan.known->subsystem == kind.subsystem;
      if (!is_same || !kind.fields.empty()) {
        const std::string_view subsystem = to_string(plan.known->subsystem);
        fail_at(kind.place,
                name +
                    " is known already: more wordings need its own library and subsystem, "
                    "and list no fields",
                "begin it with '" + kind.name + "  " + std::string(to_string(plan.known->library)) +
                    " " + std::string(subsystem.empty() ? "-" : subsystem) + "'");
      }
    }
    if (plans_.size() > kMostKinds)
      fail_at(kind.place, "more than " + std::to_string(kMostKinds) + " kinds",
              "name only what the logs show");
    plan.added.push_back(&kind);
  }

  void replace(const KindText& kind) {
    const auto entry = by_name_.find(kind.replaces);
    if (entry != by_name_.end() && plans_[entry->second].known != nullptr) {
      plans_[entry->second].is_replaced = true;
      return;
    }
    std::vector<std::string_view> names;
    for (const auto& [name, plan] : by_name_) names.push_back(name);
    const auto near = nearest_name(kind.replaces, names);
    fail_at(kind.place, "replaces the kind " + in_quotes(kind.replaces) + ", which is not built in",
            near ? "did you mean " + in_quotes(*near) + "?" : "");
  }

  Kind kind_of(const Plan& plan) {
    Kind kind;
    if (plan.known != nullptr) {
      kind = *plan.known;
    } else {
      const KindText& text = *plan.added.front();
      kind.library = text.library;
      kind.source = source_of(text.library);
      kind.subsystem = text.subsystem;
      std::vector<Field>& fields = result_.fields.emplace_back();
      for (const FieldText& field : text.fields)
        fields.push_back({keep(field.name), field.type, keep(field.meaning)});
      kind.fields = fields;
      kind.name = keep(text.name);
      kind.meaning = keep(text.meaning);
    }
    kind.index = static_cast<uint16_t>(result_.kinds.size());
    return kind;
  }

  void add_wordings(const Plan& plan, Kind& kind) {
    std::vector<Wording>& wordings = result_.wordings.emplace_back();
    std::vector<const WordingText*> texts;
    if (plan.known != nullptr && !plan.is_replaced) {
      wordings.assign(plan.known->wordings.begin(), plan.known->wordings.end());
    }
    texts.resize(wordings.size());
    for (const KindText* added : plan.added) {
      for (const WordingText& text : added->wordings) {
        wordings.push_back(wording_of(text, kind));
        texts.push_back(&text);
      }
    }
    for (size_t i = 0; i < wordings.size(); ++i) {
      wordings[i].kind = &kind;
      if (texts[i] != nullptr) places_[&wordings[i]] = texts[i];
    }
    kind.wordings = wordings;
  }

  Wording wording_of(const WordingText& text, const Kind& kind) {
    Wording wording{.text = keep(text.text),
                    .example = keep(text.example),
                    .quotable = text.quotable,
                    .general = text.general};
    wording.warning = {text.severity, text.origin, keep(text.meaning)};
    if (!text.recogniser.empty()) {
      wording.recognise =
          std::ranges::find(known_recognisers(), text.recogniser, &KnownRecogniser::name)
              ->recognise;
    }
    try {
      wording.steps = compile_wording(wording.text, kind.fields, result_.store);
      if (adds_ && wording.recognise == nullptr && own_bytes(wording) < kFewestBytes)
        fail_at(text.place, "the wording has too little text of its own, and would fit anything");
    } catch (const MalformedWording& error) {
      FilePlace place = text.place;
      place.column += static_cast<int>(error.offset);
      fail_at(place, error.what(), error.hint);
    }
    return wording;
  }

  std::string_view keep(const std::string& text) { return result_.store.keep(text); }

  OwnedWordingTable& result_;
  const bool adds_;  ///< There are known kinds.
  std::deque<Plan> plans_;
  std::map<std::string_view, size_t> by_name_;
  Places places_;
};

/// Proves of each wording of a file what its kind, and rules about it, count on.
class Prover {
 public:
  Prover(const WordingTable& table, const Places& places) : table_(table), places_(places) {}

  void prove() const {
    for (const Kind& kind : table_.kinds) {
      const auto text = places_.find(kind.wordings.empty() ? nullptr : &kind.wordings.back());
      if (text == places_.end()) continue;
      for (const Wording& wording : kind.wordings) prove(wording);
      prove_fields(kind, *text->second);
    }
  }

 private:
  void prove(const Wording& wording) const {
    const auto entry = places_.find(&wording);
    if (entry == places_.end()) return;
    const WordingText& text = *entry->second;
    Message own;
    if (!match_wording(wording, wording.example, own)) return fail_example(wording, text);
    prove_alone(wording, text);
    prove_found(wording, text);
    prove_filled(wording, text, own);
    if (wording.general) prove_general(wording, text);
  }

  [[noreturn]] void fail_example(const Wording& wording, const WordingText& text) const {
    FilePlace place = text.example_place;
    const size_t fits = matched_bytes(wording, wording.example);
    place.column += static_cast<int>(fits);
    fail_at(place, "the example does not fit its wording from here on",
            "the wording is " + in_quotes(wording.text));
  }

  /// No other wording fits the example, but for a general one after it in its kind.
  void prove_alone(const Wording& wording, const WordingText& text) const {
    const Source source = wording.kind->source;
    for (const Wording* other : table_.all_matches(wording.example, source)) {
      const bool may_fit =
          other == &wording || (other->kind == wording.kind && other->general && other > &wording);
      if (may_fit) continue;
      fail_at(text.example_place,
              "the example also fits " + in_quotes(other->text) + " of the kind " +
                  in_quotes(other->kind->name),
              places_.contains(other)
                  ? "make one of them narrower, or a later one of the same kind 'general'"
                  : "wordings that are known already are tried first; say 'replaces: " +
                        std::string(other->kind->name) + "' to take them away");
    }
  }

  void prove_found(const Wording& wording, const WordingText& text) const {
    const bool is_nccl = wording.kind->source == Source::Nccl;
    const Message found =
        is_nccl ? table_.parse_nccl(wording.example) : table_.parse_foreign(wording.example);
    if (found.wording != &wording)
      fail_at(text.example_place, "the example is not found by its wording's first words",
              "begin the wording with a word of its own");
    if (wording.quotable && table_.parse_foreign(wording.example).wording == nullptr)
      fail_at(text.example_place, "the example is not found without a header");
  }

  /// Every hole with a name takes something of the example, and numbers are numbers.
  void prove_filled(const Wording& wording, const WordingText& text, const Message& own) const {
    for (const PatternStep& step : wording.steps) {
      if (step.field < 0 || wording.recognise != nullptr) continue;
      const auto index = static_cast<size_t>(step.field);
      const Field& field = wording.kind->fields[index];
      const std::string_view taken = own.fields[index];
      const bool may_be_empty = step.hole == HoleType::Text || step.hole == HoleType::Rest;
      if (taken.empty() && !may_be_empty)
        fail_at(text.example_place,
                "the example leaves the field " + in_quotes(field.name) + " empty");
      const bool is_number = field.type == FieldType::Text || taken.empty() || taken == "(nil)" ||
                             (field.type == FieldType::Integer ? parse_int(taken).has_value()
                                                               : parse_hex(taken).has_value());
      if (!is_number)
        fail_at(text.example_place,
                in_quotes(taken) + " is no number for the field " + in_quotes(field.name));
    }
  }

  void prove_general(const Wording& wording, const WordingText& text) const {
    const bool is_general = std::ranges::any_of(wording.kind->wordings, [&](const Wording& other) {
      Message ignored;
      return &other != &wording && match_wording(wording, other.example, ignored);
    });
    if (!is_general)
      fail_at(text.place, "the wording is said to be general, and fits no other one's example",
              "take the word 'general' away");
  }

  static void prove_fields(const Kind& kind, const WordingText& text) {
    for (size_t i = 0; i < kind.fields.size(); ++i) {
      const bool is_filled = std::ranges::any_of(kind.wordings, [&](const Wording& wording) {
        return wording.recognise != nullptr ||
               std::ranges::any_of(wording.steps, [&](const PatternStep& step) {
                 return step.field == static_cast<int>(i);
               });
      });
      if (!is_filled)
        fail_at(text.place, "no wording of the kind " + in_quotes(kind.name) + " fills its field " +
                                in_quotes(kind.fields[i].name));
    }
  }

  const WordingTable& table_;
  const Places& places_;
};

}  // namespace

void build_messages(std::span<const Kind> known, std::span<const KindText> added,
                    OwnedWordingTable& result) {
  Builder builder(known, added, result);
  builder.build();
  Prover(result.table, builder.places()).prove();
}

}  // namespace ncclog
