// Expands orbits into sends.
//
// At one instant the links of different dimensions follow each other, so each dimension is written by itself: for every
// NPU in order, its orbits in the order of its links. The chunk of an orbit at source s belongs to the NPU at a fixed
// offset from s (the orbit's direction minus the orbit's offset). Along a row of the first dimension that owner counts
// up with s and wraps once, so additions with carries are needed only once per row. So does the destination of a chunk
// of an All-to-All, which lies at a fixed offset from its owner.
#include "tenex/schedule/storage/symmetric_schedule.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"

namespace tenex {

namespace {

constexpr std::size_t kTileOrbits = 1'024;
constexpr std::size_t kTileOrbitsPerDirection = 16;

/// In the order of links at every NPU, if links are in the order of directions.
bool earlier_orbit(const OrbitSend& a, const OrbitSend& b) {
  return std::tie(a.start, a.direction, a.offset, a.number, a.stage) <
         std::tie(b.start, b.direction, b.offset, b.number, b.stage);
}

/// Sorts; if the starts are in order already, at the cost of sorting each instant.
void sort_orbits(std::vector<OrbitSend>& orbits) {
  const auto starts_earlier = [](const OrbitSend& a, const OrbitSend& b) { return a.start < b.start; };
  if (!std::is_sorted(orbits.begin(), orbits.end(), starts_earlier)) {
    std::sort(orbits.begin(), orbits.end(), earlier_orbit);
    return;
  }
  for (auto first = orbits.begin(); first != orbits.end();) {
    auto last = first;
    while (last != orbits.end() && last->start == first->start) ++last;
    std::sort(first, last, earlier_orbit);
    first = last;
  }
}

/// Cuts `orbits` where the start changes, as soon as a part has at least `enough`. Returns where the parts begin, then
/// the end.
std::vector<std::uint32_t> cut(std::span<const OrbitSend> orbits, std::size_t enough) {
  std::vector<std::uint32_t> begins{0};
  for (std::size_t i = 1; i < orbits.size(); ++i)
    if (i - begins.back() >= enough && orbits[i].start != orbits[i - 1].start)
      begins.push_back(static_cast<std::uint32_t>(i));
  if (!orbits.empty()) begins.push_back(static_cast<std::uint32_t>(orbits.size()));
  return begins;
}

/// The owner of an orbit's chunk, as an offset from the source.
NpuId owner_from_source(const TranslationGroup& group, const OrbitSend& orbit) {
  return group.subtract(group.directions()[orbit.direction].offset, orbit.offset);
}

/// The NPUs at one offset from those of a row of the first dimension: they count up and wrap once, in a twisted group
/// to another row.
class ShiftedRow {
 public:
  ShiftedRow(const TranslationGroup& group, NpuId offset)
      : group_(group),
        offset_(offset),
        length_(group.dimensions().front().size),
        turn_(offset.value() % length_),
        twisted_(group.dimensions().front().carry > 0) {}

  /// Goes to the row that begins at NPU `first`.
  void move_to(std::size_t first) {
    begin_ = group_.add(NpuId::at(first), NpuId(offset_.value() - turn_)).value();
    wrapped_ = begin_;
    if (twisted_ && turn_ > 0)
      wrapped_ = group_.add(NpuId::at(first + length_ - turn_), offset_).value();  // the first one that wraps
  }
  [[nodiscard]] std::uint32_t at(std::uint32_t x) const {
    return x + turn_ >= length_ ? wrapped_ + (x + turn_ - length_) : begin_ + (x + turn_);
  }

