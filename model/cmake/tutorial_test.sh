#!/usr/bin/env bash
# tutorial_test.sh FORETELL [--fix]: every command of docs/tutorials, in order, against the output that is
# pasted below it. Commands stand in ```console blocks after `$ `; --fix pastes what they print now.
set -euo pipefail
program=$(realpath "$1")
fix=${2:-}
cd "$(dirname "$0")/../.."
source_tree=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" && ln -s "$program" "$work/bin/foretell"
export PATH="$work/bin:$PATH" NO_COLOR=1 LC_ALL=C

# Runs the commands of stdin in a folder of its own and prints the page with their output.
replay() {
  local line in_console= skipping=
  while IFS= read -r line; do
    if [[ $line == '```console' ]]; then
      in_console=yes
    elif [[ $line == '```'* ]]; then
      in_console='' skipping=''
    fi
    if [[ -n $in_console && $line == '$ '* ]]; then
      printf '%s\n' "$line"
      bash -c "${line#'$ '}" </dev/null 2>&1 || echo "(exit code $?)"
      skipping=yes
    elif [[ -z $skipping ]]; then
      printf '%s\n' "$line"
    fi
  done
}

wrong=0
for page in docs/tutorials/*.md; do
  mkdir "$work/$(basename "$page" .md)"
  cp -r "$source_tree/docs/tutorials/files/." "$work/$(basename "$page" .md)/"
  (cd "$work/$(basename "$page" .md)" && replay) <"$page" >"$work/page.md"
  if [[ $fix == --fix ]]; then
    cp "$work/page.md" "$page"
  elif ! diff -u "$page" "$work/page.md"; then
    wrong=1
  fi
done
((wrong == 0)) || echo "the pages above say something else; model/cmake/tutorial_test.sh FORETELL --fix pastes it anew"
exit $wrong
