// The engine `orbit` of pccl: topologies with a translation group, one NPU's plan moved over the group.
//
// Every NPU of a ring, torus, fully connected block, hypercube, switch or product of these sees the same network (over
// switches that store and forward it is the network of ways: orbit.cpp), and in a collective over all NPUs it
// has the same to do. So one NPU's plan, moved by all translations, is a plan for all, if no port
// (tenex/schedule/timing/orbit_ports.hpp: a direction, or all directions over one switch) carries two of that NPU's
// chunks at once. It costs O(n) instead of O(n^2) for the plan, its storage and its check
// (schedule/verifier/symmetric_verifier.hpp).
//
// The same holds of All-to-Alls in several groups at once that translations map to each other, such as all rows: then
// all rows use all links of their dimension alike, and links of other dimensions would not shorten any way along it.
//
// All-to-All: each chunk's shortest way (exchange_ways.hpp), then the times of all hops (orbit_exchange.hpp). Where an
// odd number of chunks has two ways of equal length, one plan for all NPUs is at best (1 + 2/(n*c)) times as long as
// the bound; in a small collective every second NPU then goes the other way, and the schedule is a list of all sends.
//
// All-Gather: PCCL searches for each condition the earliest path from those who have the chunk, and takes the link time
// that it uses. Seen from one owner that is a tree which grows by the earliest delivery in each direction and in which
// a used (direction, step) is taken for all: the search of synthesis/orbit, which is used here as it is. So are
// its reversal into Reduce-Scatter and All-Reduce.
//
// Over switches each chunk is delivered once to every NPU, by any dimension. The fast dimensions fill what the slow
// ones open: SW(8)_SW(64) with 180 and 50 GB/s per NPU gathers at 230 GB/s, where 63 of the slow port's 111 chunks open
// another box and 448 - 48 of the fast port's fill it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "synthesis/compose.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// nullopt if the engine can make this collective, otherwise the reason for the user. O(npus), O(links) with several
/// link classes.
[[nodiscard]] std::optional<std::string> pccl_orbit_unsuitable(const SynthesisProblem& problem);

/// All-Gather, Reduce-Scatter, All-Reduce or All-to-All. Expects: pccl_orbit_unsuitable() is nullopt. Never fails.
/// Makes at least `attempts` attempts at an All-to-All, and more within a fixed amount of work, until one meets a
/// bound. The first among the best is kept. O(hops of one NPU's chunks * dimensions) each.
[[nodiscard]] Result<Synthesis> synthesize_pccl_orbit(const SynthesisProblem& problem);

[[nodiscard]] std::size_t pccl_orbit_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work pccl_orbit_work(const SynthesisProblem& problem);

}  // namespace tenex
