// Programs that work dimension by dimension (dimensionwise.hpp): the state machines.
//
// Encoding: a record of counts per NPU and slice: the number of stages begun, of which the last is not complete yet,
// and the arrivals of every stage (messages of later stages may come first). A sum that arrives over a ring before the
// NPU has its own part of it sets a bit and waits for that part. All else follows from a message's ends and name. A
// record takes 1 + stages counts of the narrowest type that holds them.
#include "algorithm/dimensionwise.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

#include "algorithm/dimensionwise_layout.hpp"
#include "algorithm/textbook.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/schedule/storage/raw_array.hpp"

namespace tenex {
namespace {

template <class Count>
class DimensionwiseState final : public ExpectantState {
 public:
  DimensionwiseState(std::shared_ptr<const DimensionLayouts> layouts, DestinationOrder order)
      : layouts_(std::move(layouts)),
        seats_(layouts_->seats()),
        relative_(order == DestinationOrder::relative),
        pairs_(layouts_->exchanges_pairs()),
        slices_(seats_.chunks_per_npu()) {
    if (layouts_->all().size() == 1) only_layout_ = &layouts_->all()[0];
    if (only_layout_ != nullptr && only_layout_->orders.size() == 1) only_order_ = &only_layout_->orders[0];
    for (const auto& layout : layouts_->all()) {
      windowed_ = windowed_ || !layout.waits_for.empty();
      counts_per_record_ = std::max<std::size_t>(counts_per_record_, 1 + layout.stages);
      words_per_record_ = std::max<std::size_t>(words_per_record_, layout.held_words);
    }
    const auto records = seats_.collective().npus() * slices_;
    if (counts_per_record_ * sizeof(Count) < line) counts_per_record_ = std::bit_ceil(counts_per_record_);
    counts_ = RawArray<Count>(records * counts_per_record_);
    std::fill_n(counts_.data(), counts_.size(), Count{0});
    held_.assign(records * words_per_record_, 0);
  }

  void start(NpuId npu, std::vector<Message>& out) override {
    if (!seats_.takes_part(npu)) return;
    for (std::uint32_t slice = 0; slice < slices_; ++slice) {
      const auto at = seat_of(npu, slice);
      if (may_begin(at, 0)) begin_stage(at, 0, out);
    }
  }

  void expect(const Message& message) const override {
    const auto me = seats_.of(message.destination);
    const auto slice = seats_.part(me, message.chunk).k;
    __builtin_prefetch(counts_.data() + record_number(me.npu, slice) * counts_per_record_, 1);
  }

  void arrive(const Message& message, std::vector<Message>& out) override {
    const auto me = seats_.of(message.destination);
    const auto& layout = only_layout_ != nullptr ? *only_layout_ : layouts_->of(me.group);
    const auto [name, slice] = seats_.part(me, message.chunk);
    const auto& order = only_order_ != nullptr ? *only_order_ : layout.order_of(slice);
    const auto source = seats_.rank_of(message.source);
    const auto d = layout.dimension_between(source, me.rank);
    const auto& dimension = layout.dimensions[d];
    const bool copy = message.stage == Stage::copy;
    const std::uint32_t index = copy && !pairs_ ? layout.copy_index(order.stage_of[d]) : order.stage_of[d];
    auto* const record = record_of(me.npu, slice);
    if (dimension.ring) {
      const auto mine = dimension.digit(me.rank);
      const auto part = dimension.digit(name);
      const bool clockwise = dimension.clockwise(source, me.rank);
      const bool mine_alone = !copy && part == mine;  // a sum that has reached its owner
      if (!copy && !mine_alone && record[0] <= index) return hold(me.npu, slice, dimension, part);
      const auto gone = clockwise ? mine - part : part - mine;
      if (copy ? gone + (gone >= dimension.size ? dimension.size : 0) < dimension.hops(clockwise, slice) : !mine_alone)
        emit(out, me.npu, seats_.npu_at(me.group, dimension.neighbour(me.rank, mine, clockwise)), message.chunk,
             message.stage, message.chunks);
      if (!copy && !mine_alone) return;
    }
    if (++record[1 + index] == order.needed[index] && record[0] == index + 1)
      advance(seat_of(me.npu, slice), index, out);
  }

