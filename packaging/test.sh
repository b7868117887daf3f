#!/usr/bin/env bash
# Builds and tests everything, on Debian 12.
#
#   packaging/test.sh                 all stages but tidy
#   packaging/test.sh release asan    only these, in this order
#   packaging/test.sh --begin-within 55 [STAGE...]
#                                     begins none when that many minutes have gone, and says so
#
# Stages:
#   deps      installs what is missing (asks for nothing; needs root or sudo only if it is)
#   format    clang-format changes nothing
#   layering  the shape of the source tree, and what its documents refer to
#   release   g++: builds everything, runs all tests, those on real mounts included
#   odr       links release's objects of the programs with -flto -Wodr, which finds types defined twice
#   asan      clang: builds everything with its thread-safety analysis and with address and
#             undefined-behaviour sanitizers; all tests, and some on real mounts
#   fuzz      libFuzzer in asan's build with its stored corpora, 8 or 16 seconds for each target
#   tsan      clang with the thread sanitizer: the tests that use threads, and some on real mounts
#   tidy      clang-tidy over all sources, each with the headers it names; takes as long as the others
#             together
#
# Every stage runs, even after another stage has failed. The exit status says whether all stages
# that were begun passed. Builds stay in build/, so a second run is short. Warnings are errors in all builds. While
# the tests of a stage run, the unused processor time goes to the builds of later stages.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

usual_stages=(deps format layering release odr asan fuzz tsan)
minutes=
if [ "${1:-}" = --begin-within ]; then
  minutes=${2:-}
  if ! [[ $minutes =~ ^[1-9][0-9]{0,5}$ ]]; then
    echo "test.sh: --begin-within takes a number of minutes, not '$minutes'" >&2
    exit 2
  fi
  shift 2
fi
stages=("$@")
if [ "${#stages[@]}" -eq 0 ]; then stages=("${usual_stages[@]}"); fi
for stage in "${stages[@]}"; do
  case " ${usual_stages[*]} tidy " in
    *" $stage "*) ;;
    *)
      echo "test.sh: there is no stage '$stage'; stages are: ${usual_stages[*]} tidy" >&2
      exit 2
      ;;
  esac
done

jobs=$(nproc)
# More tests than processors: many tests wait for disks, for programs or for time to pass, while
# others compute.
test_jobs=$((jobs + (jobs + 1) / 2))
export CTEST_OUTPUT_ON_FAILURE=1
export LSAN_OPTIONS=suppressions=$root/tests/leaks.txt:print_suppressions=0

# Tests make their folders and mounts below this folder, so that clean_up() finds everything that a
# failed test has left.
work=$(mktemp -d "${TMPDIR:-/tmp}/gridmount-tests.XXXXXX")
export TMPDIR=$work
chmod 755 "$work"  # some tests run as other users, who must reach their mounts

clean_up() {
  stop_building_ahead
  local mounted
  # Unmounts the innermost mounts first. With -z, this also works for a mount whose daemon is dead.
  while read -r mounted; do
    printf 'test.sh: unmounting what a test left at %s\n' "$mounted" >&2
    fusermount3 -u -z "$mounted" || umount -l "$mounted"
  done < <(awk -v top="$work/" 'index($5, top) == 1 { print $5 }' /proc/self/mountinfo | sort -r)
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

sources() { find engine gridfs fuse http command_line tools tests -name '*.cc' -o -name '*.h' | sort; }

# configure PRESET OPTIONS...: configures the build folder of the preset.
configure() {
  local preset=$1
  local options=("${@:2}")
  if command -v ccache >/dev/null; then
    options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    # Precompiled headers need this sloppiness. In the depend mode, a source that is not in the
    # cache is not preprocessed twice.
    export CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros
  fi
  local log=$work/configure.$preset.log
  cmake --preset "$preset" "${options[@]}" >"$log" 2>&1 || { cat "$log"; return 1; }
  # If the preset has another compiler than the existing folder, CMake deletes the folder's options,
  # and configures it without those of the preset.
  if grep -q 'require your cache to be deleted' "$log"; then
    cmake --preset "$preset" "${options[@]}" >"$log" 2>&1 || { cat "$log"; return 1; }
  fi
}

# build PRESET [ARGUMENTS OF NINJA...]: builds the preset. A new build folder gets a unity build,
# which takes a third of the processor time. An existing build folder keeps its kind, because a
# normal build is faster if only a few sources have changed.
build() {
  local options=()
  if [ ! -f "build/$1/CMakeCache.txt" ]; then options=(-DGRIDMOUNT_UNITY=ON); fi
  configure "$1" "${options[@]}" && ninja -C "build/$1" -j "$jobs" "${@:2}"
}

# build_ahead() runs the builds of later stages beside the tests, because processors are idle while
# tests wait. The builds have the scheduling class idle, so they get only processor time that no
# test uses. stop_building_ahead() stops them when the tests have ended. The later stages complete
# the builds, and repeat failed steps with their messages.
builder=
build_ahead() {
  local presets=() stage
  for stage in "${stages_to_come[@]}"; do
    case $stage in
      asan) presets+=(asan-ubsan) ;;
      tsan) presets+=(tsan) ;;
    esac
  done
  if [ "${#presets[@]}" -eq 0 ]; then return; fi
  set -m  # gives the builds their own process group
  (
    chrt --idle --pid 0 "$BASHPID" && ionice -c idle -p "$BASHPID" || exit
    trap 'exit 143' TERM  # runs after ninja, which gets the signal too and removes incomplete files
    for preset in "${presets[@]}"; do build "$preset" -k 0; done
  ) >/dev/null 2>&1 </dev/null &
  builder=$!
  set +m
}

