// Programs in steps (steps.hpp): the state machines.
//
// Encoding: a record per NPU and slice of the number of rounds begun and of the arrivals of each round (messages of
// later rounds may come first). The rounds of the sums come before those of the copies. The ends of a message and its
// stage give its step. A message is named by the chunk of its source (a sum: of its destination; in an All-to-All: of
// the pair of its ends), which is among those that it carries.
#include "algorithm/steps.hpp"

#include <algorithm>
#include <set>

#include "algorithm/seats.hpp"

namespace tenex {
namespace {

/// A collective and the plans of its groups.
struct StepData {
  Seats seats;
  std::vector<StepPlans> of_group;
  Contents contents;

  [[nodiscard]] const StepPlan& plan(GroupId group, std::uint32_t slice) const {
    const auto& plans = of_group[group.index()];
    return *plans[slice % plans.size()];
  }
  [[nodiscard]] bool sums_inputs() const { return contents == Contents::inputs; }
  [[nodiscard]] bool exchanges_pairs() const { return seats.kind() == CollectiveKind::all_to_all; }
  /// Whether messages of a stage go against the steps.
  [[nodiscard]] bool reversed(Stage stage) const { return stage == Stage::reduce && !sums_inputs(); }
  /// How often the steps are taken.
  [[nodiscard]] std::uint32_t passes() const {
    return seats.kind() == CollectiveKind::all_reduce && !sums_inputs() ? 2 : 1;
  }
  /// The stage of a round of all passes.
  [[nodiscard]] Stage stage_of(const StepPlan& plan, std::uint32_t index) const {
    if (!reduces(seats.kind())) return Stage::copy;
    return index < plan.rounds() ? Stage::reduce : Stage::copy;
  }
  /// The round of the plan that a round of all passes takes.
  [[nodiscard]] std::uint32_t round_of(const StepPlan& plan, std::uint32_t index) const {
    return reversed(stage_of(plan, index)) ? plan.rounds() - 1 - index : index % plan.rounds();
  }
  /// The round of all passes in which a round of the plan is taken.
  [[nodiscard]] std::uint32_t index_of(const StepPlan& plan, std::uint32_t round, Stage stage) const {
    if (reversed(stage)) return plan.rounds() - 1 - round;
    return round + (passes() == 2 ? plan.rounds() : 0);
  }

  /// The chunks of a slice that a message carries which goes from `from` to `to` in a step of a stage.
  [[nodiscard]] std::uint32_t chunks(const StepPlan& plan, std::uint32_t from, std::uint32_t to, std::uint32_t step,
                                     Stage stage) const {
    const auto count = plan.count(reversed(stage) ? to : from, step);
    return sums_inputs() && count > 0 ? plan.members() : count;
  }
  /// The step of a message between these ranks.
  [[nodiscard]] std::uint32_t step_of(const StepPlan& plan, std::uint32_t from, std::uint32_t to, Stage stage) const {
    if (reversed(stage)) std::swap(from, to);
    std::uint32_t step = 0;
    while (step + 1 < plan.steps() && plan.destination(from, step) != to) ++step;
    return step;
  }
};

class StepState final : public ProgramState {
 public:
  explicit StepState(std::shared_ptr<const StepData> data) : data_(std::move(data)), seats_(data_->seats) {
    for (const auto& plans : data_->of_group)
      for (const auto& plan : plans) record_ = std::max<std::size_t>(record_, 1 + data_->passes() * plan->rounds());
    counts_.assign(seats_.collective().npus() * seats_.chunks_per_npu() * record_, 0);
  }

  void start(NpuId npu, std::vector<Message>& out) override {
    if (!seats_.takes_part(npu)) return;
    const auto me = seats_.of(npu);
    for (std::uint32_t slice = 0; slice < seats_.chunks_per_npu(); ++slice) proceed(me, slice, out);
  }

  void arrive(const Message& message, std::vector<Message>& out) override {
    const auto me = seats_.of(message.destination);
    const auto slice = seats_.part(me, message.chunk).k;
    const auto& plan = data_->plan(me.group, slice);
    const auto step = data_->step_of(plan, seats_.rank_of(message.source), me.rank, message.stage);
    std::uint32_t round = 0;
    while (plan.first_step(round + 1) <= step) ++round;
    const auto index = data_->index_of(plan, round, message.stage);
    auto* const record = record_of(me, slice);
    ++record[1 + index];
    if (record[0] == index + 1) proceed(me, slice, out);
  }

 private:
  [[nodiscard]] std::uint8_t* record_of(const Seat& me, std::uint32_t slice) {
    return &counts_[(me.npu.index() * seats_.chunks_per_npu() + slice) * record_];
  }

  /// Begins rounds until one has to wait for messages.
  void proceed(const Seat& me, std::uint32_t slice, std::vector<Message>& out) {
    const auto& plan = data_->plan(me.group, slice);
    auto* const record = record_of(me, slice);
    while (record[0] < data_->passes() * plan.rounds() &&
           (record[0] == 0 || record[record[0]] == awaited(plan, me.rank, record[0] - 1U)))
      send(plan, me, slice, record[0]++, out);
  }

  /// Messages that a rank receives in a round.
  [[nodiscard]] std::uint32_t awaited(const StepPlan& plan, std::uint32_t rank, std::uint32_t index) const {
    const auto round = data_->round_of(plan, index);
    const auto stage = data_->stage_of(plan, index);
    std::uint32_t messages = 0;
    for (auto step = plan.first_step(round); step < plan.first_step(round + 1); ++step) {
      const auto from = data_->reversed(stage) ? plan.destination(rank, step) : plan.source(rank, step);
      messages += data_->chunks(plan, from, rank, step, stage) > 0 ? 1 : 0;
    }
    return messages;
  }

