#!/bin/sh
# The main job on the embedded corpus, step by step. Everything lands in ./demo.
set -eu
out=demo
rm -rf "$out"
mkdir -p "$out"

step() { printf '\n\033[1m%s\033[0m\n$ %s\n' "$1" "$2"; sh -c "$2"; }

step "What the embedded corpus holds" \
    "rubricate describe open-notes --where part=depth"
step "Check its annotations" \
    "rubricate check open-notes --where part=depth"
step "How far its two annotators agree" \
    "rubricate agree open-notes --where part=depth --report $out/agreement"
step "Learn from 80 annotated notes of one case" \
    "rubricate fit open-notes --where case=4 --where split=train --matcher lexicon --out $out/model"
step "Find the evidence in its 20 test notes" \
    "rubricate match open-notes --where case=4 --where split=test --model $out/model --out $out/found.jsonl"
step "Measure that against the reference and the annotators' own agreement" \
    "rubricate evaluate open-notes $out/found.jsonl --where case=4 --where split=test --ceiling open-notes --report $out/evaluation"
step "How many notes a study of such a system needs" \
    "rubricate plan --precision .85 --recall .80 --half-width .05 --frequency .48 --sites 6"
step "Score the test notes of all ten cases with the shipped network" \
    "rubricate score open-notes --where split=test --out $out/scores"

printf '\nScores, best first:\n'
rubricate_scores="$out/scores/scores.csv"
{ head -n 1 "$rubricate_scores"; tail -n +2 "$rubricate_scores" | sort -t, -k7,7nr | head -n 8; } |
    cut -d, -f1,2,5,6,7,9 | column -s, -t 2>/dev/null || head -n 9 "$rubricate_scores"

printf '\nOpen these in a browser:\n'
printf '  %s\n' "$out/agreement/index.html" "$out/evaluation/index.html" "$out/scores/report.html"
printf '\nAnnotate, curate and review in a browser (prints one signed-in link per role):\n'
printf '  %s\n' "$PWD/.venv/bin/rubricate serve --demo"
