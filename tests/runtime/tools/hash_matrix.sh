#!/usr/bin/env bash
# hash_matrix.sh PROGRAM: trains two models by the command line at 1 to 4 ranks, under every strategy, prefetch depth
# and thread count, each twice, and fails where one world size shows two different hashes or where the measured peak is
# not the predicted one.
set -euo pipefail

program=$1
failures=0
runs=0

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# field LINE NAME: the JSON value of a key of the last event, as text.
field() { grep -o "\"$2\":\(\"[^\"]*\"\|\[[^]]*\]\)" <<<"$1" | cut -d: -f2-; }

# run_once WORD...: sets weights and state; checks the memory.
run_once() {
  local last peak predicted
  last=$("$program" train "$@" --json | tail -n 1)
  weights=$(field "$last" weights_hash)
  state=$(field "$last" state_hash)
  peak=$(field "$last" peak_bytes)
  predicted=$(field "$last" predicted_bytes)
  runs=$((runs + 1))
  [[ $weights =~ ^\"[0-9a-f]{16}\"$ && $state =~ ^\"[0-9a-f]{16}\"$ && -n $peak ]] ||
    fail "no hashes or bytes: $*: $last"
  [[ $peak == "$predicted" ]] || fail "peak is not as predicted: $*: $peak, not $predicted"
}

# run_matrix RANKS WORD...
run_matrix() {
  local ranks=$1 expected= choice threads repeat
  shift
  for choice in "none 1" "full 0" "full 1" "full 2"; do
    for threads in 1 2 3; do
      for repeat in 1 2; do
        run_once "$@" --ranks "$ranks" --strategy "${choice% *}" --prefetch "${choice#* }" --threads "$threads"
        [[ -n $expected ]] || expected="$weights $state"
        [[ "$weights $state" == "$expected" ]] ||
          fail "$* --ranks $ranks ${choice} threads $threads repeat $repeat: $weights $state, not $expected"
      done
    done
  done
  printf '%s, %d ranks: weights and state %s\n' "$2" "$ranks" "$expected"
}

for ranks in 1 2 3 4; do
  run_matrix "$ranks" --model gpt-2x128 --data text --batch 12 --steps 20
  run_matrix "$ranks" --model resnet9 --data fashion-mnist --batch 12 --steps 20 --clip-norm 0.5
done
printf '%d runs, %d failures\n' "$runs" "$failures"
[[ $failures -eq 0 && $runs -eq 192 ]]
