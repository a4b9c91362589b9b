#!/usr/bin/env bash
# install_test.sh CMAKE BUILD SOURCE: an installed Foretell answers as the built one does, from a prefix
# that was moved after installing, and reads nothing of the source tree. Exit code 77: not all built.
set -euo pipefail
cmake=$1 build=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" && exit 1; }

[[ -x $build/foretell ]] || { echo "skipped, foretell is not built" && exit 77; }
"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log" 2>&1 || {
  cat "$work/install.log"
  grep -q 'cannot find\|No such file' "$work/install.log" && exit 77
  exit 1
}
mv "$work/first" "$work/moved"
export PATH="$work/moved/bin:/usr/bin:/bin"
cd "$work"
ask() { "$1" run --on inf2.xlarge --workload bert-base-uncased --seq 128 --dtype bf16 --format json; }
ask "$build/foretell" >built.json
ask foretell >installed.json
cmp built.json installed.json || fail "another prediction than that of the build folder"

# What is opened is looked at, for the source tree cannot be moved while others test in it.
if strace -o /dev/null true 2>/dev/null; then
  strace -f -e trace=openat,open,stat,newfstatat -o trace.txt foretell show inf2.xlarge >/dev/null
  grep -F "\"$source/" trace.txt | grep -vF "\"$work" && fail "the source tree is read"
fi
# And where it is said to be, nothing is: a data file that is not in the prefix is missing.
mv moved/share/foretell/hw/systems/inf2.xlarge.yaml hidden.yaml
if ask foretell >/dev/null 2>message.txt; then fail "the source tree is read in place of the prefix"; fi
grep -q "unknown system 'inf2.xlarge'" message.txt || fail "$(cat message.txt)"
mv hidden.yaml moved/share/foretell/hw/systems/inf2.xlarge.yaml

# A search loads a library of its own.
cat >search.yaml <<'YAML'
study: search
base: {on: inf2.xlarge, workload: bert-base-uncased, seq: 128, dtype: bf16}
vary: {batch: [1, 2, 4, 8]}
search: {evaluations: 8}
YAML
foretell sweep search.yaml >/dev/null || fail "no search"

for words in "list systems" "list workloads" "list factors" "show h100-sxm" "--version"; do
  # shellcheck disable=SC2086
  foretell $words >/dev/null || fail "foretell $words"
done
[[ $(man -P cat -l moved/share/man/man1/foretell-run.1 2>/dev/null || cat moved/share/man/man1/foretell-run.1) == *in-flight* ]] ||
  fail "the manual page of run has no --in-flight"
bash -n moved/share/bash-completion/completions/foretell

if [[ -e moved/include/foretell/foretell.hpp ]]; then
  cat >program.cpp <<'CPP'
#include <foretell/foretell.hpp>
#include <iostream>
int main() {
  try {
    foretell::api::Request request;
    request.systems = {"h900"};
    request.workloads = {"gpt2"};
    foretell::api::run(request);
  } catch (const foretell::api::Error& error) {
    std::cerr << error.what() << '\n';
  }
  std::cout << foretell::api::result({"run", "--on", "inf2.xlarge", "--workload", "bert-base-uncased",
                                      "--seq", "128", "--dtype", "bf16", "--format", "json"});
}
CPP
  export PKG_CONFIG_PATH=$work/moved/lib/pkgconfig
  # shellcheck disable=SC2046
  g++ -std=c++17 program.cpp -o program $(pkg-config --cflags --libs foretell)
  LD_LIBRARY_PATH=moved/lib ./program >library.json 2>message.txt
  cmp built.json library.json || fail "another prediction by the library"
  grep -q "unknown system 'h900'" message.txt || fail "no message by the library"
  mkdir project && cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(uses LANGUAGES CXX)
find_package(foretell REQUIRED)
add_executable(uses ../program.cpp)
target_link_libraries(uses PRIVATE foretell::foretell)
CMAKE
  "$cmake" -S project -B project/build -DCMAKE_PREFIX_PATH="$work/moved" >/dev/null
  "$cmake" --build project/build >/dev/null
  project/build/uses 2>/dev/null | cmp - built.json || fail "another prediction by the CMake package"
fi
if [[ -d moved/lib/python3/dist-packages/foretell ]]; then
  PYTHONPATH=moved/lib/python3/dist-packages /usr/bin/python3 -c 'import foretell
print(foretell.run(on="inf2.xlarge", workload="bert-base-uncased", seq=128)["summary"]["latency_s"])'
fi
echo "installed, moved and used"
