#!/usr/bin/env bash
# manuals.sh PROGRAM FOLDER VERSION: manual pages from --help, and the completion of three shells.
set -euo pipefail
program=$1 folder=$2 version=$3
mkdir -p "$folder"

# Help as it is, with its sections as headings; a line that begins with a dot or quote is no request.
page() { # page NAME WORD…
  local name=$1
  shift
  local help
  help=$("$program" "$@" --help)
  printf '.TH %s 1 "" "foretell %s" "Foretell"\n' "${name^^}" "$version"
  printf '.SH NAME\n%s \\- %s\n' "$name" "$(head -n 1 <<<"$help" | sed 's/\\/\\\\/g; s/-/\\-/g')"
  printf '.SH SYNOPSIS\n.nf\n'
  tail -n +2 <<<"$help" | sed -E -e 's/\\/\\\\/g' -e 's/-/\\-/g' -e "s/^([.'])/\\\\\&\\1/" \
    -e 's/^Usage: (.*)$/\1\n.fi/' \
    -e 's/^(Examples?):?(.*)$/.fi\n.SH \U\1\E\n.nf\2/' -e 's/^([A-Z][a-z, ]*):$/.fi\n.SH \U\1\E\n.nf/'
  printf '.fi\n.SH SEE ALSO\n.nf\nforetell(1)\n.fi\n'
}

page foretell >"$folder/foretell.1.new"
mapfile -t commands < <("$program" completion fish |
  sed -nE "s/^complete -c foretell -n __fish_use_subcommand -f -a ([a-z]+) .*/\1/p")
for command in "${commands[@]}"; do
  page "foretell-$command" "$command" >"$folder/foretell-$command.1"
done
for shell in bash zsh fish; do
  "$program" completion $shell >"$folder/foretell.$shell"
done
{ # zsh's site-functions are read by the name of the command.
  echo '#compdef foretell'
  cat "$folder/foretell.zsh"
} >"$folder/foretell.zsh.new"
mv "$folder/foretell.zsh.new" "$folder/foretell.zsh"
mv "$folder/foretell.1.new" "$folder/foretell.1"
