// Any bytes through the rule loader: as YAML, which becomes a rule or an Error, and as the compact
// form, which becomes a tree or an Error. What loads is put to work on its own examples.

#include "base/error.h"
#include "fuzz/fuzz.h"
#include "model/derive/build_job.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "rules/profile.h"

namespace ncclog::fuzz {
namespace {

void judge_examples(const Rulebook& rulebook) {
  for (const Rule& rule : rulebook.rules) {
    for (const Example& example : rule.fires) {
      evaluate(rulebook, job_from_text(example.log, make_line_matcher(rulebook)));
    }
  }
}

}  // namespace

void fuzz_compact_rule(std::string_view bytes) {
  try {
    const RuleNode node = read_compact(bytes);
    require(read_compact(write_compact(node)) == node);
  } catch (const Error&) {
  }
}

void fuzz_rules(std::string_view bytes) {
  try {
    std::vector<Rule> rules;
    rules.push_back(load_rule(bytes, "rules/sample-rule.yaml"));
    judge_examples(make_rulebook(std::move(rules)));
  } catch (const Error& error) {
    require(!std::string_view(error.what()).empty());
  }
}

void fuzz_profile(std::string_view bytes) {
  static const Job kJob = job_from_text(
      "n1:41:41 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
      "n1:41:41 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n"
      "n1:41:41 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0\n");
  try {
    const Profile checked =
        check_profile(load_profile({"sample.yaml", read_yaml(bytes, "sample.yaml")}), kJob);
    profile_finding(checked, kJob);
  } catch (const Error& error) {
    require(!std::string_view(error.what()).empty());
  }
}

}  // namespace ncclog::fuzz
