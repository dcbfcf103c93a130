#!/usr/bin/env bash
# Fuzzes all targets, or those that are named, and writes tests/fuzz/RESULTS.md, which ends with what
# findings.md says.
#
#   tests/fuzz/fuzz_all.sh build/fuzz [TARGET…]
#
# Each goes on, a minute at a time, until it has had NCCLOG_FUZZ_RUNS executions (a million) or
# NCCLOG_FUZZ_QUIET seconds (600) brought no new feature of the program; no target takes more than
# NCCLOG_FUZZ_SECONDS (no limit) of one call. What was found lies in build/fuzz/fuzzed/, and so does
# how far each is: a run that was stopped goes on where it was. Where that folder is new, executions and
# seconds go on from what RESULTS.md says; what brings a new feature begins again with the corpus. Fails
# if something was found.
set -euo pipefail

build=$1
shift
runs=${NCCLOG_FUZZ_RUNS:-1000000} quiet_most=${NCCLOG_FUZZ_QUIET:-600}
seconds_most=${NCCLOG_FUZZ_SECONDS:-1000000}
turn=$((seconds_most < 60 ? seconds_most : 60))
here=$(dirname "$0")
program=$build/tests/fuzz/ncclog_fuzz
work=$build/fuzzed
flags=(-timeout=10 -rss_limit_mb=2048 -print_final_stats=1)

names() { sed -n 's/^\([a-z_]*\)  *`.*/\1/p' "$here/targets.table"; }

number() { grep -o "$1 *[0-9]*" "$work/$2.log" | tail -n 1 | grep -o '[0-9]*$' || echo 0; }

# state: executions, seconds, seconds without anything new, features, inputs
# As far as a run of this folder came, or the last one that RESULTS.md tells of.
load() {
  local cells='\([0-9]*\) | \([0-9]*\) | \([0-9]*\) | \([0-9]*\) | \([0-9]*\)'
  read -r executions seconds quiet features inputs 2>/dev/null <"$work/$1.state" ||
    read -r executions seconds quiet features inputs \
      < <(sed -n "s/^| $1 | $cells |.*/\1 \2 \3 \4 \5/p" "$here/RESULTS.md") ||
    executions=0 seconds=0 quiet=0 features=0 inputs=0
}

fuzz_turn() {
  local target=$1 began=$SECONDS before=$features spent left=$((runs - executions)) status=0
  "$program" "$target" "${flags[@]}" -max_total_time=$turn -runs="$left" \
    -artifact_prefix="$work/found-$target-" "$work/$target" "$here/corpus/$target" \
    >"$work/$target.log" 2>&1 || status=$?
  spent=$((SECONDS - began))
  executions=$((executions + $(number number_of_executed_units: "$target")))
  features=$(number ft: "$target")
  inputs=$(find "$work/$target" -type f | wc -l)
  seconds=$((seconds + spent))
  [ "$features" -gt "$before" ] && quiet=0 || quiet=$((quiet + spent))
  echo "$executions $seconds $quiet $features $inputs" >"$work/$target.state"
  return $status
}

fuzz_target() {
  local target=$1 began=$SECONDS
  mkdir -p "$work/$target"
  load "$target"
  [ -f "$work/$target.state" ] || quiet=0 features=0  # The corpus that had them is gone.
  while [ "$executions" -lt "$runs" ] && [ "$quiet" -lt "$quiet_most" ] &&
    [ $((SECONDS - began)) -lt "$seconds_most" ]; do
    fuzz_turn "$target" || { echo "$target: found something, see $work/$target.log" >&2; return 1; }
  done
  echo "$target: $executions executions, $features features, $seconds s"
}

# What was found once is in the corpus, as found-…
write_results() {
  local target all=0 time=0
  {
    echo "# What fuzzing came to"
    echo
    echo "Written by \`./dev fuzz\`: $("$CXX" --version | head -n 1), libFuzzer with AddressSanitizer and"
    echo "UndefinedBehaviorSanitizer, \`ncclog_fuzz TARGET ${flags[*]:0:2}\`. A target ends after $runs"
    echo "executions, of earlier runs too, or $quiet_most s without a new feature; one with less of both was stopped before. Seeds and what was found are in \`corpus/\`."
    echo
    echo "| target | executions | seconds | of them without news | features | inputs kept | found |"
    echo "|---|--:|--:|--:|--:|--:|--:|"
    for target in $(names); do
      load "$target"
      all=$((all + executions)) time=$((time + seconds))
      echo "| $target | $executions | $seconds | $quiet | $features | $inputs |" \
        "$(find "$here/corpus/$target" -name 'found-*' | wc -l) |"
    done
    echo
    echo "Together $all executions in $time s, each of one process."
    echo
    cat "$here/findings.md"
  } >"$work/RESULTS.md"
  mv "$work/RESULTS.md" "$here/RESULTS.md"
}

mkdir -p "$work"
status=0
for target in ${*:-$(names)}; do fuzz_target "$target" || status=1; done
write_results
exit $status
