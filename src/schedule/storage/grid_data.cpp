// The data of grid schedules: its parts, and whether they fit together.
#include <algorithm>
#include <limits>
#include <utility>

#include "schedule/storage/grid_index.hpp"
#include "tenex/schedule/storage/grid_schedule.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/time_range.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {

std::vector<std::size_t> timetable_rows(std::uint32_t size) {
  std::vector<std::size_t> rows;
  std::size_t before = 0;
  for (std::size_t a = 0; a < size; ++a) {
    rows.push_back(before);
    before += (size - 1 - a) * (size - a) / 2;  // 1 + 2 + .. + (size - 1 - a) hops
  }
  return rows;
}

std::vector<std::uint32_t> free_tuples(const std::vector<LineDimension>& dimensions, std::size_t dimension,
                                       std::uint32_t chunks_per_pair) {
  const std::size_t classes = dimensions.size();
  std::vector<std::uint32_t> tuples(classes, 0);
  tuples[0] = 1;
  const auto extend = [&](std::uint32_t values) {
    std::vector<std::uint32_t> longer(classes, 0);
    for (std::size_t residue = 0; residue < classes; ++residue)
      for (std::size_t digit = 0; digit < classes; ++digit)  // as many values have this residue as begin with it
        longer[(residue + digit) % classes] +=
            tuples[residue] * static_cast<std::uint32_t>((values + classes - 1 - digit) / classes);
    tuples = std::move(longer);
  };
  extend(chunks_per_pair);
  for (std::size_t f = 0; f < classes; ++f)
    if (f != dimension) extend(dimensions[f].size);
  return tuples;
}

std::uint64_t grid_links(const std::vector<LineDimension>& dimensions) {
  std::uint64_t npus = 1;
  for (const auto& dimension : dimensions) npus *= dimension.size;
  std::uint64_t links = 0;
  for (const auto& dimension : dimensions) links += 2 * (dimension.size - 1) * (npus / dimension.size);
  return links;
}

std::uint64_t grid_slots(const GridSchedule& data, std::size_t e) {
  const auto classes = static_cast<std::uint32_t>(data.dimensions.size());
  const auto tuples = free_tuples(data.dimensions, e, data.chunks_per_pair);
  std::uint64_t slots = 0;
  for (std::uint32_t residue = 0; residue < classes; ++residue) {
    const auto& timetable = data.timetables[data.timetable_of[e * classes + residue]];
    const std::uint32_t last = timetable.size - 1;
    auto start = timetable.start.begin();
    for (const bool mirrored : {false, true})
      for (std::uint32_t a = 0; a < last; ++a)
        for (std::uint32_t b = a + 1; b <= last; ++b) {
          const std::uint32_t sum = mirrored ? 2 * last - a - b : a + b;
          const std::uint64_t chunks = tuples[(residue + classes - sum % classes) % classes];
          for (std::uint32_t hop = a; hop < b; ++hop) slots = std::max(slots, *start++ + chunks);
        }
  }
  return slots;
}

std::string grid_problem(const GridSchedule& data) {
  constexpr std::uint64_t kMostNpus = 65'535;  // with more, the pairs are beyond 32 bits
  const std::size_t classes = data.dimensions.size();
  if (classes == 0 || data.phase_begin.size() != classes || data.timetable_of.size() != classes * classes)
    return "a part is missing";
  std::uint64_t npus = 1;
  for (const auto& dimension : data.dimensions) {
    npus *= dimension.size;
    if (dimension.size < 2 || npus > kMostNpus || dimension.slot <= SimTime::zero()) return "a dimension is unfit";
  }
  if (data.chunks_per_pair == 0 || data.chunks_per_pair >= (std::uint64_t{1} << 32U) / (npus * npus))
    return "it has too many chunks";
  for (std::size_t i = 0; i < data.timetable_of.size(); ++i) {
    if (data.timetable_of[i] >= data.timetables.size()) return "a timetable is missing";
    const auto& timetable = data.timetables[data.timetable_of[i]];
    const auto size = data.dimensions[i / classes].size;
    if (timetable.size != size || timetable.start.size() != 2 * one_way_hops(size)) return "a timetable is unfit";
  }
  SimTime last;  // start in a phase
  for (std::size_t e = 0; e < classes; ++e) {
    const auto slots = static_cast<std::int64_t>(grid_slots(data, e));
    if (slots > std::numeric_limits<std::uint32_t>::max() || slots > kLongestTime / data.dimensions[e].slot)
      return "a phase is too long";
    last = std::max(last, data.dimensions[e].slot * (slots - 1));
  }
  for (std::size_t phase = 0; phase < classes; ++phase) {
    const SimTime begin = data.phase_begin[phase];
    if (begin < SimTime::zero() || begin > kLongestTime - last) return "a phase is too late";
    if (phase > 0 && data.phase_begin[phase - 1] + last >= begin) return "phases overlap";
  }
  return {};
}

std::optional<std::vector<LineDimension>> grid_dimensions(const Instance& instance) {
  const auto& topology = instance.topology;
  const auto& shape = topology.shape();
  if (!shape || !shape->is_product() || !topology.direct() || topology.npus() < 2) return std::nullopt;
  std::vector<LineDimension> dimensions;
  for (const auto& block : shape->blocks) {
    if (block.size == 1) continue;
    const auto& rule = *block.rule;
    if (!rule.stepwise || rule.hops(0, block.size - 1, block) != block.size - 1) return std::nullopt;  // a ring
    dimensions.push_back({block.size, SimTime::zero()});
  }
  const auto& sizes = instance.collective.chunk_sizes();
  std::size_t link = 0;
  std::uint32_t stride = 1;
  const auto leads = [&](std::size_t from, std::size_t to, std::uint16_t link_class) {
    if (link >= topology.links()) return false;
    const LinkId id = LinkId::at(link++);
    return topology.source(id).index() == from && topology.target(id).index() == to &&
           topology.class_of(id) == link_class;
  };
  for (auto& dimension : dimensions) {
    if (link >= topology.links()) return std::nullopt;
    const auto link_class = topology.class_of(LinkId::at(link));
    dimension.slot = hop_time(topology.classes()[link_class], sizes.front(), instance.occupancy).busy;
    for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
      const auto position = npu / stride % dimension.size;
      if (position + 1 < dimension.size && !leads(npu, npu + stride, link_class)) return std::nullopt;
      if (position > 0 && !leads(npu, npu - stride, link_class)) return std::nullopt;
    }
    stride *= dimension.size;
  }
  if (link != topology.links() || stride != topology.npus()) return std::nullopt;
  return dimensions;
}

}  // namespace tenex
