// A network and a schedule on it, to be looked at: as a page with a slider over time, and as a still picture.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// A bound and what proves it, for a drawing.
struct DrawnBound {
  std::string name;
  std::string meaning;
  SimTime time;
  bool binds = false;                       ///< it is the largest
  std::vector<VertexId> inside = {};        ///< of a cut
  std::vector<std::uint32_t> weights = {};  ///< per link of the drawn network, of bounds that weigh links
};

/// All bounds of a problem with their certificates, the largest first. `work_limit`: link visits of each search. O(that
/// and the cheap bounds).
[[nodiscard]] std::vector<DrawnBound> draw_bounds(const BoundProblem& problem, std::uint64_t work_limit);

/// What a view shows.
struct Viewed {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts = {};  ///< in a line under the title
  const Topology& topology;
  std::optional<Shape> shape = {};         ///< also of a network with faults
  const Topology* intact = nullptr;        ///< the network before its faults; nullptr: it has none
  const ScheduleFile* schedule = nullptr;  ///< nullptr: the network alone; its topology is `topology`
  std::vector<DrawnBound> bounds = {};
};

/// A page shows single sends up to this number, and single NPUs up to that one. Beyond, it shows how busy links, or
/// links between groups of NPUs, are in short spans of time.
inline constexpr std::uint64_t kMostViewedSends = 4'000'000;
inline constexpr std::size_t kMostViewedNpus = 2'000;

/// The page. Errors (environment): this tenex was built without the libraries of its scripts. O(sends log sends) time;
/// some 100 bytes of memory for each send up to kMostViewedSends, a segment beyond.
[[nodiscard]] Result<std::string> view_page(const Viewed& viewed);

/// What a still picture shows: the network, with its links by use where there is a schedule; the schedule by time; or
/// the schedule as edges of a time-expanded network.
enum class Picture : std::uint8_t { network, gantt, ten };
[[nodiscard]] std::span<const std::string_view> picture_names();

/// The picture as SVG, without scripts, on white. Errors (input): a schedule is needed, or it is too long or wide to be
/// drawn in this way.
[[nodiscard]] Result<std::string> view_picture(const Viewed& viewed, Picture picture);

}  // namespace tenex