stop_building_ahead() {
  if [ -z "$builder" ]; then return; fi
  kill -- "-$builder"
  wait "$builder"
  builder=
} 2>/dev/null

# beside_builds COMMAND...: runs the command beside the builds of later stages.
beside_builds() {
  build_ahead
  "$@"
  local status=$?
  stop_building_ahead
  return "$status"
}

# run_ctest BUILD ARGUMENTS...: runs ctest, and keeps its last lines for the end of the output.
run_ctest() {
  local name=$1
  shift
  ctest --test-dir "build/$name" -j "$test_jobs" --timeout 600 --no-tests=error "$@" 2>&1 | tee "$work/ctest.log"
  local status=${PIPESTATUS[0]}
  {
    printf '\nctest %s %s\n' "$name" "$*"
    sed -n '/tests passed, /,$p' "$work/ctest.log"
  } >>"$work/closings.$name"
  # Keeps messages of failed tests: for GoogleTest and Python the lines after the headings, and for
  # processes that were ended the reason.
  grep -E -A 8 ": Failure\$|^(FAIL|ERROR): |^[A-Za-z]+Error: |: Assertion \`|^terminate called|Sanitizer: " \
    "$work/ctest.log" |
    cut -c 1-240 | head -n 40 >>"$work/failures"
  return "$status"
}

stage_deps() { packaging/install-deps.sh; }

stage_format() { sources | xargs clang-format-14 --dry-run -Werror; }

stage_layering() {
  local status=0
  tests/layering/check_layering.py || status=1
  tests/layering/check_links.py || status=1
  return "$status"
}

stage_release() { build release && beside_builds run_ctest release; }

stage_odr() { build release odr; }

stage_tidy() {
  configure clang || return 1
  run-clang-tidy-14 -quiet -j "$jobs" -p build/clang \
    "$root/(engine|gridfs|fuse|http|command_line|tools)/.*\.cc\$" >"$work/tidy.log" 2>&1
  local status=$?
  grep -E 'warning:|error:' "$work/tidy.log" | sort -u | tee "$work/closings.tidy"
  return "$status"
}

# The slow builds run only those tests on real mounts that exercise the daemon most.
stage_asan() { build asan-ubsan && beside_builds run_ctest asan-ubsan -LE '^mount$|clients|fuzz'; }

stage_tsan() { build tsan && beside_builds run_ctest tsan -LE '^mount$|clients'; }

# Each fuzzer computes for a fixed time, so more fuzzers than processors would only share the time.
stage_fuzz() {
  local test_jobs=$jobs
  configure asan-ubsan && cmake --build build/asan-ubsan -j "$jobs" --target fuzzers &&
    run_ctest asan-ubsan -L fuzz
}

failed=()
timing=()
stages_to_come=("${stages[@]}")
for stage in "${stages[@]}"; do
  begin=$SECONDS
  stages_to_come=("${stages_to_come[@]:1}")
  if [ -n "$minutes" ] && [ "$begin" -ge $((minutes * 60)) ]; then
    timing+=("$(printf '%-10s NOT RUN: %d minutes have gone' "$stage" "$minutes")")
    continue
  fi
  printf '\n=== %s\n' "$stage"
  if "stage_$stage"; then result=passed; else
    result=FAILED
    failed+=("$stage")
  fi
  timing+=("$(printf '%-10s %-7s %5d s' "$stage" "$result" "$((SECONDS - begin))")")
done

printf '\n=== Stages\n'
printf '%s\n' "${timing[@]}"
printf '%-10s %-7s %5d s\n' total '' "$SECONDS"
# The failures and the last lines of ctest come last, where readers look for them.
for name in tidy asan-ubsan tsan release; do
  if [ -f "$work/closings.$name" ]; then cat "$work/closings.$name"; fi
done
if [ "${#failed[@]}" -gt 0 ]; then
  if [ -s "$work/failures" ]; then cat "$work/failures"; fi
  printf 'test.sh: failed: %s\n' "${failed[*]}" >&2
  exit 1
fi
