// Any bytes through the rule loader: as YAML, which becomes a rule or an Error, and as the compact
// form, which becomes a tree or an Error. What loads is put to work on its own examples.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "model/derive/build_job.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void read_as_compact(std::string_view bytes) {
  try {
    const ncclog::RuleNode node = ncclog::read_compact(bytes);
    require(ncclog::read_compact(ncclog::write_compact(node)) == node);
  } catch (const ncclog::Error&) {
  }
}

void judge_examples(const ncclog::Rulebook& rulebook) {
  for (const ncclog::Rule& rule : rulebook.rules) {
    for (const ncclog::Example& example : rule.fires) {
      ncclog::evaluate(rulebook, ncclog::job_from_text(example.log, make_line_matcher(rulebook)));
    }
  }
}

void read_as_yaml(std::string_view bytes) {
  try {
    std::vector<ncclog::Rule> rules;
    rules.push_back(ncclog::load_rule(bytes, "rules/sample-rule.yaml"));
    judge_examples(ncclog::make_rulebook(std::move(rules)));
  } catch (const ncclog::Error& error) {
    require(!std::string_view(error.what()).empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_as_compact(bytes);
  read_as_yaml(bytes);
  return 0;
}