  void send(const StepPlan& plan, const Seat& me, std::uint32_t slice, std::uint32_t index,
            std::vector<Message>& out) const {
    const auto round = data_->round_of(plan, index);
    const auto stage = data_->stage_of(plan, index);
    for (auto step = plan.first_step(round); step < plan.first_step(round + 1); ++step) {
      const auto to = data_->reversed(stage) ? plan.source(me.rank, step) : plan.destination(me.rank, step);
      const auto chunks = data_->chunks(plan, me.rank, to, step, stage);
      if (chunks == 0) continue;
      const auto name = data_->exchanges_pairs() ? me.rank * me.members + to : data_->reversed(stage) ? to : me.rank;
      emit(out, me.npu, seats_.npu_at(me.group, to), seats_.chunk(me, name, slice), stage, chunks);
    }
  }

  std::shared_ptr<const StepData> data_;
  const Seats& seats_;
  std::size_t record_ = 1;
  std::vector<std::uint8_t> counts_;  ///< a record per NPU and slice: rounds begun, arrivals of every round
};

class StepProgram final : public Program {
 public:
  explicit StepProgram(std::shared_ptr<const StepData> data) : data_(std::move(data)) {}

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override { return std::make_unique<StepState>(data_); }

  [[nodiscard]] std::uint64_t messages() const override {
    std::uint64_t total = 0;
    for_each_plan([&](const StepPlan& plan, std::uint64_t slices) {
      for (std::uint32_t step = 0; step < plan.steps(); ++step)
        for (std::uint32_t rank = 0; rank < plan.members(); ++rank) total += plan.count(rank, step) > 0 ? slices : 0;
    });
    return total * data_->passes();
  }
  [[nodiscard]] std::vector<std::uint32_t> message_sizes() const override {
    std::set<std::uint32_t> sizes;
    for_each_plan([&](const StepPlan& plan, std::uint64_t) {
      for (std::uint32_t step = 0; step < plan.steps(); ++step)
        for (std::uint32_t rank = 0; rank < plan.members(); ++rank)
          sizes.insert(data_->sums_inputs() ? plan.members() : plan.count(rank, step));
    });
    sizes.erase(0);
    return {sizes.begin(), sizes.end()};
  }

  void chunks_of(const Message& message, std::vector<ChunkId>& out) const override {
    const auto at = place_of(message);
    const auto first = out.size();
    std::vector<std::uint32_t> parts;
    if (data_->sums_inputs())
      for (std::uint32_t owner = 0; owner < at.me.members; ++owner) parts.push_back(owner);
    else
      at.plan.parts(at.sender, at.step, parts);
    for (const auto part : parts) out.push_back(data_->seats.chunk(at.me, part, at.slice));
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }

  [[nodiscard]] bool states_contributors() const override { return data_->sums_inputs(); }
  void contributors_of(const Message& message, std::vector<std::uint32_t>& out) const override {
    const auto at = place_of(message);
    const auto first = out.size();
    at.plan.contributors(at.sender, at.step, out);
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }

  [[nodiscard]] bool moves_with(const TranslationGroup& group) const override {
    if (!data_->seats.everyone() || group.npus() != data_->seats.collective().npus()) return false;
    return group.dimensions().size() == 1 &&
           std::ranges::all_of(data_->of_group[0], [](const auto& plan) { return plan->moves(); });
  }
  [[nodiscard]] Message to_origin(const Message& message, const TranslationGroup& group) const override {
    return data_->seats.moved_to_origin(message, group);
  }

 private:
  /// A message in its plan.
  struct Place {
    Seat me;  ///< of the destination
    std::uint32_t slice;
    const StepPlan& plan;
    std::uint32_t step;
    std::uint32_t sender;  ///< the rank that sends these parts in the All-Gather
  };
  [[nodiscard]] Place place_of(const Message& message) const {
    const auto me = data_->seats.of(message.destination);
    const auto slice = data_->seats.part(me, message.chunk).k;
    const auto& plan = data_->plan(me.group, slice);
    const auto from = data_->seats.rank_of(message.source);
    return {me, slice, plan, data_->step_of(plan, from, me.rank, message.stage),
            data_->reversed(message.stage) ? me.rank : from};
  }

  /// Calls visit(plan, number of its slices) for the plans of all groups.
  template <class Visit>
  void for_each_plan(Visit&& visit) const {
    const std::uint64_t slices = data_->seats.chunks_per_npu();
    for (const auto& plans : data_->of_group)
      for (std::uint64_t p = 0; p < std::min<std::uint64_t>(plans.size(), slices); ++p)
        visit(*plans[p], (slices - p + plans.size() - 1) / plans.size());
  }

  std::shared_ptr<const StepData> data_;
};

}  // namespace

std::shared_ptr<const Program> make_steps(const Collective& collective, std::vector<StepPlans> of_groups,
                                          Contents contents) {
  ensure(of_groups.size() == collective.groups().size(), "one list of plans per group");
  ensure(contents == Contents::parts || collective.kind() == CollectiveKind::all_reduce,
         "sums of whole inputs are an All-Reduce");
  return std::make_shared<StepProgram>(
      std::make_shared<const StepData>(StepData{Seats(collective), std::move(of_groups), contents}));
}

}  // namespace tenex
