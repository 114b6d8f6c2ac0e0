#!/bin/sh
# The main job on the embedded corpus, step by step. Everything lands in ./demo.
set -eu
out=demo
rm -rf "$out"
mkdir -p "$out"

step() { printf '\n\033[1m%s\033[0m\n$ %s\n' "$1" "$2"; sh -c "$2"; }

step "What the embedded corpus holds" "rubricate describe open-notes --where part=depth"
step "Check its annotations" "rubricate check open-notes --where part=depth"
step "Write it as files other tools read" "rubricate convert open-notes $out/brat --to brat --where split=test"
step "How far its two annotators agree" "rubricate agree open-notes --where part=depth --report $out/agreement"

printf '\nFiles are in %s:\n' "$out"
find "$out" -maxdepth 1 -mindepth 1 | sort
