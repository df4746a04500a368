#include "schedule/verifier/npu_check.hpp"

namespace tenex::verifier {

NpuCheck::NpuCheck(const Context& context, const Schedule& schedule, const Csr<ChunkId>& owned)
    : context_(context),
      schedule_(schedule),
      one_size_(context.collective().chunk_sizes().size() == 1),
      ledger_(context.collective().kind(), context.collective().chunks(), owned) {
  for (std::size_t c = 0; c < context.topology().classes().size(); ++c)
    for (std::size_t size = 0; size < context.collective().chunk_sizes().size(); ++size)
      times_fit_ = times_fit_ && context.hop(static_cast<std::uint16_t>(c), size).latency.count() <= kLatestStart;
}

bool NpuCheck::check(NpuId npu, Tally& tally) {
  if (!times_fit_) return false;
  const auto& collective = context_.collective();
  if (const GroupId group = collective.group_of(npu); group.exists())
    ledger_.begin(npu, collective.first_chunk(group).index(), collective.chunks_in(group));
  else
    ledger_.begin(npu, 0, 0);
  arrived_ = copies_arrived_ = 0;
  last_sum_ = 0;
  const auto& topology = context_.topology();
  const auto tiles = schedule_.tiles();
  for (const LinkId link : topology.in_links(vertex_of(npu)))
    if (!receive(link)) return false;
  for (const LinkId link : topology.out_links(vertex_of(npu)))
    for (std::size_t tile = 0; tile < tiles; ++tile)
      if (!read(tile, link) || !send(link)) return false;
  return ledger_.finish(arrived_, copies_arrived_, last_sum_, tally);
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
    if (stage == Stage::copy ? !ledger_.copies() : !ledger_.sums()) return false;
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
      Time* const copied = ledger_.copied();
      each(link, first, last, [&](std::size_t chunk, Time start, const HopTime& hop) {
        exclusive &= start >= free;
        free = start + hop.busy.count();
        copied[chunk] = std::min(copied[chunk], start + hop.latency.count());
      });
      return true;
    };
    const auto sums = [&](std::size_t first, std::size_t last) {
      Time* const summed = ledger_.summed();
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
  const bool may_relay = ledger_.may_relay();
  bool held = true;
  const auto copies = [&](std::size_t first, std::size_t last) {
    const Time* const copied = ledger_.copied();
    Time* const left = ledger_.copy_left();
    std::uint8_t* const forwarded = ledger_.forwarded();
    if (ledger_.sums())
      each(link, first, last,
           [&](std::size_t chunk, Time start, const HopTime&) { left[chunk] = std::min(left[chunk], start); });
    else
      each(link, first, last, [&](std::size_t chunk, Time start, const HopTime&) { held &= copied[chunk] <= start; });
    if (may_relay)
      each(link, first, last,
           [&](std::size_t chunk, Time, const HopTime&) { forwarded[chunk] |= !ledger_.needs(chunk); });
    return held;
  };
  const auto sums = [&](std::size_t first, std::size_t last) {
    Time* const left = ledger_.sum_left();
    each(link, first, last, [&](std::size_t chunk, Time start, const HopTime&) {
      held &= left[chunk] == kNever;  // a sum leaves once
      left[chunk] = start;
    });
    return held;
  };
  return by_stage(copies, sums);
}

}  // namespace tenex::verifier
