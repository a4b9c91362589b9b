#!/bin/sh
# No state that outlives a run: what changes belongs to an object that is passed on,
# or to the run (model/base/kept_inputs.hpp). Constants are free. Tests may do what they like.
#   check_statics.sh ROOT
set -eu
root=$1
# Variables that stay for the life of a process, each with its reason.
allowed=$(sed -e '/^#/d' -e '/^$/d' <<'LIST'
# registries, filled before the first run
model/components/shared/memory.cpp registered
model/app/request/family/device_families.cpp all
# which run is the innermost one
model/base/kept_inputs.cpp innermost_kept
# bytes that payloads of TLM point to; what is written there is not read
model/components/shared/memory_access.cpp data
# what the one simulation of the process failed with, as it passes through the library's C++ frames
model/components/shared/simulation_context.cpp text
# one prediction at a time in a process that forks
model/app/api/foretell.cpp one_at_a_time
model/app/api/foretell.cpp is_mine
# the device that a measuring program runs on, of a library that has one
calib/measure/cpu/onednn.cpp engine
calib/measure/cpu/onednn.cpp stream
# what a signal has set
model/app/workers/stop_signals.cpp received_signal
LIST
)
cd "$root"
found=$(
  find model hw workloads calib reports \( -name '*.cpp' -o -name '*.hpp' \) \
    ! -name '*_test.cpp' ! -name '*_test_*.hpp' ! -path '*/testing/*' ! -path 'model/bench/*' |
    sort | xargs awk '
      { line = $0; sub(/\/\/.*$/, "", line) }
      # A constant, or no variable at all.
      line ~ /(^|[ \t])(const|constexpr|using|return|typedef|friend|template|extern|struct|class|enum|namespace|static_assert|operator)([ \t]|$|\()/ && line !~ /(static|thread_local) const [^=({]*\*[ \t]*[a-z]/ { next }
      # In a function or a class: a function has its parameters by type, a variable its values.
      line ~ /^[ \t]*((inline|static|thread_local)[ \t]+)+[A-Za-z_:]/ {
        if (line ~ /\)[ \t]*(const)?[ \t]*(noexcept)?[ \t]*(\{.*)?$/) next
        if (line ~ /\([ \t]*\)[ \t]*(const)?;/) next
        if (line ~ /^[^=]*\([^)]*[A-Za-z_>&*][ \t]+[&*]?[a-z_]+[ \t]*=/) next
        if (line ~ /\([^)]*[A-Za-z_>&*][ \t]+[&*]?[a-z_]+[,)]/ || line ~ /\([^)]*[&*][,)]/) next
        if (line !~ /[;=({]/) next
        name = line; sub(/[ \t]*[=({;\[].*$/, "", name); sub(/^.*[ \t&*]/, "", name)
        print FILENAME ":" FNR ": " name; next
      }
      # At the top level: one line that begins with a type and ends a declaration without parameters.
      line ~ /^[A-Za-z_][A-Za-z0-9_:<>,* ]*[ >*&][a-z_][a-z0-9_]*([ \t]*(=|\{)[^(]*)?;[ \t]*$/ {
        name = line; sub(/[ \t]*[=({;\[].*$/, "", name); sub(/^.*[ \t&*]/, "", name)
        print FILENAME ":" FNR ": " name
      }' || true
)
failed=0
IFS='
'
for hit in $found; do
  file=${hit%%:*}
  name=${hit##* }
  if printf '%s\n' "$allowed" | grep -qx "$file $name"; then continue; fi
  failed=1
  printf '%s\n' "$hit"
done
if [ "$failed" = 1 ]; then
  echo "a variable that outlives a run; give it to an object, keep it with kept<T>() (model/base/kept_inputs.hpp), or make it const"
  exit 1
fi
