#!/usr/bin/env bash
# recipe_test.sh BUILD: measure → fit → run → validate, as docs/calibration.md says, on the CPU at hand.
# Exit code 77: the measuring program is not built, or this CPU is not
# modelled, or others use it.
set -euo pipefail
build=$1
[[ -x $build/foretell_measure_cpu ]] || { echo "skipped, no measuring program" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$build/foretell" show host >host.txt 2>&1 || { cat host.txt && exit 77; }

"$build/foretell" calibrate measure --device cpu -o cpu.jsonl --quick \
  -- --threads 1 --max-load 1 --patience 1 --repeats 3 >measure.log 2>&1 || { cat measure.log && exit 1; }
"$build/foretell" calibrate fit --device host --measurements cpu.jsonl -o fac --starts 1 >fit.txt 2>fit.log ||
  {
    cat fit.log
    grep -q 'while others used the processors' fit.log && echo "skipped, the machine is busy" && exit 77
    exit 1
  }
# The command that fit prints is the one that works.
factors=$(sed -n 's/.*--factors \([^ ;]*\).*/\1/p' fit.log)
[[ -f $factors ]] || { echo "fit names no file of factors:" && cat fit.log && exit 1; }
"$build/foretell" run --on host --workload bert-base-uncased --seq 128 --dtype fp32 --factors "$factors" \
  --format json >run.json
grep -q '"latency_s":' run.json
"$build/foretell" validate cpu.jsonl --factors "$factors" --by dtype
