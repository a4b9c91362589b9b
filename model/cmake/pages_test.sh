#!/usr/bin/env bash
# pages_test.sh FORETELL [--fix] [--slow] [PAGE…]: every command of README.md and docs/, in order, against the
# output that is pasted below it. Commands stand in ```console blocks after `$ `; --fix pastes what they print
# now. Those in ```console slow blocks, which take minutes, run with --slow alone.
# Commands on tables that others measured keep their output where those tables are not.
set -euo pipefail
program=$(realpath "$1")
shift
fix='' slow=''
while [[ ${1:-} == --* ]]; do
  case $1 in
    --fix) fix=yes ;;
    --slow) slow=yes ;;
    *) echo "pages_test.sh: unknown option $1; --fix or --slow" >&2 && exit 2 ;;
  esac
  shift
done
cd "$(dirname "$0")/../.."
source_tree=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" && ln -s "$program" "$work/bin/foretell"
export PATH="$work/bin:$PATH" NO_COLOR=1 LC_ALL=C
data=${FORETELL_DATA-$source_tree/../shared/data}

# Can it run here? Tables in the page's own folder can; others have to be among the measured data.
can_run() {
  local word
  for word in $1; do
    if [[ $word == *.csv || $word == *.csv.gz ]]; then
      [[ -e $word || -e $data/$word ]] || return 1
    fi
  done
}

# Runs the commands of stdin in the folder it is called in and prints the page with their output.
replay() {
  local line command in_console= skipping=
  while IFS= read -r line; do
    if [[ $line == '```console' || (-n $slow && $line == '```console slow') ]]; then
      in_console=yes
    elif [[ $line == '```'* ]]; then
      in_console='' skipping=''
    fi
    if [[ -n $in_console && $line == '$ '* ]]; then
      command=${line#'$ '}
      printf '%s\n' "$line"
      while [[ $command == *\\ ]] && IFS= read -r line; do
        printf '%s\n' "$line"
        command=${command%\\}$line
      done
      skipping=''
      if can_run "$command"; then
        bash -c "$command" </dev/null 2>&1 || echo "(exit code $?)"
        skipping=yes
      fi
    elif [[ -z $skipping ]]; then
      printf '%s\n' "$line"
    fi
  done
}

pages=("$@")
if [[ ${#pages[@]} == 0 ]]; then
  pages=(README.md docs/*.md docs/tutorials/*.md)
fi
wrong=0
for page in "${pages[@]}"; do
  grep -qE '^```console( slow)?$' "$page" || continue
  folder=$work/${page//\//-}
  mkdir "$folder"
  if [[ $page == docs/tutorials/* ]]; then
    cp -r docs/tutorials/files/. "$folder/"
  else
    ln -s "$source_tree"/{calib,hw,workloads,reports} "$folder/"
  fi
  (cd "$folder" && replay) <"$page" >"$work/page.md"
  if [[ -n $fix ]]; then
    cmp -s "$work/page.md" "$page" || cp "$work/page.md" "$page"
  elif ! diff -u "$page" "$work/page.md"; then
    wrong=1
  fi
done
((wrong == 0)) || echo "the pages above say something else; model/cmake/pages_test.sh FORETELL --fix pastes it anew"
exit $wrong
