#!/usr/bin/env bash
# long_check.sh [SECONDS]: what is too long for every change. Fuzzers of the readers for SECONDS each (600), a
# study that is killed again and again, and every ONNX test model on every kind of device. Its result is
# build/long/result.md.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

seconds=${1:-600}
program=$PWD/build/release/foretell
out=build/long
mkdir -p $out
result=$out/result.md
[[ -x $program ]] || fail "build first: ./quickstart"
printf '# Long check of %s\n\n| part | result |\n|---|---|\n' "$("$program" --version)" >$result
note() { printf '| %s | %s |\n' "$1" "$2" | tee -a $result; }
failed=0

if command -v clang++ >/dev/null; then
  say "Fuzzers, $seconds s each"
  cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug -DFORETELL_TESTS=OFF \
    -DFORETELL_LIBRARY=OFF -DFORETELL_PAGE=OFF -DFORETELL_FUZZ=ON -DFORETELL_WERROR=OFF \
    -DFORETELL_SANITIZE=address,fuzzer-no-link >/dev/null
  mapfile -t fuzzers < <(ninja -C build/fuzz -t targets all | sed -nE 's/^(foretell_fuzz_[a-z_]+): phony$/\1/p' | sort -u)
  ((${#fuzzers[@]} > 0)) || fail "build/fuzz has no fuzzers"
  for fuzzer in "${fuzzers[@]}"; do
    ninja -C build/fuzz "$fuzzer" >/dev/null
    mkdir -p "$out/corpus-$fuzzer"
    if "$(find build/fuzz -type f -name "$fuzzer" | head -n 1)" -max_total_time="$seconds" -rss_limit_mb=2048 \
      -artifact_prefix="$out/$fuzzer-" "$out/corpus-$fuzzer" >"$out/$fuzzer.log" 2>&1; then
      note "$fuzzer, $seconds s" "$(grep -o 'Done [0-9]* runs' "$out/$fuzzer.log" || echo done)"
    else
      note "$fuzzer, $seconds s" "FAILED, $out/$fuzzer.log"
      failed=1
    fi
  done
else
  note "fuzzers" "left out, no clang++"
fi

say "A study that is killed again and again"
cat >$out/soak.yaml <<'YAML'
study: soak
base: {on: inf2.xlarge, workload: bert-base-uncased, seq: 128, dtype: bf16}
vary:
  batch: {range: [1, 16], steps: 16}
  device.hbm.bandwidth: {range: [400 GB/s, 1600 GB/s], steps: 25}
  core.tensor.clock: {range: [1.4 GHz, 4.2 GHz], steps: 25}
  device.host.call_overhead: {range: [10 us, 1000 us], steps: 10}
objectives: [latency, throughput]
YAML
rm -f $out/soak.sqlite*
kills=0
while true; do
  status=0
  timeout --signal=KILL $((RANDOM % 60 + 20)) "$program" sweep $out/soak.yaml --store $out/soak.sqlite -q >$out/soak.txt 2>&1 || status=$?
  [[ $status == 137 ]] || break
  kills=$((kills + 1))
done
note "study of 100,000 points" "exit code $status after $kills kills"
[[ $status == 0 ]] || failed=1

say "ONNX test models on every kind of device"
good=0 refused=0
for model in workloads/import/onnx/exported/*.onnx; do
  for system in inf2.xlarge h100-sxm c7i.2xlarge; do
    status=0
    timeout 300 "$program" run --on $system --workload "$model" -q >/dev/null 2>$out/onnx.txt || status=$?
    case $status in
      0) good=$((good + 1)) ;;
      2) refused=$((refused + 1)) ;;
      *)
        note "$(basename "$model") on $system" "FAILED, exit code $status"
        failed=1
        ;;
    esac
  done
done
note "ONNX models x devices" "$good predicted, $refused refused with a reason"
say "Result: $result"
exit $failed
