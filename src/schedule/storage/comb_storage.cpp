// Reading a comb schedule: by segments of time, and link by link.
//
// A link's sends stand on a raster of its own: slot g (counted from time zero over all periods) starts at g * slot +
// shift, where the shift is the time that a wave takes to the link. What slot g carries follows from g modulo the slots
// of a period (which tree, and whether its sums or its copies pass here) and from g divided by it (which period's
// chunk). So nothing is stored but a few words per link and tree.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "schedule/storage/comb_times.hpp"
#include "schedule/storage/periodic_link.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/storage/comb_schedule.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"

namespace tenex {
namespace {

/// The least integer that is not below a / b; `b` is positive.
constexpr std::int64_t ceil_quotient(std::int64_t a, std::int64_t b) { return a > 0 ? (a - 1) / b + 1 : -(-a / b); }

/// What a link carries in a slot of the period: chunks of one tree, each `periods` after its own period.
struct Use {
  static constexpr std::int64_t kIdle = -1;
  std::int64_t periods = kIdle;
  std::uint32_t tree = 0;
  Stage stage = Stage::copy;
};

class CombStorage final : public ScheduleStorage {
 public:
  explicit CombStorage(CombSchedule data)
      : data_(std::move(data)), times_(data_), frame_{times_.period(), times_.trees(), data_.chunks} {
    place_links();
    const SimTime end = comb_time(data_);
    const auto links = static_cast<std::int64_t>(places_.size());
    segment_slots_ = std::max<std::int64_t>(1, std::int64_t{kSegmentSends} / links);
    segments_ = static_cast<std::size_t>(ceil_div(end.count(), (data_.slot * segment_slots_).count()));
    tile_slots_ = std::max<std::int64_t>(std::int64_t{kSegmentSends}, times_.slots());
    tiles_ = static_cast<std::size_t>(ceil_div(end.count(), (data_.slot * tile_slots_).count()));
  }

  std::size_t segments() const override { return segments_; }
  std::uint64_t sends() const override { return 2 * (npus_ - 1) * data_.chunks; }
  std::size_t tiles() const override { return tiles_; }
  bool may_carry_messages() const override { return false; }
  std::string_view kind() const override { return "comb"; }
  StorageParts parts() const override { return {&data_}; }
  std::size_t memory_bytes() const override {
    return sizeof(*this) + places_.size() * sizeof(LinkPlace) +
           times_.trees() * times_.dimensions() * sizeof(CombStage);
  }

  void read(std::size_t segment, SendBuffer& buffer) const override;
  void read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const override;
  const PeriodFrame* period_frame() const override { return &frame_; }
  void read_uses(LinkId link, std::vector<LinkUse>& uses) const override;