 private:
  static constexpr std::size_t line = 64;  ///< cache line in bytes: no small record lies on two lines

  /// A slice at an NPU.
  struct SliceSeat {
    Seat me;
    const DimensionLayout& layout;
    const StageOrder& order;
    std::uint32_t slice = 0;
  };

  [[nodiscard]] SliceSeat seat_of(NpuId npu, std::uint32_t slice) const {
    const auto me = seats_.of(npu);
    const auto& layout = layouts_->of(me.group);
    return {me, layout, layout.order_of(slice), slice};
  }
  [[nodiscard]] std::size_t record_number(NpuId npu, std::uint32_t slice) const {
    return npu.index() * slices_ + slice;
  }
  [[nodiscard]] Count* record_of(NpuId npu, std::uint32_t slice) {
    return &counts_[record_number(npu, slice) * counts_per_record_];
  }

  /// Keeps a sum until this NPU has its own part of it.
  void hold(NpuId npu, std::uint32_t slice, const DigitDimension& dimension, std::uint32_t part) {
    held_word(npu, slice, dimension, part) |= std::uint64_t{1} << (part % 64);
  }
  bool take_held(const SliceSeat& at, const DigitDimension& dimension, std::uint32_t part) {
    auto& word = held_word(at.me.npu, at.slice, dimension, part);
    const auto bit = std::uint64_t{1} << (part % 64);
    const bool held = (word & bit) != 0;
    word &= ~bit;
    return held;
  }
  [[nodiscard]] std::uint64_t& held_word(NpuId npu, std::uint32_t slice, const DigitDimension& dimension,
                                         std::uint32_t part) {
    return held_[record_number(npu, slice) * words_per_record_ + dimension.first_held_word + part / 64];
  }

  /// Whether the NPU has begun this stage of the slice and all its messages have arrived.
  [[nodiscard]] bool complete(const SliceSeat& at, std::uint32_t index) {
    const auto* const record = record_of(at.me.npu, at.slice);
    return record[0] > index && record[1 + index] == at.order.needed[index];
  }
  /// Whether the turn that this one waits for is complete.
  [[nodiscard]] bool may_begin(const SliceSeat& at, std::uint32_t index) {
    if (!windowed_) return true;
    const auto before = at.layout.waits_for[at.slice * at.layout.stages + index];
    return before == kNoStage || complete(seat_of(at.me.npu, before / at.layout.stages), before % at.layout.stages);
  }

  /// Begins the slice's stages until one has to wait. Appends those that are complete at once to `completed`.
  void begin_next(const SliceSeat& at, std::vector<Message>& out, std::vector<std::uint32_t>* completed) {
    auto* const record = record_of(at.me.npu, at.slice);
    while (record[0] < at.layout.stages && (record[0] == 0 || complete(at, record[0] - 1U)) &&
           may_begin(at, record[0])) {
      begin_stage(at, record[0], out);
      if (completed != nullptr && complete(at, record[0] - 1U))
        completed->push_back(at.slice * at.layout.stages + record[0] - 1U);
    }
  }

  /// Called when a stage of the slice is complete: begins the next stages of the slice and those that waited for this
  /// one.
  void advance(const SliceSeat& at, std::uint32_t index, std::vector<Message>& out) {
    if (!windowed_) return begin_next(at, out, nullptr);
    std::vector<std::uint32_t> completed{at.slice * at.layout.stages + index};
    for (std::size_t i = 0; i < completed.size(); ++i) {
      const auto stage = completed[i];
      begin_next(seat_of(at.me.npu, stage / at.layout.stages), out, &completed);
      if (const auto next = at.layout.lets[stage]; next != kNoStage)
        begin_next(seat_of(at.me.npu, next / at.layout.stages), out, &completed);
    }
  }