 private:
  const TranslationGroup& group_;
  NpuId offset_;
  std::uint32_t length_;
  std::uint32_t turn_;
  bool twisted_;
  std::uint32_t begin_ = 0;
  std::uint32_t wrapped_ = 0;  ///< the begin of the row of those that wrap
};

}  // namespace

OrbitChunks orbit_chunks(const Collective& collective) {
  OrbitChunks chunks(static_cast<std::uint32_t>(collective.chunks_per_npu()),
                     collective.kind() == CollectiveKind::all_to_all);
  if (!chunks.of_pairs || moves_with_npus(collective)) return chunks;
  OrbitRanks ranks;
  ranks.partners = Bitset(collective.npus());
  for (std::size_t npu = 0; npu < collective.npus(); ++npu) {
    ranks.first_chunk.push_back(static_cast<std::uint32_t>(collective.owned_by(NpuId::at(npu)).first));
    ranks.rank.push_back(collective.rank_of(NpuId::at(npu)));
  }
  for (const NpuId partner : collective.groups()[collective.group_of(NpuId(0)).index()].members)
    ranks.partners.set(partner.index());  // of NPU 0, so they are their offsets
  chunks.ranks = std::make_shared<const OrbitRanks>(std::move(ranks));
  return chunks;
}

bool moves_with_npus(const Collective& collective) {
  if (collective.groups().size() != 1) return false;
  const auto& members = collective.groups()[0].members;
  if (members.size() != collective.npus()) return false;
  for (std::size_t rank = 0; rank < members.size(); ++rank)
    if (members[rank].index() != rank) return false;
  return true;
}

/// Whether the set of offsets is a product: in each dimension the multiples of a divisor of its size.
static bool is_subgroup(const std::vector<NpuId>& offsets, const TranslationGroup& group) {
  if (group.twisted()) return false;  // dimensions alone are no subgroups
  std::size_t product = 1;
  for (const auto& dimension : group.dimensions()) {
    Bitset digits(dimension.size);
    for (const NpuId offset : offsets) digits.set(offset.value() / dimension.stride % dimension.size);
    const std::size_t count = digits.count();
    if (dimension.size % count != 0) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (!digits.test(i * (dimension.size / count))) return false;
    product *= count;
  }
  return product == offsets.size();  // distinct and inside the product, hence all of it
}

bool moves_with_translations(const Collective& collective, const TranslationGroup& group) {
  if (collective.npus() != group.npus()) return false;
  if (moves_with_npus(collective)) return true;
  if (collective.kind() != CollectiveKind::all_to_all || collective.chunk_sizes().size() != 1) return false;
  const GroupId first = collective.group_of(NpuId(0));
  if (!first.exists()) return false;
  const auto& offsets = collective.groups()[first.index()].members;
  if (!is_subgroup(offsets, group)) return false;
  Bitset partners(group.npus());
  for (const NpuId offset : offsets) partners.set(offset.index());
  Bitset seen(group.npus());
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto& members = collective.groups()[g].members;
    if (members.size() != offsets.size() || collective.chunks_in(GroupId::at(g)) != collective.chunks_in(first))
      return false;
    for (const NpuId member : members)
      if (!partners.test(group.subtract(member, members[0]).index()) || !seen.insert(member.index())) return false;
  }
  return seen.count() == group.npus();
}

SymmetricStorage::SymmetricStorage(TranslationGroup group, OrbitChunks chunks, std::vector<OrbitSend> orbits)
    : group_(std::move(group)), chunks_(std::move(chunks)), orbits_(std::move(orbits)) {
  const std::uint64_t numbers = chunks_.numbers(group_.npus());
  for (const auto& orbit : orbits_)
    ensure(
        orbit.direction < group_.directions().size() && orbit.offset.index() < group_.npus() && orbit.number < numbers,
        "symmetric schedule: an orbit outside its group");
  sort_orbits(orbits_);
  segment_begin_ = cut(orbits_, std::max<std::size_t>(1, kSegmentSends / group_.npus()));
  tile_begin_ = cut(orbits_, std::max(kTileOrbits, kTileOrbitsPerDirection * group_.directions().size()));
  order_by_direction();
}

void SymmetricStorage::order_by_direction() {
  const std::size_t lanes = group_.directions().size();
  lane_begin_.assign(tiles() * lanes + 1, 0);
  of_direction_.resize(orbits_.size());
  std::vector<std::uint32_t> next(lanes);
  for (std::size_t tile = 0; tile < tiles(); ++tile) {
    next.assign(lanes, 0);
    for (std::size_t i = tile_begin_[tile]; i < tile_begin_[tile + 1]; ++i) ++next[orbits_[i].direction];
    std::uint32_t at = tile_begin_[tile];
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      lane_begin_[tile * lanes + lane] = at;
      at += std::exchange(next[lane], at);
    }
    for (std::size_t i = tile_begin_[tile]; i < tile_begin_[tile + 1]; ++i)
      of_direction_[next[orbits_[i].direction]++] = static_cast<std::uint32_t>(i);
  }
  lane_begin_.back() = static_cast<std::uint32_t>(orbits_.size());
}

