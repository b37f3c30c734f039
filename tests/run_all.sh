# `./shoal test`, sourced by that script: every suite, one after the other, then the minutes and the counts of each. The
# lock is held while something is built, so that other words of `./shoal` work while tests run.
# A test case is a gtest case, or a whole ctest test where that is no gtest executable. What kills an executable (a
# crash, the timeout) is a failure more, and so is each build that fails.

suite_rows=()
total_passed=0
total_failed=0

# count_cases DIR: prints "passed failed skipped", from ctest.xml and the gtest reports beside it.
count_cases() {
  awk '
    function attribute(name,   at, rest) {
      at = index($0, " " name "=\"")
      if (at == 0) return ""
      rest = substr($0, at + length(name) + 3)
      return substr(rest, 1, index(rest, "\"") - 1)
    }
    FNR == 1 { executable = FILENAME; sub(/.*\//, "", executable); sub(/\.xml$/, "", executable) }
    executable != "ctest" && /<testsuite / {
      bad = attribute("failures") + attribute("errors")
      idle = attribute("disabled") + attribute("skipped")
      passed += attribute("tests") - bad - idle
      failed += bad
      skipped += idle
      has_report[executable] = 1
      failures_of[executable] += bad
      next
    }
    executable == "ctest" && /^[ \t]*<testcase / { status[attribute("name")] = attribute("status") }
    END {
      for (name in status) {
        is_good = status[name] == "run"
        if (is_good && !(name in has_report)) ++passed
        if (!is_good && failures_of[name] == 0) ++failed
      }
      printf "%d %d %d\n", passed, failed, skipped
    }' "$1"/*.xml
}

# add_row SUITE BUILD_SECONDS TEST_SECONDS PASSED FAILED NOTE
add_row() {
  total_passed=$((total_passed + $4))
  total_failed=$((total_failed + $5))
  suite_rows+=("$(awk -v s="$1" -v b="$2" -v t="$3" -v p="$4" -v f="$5" -v n="$6" \
    'BEGIN { printf "%-8s %9.1f %9.1f %9d %9d  %s", s, b / 60, t / 60, p, f, n }')")
}

# build_suite PRESET TARGET: everything that compiles, also after an error.
build_suite() {
  if ! configure "$1"; then
    tail -n 30 "$root/build/$1/configure.log" >&2
    rm -f "$root/build/$1/CMakeCache.txt"
    say "configuring $1 failed"
    return 1
  fi
  build "$1" "$2" -k 0 || { say "building $1 failed"; return 1; }
}

# run_suite PRESET GTEST_FILTER CTEST_ARGUMENT...
run_suite() {
  local preset=$1 cases=$2 results=$root/build/$1/results build_start=$SECONDS build_failed=0 note=
  shift 2
  lock
  build_suite "$preset" all || { build_failed=1 note="the build failed"; }
  unlock
  local test_start=$SECONDS passed=0 failed=0 skipped=0 prefix=()
  rm -rf "$results"
  mkdir -p "$results"
  # ThreadSanitizer needs its address ranges free, which strongly randomised layouts don't promise.
  if [[ $preset == tsan ]] && setarch "$(uname -m)" -R true 2>/dev/null; then prefix=(setarch "$(uname -m)" -R); fi
  GTEST_FILTER=$cases GTEST_OUTPUT="xml:$results/" "${prefix[@]}" ctest --test-dir "$root/build/$preset" \
    --output-on-failure --no-tests=error --output-junit "$results/ctest.xml" -j "$(nproc)" "$@" </dev/null 8>&- || true
  if [[ -s $results/ctest.xml ]]; then
    read -r passed failed skipped < <(count_cases "$results")
  else
    failed=1 note="${note:+$note; }no test ran"
  fi
  [[ $skipped -eq 0 ]] || note="${note:+$note; }$skipped skipped"
  add_row "$preset" $((test_start - build_start)) $((SECONDS - test_start)) "$passed" $((failed + build_failed)) "$note"
}

# Without a GPU the CUDA files are compiled, no more.
compile_cuda() {
  local start=$SECONDS num_files
  lock
  num_files=$(find "$root"/{runtime,kernels,collectives,tests} -name '*.cu' | wc -l)
  if ! command -v nvcc >/dev/null; then
    [[ -x /usr/local/cuda/bin/nvcc ]] || { add_row cuda 0 0 0 0 "not compiled: there is no nvcc"; return; }
    export CUDACXX=/usr/local/cuda/bin/nvcc
  fi
  if [[ $num_files -eq 0 ]]; then
    if configure cuda; then
      add_row cuda $((SECONDS - start)) 0 0 0 "configured; there are no CUDA files yet"
    else
      add_row cuda $((SECONDS - start)) 0 0 1 "configuring failed: build/cuda/configure.log"
    fi
  elif build_suite cuda shoal; then
    add_row cuda $((SECONDS - start)) 0 0 0 "$num_files CUDA files compiled"
  else
    add_row cuda $((SECONDS - start)) 0 0 1 "the build failed"
  fi
}

run_all_tests() {
  # What sanitizers run of products over many factors is a pairwise cover (parity_cover_test.cpp).
  local preset selection=(-LE slow) sanitized='-Product/*'
  case "$*" in
    "") ;;
    --all) selection=() sanitized='*' ;;
    *) say "test takes --all or nothing, not: $*"; exit 2 ;;
  esac
  mkdir -p "$root/build"
  exec 8>"$root/build/.test-lock"
  flock -n 8 || { say "another ./shoal test runs in this folder"; exit 1; }
  lock
  set_up
  unlock
  run_suite host '*' "${selection[@]}"
  for preset in asan tsan; do run_suite "$preset" "$sanitized" "${selection[@]}"; done
  compile_cuda
  printf '\n%-8s %9s %9s %9s %9s\n' suite "build min" "test min" passed failed
  printf '%s\n' "${suite_rows[@]}"
  printf '%-8s %9.1f minutes in all\n\n' total "$(awk -v s=$SECONDS 'BEGIN { print s / 60 }')"
  printf '%d passed, %d failed\n' "$total_passed" "$total_failed"
  [[ $total_failed -eq 0 && $total_passed -gt 0 ]]
}
