#!/usr/bin/env bash
# memory_test.sh FORETELL: under `ulimit -v` a run ends well or with a message, never by a signal or as a bug
# of ours, from the least memory with which the program starts at all.
set -euo pipefail
program=$1
under() { (ulimit -v "$1" && shift && "$@"); } # KiB COMMAND…

least=20000
until under $least "$program" --version >/dev/null 2>&1; do
  least=$((least + 1000))
  ((least < 2000000)) || { echo "skipped, needs gigabytes to start (a sanitizer?)" && exit 77; }
done
refused=0
for more in 1000 2000 3000 5000 8000 12000 16000; do
  status=0
  message=$(under $((least + more)) "$program" run --on inf2.xlarge --workload llama-3-8b --tp 2 --input-len 128 \
    --output-len 32 --factors none 2>&1 >/dev/null) || status=$?
  case $status in
    0) ;;
    2)
      [[ $message == *"not enough memory"* ]] || { echo "exit code 2 without the reason: $message" && exit 1; }
      refused=$((refused + 1))
      ;;
    *) echo "exit code $status with $((least + more)) KiB: $message" && exit 1 ;;
  esac
done
((refused > 0)) || { echo "no limit was too low" && exit 1; }
