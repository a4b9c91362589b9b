#!/usr/bin/env bash
# mpi_test.sh CASE FORETELL MPIRUN: sweeps on several ranks, against the same sweep in one process.
set -euo pipefail
case=$1 foretell=$2 mpirun=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0
export OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader,tcp

die() {
  echo "$case: $*" >&2
  exit 1
}
ranks() { "$mpirun" -n 4 "$foretell" sweep "$@"; }

write_study() { # POINTS
  cat >study.yaml <<END
study: ranks
base: {on: inf2.xlarge, workload: distilbert-base-uncased, seq: 128}
vary:
  batch: [1, 2]
  device.hbm.bandwidth: {range: [400 GB/s, 900 GB/s], steps: $1}
  core.tensor.clock: [1 GHz, 2 GHz]
END
}

ranks_give_the_same_rows() {
  write_study 10
  "$foretell" sweep study.yaml --jobs 1 --store one.sqlite --format csv -o one.csv
  ranks study.yaml --store four.sqlite --format csv -o four.csv
  cmp one.csv four.csv || die "4 ranks differ from 1 process"
}

# The launcher ends the whole job when a rank dies; the store stays valid, the rest is done later.
killed_rank_and_resume() {
  write_study 60
  "$foretell" sweep study.yaml --jobs 2 --format csv -o whole.csv
  ranks study.yaml --store killed.sqlite >/dev/null 2>&1 &
  local launcher=$! victim="" tries
  for tries in $(seq 500); do
    victim=$(pgrep -P "$launcher" -f 'foretell-mpi|foretell sweep' | tail -n 1 || true)
    [[ -n "$victim" && -s killed.sqlite-wal ]] && break
    sleep 0.02
  done
  [[ -n "$victim" ]] || die "no rank was found after $tries looks"
  kill -9 "$victim"
  wait "$launcher" && die "the launcher did not notice"
  ranks study.yaml --store killed.sqlite --resume --format csv -o resumed.csv
  cmp whole.csv resumed.csv || die "resumed rows differ"
}

mistakes_are_told_once() {
  write_study 2
  sed -i 's/bandwidth/bandwith/' study.yaml
  ranks study.yaml --store s.sqlite 2>errors && die "a mistake was taken"
  [[ $(grep -c 'no such parameter' errors) == 1 ]] || die "$(cat errors)"
}

"$case"
