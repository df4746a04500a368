// Computes the layouts of dimensionwise_layout.hpp: strides, stages, sizes of messages, and the chunks of a name.
#include "algorithm/dimensionwise_layout.hpp"

#include <algorithm>
#include <set>

namespace tenex {
namespace {

/// Appends, for each of `ranks`, the ranks that differ from it only in the digit of `dimension`, which is zero in
/// `ranks`.
void set_free(const DigitDimension& dimension, std::vector<std::uint32_t>& ranks) {
  const auto count = ranks.size();
  for (std::uint32_t digit = 1; digit < dimension.size; ++digit)
    for (std::size_t i = 0; i < count; ++i) ranks.push_back(ranks[i] + digit * dimension.stride);
}

}  // namespace

DimensionLayouts::DimensionLayouts(const Collective& collective, const std::vector<GroupExchange>& of_groups,
                                   std::uint32_t window, Contents contents)
    : seats_(collective), window_(window), contents_(contents) {
  ensure(of_groups.size() == collective.groups().size(), "one of_group per group");
  ensure(!states_contributors() || collective.kind() == CollectiveKind::all_reduce,
         "sums of whole inputs are an All-Reduce");
  std::vector<const GroupExchange*> known;
  for (const auto& of_group : of_groups) {
    auto at = std::find_if(known.begin(), known.end(), [&](const auto* other) { return *other == of_group; });
    layout_of_.push_back(static_cast<std::uint32_t>(at - known.begin()));
    if (at != known.end()) continue;
    known.push_back(&of_group);
    layouts_.push_back(lay_out(of_group));
  }
}

DimensionLayout DimensionLayouts::lay_out(const GroupExchange& of_group) const {
  DimensionLayout layout;
  ensure(of_group.dimensions.size() <= kMostDimensions, "more dimensions than 32-bit ranks have digits");
  for (const auto& [size, exchange] : of_group.dimensions) {
    ensure(size > 1, "a dimension of one NPU has nothing to exchange");
    ensure(!states_contributors() || exchange == Exchange::direct,
           "sums of whole inputs go straight to all of a dimension");
    const bool ring = exchange == Exchange::ring && !exchanges_pairs();
    layout.dimensions.push_back({size, layout.members, Divisor(size), Divisor(layout.members), ring, size / 2,
                                 (size - 1) / 2, (size - 1) * layout.members, 0});
    layout.members *= size;
  }
  for (std::size_t width = 1, d = 0; width <= 32; ++width) {
    while (d + 1 < layout.dimensions.size() && layout.dimensions[d + 1].stride <= (std::uint64_t{1} << (width - 1)))
      ++d;
    layout.dimension_of_width[width] = static_cast<std::uint8_t>(d);
  }
  const auto count = static_cast<std::uint32_t>(of_group.dimensions.size());
  const auto kind = seats_.kind();
  layout.count = count;
  layout.stages = kind == CollectiveKind::all_reduce && !sums_inputs() ? 2 * count : count;
  if (contents_ == Contents::inputs_across) --layout.stages;
  layout.reduce_stages = kind == CollectiveKind::all_gather ? 0 : count;
  const auto orders = std::min<std::size_t>(of_group.orders.size(), seats_.chunks_per_npu());
  for (std::size_t o = 0; o < orders; ++o) layout.orders.push_back(lay_out(of_group.orders[o], layout));
  layout.by_orders = Divisor(static_cast<std::uint32_t>(layout.orders.size()));
  // A sum that arrives before its relay has its own part is held back. This cannot happen in a slice's first stage,
  // which all NPUs begin at once.
  for (std::uint32_t d = 0; d < count; ++d) {
    auto& dimension = layout.dimensions[d];
    const bool may_hold = dimension.ring && reduces(kind) &&
                          std::any_of(layout.orders.begin(), layout.orders.end(),
                                      [&](const StageOrder& order) { return window_ != 0 || order.stage_of[d] > 0; });
    dimension.first_held_word = layout.held_words;
    if (may_hold) layout.held_words += (dimension.size + 63) / 64;
  }
  if (window_ != 0) take_turns(of_group, layout);
  return layout;
}

/// Links every turn to the turn that is a window before it.
void DimensionLayouts::take_turns(const GroupExchange& of_group, DimensionLayout& layout) const {
  const std::uint64_t slices = seats_.chunks_per_npu();
  const auto stages = layout.stages;
  ensure(slices * stages < kNoStage, "fewer stages of all slices than 32 bits number");
  layout.waits_for.assign(slices * stages, kNoStage);
  layout.lets.assign(slices * stages, kNoStage);
  const auto link = [&](std::uint64_t before, std::uint64_t after) {
    layout.lets[before] = static_cast<std::uint32_t>(after);
    layout.waits_for[after] = static_cast<std::uint32_t>(before);
  };
  for (const auto& turns : of_group.turns)
    for (std::size_t j = window_; j < turns.size(); ++j)
      link(std::uint64_t{turns[j - window_].slice} * stages + turns[j - window_].last,
           std::uint64_t{turns[j].slice} * stages + turns[j].first);
  if (!of_group.turns.empty()) return;
  const auto distance = std::uint64_t{window_} * layout.orders.size();
  for (std::uint64_t slice = distance; slice < slices; ++slice)
    for (std::uint32_t stage = 0; stage < stages; ++stage)
      link((slice - distance) * stages + stage, slice * stages + stage);
}

StageOrder DimensionLayouts::lay_out(const std::vector<std::uint32_t>& order, const DimensionLayout& layout) const {
  ensure(order.size() == layout.dimensions.size(), "an order takes every dimension once");
  StageOrder laid;
  std::uint32_t chunks = layout.members;
  for (std::uint32_t stage = 0; stage < order.size(); ++stage) {
    const auto& dimension = layout.dimensions[order[stage]];
    laid.ascending = laid.ascending && order[stage] == stage;
    laid.dimension_at[stage] = static_cast<std::uint8_t>(order[stage]);
    laid.stage_of[order[stage]] = static_cast<std::uint8_t>(stage);
    if (!one_shot(layout, stage)) chunks /= dimension.size;
    laid.chunks[stage] = chunks;
    if (exchanges_pairs()) laid.chunks[stage] = layout.members / dimension.size;
    if (sums_inputs()) laid.chunks[stage] = layout.members;
    const auto branches = dimension.ring ? std::min(dimension.size - 1, 2U) : dimension.size - 1;
    if (stage < layout.reduce_stages) laid.needed[stage] = branches;
    if (layout.reduce_stages < layout.stages && !one_shot(layout, stage))
      laid.needed[layout.copy_index(stage)] = dimension.size - 1;
    if (exchanges_pairs()) laid.needed[stage] = dimension.size - 1;
  }
  return laid;
}

void DimensionLayouts::chunks_of(const Message& message, std::vector<ChunkId>& out) const {
  const auto me = seats_.of(message.destination);
  const auto& layout = of(me.group);
  const auto [name, slice] = seats_.part(me, message.chunk);
  if (sums_inputs()) {
    for (std::uint32_t owner = 0; owner < me.members; ++owner) out.push_back(seats_.chunk(me, owner, slice));
    return;
  }
  const auto& order = layout.order_of(slice);
  const auto stage = order.stage_of[layout.dimension_between(seats_.rank_of(message.source), me.rank)];
  std::vector<std::uint32_t> names{name};
  if (one_shot(layout, stage)) {
    const auto& dimension = layout.dimensions[order.dimension_at[stage]];
    names[0] -= dimension.digit(name) * dimension.stride;
    set_free(dimension, names);
  }
  for (std::uint32_t other = 0; other < layout.dimensions.size(); ++other) {
    auto dimension = layout.dimensions[order.dimension_at[other]];
    if (other > stage) set_free(dimension, names);
    if (other >= stage || !exchanges_pairs()) continue;
    dimension.stride *= layout.members;  // a digit of the source
    set_free(dimension, names);
  }
  std::sort(names.begin(), names.end());
  for (const auto chunk : names) out.push_back(seats_.chunk(me, chunk, slice));
}

void DimensionLayouts::contributors_of(const Message& message, std::vector<std::uint32_t>& out) const {
  const auto source = seats_.of(message.source);
  const auto& layout = of(source.group);
  const auto& order = layout.order_of(seats_.part(source, message.chunk).k);
  const auto stage = order.stage_of[layout.dimension_between(source.rank, seats_.rank_of(message.destination))];
  std::vector<std::uint32_t> ranks{source.rank};
  for (std::uint32_t before = 0; before < stage; ++before) {
    const auto& dimension = layout.dimensions[order.dimension_at[before]];
    ranks[0] -= dimension.digit(source.rank) * dimension.stride;
  }
  for (std::uint32_t before = 0; before < stage; ++before)
    set_free(layout.dimensions[order.dimension_at[before]], ranks);
  std::sort(ranks.begin(), ranks.end());
  out.insert(out.end(), ranks.begin(), ranks.end());
}

std::uint64_t DimensionLayouts::messages() const {
  std::uint64_t total = 0;
  for (std::size_t g = 0; g < seats_.collective().groups().size(); ++g) {
    const auto& layout = of(GroupId::at(g));
    std::uint64_t peers = 0;
    const bool twice = seats_.kind() == CollectiveKind::all_reduce && !sums_inputs();
    for (std::uint32_t stage = 0; stage < layout.count; ++stage)
      peers += (layout.dimensions[stage].size - 1) * (twice && !one_shot(layout, stage) ? 2U : 1U);
    total += peers * layout.members * seats_.chunks_per_npu();
  }
  return total;
}

std::vector<std::uint32_t> DimensionLayouts::message_sizes() const {
  std::set<std::uint32_t> sizes;
  for (const auto& layout : layouts_)
    for (const auto& order : layout.orders)
      for (std::size_t stage = 0; stage < layout.dimensions.size(); ++stage) sizes.insert(order.chunks[stage]);
  return {sizes.begin(), sizes.end()};
}

}  // namespace tenex
