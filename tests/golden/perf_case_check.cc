#include "golden/perf_case_check.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace ncclog::testing {
namespace {

using nlohmann::json;
using Complaints = std::vector<std::string>;

constexpr double kReachedError = 0.01;  // Printed with two digits after the point.
constexpr double kCeilingError = 0.15;

/// A value, or any of several.
std::vector<json> any_of(const json& allowed) {
  if (allowed.is_array()) return allowed.get<std::vector<json>>();
  return {allowed};
}

std::string list_of(const json& allowed) {
  std::vector<std::string> texts;
  for (const json& one : any_of(allowed)) {
    texts.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  }
  return join(texts, " or ");
}

/// Negative if it is unknown: null, missing, or -1.
double number_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : -1;
}

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_near(double got, double wanted, double error) {
  return std::abs(got - wanted) <= error * std::abs(wanted);
}

/// Most operations are measured once; where several curves are of one, their tops tell them apart.
const json* find_measurement(const json& report, const json& wanted) {
  const double reached = number_at(wanted, "reached");
  const json* best = nullptr;
  double best_distance = 0;
  const auto measurements = report.find("measurements");
  if (measurements == report.end()) return nullptr;
  for (const json& measurement : *measurements) {
    if (text_at(measurement, "op") != text_at(wanted, "op")) continue;
    const double distance = std::abs(number_at(measurement, "reached") - reached);
    if (best != nullptr && distance >= best_distance) continue;
    best = &measurement;
    best_distance = distance;
  }
  return best;
}

/// All that a reader is told, without the lines of the log that are quoted.
std::string words_of(const json& measurement) {
  std::string words = text_at(measurement, "headline");
  for (const char* key : {"notes", "try", "do_not", "capture"}) {
    for (const json& line : measurement.value(key, json::array())) words += "\n" + line.dump();
  }
  for (const json& ceiling : measurement.value("ceilings", json::array())) {
    words += "\n" + text_at(ceiling, "why");
  }
  return words;
}

void check_word(const json& wanted, const json& measurement, const char* key,
                Complaints& complaints) {
  if (!wanted.contains(key)) return;
  const std::vector<json> allowed = any_of(wanted.at(key));
  const json got = measurement.value(key, json());
  if (std::find(allowed.begin(), allowed.end(), got) != allowed.end()) return;
  complaints.push_back(std::string(key) + " is " + list_of(got) + ", not " +
                       list_of(wanted.at(key)));
}

/// The ceilings of machines that a value would be normal of, where nothing names the machine: "it would
/// be 89 % of the 175 that … give or 78 % of the 200 that … give".
std::vector<double> would_be_ceilings(const json& measurement) {
  std::vector<double> ceilings;
  std::string headline = text_at(measurement, "headline");
  headline.erase(0, headline.find("it would be"));
  constexpr std::string_view kBefore = " % of the ";
  for (size_t at = headline.find(kBefore); at != headline.npos;
       at = headline.find(kBefore, at + 1)) {
    ceilings.push_back(std::strtod(headline.c_str() + at + kBefore.size(), nullptr));
  }
  return ceilings;
}

/// Null is not held: the thread does not tell, or the log does not show the machine.
void check_ceiling(const json& wanted, const json& measurement, Complaints& complaints) {
  const json allowed = wanted.value("ceiling", json());
  if (allowed.is_null()) return;
  for (const double ceiling : would_be_ceilings(measurement)) {
    for (const json& value : any_of(allowed)) {
      if (is_near(ceiling, value.get<double>(), kCeilingError)) return;
    }
  }
  // What the path in use allows and what the machine could do differ where a path is a mistake;
  // people mean either by what they expected.
  for (const char* key : {"ceiling", "machine_ceiling"}) {
    for (const json& value : any_of(allowed)) {
      if (is_near(number_at(measurement, key), value.get<double>(), kCeilingError)) return;
    }
  }
  complaints.push_back("ceiling is " + measurement.value("ceiling", json()).dump() +
                       " (of the machine " + measurement.value("machine_ceiling", json()).dump() +
                       "), not " + list_of(allowed));
}

void check_texts(const json& wanted, const json& measurement, Complaints& complaints) {
  const std::string headline = text_at(measurement, "headline");
  for (const json& trap : wanted.value("headline_not", json::array())) {
    if (headline.find(trap.get<std::string>()) == headline.npos) continue;
    complaints.push_back("the headline says \"" + trap.get<std::string>() + "\": " + headline);
  }
  const std::string words = words_of(measurement);
  for (const json& mention : wanted.value("mentions", json::array())) {
    if (words.find(mention.get<std::string>()) != words.npos) continue;
    complaints.push_back("nothing mentions \"" + mention.get<std::string>() + "\"");
  }
}

