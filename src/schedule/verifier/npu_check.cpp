#include "schedule/verifier/npu_check.hpp"

namespace tenex::verifier {

NpuCheck::NpuCheck(const Context& context, const Schedule& schedule, const Csr<ChunkId>& owned)
    : context_(context),
      schedule_(schedule),
      owned_(owned),
      sums_(reduces(context.collective().kind())),
      copies_(!sums_ || context.collective().kind() == CollectiveKind::all_reduce),
      one_size_(context.collective().chunk_sizes().size() == 1) {
  const auto chunks = context.collective().chunks();
  if (sums_) {
    summed_.resize(chunks);
    sum_left_.resize(chunks);
  }
  if (copies_) {
    copied_.resize(chunks);
    forwarded_.resize(chunks);
    if (sums_) copy_left_.resize(chunks);
  }
  for (std::size_t c = 0; c < context.topology().classes().size(); ++c)
    for (std::size_t size = 0; size < context.collective().chunk_sizes().size(); ++size)
      times_fit_ = times_fit_ && context.hop(static_cast<std::uint16_t>(c), size).latency.count() <= kLatestStart;
}

bool NpuCheck::check(NpuId npu, LinkTally& tally) {
  if (!times_fit_) return false;
  begin(npu);
  const auto& topology = context_.topology();
  const auto tiles = schedule_.tiles();
  for (const LinkId link : topology.in_links(vertex_of(npu)))
    if (!receive(link)) return false;
  for (const LinkId link : topology.out_links(vertex_of(npu)))
    for (std::size_t tile = 0; tile < tiles; ++tile)
      if (!read(tile, link) || !send(link)) return false;
  return finish(npu, tally);
}

/// Nothing has arrived yet; a member has its own contributions.
void NpuCheck::begin(NpuId npu) {
  const auto& collective = context_.collective();
  const GroupId group = collective.group_of(npu);
  needed_begin_ = group.exists() ? collective.first_chunk(group).index() : 0;
  needed_ = group.exists() ? collective.chunks_in(group) : 0;
  arrived_ = copies_arrived_ = 0;
  last_sum_ = 0;
  std::ranges::fill(copied_, kNever);
  std::ranges::fill(copy_left_, kNever);
  std::ranges::fill(sum_left_, kNever);
  if (needed_ < collective.chunks()) {
    std::ranges::fill(forwarded_, std::uint8_t{0});
    std::ranges::fill(summed_, kNothing);
  }
  if (sums_) std::fill_n(summed_.begin() + static_cast<std::ptrdiff_t>(needed_begin_), needed_, Time{0});
  if (!sums_)
    for (const ChunkId chunk : owned_.row(npu.index())) copied_[chunk.index()] = 0;
}

/// Whether all ids are below `limit`. Compiles to vector instructions, because it has no branch and no comparison per
/// id (and copies none).
static bool all_below(std::span<const ChunkId> ids, std::uint32_t limit) {
  constexpr std::uint32_t kTop = 0x8000'0000U;
  if (limit >= kTop) return std::ranges::all_of(ids, [&](ChunkId id) { return id.value() < limit; });
  std::uint32_t small = kTop;  // its top bit survives while id - limit is negative and id is not
  for (const ChunkId& id : ids) small &= (id.value() - limit) & ~id.value();
  return small == kTop;
}

/// Reads one link's sends of a tile. Returns false if they name a chunk that does not exist.
bool NpuCheck::read(std::size_t tile, LinkId link) {
  schedule_.read_link(tile, link, buffer_);
  const auto& batch = buffer_.batch;
  if (batch.start.empty()) starts_.assign(batch.chunk.size(), batch.at);
  start_ = batch.start.empty() ? std::span<const SimTime>(starts_) : batch.start;
  return start_.size() == batch.chunk.size() &&
         all_below(batch.chunk, static_cast<std::uint32_t>(context_.collective().chunks()));
}

/// Whether the sends that were read are on this link and free of anything that this check cannot judge.
bool NpuCheck::is_usual(LinkId link) const {
  const auto& batch = buffer_.batch;
  const auto count = batch.chunk.size();
  if (batch.link.size() != count || !batch.message.empty() || !batch.destination.empty()) return false;
  if (!batch.stage.empty() && batch.stage.size() != count) return false;
  std::uint32_t other_links = 0;
  for (const LinkId& own : batch.link) other_links |= own.value() ^ link.value();
  Time bits = 0;
  for (const SimTime& start : start_) bits |= start.count();
  return other_links == 0 && bits >= 0 && bits <= kLatestStart;
}

template <class Copies, class Sums>
bool NpuCheck::by_stage(Copies&& copies, Sums&& sums) const {
  const auto& batch = buffer_.batch;
  const auto count = batch.chunk.size();
  for (std::size_t first = 0; first < count;) {
    const Stage stage = batch.stage_of(first);
    auto last = batch.stage.empty() ? count : first + 1;
    while (last < count && batch.stage[last] == stage) ++last;
    if (stage == Stage::copy ? !copies_ : !sums_) return false;
    if (stage == Stage::copy ? !copies(first, last) : !sums(first, last)) return false;
    first = last;
  }
  return true;
}

template <class Visit>
void NpuCheck::each(LinkId link, std::size_t first, std::size_t last, Visit&& visit) const {
  const auto* chunk = buffer_.batch.chunk.data();
  const auto* start = start_.data();
  const auto link_class = context_.topology().class_of(link);
  if (one_size_) {
    const HopTime hop = context_.hop(link_class, 0);
    for (auto i = first; i < last; ++i) visit(chunk[i].index(), start[i].count(), hop);
  } else {
    for (auto i = first; i < last; ++i)
      visit(chunk[i].index(), start[i].count(), context_.hop(link_class, context_.collective().size_class(chunk[i])));
  }
}

/// Enters the deliveries of an in-link, in order of start. Returns false if two of its sends overlap.
bool NpuCheck::receive(LinkId link) {
  Time free = 0;
  bool exclusive = true;
  const auto tiles = schedule_.tiles();
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    if (!read(tile, link) || !is_usual(link)) return false;
    arrived_ += start_.size();
    const auto copies = [&](std::size_t first, std::size_t last) {
      copies_arrived_ += last - first;
      Time* const copied = copied_.data();
      each(link, first, last, [&](std::size_t chunk, Time start, const HopTime& hop) {
        exclusive &= start >= free;
        free = start + hop.busy.count();
        copied[chunk] = std::min(copied[chunk], start + hop.latency.count());
      });
      return true;
    };
    const auto sums = [&](std::size_t first, std::size_t last) {
      Time* const summed = summed_.data();
      Time latest = last_sum_;
      each(link, first, last, [&](std::size_t chunk, Time start, const HopTime& hop) {
        exclusive &= start >= free;
        free = start + hop.busy.count();
        const Time arrival = start + hop.latency.count();
        summed[chunk] = std::max(summed[chunk], arrival);
        latest = std::max(latest, arrival);
      });
      last_sum_ = latest;
      return true;
    };
    if (!by_stage(copies, sums) || !exclusive) return false;
  }
  return true;
}

