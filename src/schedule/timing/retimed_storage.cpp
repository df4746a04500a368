// Reading a schedule at other times: a link's runs tell which of its sends start in an interval, and their chunks are
// read from the underlying schedule.
//
// Encoding: a tile covers the same interval of time as the tile of the underlying schedule. Since no send moves to a
// later tile, a tile's sends come from the same and later tiles of the underlying schedule. The position of each of
// those tiles' first send in the link's order is kept for all tiles and links. A segment is a part of a tile: all links
// are read and their sends sorted.
#include "schedule/timing/retimers.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "tenex/base/contract.hpp"

namespace tenex {
namespace {

constexpr std::uint64_t kLeastSegmentSends = 16'384;
constexpr std::uint64_t kMostSegmentSends = std::uint64_t{1} << 22;
constexpr std::uint64_t kWantedSegments = 1000;

class RetimedStorage final : public ScheduleStorage {
 public:
  RetimedStorage(Schedule base, LinkTimes times, int threads) : base_(std::move(base)), times_(std::move(times)) {
    count_places(threads);
    cut_segments();
  }

  StorageParts parts() const override { return {RetimedParts{base_, &times_}}; }

  /// Whether every tile's sends come from the same tile and later ones, and every link's runs fit its sends.
  bool sound() const {
    for (std::size_t l = 0; l < link_count(); ++l) {
      const auto& runs = times_.runs[l];
      const std::uint32_t sends = place(base_.tiles(), l);
      if ((sends == 0) != runs.empty() || (sends > 0 && (runs.front().position != 0 || runs.back().position >= sends)))
        return false;
      for (std::size_t tile = 0; tile < base_.tiles(); ++tile)
        if (sends_before(l, tile_start_[tile]) < place(tile, l)) return false;
    }
    return true;
  }

  std::size_t segments() const override { return segment_start_.size() - 1; }
  std::uint64_t sends() const override { return base_.sends(); }
  std::size_t tiles() const override { return base_.tiles(); }
  bool may_carry_messages() const override { return false; }
  std::string_view kind() const override { return "retimed"; }
  std::size_t memory_bytes() const override {
    return sizeof(*this) + base_.memory_bytes() + times_.bytes() + place_.capacity() * sizeof(std::uint32_t) +
           (tile_start_.capacity() + segment_start_.capacity()) * sizeof(SimTime);
  }

  void read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const override {
    Columns columns;
    append(tile, link, tile_start_[tile], tile_start_[tile + 1], columns, buffer);
    buffer.link.assign(columns.chunk.size(), link);
    hand_over(columns, buffer);
  }

  void read(std::size_t segment, SendBuffer& buffer) const override {
    const SimTime first = segment_start_[segment];
    const auto tile = static_cast<std::size_t>(std::upper_bound(tile_start_.begin(), tile_start_.end() - 1, first) -
                                               tile_start_.begin() - 1);
    Columns all;
    std::vector<LinkId> links;
    for (std::size_t l = 0; l < link_count(); ++l) {
      append(tile, LinkId::at(l), first, segment_start_[segment + 1], all, buffer);
      links.resize(all.chunk.size(), LinkId::at(l));
    }
    std::vector<std::uint32_t> order(links.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return all.start[i]; });  // links are in order already
    Columns sorted;
    buffer.link.clear();
    for (const auto i : order) {
      sorted.chunk.push_back(all.chunk[i]);
      sorted.start.push_back(all.start[i]);
      sorted.stage.push_back(all.stage[i]);
      buffer.link.push_back(links[i]);
    }
    hand_over(sorted, buffer);
  }

 private:
  struct Columns {
    std::vector<ChunkId> chunk;
    std::vector<SimTime> start;
    std::vector<Stage> stage;
  };

  [[nodiscard]] std::size_t link_count() const { return times_.runs.size(); }
  [[nodiscard]] std::uint32_t place(std::size_t tile, std::size_t link) const {
    return place_[link * (base_.tiles() + 1) + tile];
  }
  /// How many sends of a link start before `time`.
  [[nodiscard]] std::uint32_t sends_before(std::size_t link, SimTime time) const {
    const auto& runs = times_.runs[link];
    const auto next = std::ranges::lower_bound(runs, time, {}, &LinkRun::start);
    if (next == runs.begin()) return 0;
    const LinkRun& run = *(next - 1);
    const std::uint32_t end = next == runs.end() ? place(base_.tiles(), link) : next->position;
    const std::int64_t step = run.step.count();
    const std::int64_t within = step == 0 ? end : ceil_div((time - run.start).count(), step);
    return static_cast<std::uint32_t>(std::min<std::int64_t>(end, run.position + within));
  }

  /// Appends the link's sends that start in [from, until), none of which is from a tile before `tile`.
  void append(std::size_t tile, LinkId link, SimTime from, SimTime until, Columns& columns, SendBuffer& buffer) const {
    const std::size_t l = link.index();
    std::uint32_t position = sends_before(l, from);
    const std::uint32_t end = sends_before(l, until);
    if (position >= end) return;
    append_starts(l, position, end, columns);
    for (; position < end; ++tile) {
      const std::uint32_t first = place(tile, l);
      const std::uint32_t last = std::min(place(tile + 1, l), end);
      if (position >= last) continue;
      base_.read_link(tile, link, buffer);
      const auto chunks = buffer.batch.chunk.subspan(position - first, last - position);
      columns.chunk.insert(columns.chunk.end(), chunks.begin(), chunks.end());
      for (std::size_t i = position - first; i < last - first; ++i) columns.stage.push_back(buffer.batch.stage_of(i));
      position = last;
    }
  }

