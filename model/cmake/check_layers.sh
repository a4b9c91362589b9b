#!/usr/bin/env bash
# check_layers.sh [ROOT]: every #include under ROOT against the table model/cmake/layers.txt.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

find model hw workloads calib reports \( -name node_modules -o -name build \) -prune -o \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' \) -print | LC_ALL=C sort |
  xargs -r awk '
    function covers(list, after, name,   n, i, part) {
      n = split(list, part, " ")
      for (i = 1; i <= n; i++) if (index(name, part[i] after) == 1) return 1
      return 0
    }
    function complain(text) { print FILENAME ":" FNR ": " text; bad = 1 }
    FILENAME == "model/cmake/layers.txt" {
      if ($0 ~ /^#/ || NF == 0) next
      split($0, field, ":"); count = split(field[1], rooms, " ")
      for (i = 1; i <= count; i++) { ours[rooms[i]] = field[2]; doors[rooms[i]] = field[3] }
      next
    }
    FNR == 1 {
      room = FILENAME
      while (sub("/[^/]*$", "", room) && !(room in ours)) {}
      if (!(room in ours)) { complain("its folder has no row in model/cmake/layers.txt"); nextfile }
      test = FILENAME ~ /_test[_.]|\/testing\//
    }
    /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
      match($0, /[<"][^>"]*/); quote = substr($0, RSTART, 1); name = substr($0, RSTART + 1, RLENGTH - 1)
      if (quote == "\"") {
        if (!covers(room " " ours["*"] " " ours[room] (test ? " " ours["test"] : ""), "/", name))
          complain(room " may not include \"" name "\"")
      } else if (name !~ /^[a-z_]+$/ || name ~ /^(systemc|tlm)/) {
        if (!covers(doors["*"] " " doors[room] (test ? " " doors["test"] : ""), "", name))
          complain(room " has no door for <" name ">")
      }
    }
    END { exit bad }' model/cmake/layers.txt