  void begin_stage(const SliceSeat& at, std::uint32_t index, std::vector<Message>& out) {
    record_of(at.me.npu, at.slice)[0] = static_cast<Count>(index + 1);
    const auto stage = at.layout.way_up(index);
    const auto& dimension = at.layout.dimensions[at.order.dimension_at[stage]];
    const auto mine = dimension.digit(at.me.rank);
    const auto given = name_given(at, stage);
    const auto chunks = at.order.chunks[stage];
    const auto send = [&](std::uint32_t to, std::uint32_t part, Stage kind) {
      const auto name = given + part * dimension.stride;
      emit(out, at.me.npu, seats_.npu_at(at.me.group, to), seats_.chunk(at.me, name, at.slice), kind, chunks);
    };
    const bool sums = !pairs_ && index < at.layout.reduce_stages;
    if (!dimension.ring) {
      for (std::uint32_t i = 0; i + 1 < dimension.size; ++i) {
        const auto peer = relative_ ? dimension.on(mine, i + 1) : i + (i < mine ? 0 : 1);
        send(at.me.rank + (peer - mine) * dimension.stride, sums || pairs_ ? peer : mine,
             sums ? Stage::reduce : Stage::copy);
      }
      return;
    }
    for (const bool clockwise : {true, false}) {
      // A sum runs toward its owner, opposite to the copies.
      const auto hops = dimension.hops(clockwise != sums, at.slice);
      if (hops == 0) continue;
      const auto part = sums ? dimension.on(mine, clockwise ? hops : dimension.size - hops) : mine;
      const auto next = dimension.neighbour(at.me.rank, mine, clockwise);
      send(next, part, sums ? Stage::reduce : Stage::copy);
      if (!sums || (stage == 0 && !windowed_)) continue;
      // The parts whose sums arrived early, from the far end on.
      for (auto to_go = hops - 1; to_go > 0; --to_go) {
        const auto held = dimension.on(mine, clockwise ? to_go : dimension.size - to_go);
        if (take_held(at, dimension, held)) send(next, held, Stage::reduce);
      }
    }
  }

  /// The part of the name that all messages of a stage from this NPU share: its digits in the dimensions before. In an
  /// All-to-All these are digits of destinations, and its digits from this dimension on are those of sources.
  [[nodiscard]] std::uint32_t name_given(const SliceSeat& at, std::uint32_t stage) const {
    std::uint32_t before = 0;
    if (at.order.ascending) {
      const auto& dimension = at.layout.dimensions[stage];
      before = at.me.rank - dimension.by_stride.quotient(at.me.rank) * dimension.stride;
    }
    for (std::uint32_t s = 0; !at.order.ascending && s < stage; ++s) {
      const auto& dimension = at.layout.dimensions[at.order.dimension_at[s]];
      before += dimension.digit(at.me.rank) * dimension.stride;
    }
    return pairs_ ? (at.me.rank - before) * at.me.members + before : before;
  }

  std::shared_ptr<const DimensionLayouts> layouts_;
  const Seats seats_;  ///< a copy, because every message reads it
  bool windowed_ = false;
  bool relative_;
  bool pairs_;
  const DimensionLayout* only_layout_ = nullptr;  ///< set where all groups have the same layout
  const StageOrder* only_order_ = nullptr;        ///< set where all slices have the same order as well
  std::uint32_t slices_;
  std::size_t counts_per_record_ = 0;
  std::size_t words_per_record_ = 0;
  RawArray<Count> counts_;           ///< a record per NPU and slice: stages begun, arrivals of every stage
  std::vector<std::uint64_t> held_;  ///< per NPU and slice, a bit per part of every ring that may hold sums back
};

class DimensionwiseProgram final : public Program {
 public:
  DimensionwiseProgram(const Collective& collective, const std::vector<GroupExchange>& of_groups,
                       DestinationOrder order, std::uint32_t window, Contents contents)
      : layouts_(std::make_shared<const DimensionLayouts>(collective, of_groups, window, contents)), order_(order) {}

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override {
    std::uint32_t largest = 0;
    for (const auto& layout : layouts_->all())
      for (const auto& dimension : layout.dimensions) largest = std::max(largest, dimension.size);
    if (largest <= std::numeric_limits<std::uint8_t>::max())
      return std::make_unique<DimensionwiseState<std::uint8_t>>(layouts_, order_);
    if (largest <= std::numeric_limits<std::uint16_t>::max())
      return std::make_unique<DimensionwiseState<std::uint16_t>>(layouts_, order_);
    return std::make_unique<DimensionwiseState<std::uint32_t>>(layouts_, order_);
  }
  [[nodiscard]] std::uint64_t messages() const override { return layouts_->messages(); }
  [[nodiscard]] std::string_view destination_order() const override {
    return order_ == DestinationOrder::relative ? "relative" : "absolute";
  }
  void chunks_of(const Message& message, std::vector<ChunkId>& out) const override {
    layouts_->chunks_of(message, out);
  }
  [[nodiscard]] std::vector<std::uint32_t> message_sizes() const override { return layouts_->message_sizes(); }
  [[nodiscard]] bool states_contributors() const override { return layouts_->states_contributors(); }
  void contributors_of(const Message& message, std::vector<std::uint32_t>& out) const override {
    layouts_->contributors_of(message, out);
  }