/// Enters the sends of an out-link. Where there are no sums, compares them with what the NPU held at once.
bool NpuCheck::send(LinkId link) {
  const bool may_relay = needed_ < context_.collective().chunks();
  bool held = true;
  const auto copies = [&](std::size_t first, std::size_t last) {
    const Time* const copied = copied_.data();
    Time* const left = copy_left_.data();
    if (sums_)
      each(link, first, last,
           [&](std::size_t chunk, Time start, const HopTime&) { left[chunk] = std::min(left[chunk], start); });
    else
      each(link, first, last, [&](std::size_t chunk, Time start, const HopTime&) { held &= copied[chunk] <= start; });
    if (may_relay)
      each(link, first, last, [&](std::size_t chunk, Time, const HopTime&) { forwarded_[chunk] |= !needs(chunk); });
    return held;
  };
  const auto sums = [&](std::size_t first, std::size_t last) {
    Time* const left = sum_left_.data();
    each(link, first, last, [&](std::size_t chunk, Time start, const HopTime&) {
      held &= left[chunk] == kNever;  // a sum leaves once
      left[chunk] = start;
    });
    return held;
  };
  return by_stage(copies, sums);
}

/// Whether every sum of the NPU's own group leaves after its last part has arrived, or stays here, and copies of sums
/// that stay start when they are complete. Counts the sums that stay.
bool NpuCheck::sums_obey(NpuId npu, std::uint64_t& roots) const {
  bool obeys = true;
  for (std::size_t c = needed_begin_; c < needed_begin_ + needed_; ++c) {
    const bool stays = sum_left_[c] == kNever;
    roots += stays ? 1 : 0;
    obeys &= summed_[c] <= sum_left_[c];
    if (copies_) obeys &= (stays ? summed_[c] : copied_[c]) <= copy_left_[c];
  }
  // In an All-Reduce a sum may become complete anywhere (in_tree.hpp), otherwise at its owner.
  if (copies_) return obeys;
  const auto owned = owned_.row(npu.index());
  return obeys && roots == owned.size() &&
         std::ranges::all_of(owned, [&](ChunkId chunk) { return sum_left_[chunk.index()] == kNever; });
}

/// Whether what the NPU passes on for other groups leaves after it has arrived, and every sum does leave.
bool NpuCheck::relays_obey() const {
  bool obeys = true;
  for (std::size_t c = 0; c < summed_.size(); ++c) {
    if (needs(c)) continue;
    const bool has_sum = summed_[c] != kNothing;
    obeys &= has_sum == (sum_left_[c] != kNever) && summed_[c] <= sum_left_[c];
    if (copies_) obeys &= copied_[c] <= copy_left_[c];
  }
  return obeys;
}

/// Checks the sums and the postconditions, and counts the useful deliveries.
bool NpuCheck::finish(NpuId npu, LinkTally& tally) const {
  LinkTally own;
  if (sums_ && !sums_obey(npu, own.roots)) return false;
  if (sums_ && needed_ < summed_.size() && !relays_obey()) return false;
  std::uint64_t useful = 0;
  Time last = last_sum_;
  if (copies_) {
    for (std::size_t c = needed_begin_; c < needed_begin_ + needed_; ++c)
      if (!sums_ || sum_left_[c] != kNever) last = std::max(last, copied_[c]);
    if (last == kNever) return false;
    useful = needed_ - (sums_ ? own.roots : owned_.row(npu.index()).size());
    if (needed_ < copied_.size())
      for (std::size_t c = 0; c < copied_.size(); ++c)
        if (forwarded_[c] != 0) {
          ++useful;
          last = std::max(last, copied_[c]);
        }
  }
  own.sends = arrived_;
  own.waste = copies_arrived_ - useful;
  own.last_useful = SimTime::of(last);
  tally.add(own);
  return true;
}

}  // namespace tenex::verifier
