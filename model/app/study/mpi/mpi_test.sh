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
skip() { # as CMakeLists.txt says to CTest
  echo "$case: skipped, $*"
  exit 77
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

# As between machines: without shared memory, every message goes through a socket.
ranks_over_tcp() {
  export OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
  ranks_give_the_same_rows
}

# Two hosts: network namespaces with a cable between, each with a host name of its own. The launcher
# reaches the second one by an agent, as it does by ssh otherwise.
two_hosts_give_the_same_rows() {
  local host space=foretell$$
  for host in 1 2; do
    ip netns add "$space-$host" 2>/dev/null || skip "no network namespaces here"
  done
  trap 'ip netns del '$space-1'; ip netns del '$space-2'; rm -rf "$folder"' EXIT
  ip link add "ftl$$-1" netns "$space-1" type veth peer name "ftl$$-2" netns "$space-2" ||
    skip "no virtual cables here"
  for host in 1 2; do
    ip -n "$space-$host" link set lo up
    ip -n "$space-$host" addr add "10.77.0.$host/24" dev "ftl$$-$host"
    ip -n "$space-$host" link set "ftl$$-$host" up
    echo "10.77.0.$host slots=1" >>hosts
  done
  cat >agent <<END
#!/usr/bin/env bash
host=\${1##*.}
shift
exec ip netns exec $space-\$host unshare --uts bash -c "hostname node\$host; \$*"
END
  chmod +x agent
  unset OMPI_MCA_plm
  export OMPI_MCA_plm_rsh_agent=$PWD/agent OMPI_MCA_oob_tcp_if_include=10.77.0.0/24
  export OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=10.77.0.0/24
  write_study 10
  "$foretell" sweep study.yaml --jobs 1 --format csv -o one.csv
  ./agent 10.77.0.1 "$mpirun" --hostfile hosts -n 2 bash -c hostname >names
  [[ $(sort names | tr '\n' ' ') == "node1 node2 " ]] || die "the ranks are on $(cat names)"
  ./agent 10.77.0.1 "$mpirun" --hostfile hosts -n 2 "$foretell" sweep study.yaml \
    --store two.sqlite --format csv -o two.csv
  cmp one.csv two.csv || die "two hosts differ from 1 process"
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

cpu_ticks() { # PROCESS: of itself, without what it has started
  local fields
  read -r -a fields < <(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null)
  ((${#fields[@]} > 12)) && echo $((fields[11] + fields[12]))
}

# A library that waits by asking over and over takes the processor from the worker beside it: half
# of what the worker got, before messages were sent without waiting.
ranks_leave_the_processor_to_their_workers() {
  write_study 60
  sed -i 's/distilbert-base-uncased/bert-large-uncased/' study.yaml
  "$mpirun" -n 2 "$foretell" sweep study.yaml --store two.sqlite -q >/dev/null &
  local launcher=$! rank="" worker="" rank_before=0 worker_before=0 rank_took=0 worker_took=0 ticks
  while kill -0 "$launcher" 2>/dev/null; do
    if [[ -z "$worker" && -s two.sqlite-wal ]]; then
      rank=$(pgrep -P "$launcher" -f 'foretell-mpi|foretell sweep' | tail -n 1 || true)
      worker=$(pgrep -P "${rank:-0}" | tail -n 1 || true)
      rank_before=$(cpu_ticks "$rank" || true) worker_before=$(cpu_ticks "$worker" || true)
    elif [[ -n "$worker" ]]; then
      ticks=$(cpu_ticks "$rank" || true) && [[ -n "$ticks" ]] && rank_took=$((ticks - rank_before))
      ticks=$(cpu_ticks "$worker" || true) && [[ -n "$ticks" ]] && worker_took=$((ticks - worker_before))
    fi
    sleep 0.02
  done
  wait "$launcher" || die "the sweep failed"
  ((worker_took > 0)) || die "no worker was busy"
  # One that polls takes as long as the sweep.
  ((rank_took * 2 <= worker_took)) || die "ticks of the rank: $rank_took, of its worker: $worker_took"
}

mistakes_are_told_once() {
  write_study 2
  sed -i 's/bandwidth/bandwith/' study.yaml
  ranks study.yaml --store s.sqlite 2>errors && die "a mistake was taken"
  [[ $(grep -c 'no such parameter' errors) == 1 ]] || die "$(cat errors)"
}

"$case"
