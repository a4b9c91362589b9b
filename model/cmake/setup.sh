# Sourced by ./quickstart and ./check: what both need before they can build.
# shellcheck shell=bash
# shellcheck disable=SC2034  # the lists are read by those who source this
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

say() { printf '\n== %s\n' "$*"; }
fail() {
  printf '\nerror: %s\n' "$*" >&2
  exit 1
}
# What was typed is wrong, as with foretell's own exit code.
usage() {
  printf '\nerror: usage: %s\n' "$*" >&2
  exit 2
}

# timed PART COMMAND…: runs it; show_times says how long every part took so far.
part_times=()
timed() {
  local begin=$SECONDS part=$1
  running_part=$part running_since=$begin
  "${@:2}"
  running_part=
  part_times+=("$(part_time "$part" $((SECONDS - begin)))")
}
part_time() { printf '   %-34s %3d min %02d s' "$1" $(($2 / 60)) $(($2 % 60)); }
show_times() {
  say "How long each part took"
  ((${#part_times[@]} == 0)) || printf '%s\n' "${part_times[@]}"
  [[ -z ${running_part:-} ]] || printf '%s, not finished\n' "$(part_time "$running_part" $((SECONDS - running_since)))"
  printf '%s\n' "$(part_time "all" $SECONDS)"
}

# What the program and the report page are built from.
build_packages=(
  cmake ninja-build g++ ccache git pkg-config ca-certificates
  libsystemc-dev libboost-dev libyaml-cpp-dev nlohmann-json3-dev libcli11-dev libfmt-dev libre2-dev
  libsqlitecpp-dev zlib1g-dev libnlopt-cxx-dev libpagmo-dev libboost-mpi-dev openmpi-bin
  libonnx-dev libonnx-testdata libprotobuf-dev protobuf-compiler libdnnl-dev
  libbenchmark-dev libgtest-dev libgmock-dev
  python3-dev pybind11-dev
)
# What ./check looks at the sources and at the report page with.
check_packages=(clang-format clang-tidy chromium fonts-dejavu-core python3-pandas)

installed() { [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]; }

# Node.js 18 or newer with npm, from wherever: other packages of Node.js bring npm along.
have_npm() {
  command -v node >/dev/null && command -v npm >/dev/null &&
    [[ "$(node -p 'Number(process.versions.node.split(".")[0]) >= 18')" == true ]]
}

as_root() {
  if [[ "$(id -u)" == 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "no sudo here; as root, run: $*"
  fi
}

# install_packages NAME…: asks apt only for what is not there, so that a second run needs no network.
install_packages() {
  local missing=() name
  for name in "$@"; do
    installed "$name" || missing+=("$name")
  done
  have_npm || missing+=(nodejs npm)
  if [[ ${#missing[@]} == 0 ]]; then
    say "All Debian packages are installed"
    return
  fi
  command -v apt-get >/dev/null ||
    fail "this set-up knows Debian's apt only; install by hand: ${missing[*]}"
  local log=build/setup.log
  mkdir -p build
  say "Installing Debian packages (log: $log): ${missing[*]}"
  if ! { as_root apt-get update -q &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"; } >$log 2>&1; then
    tail -n 20 $log >&2
    fail "apt could not install the packages; the end of $log is above"
  fi
}

# The report page's npm packages. Without a network the program is built without the page.
install_page_packages() {
  local page=reports/render/page
  page_option=-DFORETELL_PAGE=ON
  if [[ $page/node_modules/.package-lock.json -nt $page/package-lock.json ]]; then
    say "The report page's npm packages are installed"
    return
  fi
  say "Installing the report page's npm packages"
  if (cd $page && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error); then
    touch $page/node_modules/.package-lock.json
  else
    page_option=-DFORETELL_PAGE=OFF
    echo "npm could not fetch them: building without the HTML report page; run this again to have it" >&2
  fi
}

# Of ninja's lines on a pipe, one every five per cent; whatever else it says (errors, warnings) is kept.
sparse_progress() {
  local line share last=-5
  while IFS= read -r line; do
    if [[ $line =~ ^\[\ *([0-9]+)%\ +([0-9]+/[0-9]+)\] ]]; then
      share=${BASH_REMATCH[1]}
      if ((share >= last + 5)); then
        printf '   %3d %% built, step %s\n' "$share" "${BASH_REMATCH[2]}"
        last=$((share - share % 5))
      fi
    else
      printf '%s\n' "$line"
    fi
  done
}

# configure PRESET: only what is not configured like this yet; ninja itself asks CMake again when a
# CMakeLists.txt has changed.
configure() {
  local folder=build/$1
  if [[ -f $folder/build.ninja ]] &&
    grep -qx "FORETELL_PAGE:[A-Z]*=${page_option#*=}" $folder/CMakeCache.txt; then
    return
  fi
  cmake --preset "$1" "$page_option" >/dev/null
}

# build_preset PRESET [TARGET]: configures and builds build/PRESET; a line now and then on a pipe.
build_preset() {
  local options=(--)
  [[ -n "${2:-}" ]] && options=(--target "$2" --)
  [[ "$1" == asan ]] && options+=(-k 0) # all of clang-tidy's findings in one go
  say "Building build/$1"
  configure "$1"
  if [[ -t 1 ]]; then
    cmake --build --preset "$1" "${options[@]}"
  else
    NINJA_STATUS='[%p %f/%t] ' cmake --build --preset "$1" "${options[@]}" | sparse_progress
  fi
}
