#!/bin/sh
# Fails unless every clamd behind HOST PORT has signatures of the last three days. New ones come nearly each
# day.
set -eu
fresh() {
  for days in 0 1 2 3; do
    # An answer of clamd: `ClamAV 1.5.3/27790/Tue Nov 25 08:35:29 2025`.
    made=$(date -u -d "@$(($(date +%s) - days * 86400))" '+%a %b %e * %Y')
    # shellcheck disable=SC2254 # The asterisk stands for the time.
    case $1 in */$made) return 0 ;; esac
  done
  return 1
}
# A random pod answers. Ten answers all come from the same of two pods less than once in five hundred runs.
for _ in 1 2 3 4 5 6 7 8 9 10; do
  told=$(printf 'nVERSION\n' | nc -w 10 "$1" "$2")
  fresh "$told" || { echo "signatures of another day, or none: $told"; exit 1; }
done
echo "fresh: $told"
