#!/usr/bin/env bash
# The best bounds of all networks of this study.
#   optima.sh search DIR [NETWORK ...]   a JSON file per network and collective, and points.csv; needs a tenex with Clp
#   optima.sh check DIR [NETWORK ...]    confirms such files; exits with 1 where a certificate proves another time
# TENEX is the binary (default: tenex).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tenex=${TENEX:-tenex}

# The name, the number of NPUs and the topology of each network: the machines that list their links, and shapes.
list_networks() {
  local machine
  for machine in "$here"/../machines/*.toml; do
    grep -q '^npus = ' "$machine" || continue
    echo "$(basename "$machine" .toml) $(sed -n 's/^npus = //p' "$machine") $machine"
  done
  echo "mesh_4x4 16 mesh(4,4)
mesh_8x8 64 mesh(8,8)
mesh_12x12 144 mesh(12,12)
torus_8x8 64 torus(8,8)
torus_4x4x4 64 torus(4,4,4)
grid_5x5x5 125 grid(5,5,5)
hypercube_6 64 hypercube(6)
ring4_full8_switch4 128 RI(4)_FC(8)_SW(4)
dragonfly_9x4 36 dragonfly(9,4)"
}

# A million chunks, so that whole chunks do not count; an All-to-All has npus^2 times as many, at most 2^32 - 2.
count_chunks() {
  local collective=$1 npus=$2
  if [[ $collective == all_to_all && $npus -gt 65 ]]; then echo 100000; else echo 1000000; fi
}

action=$1 folder=$2
shift 2
[[ $action == search || $action == check ]] || { echo "optima.sh: \"$action\" is not search or check" >&2; exit 2; }
if [[ $action == search ]]; then
  mkdir -p "$folder"
  echo "network,collective,npus,chunks,size_bytes" > "$folder/points.csv"
fi
while read -r name npus topology; do
  [[ $# -eq 0 || " $* " == *" $name "* ]] || continue
  links=()
  [[ $topology == *.toml ]] || links=(--alpha 0us --bandwidth 50GB/s)
  for collective in all_gather all_reduce all_to_all; do
    chunks=$(count_chunks "$collective" "$npus")
    size=$((npus * chunks * 3000000))  # chunks of 3 MB take a whole number of picoseconds on every link here
    point=(--topology "$topology" "${links[@]}" --collective "$collective" --chunks "$chunks" --size "${size}B")
    file=$folder/$name.$collective.json
    if [[ $action == search ]]; then
      "$tenex" bound "${point[@]}" --exact --json > "$file"
      echo "$name,$collective,$npus,$chunks,$size" >> "$folder/points.csv"
    else
      "$tenex" bound "${point[@]}" --check "$file" > /dev/null || { echo "$file is not confirmed" >&2; exit 1; }
    fi
  done
done < <(list_networks)
