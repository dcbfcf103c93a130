// What is said of speed as JSON, schema ncclog.perf/1, and that schema.

#include "base/collectives.h"
#include "base/safe_json.h"
#include "base/text.h"
#include "report/json/json_fields.h"
#include "report/perf/perf_report.h"

namespace ncclog {

namespace {

/// Null for what is not known, and as all JSON for what is not finite.
template <auto member>
constexpr Value<Owner<member>> kReal = kNumberOrNull<member, type::number>;

constexpr Key<MeasuredValue> kMeasuredValue[] = {
    {"time_us", kReal<&MeasuredValue::time_us>},
    {"algbw", kReal<&MeasuredValue::algbw>, "GB/s, 10^9 bytes a second."},
    {"busbw", kReal<&MeasuredValue::busbw>, "GB/s, as nccl-tests defines it."},
};

constexpr Key<MeasuredPoint> kPoint[] = {
    {"bytes", kNumberOrNull<&MeasuredPoint::bytes>},
    {"out_of_place", kObject<&MeasuredPoint::out_of_place, kMeasuredValue>},
    {"in_place", kObject<&MeasuredPoint::in_place, kMeasuredValue>},
    {"wrong", kNumberOrNull<&MeasuredPoint::wrong>, "Wrong values; null: not checked."},
};

constexpr Key<Ceiling> kCeiling[] = {
    {"stage", kWord<&Ceiling::stage>},
    {"busbw", kReal<&Ceiling::busbw>},
    {"why", kText<&Ceiling::why>},
    {"source", kText<&Ceiling::source>},
    {"in_use",
     kValue<&Ceiling::in_use,
            [] {
              return Json{{"type", "boolean"}};
            }>,
     "Lines show that data take this way; false: the machine has it."},
};

constexpr Key<Measurement> kMeasurement[] = {
    {"name", kNameOrNull<&Measurement::name>, "As people know it: all_reduce_perf."},
    {"op",
     {type::nullable<type::name>,
      [](const Job&, const Measurement& of) -> Json { return write_name(name_of(of.op)); }},
     "As NCCL spells it."},
    {"by", kWord<&Measurement::by>},
    {"datatype", kNameOrNull<&Measurement::datatype>},
    {"nranks", kNumberOrNull<&Measurement::nranks>},
    {"nhosts", kNumberOrNull<&Measurement::nhosts>},
    {"hosts", kTexts<&Measurement::hosts>},
    {"gpus", kTexts<&Measurement::gpus>},
    {"points", kObjects<&Measurement::points, kPoint>},
};

/// What is not known of a verdict without a measurement: about a job whose speed nobody measured.
template <const auto& key>
constexpr Key<PerfVerdict> kOfMeasurement = {
    key.name,
    {key.value.schema,
     [](const Job& job, const PerfVerdict& verdict) -> Json {
       static const Measurement kNone;
       return key.value.write(job, verdict.measurement ? *verdict.measurement : kNone);
     }},
    key.help};

constexpr Key<PerfVerdict> kVerdict[] = {
    kOfMeasurement<kMeasurement[0]>,
    kOfMeasurement<kMeasurement[1]>,
    kOfMeasurement<kMeasurement[2]>,
    kOfMeasurement<kMeasurement[3]>,
    kOfMeasurement<kMeasurement[4]>,
    kOfMeasurement<kMeasurement[5]>,
    kOfMeasurement<kMeasurement[6]>,
    kOfMeasurement<kMeasurement[7]>,
    {"answer", kWord<&PerfVerdict::answer>},
    {"stage", kWord<&PerfVerdict::stage>, "Which stage limits, or would."},
    {"reached", kReal<&PerfVerdict::reached>, "Best bus bandwidth, GB/s."},
    {"reached_at", kNumberOrNull<&PerfVerdict::reached_at>, "Its size in bytes."},
    {"ceiling", kReal<&PerfVerdict::ceiling>, "Bus bandwidth that the path in use allows, GB/s."},
    {"machine_ceiling", kReal<&PerfVerdict::machine_ceiling>,
     "What this machine could reach, GB/s."},
    {"ceilings", kObjects<&PerfVerdict::ceilings, kCeiling>, "The lowest first."},
    {"headline", kText<&PerfVerdict::headline>},
    {"notes", kTexts<&PerfVerdict::notes>},
    {"try", kTexts<&PerfVerdict::attempts>},
    {"do_not", kTexts<&PerfVerdict::do_not>},
    {"capture", kTexts<&PerfVerdict::capture>},
    {"evidence", kObjects<&PerfVerdict::evidence, kEvidence>},
    kOfMeasurement<kMeasurement[8]>,
};

constexpr Key<LateParty> kLateParty[] = {
    {"rank", kNumberOrNull<&LateParty::rank>, "Null: a host as a whole."},
    {"host", kNameOrNull<&LateParty::host>},
    {"share", kReal<&LateParty::share>, "Of the calls in which it came last, 0 to 1."},
    {"median_us", kReal<&LateParty::median_us>},
    {"p99_us", kReal<&LateParty::p99_us>},
    {"how",
     {type::one_of<"steady|bursts">,
      [](const Job&, const LateParty& party) -> Json {
        return party.in_bursts ? "bursts" : "steady";
      }}},
    {"period", kValue<&LateParty::period>, "Late in each so-manieth call; 0: at no regular one."},
    {"where",
     {type::one_of<"compute|call">,
      [](const Job&, const LateParty& party) -> Json {
        return party.inside_the_call ? "call" : "compute";
      }},
     "compute: it entered late and the others waited; call: it took longer in the call itself."},
};

constexpr Key<LateVerdict> kLateVerdict[] = {
    {"source", kText<&LateVerdict::source>},
    {"communicator", kNameOrNull<&LateVerdict::communicator>},
    {"nranks", kNumberOrNull<&LateVerdict::nranks>},
    {"calls", kValue<&LateVerdict::calls>, "That all ranks with times made."},
    {"median_call_us", kReal<&LateVerdict::median_call_us>},
    {"clock_error_us", kReal<&LateVerdict::clock_error_us>},
    {"late", kObjects<&LateVerdict::late, kLateParty>, "Empty: nobody is named."},
    {"why_nobody", kNameOrNull<&LateVerdict::why_nobody, type::text>},
    {"evidence", kObjects<&LateVerdict::evidence, kEvidence>},
};

constexpr Key<Suspect> kSuspect[] = {
    {"kind", kWord<&Suspect::kind>},
    {"host", kNameOrNull<&Suspect::host>},
    {"other", kNameOrNull<&Suspect::other>, "The other end of a link."},
    {"rail", kNameOrNull<&Suspect::rail>},
};

constexpr Key<NodeSetRun> kNextRun[] = {
    {"hosts", kTexts<&NodeSetRun::hosts>},
    {"rail", kNameOrNull<&NodeSetRun::rail>, "NIC to use alone; null: all."},
};

constexpr Key<NodeSetAnswer> kNodeSets[] = {
    {"fast", kTexts<&NodeSetAnswer::fast>, "Names of runs."},
    {"slow", kTexts<&NodeSetAnswer::slow>},
    {"unclear", kTexts<&NodeSetAnswer::unclear>, "Neither, or nothing to compare them with."},
    {"explained", kObjects<&NodeSetAnswer::explained, kSuspect>, "Empty: not yet."},
    {"left", kObjects<&NodeSetAnswer::left, kSuspect>, "Each of these alone would explain it."},
    {"next", kObjects<&NodeSetAnswer::next, kNextRun>, "Runs to make; empty: none is needed."},
    {"why", kText<&NodeSetAnswer::why>},
};

constexpr Key<Tool> kPerfTool[] = {kTool[0], kTool[1]};  // No rule is asked.

constexpr Key<PerfReport> kPerfVerdict[] = {
    {"status",
     {type::word<PerfStatus>,
      [](const Job&, const PerfReport& of) -> Json { return to_string(status_of(of)); }}},
    {"headline",
     {type::text,
      [](const Job&, const PerfReport& of) -> Json { return to_valid_utf8(headline_of(of)); }}},
};

constexpr Key<PerfReport> kPerf[] = {
    {"schema", kSchemaName<PerfReport, "ncclog.perf/1">},
    {"tool", kObject<&PerfReport::tool, kPerfTool>},
    {"verdict",
     {type::object<kPerfVerdict>,
      [](const Job& job, const PerfReport& of) { return write_object(job, kPerfVerdict, of); }}},
    {"measurements", kObjects<&PerfReport::verdicts, kVerdict>},
    {"late",
     {type::objects<kLateVerdict>,
      [](const Job& job, const PerfReport& of) {
        return write_objects(job, kLateVerdict, of.late);
      }}},
    {"node_sets",
     {type::nullable<type::object<kNodeSets>>,
      [](const Job& job, const PerfReport& of) -> Json {
        const bool is_solved = !of.node_sets.why.empty();
        return is_solved ? write_object(job, kNodeSets, of.node_sets) : Json(nullptr);
      }},
     "Null: no set of hosts was measured, or a single one that is normal."},
};

}  // namespace

std::string write_perf_json(const PerfReport& report) {
  return safe_json(write_object(report.job, kPerf, report).dump(2)) + "\n";
}

std::string perf_schema() {
  return document_schema("urn:ncclog:perf:1", "ncclog.perf/1",
                         "What `ncclog perf --format json` prints. Keys that are not required may "
                         "be added; what is here stays.",
                         kPerf);
}

}  // namespace ncclog