  /// Whether the program's dimensions are those of the group.
  [[nodiscard]] bool moves_with(const TranslationGroup& group) const override {
    if (!layouts_->seats().everyone() || order_ == DestinationOrder::absolute || group.twisted()) return false;
    const auto& mine = layouts_->all()[0].dimensions;
    const auto theirs = group.dimensions();
    return std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end(),
                      [](const auto& a, const auto& b) { return a.size == b.size; });
  }
  [[nodiscard]] Message to_origin(const Message& message, const TranslationGroup& group) const override {
    const auto& seats = layouts_->seats();
    const auto me = seats.of(message.destination);
    const auto& layout = layouts_->all()[0];
    const auto [name, slice] = seats.part(me, message.chunk);
    const auto& order = layout.order_of(slice);
    const auto stage = order.stage_of[layout.dimension_between(seats.rank_of(message.source), me.rank)];
    std::uint32_t moved = 0;  // the given digits; the free digits stay zero
    for (std::uint32_t s = 0; s < layout.dimensions.size(); ++s) {
      const auto& dimension = layout.dimensions[order.dimension_at[s]];
      const auto mine = dimension.digit(me.rank);
      const auto shift = [&](std::uint32_t rank) {
        return dimension.on(dimension.digit(rank), dimension.size - mine) * dimension.stride;
      };
      if (!layouts_->exchanges_pairs())
        moved += s <= stage ? shift(name) : 0;
      else if (s >= stage)  // a destination's given digits are the receiver's
        moved += shift(name / me.members) * me.members;
    }
    Message at_origin = message;
    at_origin.source = group.subtract(message.source, message.destination);
    at_origin.destination = NpuId(0);
    at_origin.chunk = ChunkId(moved * seats.chunks_per_npu() + slice);
    return at_origin;
  }

 private:
  std::shared_ptr<const DimensionLayouts> layouts_;
  DestinationOrder order_;
};

}  // namespace

std::shared_ptr<const Program> make_dimensionwise(const Collective& collective,
                                                  const std::vector<GroupExchange>& of_groups, DestinationOrder order,
                                                  std::uint32_t window, Contents contents) {
  return std::make_shared<DimensionwiseProgram>(collective, of_groups, order, window, contents);
}

namespace {

ProgramSizes sizes_of_sends(const ProgramScale& scale, const DimensionSends& sends) {
  const double slices = scale.passes * scale.slices;
  // What goes to a position of a dimension does not depend on who sends it, but in an All-to-All; equal lists are kept
  // once.
  const double moves = scale.sends * sends.moves;
  return {slices * sends.messages, slices * sends.hops, scale.all_to_all ? moves : slices * sends.stages, 0, moves};
}

}  // namespace

ProgramSizes sizes_by_rings(const ProgramScale& scale) { return sizes_of_sends(scale, scale.by_rings); }
ProgramSizes sizes_by_blocks(const ProgramScale& scale) { return sizes_of_sends(scale, scale.by_blocks); }

}  // namespace tenex