 private:
  struct LinkPlace {
    std::uint32_t source = 0;  ///< NPU
    std::uint16_t dimension = 0;
    bool up = true;
  };
  /// The slots of a link's raster that start in an interval.
  struct Raster {
    SimTime shift;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  void place_links();
  Raster raster(const LinkPlace& place, SimTime begin, SimTime end) const;
  Use use(const LinkPlace& place, std::span<const std::uint32_t> coordinates, std::uint32_t slot) const;
  std::uint32_t coordinate(std::uint32_t npu, std::size_t dimension) const {
    return npu / stride_[dimension] % data_.sizes[dimension];
  }
  CombSchedule data_;
  CombTimes times_;
  PeriodFrame frame_;
  std::uint64_t npus_ = 1;
  std::vector<std::uint32_t> stride_;  ///< per dimension
  std::vector<LinkPlace> places_;      ///< per link
  std::int64_t segment_slots_ = 1;
  std::int64_t tile_slots_ = 1;
  std::size_t segments_ = 0;
  std::size_t tiles_ = 0;
};

/// Dimension by dimension, NPU by NPU, up before down: the order of build_topology().
void CombStorage::place_links() {
  for (const auto size : data_.sizes) {
    stride_.push_back(static_cast<std::uint32_t>(npus_));
    npus_ *= size;
  }
  for (std::size_t d = 0; d < data_.sizes.size(); ++d)
    for (std::uint32_t npu = 0; npu < npus_; ++npu) {
      const std::uint32_t own = coordinate(npu, d);
      if (own + 1 < data_.sizes[d]) places_.push_back({npu, static_cast<std::uint16_t>(d), true});
      if (own > 0) places_.push_back({npu, static_cast<std::uint16_t>(d), false});
    }
}

CombStorage::Raster CombStorage::raster(const LinkPlace& place, SimTime begin, SimTime end) const {
  const std::uint32_t own = coordinate(place.source, place.dimension);
  const std::uint32_t hops = place.up ? own : data_.sizes[place.dimension] - 1 - own;
  Raster raster;
  raster.shift = data_.lag * std::int64_t{hops};
  if (!place.up) raster.shift += times_.delay_down(place.dimension);
  raster.begin = std::max<std::int64_t>(0, ceil_quotient((begin - raster.shift).count(), data_.slot.count()));
  raster.end = std::max<std::int64_t>(0, ceil_quotient((end - raster.shift).count(), data_.slot.count()));
  return raster;
}

/// What a link carries in a slot of the period. `coordinates` are those of its source.
Use CombStorage::use(const LinkPlace& place, std::span<const std::uint32_t> coordinates, std::uint32_t slot) const {
  const std::size_t dimensions = times_.dimensions();
  const CombSlot& own = times_.slots_of(place.dimension)[slot];
  if (own.stage == CombSlot::kIdle) return {};
  const std::uint32_t last = data_.sizes[place.dimension] - 1;
  std::uint32_t meeting = 0;  // that of the tree's first stage
  std::uint32_t round = own.round;
  if (own.stage == 0) {
    meeting = place.up ? last - own.rank : own.rank;
  } else {
    meeting = coordinates[own.type];
    for (std::uint32_t stage = 1; stage < own.stage; ++stage) {
      const std::size_t d = (own.type + stage) % dimensions;
      const std::uint32_t found = (coordinates[d] + data_.sizes[d] - meeting % data_.sizes[d]) % data_.sizes[d];
      if (found >= data_.rounds[own.type] || (stage > 1 && found != round % data_.sizes[d])) return {};
      round = found;
    }
  }
  const std::uint32_t tree = times_.tree(own.type, round, meeting);
  const CombStage& stage = times_.stage(tree, own.stage);
  const CombWave& wave = place.up ? stage.up : stage.down;
  const std::uint32_t at = coordinates[place.dimension];
  const bool sums = place.up ? at < stage.meeting : at > stage.meeting;
  return {sums ? wave.sum_periods : wave.copy_periods, tree, sums ? Stage::reduce : Stage::copy};
}

void CombStorage::read_uses(LinkId link, std::vector<LinkUse>& uses) const {
  const LinkPlace& place = places_[link.index()];
  std::vector<std::uint32_t> coordinates(times_.dimensions());
  for (std::size_t d = 0; d < coordinates.size(); ++d) coordinates[d] = coordinate(place.source, d);
  const SimTime shift = raster(place, SimTime::zero(), SimTime::zero()).shift;
  uses.clear();
  uses.reserve(times_.slots());
  for (std::uint32_t slot = 0; slot < times_.slots(); ++slot) {
    const Use own = use(place, coordinates, slot);
    if (own.periods == Use::kIdle) continue;
    const SimTime start = data_.slot * std::int64_t{slot} + shift;
    const std::int64_t row = start / frame_.period;
    uses.push_back({start - frame_.period * row, row + own.periods, own.tree, own.stage});
  }
  // They stand in order but for the turn of the period.
  const auto turn = std::ranges::adjacent_find(uses, std::ranges::greater{}, &LinkUse::residue);
  if (turn != uses.end()) std::rotate(uses.begin(), turn + 1, uses.end());
}

void CombStorage::read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const {
  std::vector<LinkUse> uses;
  read_uses(link, uses);
  const SimTime width = data_.slot * tile_slots_;
  const SimTime begin = width * static_cast<std::int64_t>(tile);
  read_period_link(uses, frame_, begin, begin + width, link, buffer);
}

void CombStorage::read(std::size_t segment, SendBuffer& buffer) const {
  const SimTime width = data_.slot * segment_slots_;
  const SimTime begin = width * static_cast<std::int64_t>(segment);
  std::vector<Send> sent;
  sent.reserve(places_.size() * static_cast<std::size_t>(segment_slots_));
  std::vector<std::uint32_t> coordinates(times_.dimensions());
  for (std::uint32_t link = 0; link < places_.size(); ++link) {
    const LinkPlace& place = places_[link];
    for (std::size_t d = 0; d < coordinates.size(); ++d) coordinates[d] = coordinate(place.source, d);
    const Raster own = raster(place, begin, begin + width);
    for (std::int64_t g = own.begin; g < own.end; ++g) {
      const Use used = use(place, coordinates, static_cast<std::uint32_t>(g % times_.slots()));
      std::uint32_t chunk = 0;
      if (used.periods == Use::kIdle || !frame_.chunk_of(g / times_.slots() - used.periods, used.tree, chunk)) continue;
      sent.push_back({data_.slot * g + own.shift, LinkId(link), ChunkId(chunk), used.stage});
    }
  }
  show_sends(sent, buffer);
}

}  // namespace

Schedule make_comb_schedule(CombSchedule data) {
  const std::string problem = comb_problem(data);
  ensure(problem.empty(), problem.c_str());
  return Schedule(std::make_shared<const CombStorage>(std::move(data)));
}

}  // namespace tenex