void check_verdict(const json& wanted, const json& report, Complaints& complaints) {
  const std::string op = text_at(wanted, "op");
  const json* measurement = find_measurement(report, wanted);
  if (measurement == nullptr) {
    complaints.push_back(op + ": not measured");
    return;
  }
  Complaints found;
  check_word(wanted, *measurement, "answer", found);
  // Who cannot tell need not name a stage.
  if (text_at(*measurement, "answer") != "cannot-tell") {
    check_word(wanted, *measurement, "stage", found);
  }
  const double reached = number_at(wanted, "reached");
  // A rank alone reaches 0, which is as good as nothing.
  if (reached > 0 && !is_near(number_at(*measurement, "reached"), reached, kReachedError)) {
    found.push_back("reached is " + measurement->value("reached", json()).dump() + ", not " +
                    wanted.at("reached").dump());
  }
  check_ceiling(wanted, *measurement, found);
  check_texts(wanted, *measurement, found);
  for (const std::string& complaint : found) complaints.push_back(op + ": " + complaint);
}

std::string party_name(const json& party) {
  const std::string host = text_at(party, "host");
  const double rank = number_at(party, "rank");
  return rank < 0 ? host : "rank " + std::to_string(static_cast<int>(rank));
}

/// Nobody is late unless the case says so.
void check_late(const json& expected, const json& report, Complaints& complaints) {
  std::set<std::string> wanted;
  for (const json& party : expected.value("late", json::array())) wanted.insert(party_name(party));
  std::set<std::string> got;
  for (const json& verdict : report.value("late", json::array())) {
    for (const json& party : verdict.value("late", json::array())) got.insert(party_name(party));
  }
  if (got == wanted) return;
  const auto names = [](const std::set<std::string>& set) {
    return set.empty() ? "nobody" : join(std::vector<std::string>(set.begin(), set.end()), ", ");
  };
  complaints.push_back("late is " + names(got) + ", not " + names(wanted));
}

/// As NCCL spells it; empty if nothing was measured.
std::string op_of(std::string_view text) {
  constexpr std::pair<std::string_view, const char*> kOps[] = {
      {"all_reduce", "AllReduce"}, {"all_gather", "AllGather"}, {"reduce_scatter", "ReduceScatter"},
      {"alltoall", "AlltoAll"},    {"sendrecv", "SendRecv"},    {"broadcast", "Broadcast"}};
  for (const auto& [prefix, op] : kOps) {
    if (text.substr(0, prefix.size()) == prefix) return op;
  }
  return "";
}

/// What is said first counts: "77 % below the same cluster; cannot tell which node".
std::string answer_of(std::string_view verdict) {
  constexpr std::pair<std::string_view, const char*> kAnswers[] = {{"normal", "normal"},
                                                                   {"limited by", "limited"},
                                                                   {"below", "below"},
                                                                   {"cannot tell", "cannot-tell"}};
  std::string answer;
  size_t first = verdict.npos;
  for (const auto& [words, meaning] : kAnswers) {
    const size_t at = verdict.find(words);
    if (at == verdict.npos || (first != verdict.npos && at > first)) continue;
    first = at;
    answer = meaning;
  }
  return answer;
}

/// Keys know the machine; where the log does not name it, no ceiling may be taken because it explains the
/// value. Who says then of which machine it would be normal, of the key's among them, is right as well.
json answers_of(std::string_view verdict) {
  const std::string answer = answer_of(verdict);
  if (answer == "normal") return {"normal", "cannot-tell"};
  return answer;
}

}  // namespace

Complaints check_perf_case(const json& expected, const json& report) {
  Complaints complaints;
  for (const json& wanted : expected.at("expect")) check_verdict(wanted, report, complaints);
  const json judged = report.value("measurements", json::array());
  // A job that measured nothing may still say which paths its data take.
  const bool any = std::ranges::any_of(
      judged, [](const json& of) { return of.contains("op") && !of.at("op").is_null(); });
  if (expected.at("expect").empty() && !expected.contains("late") && any) {
    complaints.push_back("a measurement, where nothing was measured");
  }
  check_late(expected, report, complaints);
  return complaints;
}

json case_of_key(const json& key) {
  json expect = json::array();
  const std::string op = op_of(text_at(key, "op"));
  if (!op.empty()) {
    json wanted = {{"op", op},
                   {"answer", answers_of(text_at(key, "verdict"))},
                   {"reached", key.value("peak_busbw_GBs", json())},
                   {"ceiling", key.value("expected_ceiling_GBs", json())}};
    expect.push_back(std::move(wanted));
  }
  const json peaks = key.value("per_op_peak", json::object());
  for (const auto& [name, peak] : peaks.items()) {
    if (op_of(name) == op) continue;
    expect.push_back({{"op", op_of(name)}, {"reached", peak}});
  }
  return {{"expect", expect}};
}

}  // namespace ncclog::testing
