// Shared by all attempts of the step engine: which links serve which group, and on which grid of rows they send.
//
// Encoding: a port is a link between two members of one group. A lane is a (link class, chunk size): its links send at
// the same rows. A row starts as soon as the one before it has left the link; under `serialization` that is before its
// arrival, so alpha never idles a link that has something else to send. The first rows are those in which NPUs have
// nothing but their own chunks. Then the grid is shifted to the moment at which the first foreign chunk can have
// arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/storage/step_table.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// A link that serves a group.
struct StepPort {
  LinkId link;
  std::uint32_t source = 0;
  std::uint8_t lane = 0;
  // Where links differ (level_setup.hpp):
  std::uint8_t level = 0;        ///< also 0 if the target is alone in its cluster: nothing is left to others
  std::uint8_t shared_from = 1;  ///< the first level at which both ends are in one cluster
};

/// Immutable; shared by attempts and threads.
struct StepSetup {
  std::vector<StepLane> lanes;             ///< the shortest period first
  std::vector<std::uint32_t> port_begin;   ///< per NPU, and the end
  std::vector<StepPort> ports;             ///< of each NPU, in order of links
  std::vector<std::uint32_t> first_chunk;  ///< per NPU: first chunk of its group
  std::vector<std::uint32_t> chunks;       ///< per NPU: chunks that it holds at the end; 0 for bystanders
  std::vector<std::uint32_t> own;          ///< per NPU: chunks that it holds at the start, and its rank in the group
  std::vector<std::uint32_t> rank;
  std::uint64_t deliveries = 0;
  std::uint32_t widest_group = 0;  ///< in chunks
  /// Rows of the shortest period that some NPU needs of its in-links together, at least.
  std::int64_t least_rows = 0;

  [[nodiscard]] std::size_t npus() const { return own.size(); }
  /// The k-th own chunk of an NPU, counted from the first chunk of its group.
  [[nodiscard]] std::uint32_t own_chunk(std::uint32_t npu, std::uint32_t k) const { return rank[npu] * own[npu] + k; }
};

/// The reason why the step engine cannot make this gather; empty if it can. O(links), with several groups O(groups *
/// links).
[[nodiscard]] std::string step_refusal(const SynthesisProblem& problem);

/// The setup of a gather that is not refused. O(links).
[[nodiscard]] StepSetup make_step_setup(const SynthesisProblem& problem);

}  // namespace tenex