  void append_starts(std::size_t link, std::uint32_t position, std::uint32_t end, Columns& columns) const {
    const auto& runs = times_.runs[link];
    auto next = std::ranges::upper_bound(runs, position, {}, &LinkRun::position);
    for (; position < end; ++next) {
      const LinkRun& run = *(next - 1);
      const std::uint32_t last = next == runs.end() ? end : std::min(end, next->position);
      for (; position < last; ++position)
        columns.start.push_back(run.start + run.step * std::int64_t{position - run.position});
    }
  }

  static void hand_over(Columns& columns, SendBuffer& buffer) {
    buffer.chunk.swap(columns.chunk);
    buffer.start.swap(columns.start);
    buffer.stage.swap(columns.stage);
    buffer.batch = {};
    buffer.batch.link = buffer.link;
    buffer.batch.chunk = buffer.chunk;
    buffer.batch.start = buffer.start;
    buffer.batch.stage = buffer.stage;
  }

  /// Finds where tiles of the underlying schedule begin, in time and on every link.
  void count_places(int threads) {
    const std::size_t tiles = base_.tiles();
    place_.assign(link_count() * (tiles + 1), 0);
    tile_start_.assign(tiles + 1, SimTime::max());
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      SendBuffer buffer;
      std::vector<SimTime> begins(tiles, SimTime::max());
#pragma omp for schedule(dynamic, 64)
      for (std::size_t link = 0; link < link_count(); ++link) {
        std::uint32_t* const places = place_.data() + link * (tiles + 1);
        for (std::size_t tile = 0; tile < tiles; ++tile) {
          base_.read_link(tile, LinkId::at(link), buffer);
          places[tile + 1] = places[tile] + static_cast<std::uint32_t>(buffer.batch.size());
          if (buffer.batch.size() > 0) begins[tile] = std::min(begins[tile], buffer.batch.start_of(0));
        }
      }
#pragma omp critical(tenex_retimed_storage)
      for (std::size_t tile = 0; tile < tiles; ++tile) tile_start_[tile] = std::min(tile_start_[tile], begins[tile]);
    }
    for (std::size_t tile = tiles; tile-- > 0;) tile_start_[tile] = std::min(tile_start_[tile], tile_start_[tile + 1]);
    tile_start_.front() = SimTime::zero();
  }

  void cut_segments() {
    const std::uint64_t wanted = std::clamp(base_.sends() / kWantedSegments, kLeastSegmentSends, kMostSegmentSends);
    SimTime end;  // one send beyond the last start
    for (std::size_t l = 0; l < link_count(); ++l) {
      if (times_.runs[l].empty()) continue;
      const LinkRun& last = times_.runs[l].back();
      end = std::max(end, last.start + last.step * std::int64_t{place(base_.tiles(), l) - last.position});
    }
    for (std::size_t tile = 0; tile < base_.tiles(); ++tile) {
      const SimTime from = tile_start_[tile];
      const SimTime until = std::min(tile_start_[tile + 1], end + SimTime::of(1));
      if (from >= until) continue;
      std::uint64_t sends = 0;
      for (std::size_t l = 0; l < link_count(); ++l) sends += sends_before(l, until) - sends_before(l, from);
      const auto parts = static_cast<std::int64_t>(1 + sends / wanted);
      const SimTime part = SimTime::of(ceil_div((until - from).count(), parts));
      for (SimTime start = from; start < until; start += part) segment_start_.push_back(start);
    }
    segment_start_.push_back(SimTime::max());
  }

  Schedule base_;
  LinkTimes times_;
  std::vector<std::uint32_t> place_;    ///< per link: the position of each tile's first send, and the end
  std::vector<SimTime> tile_start_;     ///< of each tile, then the end
  std::vector<SimTime> segment_start_;  ///< of each segment, then the end
};

}  // namespace

std::size_t LinkTimes::bytes() const {
  std::size_t total = runs.capacity() * sizeof(std::vector<LinkRun>);
  for (const auto& own : runs) total += own.capacity() * sizeof(LinkRun);
  return total;
}

namespace {

bool are_in_order(const LinkTimes& times) {
  return std::ranges::all_of(times.runs, [](const std::vector<LinkRun>& runs) {
    return std::ranges::is_sorted(runs, {}, &LinkRun::start) &&
           (runs.empty() || (runs.front().start >= SimTime::zero() &&
                             std::ranges::min(runs, {}, &LinkRun::step).step >= SimTime::zero()));
  });
}

}  // namespace

Schedule make_retimed_schedule(const Schedule& base, LinkTimes times, int threads) {
  return Schedule(std::make_shared<const RetimedStorage>(base, std::move(times), threads));
}

std::optional<Schedule> make_retimed_view(const Schedule& base, LinkTimes times, int threads) {
  TENEX_EXPECTS(are_in_order(times), "starts in order and not negative");
  if (base.tiles() == 0) return std::nullopt;
  auto storage = std::make_shared<const RetimedStorage>(base, std::move(times), threads);
  if (!storage->sound()) return std::nullopt;
  return Schedule(std::move(storage));
}

}  // namespace tenex
