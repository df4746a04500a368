#!/usr/bin/env bash
# Runs a program that has a fault: passes where it fails and what it prints has the words.
#   expect_report.sh WORDS PROGRAM [ARGUMENT...]
words=$1
shift
if output=$("$@" 2>&1); then
  printf '%s\n%s exits with 0\n' "$output" "$*" >&2
  exit 1
fi
grep -qF -- "$words" <<<"$output" && exit 0
printf '%s\n%s says nothing of "%s"\n' "$output" "$*" "$words" >&2
exit 1
