// An All-to-All on a product of lines as a few lines' timetables: sends are computed as they are read.
//
// Idea: on a mesh (grid) of D dimensions, each chunk goes dimension by dimension, and D phases follow each other. The
// chunks are dealt to D classes, by (sum of the coordinates of source and destination + number of the chunk) modulo D:
// in phase p, class x corrects dimension (x + p) modulo D. So in each phase every dimension carries one class, and each
// line of NPUs carries an All-to-All among its own positions: for every pair of positions (a, b) a block of chunks, one
// for each choice of the coordinates that the line does not fix. All lines of a dimension do the same up to these
// names, so one timetable per dimension, which says when each block starts on each link that it crosses, is all that is
// stored. O(D * n/side + side^3) memory for n^2 chunks.
//
// Encoding: the coordinates that a line does not fix are the coordinates of the source in the dimensions that the class
// has corrected before, and those of the destination in the dimensions that it will correct later; the number of the
// chunk is one more. A block (a, b) holds the tuples of these whose sum has one residue modulo D, in mixed-radix order.
// That residue follows from the class, from a + b, and from the sum of the line's fixed coordinates; so lines have up
// to D timetables per dimension, by the residue of class minus fixed sum. Chunk q of a block takes slot (start + q).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenex/base/quantity.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// A dimension with more than one NPU. Its links stand in the order of build_topology(), after those of the dimensions
/// before it.
struct LineDimension {
  std::uint32_t size = 2;  ///< NPUs on a line
  SimTime slot;            ///< the time that a chunk keeps a link busy: the links' sends start at multiples of it
  bool operator==(const LineDimension&) const = default;
};

/// When a block starts on each of the links that it crosses: the hops of the pairs (a, b) with a < b, by a, then b,
/// then those of the mirrored pairs (size-1-a, size-1-b) in the same order. Each pair has as many entries as hops.
struct LineTimetable {
  std::uint32_t size = 2;
  std::vector<std::uint32_t> start;  ///< slots since the phase began
  bool operator==(const LineTimetable&) const = default;
};

/// The data of the schedule.
struct GridSchedule {
  std::vector<LineDimension> dimensions;  ///< dimension 1 first
  std::uint32_t chunks_per_pair = 1;
  std::vector<SimTime> phase_begin;         ///< one per dimension, increasing
  std::vector<LineTimetable> timetables;    ///< those that differ
  std::vector<std::uint32_t> timetable_of;  ///< index by dimension * D + residue (class - sum of fixed coordinates)
};

/// The links of such a product. O(D).
[[nodiscard]] std::uint64_t grid_links(const std::vector<LineDimension>& dimensions);

/// Hops of all pairs (a, b) of a line with a < b: (size-1) * size * (size+1) / 6.
[[nodiscard]] constexpr std::size_t one_way_hops(std::size_t size) { return (size - 1) * size * (size + 1) / 6; }
/// The first entry of each pair's hops: index by a, for a < b add (b-a-1) * (b-a) / 2.
[[nodiscard]] std::vector<std::size_t> timetable_rows(std::uint32_t size);

/// How many tuples of the coordinates that a line of `dimension` does not fix, and of the chunk's number, have each
/// residue of their sum modulo D. A block of residue r has that many chunks. O(D * sum of sizes).
[[nodiscard]] std::vector<std::uint32_t> free_tuples(const std::vector<LineDimension>& dimensions,
                                                     std::size_t dimension, std::uint32_t chunks_per_pair);

/// What is wrong with the data, so that it cannot be read; empty: nothing. (Whether the schedule is valid is for the
/// verifier to say.) O(side^3) per timetable.
[[nodiscard]] std::string grid_problem(const GridSchedule& data);

/// The schedule. Reads segments in any order, and chunk by chunk (ScheduleStorage::read_chunks). Throws InvariantError
/// where grid_problem() finds one. O(D * side^3), O(D^2 * n/side) for the names of lines.
[[nodiscard]] Schedule make_grid_schedule(GridSchedule data);

/// The dimensions of a topology that is an intact product of lines, each with links of one class, for chunks of one
/// size; nullopt for others. Checks every link. O(links).
[[nodiscard]] std::optional<std::vector<LineDimension>> grid_dimensions(const Instance& instance);

}  // namespace tenex