void SymmetricStorage::read(std::size_t segment, SendBuffer& buffer) const {
  const std::size_t first = segment_begin_[segment];
  const std::size_t last = segment_begin_[segment + 1];
  const std::size_t sends = (last - first) * group_.npus();
  buffer.link.resize(sends);
  buffer.chunk.resize(sends);
  buffer.start.clear();
  buffer.stage.clear();
  const auto same = [&](auto field) {
    return std::all_of(&orbits_[first], &orbits_[first] + (last - first),
                       [&](const OrbitSend& orbit) { return orbit.*field == orbits_[first].*field; });
  };
  if (!same(&OrbitSend::start)) buffer.start.resize(sends);
  if (!same(&OrbitSend::stage)) buffer.stage.resize(sends);
  buffer.batch = {};
  buffer.batch.link = buffer.link;
  buffer.batch.chunk = buffer.chunk;
  buffer.batch.start = buffer.start;
  buffer.batch.stage = buffer.stage;
  buffer.batch.at = orbits_[first].start;
  buffer.batch.uniform_stage = orbits_[first].stage;
  const auto dimension = [&](std::size_t i) { return group_.directions()[orbits_[i].direction].dimension; };
  std::size_t written = 0;
  for (std::size_t i = first, end = first; i < last; i = end) {
    while (end < last && orbits_[end].start == orbits_[i].start && dimension(end) == dimension(i)) ++end;
    read_dimension(i, end, written, buffer);
    written += (end - i) * group_.npus();
  }
}

/// The position of each orbit's send among those of one source: the sends of an instant and a dimension in link order.
class Ports {
 public:
  Ports(const TranslationGroup& group, std::span<const OrbitSend> orbits)
      : dimension_(group.dimensions()[group.directions()[orbits.front().direction].dimension]), width_(orbits.size()) {
    if (!dimension_.links_by_target) return;
    // From position p, steps of size-p or more wrap around to the targets below p, which come first.
    wraps_at_.assign(dimension_.size, static_cast<std::uint32_t>(width_));
    std::size_t i = width_;
    for (std::uint32_t at = 0; at < dimension_.size; ++at) {
      while (i > 0 && group.directions()[orbits[i - 1].direction].step >= dimension_.size - at) --i;
      wraps_at_[at] = static_cast<std::uint32_t>(i);
    }
  }

  [[nodiscard]] std::size_t slot(std::size_t orbit, NpuId source) const {
    if (wraps_at_.empty()) return orbit;
    const std::size_t split = wraps_at_[source.value() / dimension_.stride % dimension_.size];
    return orbit >= split ? orbit - split : orbit + (width_ - split);
  }

 private:
  const TranslationDimension& dimension_;
  std::size_t width_;
  std::vector<std::uint32_t> wraps_at_;
};

