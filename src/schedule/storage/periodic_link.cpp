#include "schedule/storage/periodic_link.hpp"

namespace tenex {

void read_period_link(std::span<const LinkUse> uses, const PeriodFrame& frame, SimTime begin, SimTime end, LinkId link,
                      SendBuffer& buffer) {
  std::int64_t most_periods = 0;
  std::int64_t least_periods = uses.empty() ? 0 : uses.front().periods;
  for (const LinkUse& use : uses) {
    most_periods = std::max(most_periods, use.periods);
    least_periods = std::min(least_periods, use.periods);
  }
  const auto rows = static_cast<std::size_t>((end - begin) / frame.period + 2);
  const std::size_t most = rows * uses.size();
  if (buffer.chunk.size() < most) buffer.chunk.resize(most);
  if (buffer.start.size() < most) buffer.start.resize(most);
  if (buffer.stage.size() < most) buffer.stage.resize(most);
  ChunkId* chunk = buffer.chunk.data();
  SimTime* start = buffer.start.data();
  Stage* stage = buffer.stage.data();
  std::size_t size = 0;
  const auto visit_between = [&](SimTime from, SimTime to) {
    visit_link(uses, frame, from, to, [&](SimTime at, std::uint32_t number, Stage own) {
      chunk[size] = ChunkId(number);
      start[size] = at;
      stage[size++] = own;
    });
  };
  // In the rows between, every use has a chunk.
  const std::int64_t first_full = std::max(most_periods, (begin + frame.period - SimTime::of(1)) / frame.period);
  const auto full_periods = static_cast<std::int64_t>(frame.chunks / frame.trees);
  const std::int64_t last_full = std::min(full_periods + least_periods, end / frame.period);
  if (first_full >= last_full) {
    visit_between(begin, end);
  } else {
    visit_between(begin, frame.period * first_full);
    for (std::int64_t row = first_full; row < last_full; ++row) {
      const SimTime row_begin = frame.period * row;
      for (std::size_t i = 0; i < uses.size(); ++i) {
        const LinkUse& use = uses[i];
        chunk[size + i] = ChunkId(static_cast<std::uint32_t>(row - use.periods) * frame.trees + use.tree);
        start[size + i] = row_begin + use.residue;
        stage[size + i] = use.stage;
      }
      size += uses.size();
    }
    visit_between(frame.period * last_full, end);
  }
  buffer.link.assign(size, link);
  buffer.batch = {};
  buffer.batch.link = buffer.link;
  buffer.batch.chunk = std::span(buffer.chunk).first(size);
  buffer.batch.start = std::span(buffer.start).first(size);
  buffer.batch.stage = std::span(buffer.stage).first(size);
}

void show_sends(std::vector<Send>& sends, SendBuffer& buffer) {
  if (!std::ranges::is_sorted(sends, {}, &Send::start)) std::ranges::stable_sort(sends, {}, &Send::start);
  buffer.link.clear();
  buffer.chunk.clear();
  buffer.start.clear();
  buffer.stage.clear();
  for (const Send& send : sends) {
    buffer.link.push_back(send.link);
    buffer.chunk.push_back(send.chunk);
    buffer.start.push_back(send.start);
    buffer.stage.push_back(send.stage);
  }
  buffer.batch = {};
  buffer.batch.link = buffer.link;
  buffer.batch.chunk = buffer.chunk;
  buffer.batch.start = buffer.start;
  buffer.batch.stage = buffer.stage;
}

}  // namespace tenex
