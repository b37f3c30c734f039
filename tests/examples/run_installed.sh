#!/usr/bin/env bash
# Installs a build of Shoal into a new prefix, looks at what it shows, and builds and runs the examples against it, as
# copies outside the tree. Usage: run_installed.sh BUILD_FOLDER
set -euo pipefail

examples=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

cmake --install "$1" --prefix "$place/prefix" >"$place/install.log"
library=$(find "$place/prefix" -name 'libshoal.so' | head -n 1)
[[ -n $library ]] || fail "no libshoal.so was installed"

# Only Shoal's own names are visible, and none of a backend's.
nm -DC --defined-only "$library" | cut -d' ' -f3- >"$place/symbols"
of_ours='^(([a-z]+|typeinfo name|guard variable|TLS (init|wrapper) function) for )?shoal::'
strangers=$(grep -vE "$of_ours" "$place/symbols" || true)
[[ -z $strangers ]] || fail "symbols that are not Shoal's are visible: $(head -n 3 <<<"$strangers")"
inner=$(grep -E '^(.* for )?shoal::(host|sim|single|threads|kernels::host)::' "$place/symbols" || true)
[[ -z $inner ]] || fail "a backend's symbols are visible: $(head -n 3 <<<"$inner")"
grep -q '^shoal::fsdp::ShardedModel::' "$place/symbols" || fail "ShardedModel is not visible"

# A guest neither prints, exits nor handles signals, so it asks the C library for none of the means.
nm -DC --undefined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' >"$place/needs"
not_for_guests='exit|_exit|_Exit|quick_exit|atexit|abort|system|popen|syslog|signal|sigaction'
not_for_guests+='|v?f?printf|v?dprintf|f?puts|fputc|putc|putchar|fwrite|perror|__v?(f|d)?printf_chk'
rude=$(grep -xE "$not_for_guests" "$place/needs" || true)
rude+=$(grep -E '^std::(cout|cerr|clog)' "$place/needs" || true)
[[ -z $rude ]] || fail "the library uses $rude"

# Ours without debugging information: the budget is 6 MB.
strip --strip-unneeded -o "$place/stripped" "$library"
bytes=$(stat -c %s "$place/stripped")
printf 'libshoal.so, stripped: %d bytes\n' "$bytes"
[[ $bytes -lt 6000000 ]] || fail "libshoal.so has grown to $bytes bytes"

# Nobody who includes it needs what it is made with.
foreign=$(grep -rhoE '^#include <[^>]*[/.][^>]*>' "$place/prefix/include" | sort -u || true)
[[ -z $foreign ]] || fail "installed headers include $foreign"

cp -r "$examples" "$place/source"
cmake -S "$place/source" -B "$place/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$place/prefix" \
  >"$place/configure.log" || { cat "$place/configure.log"; fail "the example does not configure"; }
cmake --build "$place/build" >"$place/build.log" || { cat "$place/build.log"; fail "the example does not build"; }
"$place/build/train_your_own_module" | tee "$place/output"
has_fallen='/^step/ { loss = $4; if (NR == 1) first = loss } END { exit !(NR >= 2 && loss + 0 < first / 2) }'
awk "$has_fallen" "$place/output" || fail "the loss has not fallen by half"
