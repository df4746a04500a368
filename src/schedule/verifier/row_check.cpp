#include "schedule/verifier/row_check.hpp"

#include <algorithm>
#include <limits>

#include "tenex/base/diagnostic.hpp"

namespace tenex::verifier {
namespace {

constexpr RowFrame::Row kLatestRow = NpuLedger<RowFrame::Row>::kLatest;

/// The number of rows that `time` lasts, rounded up; nullopt where it is too large.
std::optional<RowFrame::Row> rows_in(SimTime time, SimTime row) {
  const std::int64_t rows = ceil_div(time.count(), row.count());
  return rows <= kLatestRow ? std::optional(static_cast<RowFrame::Row>(rows)) : std::nullopt;
}

}  // namespace

std::optional<RowFrame> RowFrame::of(const Context& context, const Schedule& schedule) {
  const Collective& collective = context.collective();
  if (schedule.row_time() <= SimTime::zero() || collective.groups().size() != 1 || collective.chunk_sizes().size() != 1)
    return std::nullopt;
  RowFrame frame;
  frame.time_ = schedule.row_time();
  if (!frame.set_hops(context) || !frame.set_places(collective, context.topology().npus(), schedule.places()))
    return std::nullopt;
  return frame;
}

bool RowFrame::set_hops(const Context& context) {
  for (std::size_t c = 0; c < context.topology().classes().size(); ++c) {
    const HopTime& hop = context.hop(static_cast<std::uint16_t>(c), 0);
    const auto busy = rows_in(hop.busy, time_);
    const auto latency = rows_in(hop.latency, time_);
    if (!busy || !latency) return false;
    const SimTime excess = time_ * std::int64_t{*latency} - hop.latency;
    if (c > 0 && excess != excess_) return false;
    excess_ = excess;
    hops_.push_back({*busy, *latency});
  }
  return true;
}

bool RowFrame::set_places(const Collective& collective, std::size_t npus, std::span<const ChunkId> places) {
  const auto chunks = collective.chunks();
  if (!places.empty()) {
    std::vector<bool> placed(chunks, false);
    if (places.size() != chunks) return false;
    for (const ChunkId chunk : places) {
      if (chunk.index() >= chunks || placed[chunk.index()]) return false;
      placed[chunk.index()] = true;
    }
  }
  const auto chunk_at = [&](std::size_t place) { return places.empty() ? ChunkId::at(place) : places[place]; };
  owned_ = Csr<ChunkId>::group(
      npus, chunks, [&](std::size_t place) { return collective.owner(chunk_at(place)).index(); },
      [](std::size_t place) { return ChunkId::at(place); });
  return true;
}

RowCheck::RowCheck(const Context& context, const Schedule& schedule, const RowFrame& frame)
    : context_(context),
      schedule_(schedule),
      frame_(frame),
      ledger_(context.collective().kind(), context.collective().chunks(), frame.owned()) {}

bool RowCheck::check(NpuId npu, Tally& tally) {
  const auto& collective = context_.collective();
  ledger_.begin(npu, 0, collective.group_of(npu).exists() ? collective.chunks() : 0);
  arrived_ = copies_arrived_ = 0;
  last_sum_ = 0;
  for (const LinkId link : context_.topology().in_links(vertex_of(npu)))
    if (!receive(link)) return false;
  for (const LinkId link : context_.topology().out_links(vertex_of(npu)))
    if (!send(link)) return false;
  return ledger_.finish(arrived_, copies_arrived_, last_sum_, tally);
}

/// nullopt if the run names a place that does not exist, a row out of range, or a stage that the collective lacks.
std::optional<RowCheck::Extent> RowCheck::extent(const RowRun& run) const {
  const auto chunks = context_.collective().chunks();
  const auto room = run.listed ? buffer_.listed : chunks;
  if (run.count == 0 || run.first > room || run.count > room - run.first) return std::nullopt;
  if (run.listed &&
      !all_below(std::span(buffer_.list).subspan(run.first, run.count), static_cast<std::uint32_t>(chunks)))
    return std::nullopt;
  if (run.stage == Stage::copy ? !ledger_.copies() : !ledger_.sums()) return std::nullopt;
  const std::int64_t end = run.row + std::int64_t{run.step} * (std::int64_t{run.count} - 1);
  if (run.row < 0 || run.row > kLatestRow || end < 0 || end > kLatestRow) return std::nullopt;
  const auto last = static_cast<Row>(end);
  return Extent{std::min(run.row, last), std::max(run.row, last)};
}

template <class Visit>
void RowCheck::each(const RowRun& run, Visit&& visit) const {
  // Numbers of this function alone, which no write to a table can change.
  const auto count = static_cast<std::int32_t>(run.count);
  const std::size_t first = run.first;
  const Row row = run.row;
  const Row step = run.step;
  if (run.listed) {
    const ChunkId* const place = buffer_.list.data() + first;
    for (std::int32_t i = 0; i < count; ++i) visit(place[i].index(), row + i * step);
  } else if (step == 1) {
    for (std::int32_t i = 0; i < count; ++i) visit(first + static_cast<std::size_t>(i), row + i);
  } else if (step == -1) {
    for (std::int32_t i = 0; i < count; ++i) visit(first + static_cast<std::size_t>(i), row - i);
  } else {
    for (std::int32_t i = 0; i < count; ++i) visit(first + static_cast<std::size_t>(i), row + i * step);
  }
}

/// Enters the deliveries of an in-link. Returns false if two of its sends overlap.
bool RowCheck::receive(LinkId link) {
  buffer_.clear();
  schedule_.read_rows(link, buffer_);
  const RowFrame::Hop hop = frame_.hop(context_.topology().class_of(link));
  Row free = 0;
  for (const RowRun& run : buffer_.runs) {
    const auto rows = extent(run);
    if (!rows || rows->first < free) return false;
    if (run.count > 1 && std::max(run.step, -run.step) < hop.busy) return false;
    free = rows->last + hop.busy;
    enter(run, *rows, hop.latency);
  }
  return true;
}

void RowCheck::enter(const RowRun& run, const Extent& extent, Row latency) {
  arrived_ += run.count;
  if (run.stage == Stage::copy) {
    copies_arrived_ += run.count;
    Row* const copied = ledger_.copied();
    each(run, [&](std::size_t place, Row row) { copied[place] = std::min(copied[place], row + latency); });
  } else {
    last_sum_ = std::max(last_sum_, extent.last + latency);
    Row* const summed = ledger_.summed();
    each(run, [&](std::size_t place, Row row) { summed[place] = std::max(summed[place], row + latency); });
  }
}

/// Enters the sends of an out-link. Where there are no sums, compares them with what the NPU held at once.
bool RowCheck::send(LinkId link) {
  buffer_.clear();
  schedule_.read_rows(link, buffer_);
  for (const RowRun& run : buffer_.runs)
    if (!extent(run) || !leave(run)) return false;
  return true;
}

bool RowCheck::leave(const RowRun& run) {
  constexpr Row kNever = NpuLedger<Row>::kNever;
  if (run.stage == Stage::reduce) {
    Row* const left = ledger_.sum_left();
    Row unsent = kNever;  // all its bits are ones; a sum leaves once
    each(run, [&](std::size_t place, Row row) {
      unsent &= left[place];
      left[place] = row;
    });
    return unsent == kNever;
  }
  if (ledger_.may_relay()) {
    std::uint8_t* const forwarded = ledger_.forwarded();
    each(run, [&](std::size_t place, Row) { forwarded[place] = 1; });  // it needs none
  }
  if (ledger_.sums()) {
    Row* const left = ledger_.copy_left();
    each(run, [&](std::size_t place, Row row) { left[place] = std::min(left[place], row); });
    return true;
  }
  const Row* const copied = ledger_.copied();
  Row wait = 0;  // its sign says whether any chunk arrives after its send starts
  each(run, [&](std::size_t place, Row row) { wait |= row - copied[place]; });
  return wait >= 0;
}

}  // namespace tenex::verifier