/// Writes one instant's orbits of one dimension, from `at` on, source by source.
void SymmetricStorage::read_dimension(std::size_t first, std::size_t last, std::size_t at, SendBuffer& buffer) const {
  const std::span<const OrbitSend> orbits(&orbits_[first], last - first);
  const Ports ports(group_, orbits);
  const OrbitRanks* ranks = chunks_.ranks.get();
  const std::uint32_t row_length = group_.dimensions().front().size;
  if (!buffer.start.empty())
    std::fill_n(buffer.start.begin() + static_cast<std::ptrdiff_t>(at), orbits.size() * group_.npus(),
                orbits.front().start);
  for (std::size_t i = 0; i < orbits.size(); ++i) {
    const std::uint32_t number = orbits[i].number;
    const NpuId owner_offset = owner_from_source(group_, orbits[i]);
    const NpuId delta = NpuId(chunks_.of_pairs ? number / chunks_.each : 0);
    const std::uint32_t number_there = chunks_.of_pairs ? number % chunks_.each : number;
    const auto owned = static_cast<std::uint32_t>(chunks_.numbers(group_.npus()));
    ShiftedRow owner(group_, owner_offset);
    ShiftedRow destination(group_, group_.add(owner_offset, delta));
    for (std::size_t row = 0; row < group_.npus(); row += row_length) {
      owner.move_to(row);
      if (chunks_.of_pairs) destination.move_to(row);
      for (std::uint32_t x = 0; x < row_length; ++x) {
        const NpuId source = NpuId::at(row + x);
        const std::size_t to = at + source.index() * orbits.size() + ports.slot(i, source);
        const std::uint32_t before = chunks_.of_pairs ? destination.at(x) * chunks_.each : 0;
        buffer.link[to] = group_.link({source, orbits[i].direction});
        buffer.chunk[to] = ranks == nullptr ? ChunkId(owner.at(x) * owned + before + number_there)
                                            : ChunkId(ranks->first_chunk[owner.at(x)] +
                                                      ranks->rank[destination.at(x)] * chunks_.each + number_there);
        if (!buffer.stage.empty()) buffer.stage[to] = orbits[i].stage;
      }
    }
  }
}

ChunkId SymmetricStorage::chunk(NpuId owner, std::uint32_t number) const {
  if (!chunks_.of_pairs) return ChunkId(owner.value() * chunks_.each + number);
  const NpuId destination = group_.add(owner, NpuId(number / chunks_.each));
  if (chunks_.ranks)
    return ChunkId(chunks_.ranks->first_chunk[owner.index()] + chunks_.ranks->rank[destination.index()] * chunks_.each +
                   number % chunks_.each);
  const auto pair = static_cast<std::uint32_t>(owner.value() * group_.npus() + destination.value());
  return ChunkId(pair * chunks_.each + number % chunks_.each);
}

void SymmetricStorage::read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const {
  const auto [source, direction] = group_.departure(link);
  const std::size_t lane = tile * group_.directions().size() + direction;
  const std::span<const std::uint32_t> lane_orbits(of_direction_.data() + lane_begin_[lane],
                                                   lane_begin_[lane + 1] - lane_begin_[lane]);
  buffer.link.assign(lane_orbits.size(), link);
  buffer.chunk.resize(lane_orbits.size());
  buffer.start.resize(lane_orbits.size());
  buffer.stage.resize(lane_orbits.size());
  const NpuId receiver = group_.neighbour(source, direction);
  for (std::size_t i = 0; i < lane_orbits.size(); ++i) {
    const OrbitSend& orbit = orbits_[lane_orbits[i]];
    buffer.chunk[i] = chunk(group_.subtract(receiver, orbit.offset), orbit.number);
    buffer.start[i] = orbit.start;
    buffer.stage[i] = orbit.stage;
  }
  buffer.batch = {};
  buffer.batch.link = buffer.link;
  buffer.batch.chunk = buffer.chunk;
  buffer.batch.start = buffer.start;
  buffer.batch.stage = buffer.stage;
}

std::size_t SymmetricStorage::memory_bytes() const {
  return sizeof(*this) + bytes_of(orbits_) + bytes_of(segment_begin_) + bytes_of(tile_begin_) +
         bytes_of(of_direction_) + bytes_of(lane_begin_) +
         (chunks_.ranks ? bytes_of(chunks_.ranks->first_chunk) + bytes_of(chunks_.ranks->rank) : 0);
}

StorageParts SymmetricStorage::parts() const { return {this}; }

Schedule make_symmetric_schedule(TranslationGroup group, OrbitChunks chunks, std::vector<OrbitSend> orbits) {
  return Schedule(std::make_shared<const SymmetricStorage>(std::move(group), std::move(chunks), std::move(orbits)));
}

const SymmetricStorage* symmetric_storage(const Schedule& schedule) {
  return parts_as<const SymmetricStorage*>(schedule).value_or(nullptr);
}

}  // namespace tenex
