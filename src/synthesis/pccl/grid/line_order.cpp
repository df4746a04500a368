#include "synthesis/pccl/grid/line_order.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <queue>
#include <tuple>

namespace tenex {
namespace {

/// A block that reaches a link.
struct ReadyBlock {
  std::uint64_t ready;  ///< slot from which it can start
  std::uint32_t a;
  std::uint32_t b;
};

/// The farther target first, then the farther source.
struct LessFar {
  bool operator()(const ReadyBlock& x, const ReadyBlock& y) const { return std::tie(x.b, y.a) < std::tie(y.b, x.a); }
};

/// One direction of the line: from lower to higher positions. `chunks(a, b)` of a block; writes starts by
/// timetable_rows().
template <class Chunks>
bool order_one_way(std::uint32_t size, std::uint64_t lag, const Chunks& chunks, std::uint32_t* start) {
  const auto rows = timetable_rows(size);
  std::vector<ReadyBlock> coming;  // from the link before
  std::vector<ReadyBlock> reaching;
  for (std::uint32_t link = 0; link + 1 < size; ++link) {
    reaching.clear();
    for (std::uint32_t b = link + 1; b < size; ++b) reaching.push_back({0, link, b});
    for (const auto& block : coming)
      if (block.b > link) reaching.push_back(block);
    coming.clear();
    std::priority_queue<ReadyBlock, std::vector<ReadyBlock>, LessFar> waiting;
    std::uint64_t slot = 0;
    for (std::size_t next = 0; next < reaching.size() || !waiting.empty();) {
      if (waiting.empty()) slot = std::max(slot, reaching[next].ready);
      for (; next < reaching.size() && reaching[next].ready <= slot; ++next) waiting.push(reaching[next]);
      const ReadyBlock block = waiting.top();
      waiting.pop();
      const std::uint32_t distance = block.b - block.a;
      start[rows[block.a] + std::size_t{distance - 1} * distance / 2 + (link - block.a)] =
          static_cast<std::uint32_t>(slot);
      coming.push_back({slot + lag, block.a, block.b});  // in order of time
      slot += chunks(block.a, block.b);
      if (slot > std::numeric_limits<std::uint32_t>::max()) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<LineTimetable> order_line(const LineDemand& demand) {
  const std::uint32_t last = demand.size - 1;
  LineTimetable timetable{demand.size, std::vector<std::uint32_t>(2 * one_way_hops(demand.size))};
  const auto up = [&](std::uint32_t a, std::uint32_t b) { return demand.chunks_of(a, b); };
  const auto down = [&](std::uint32_t a, std::uint32_t b) { return demand.chunks_of(last - a, last - b); };
  if (!order_one_way(demand.size, demand.lag, up, timetable.start.data())) return std::nullopt;
  if (!order_one_way(demand.size, demand.lag, down, timetable.start.data() + one_way_hops(demand.size)))
    return std::nullopt;
  return timetable;
}

std::uint64_t slots_of(const LineDemand& demand, const LineTimetable& timetable) {
  std::uint64_t slots = 0;
  std::size_t at = 0;
  for (const bool mirrored : {false, true})
    for (std::uint32_t a = 0; a < demand.size; ++a)
      for (std::uint32_t b = a + 1; b < demand.size; ++b) {
        const std::uint32_t last = demand.size - 1;
        at += b - a;  // the block's last hop is its latest
        slots = std::max<std::uint64_t>(slots,
                                        std::uint64_t{timetable.start[at - 1]} +
                                            (mirrored ? demand.chunks_of(last - a, last - b) : demand.chunks_of(a, b)));
      }
  return slots;
}

}  // namespace tenex
