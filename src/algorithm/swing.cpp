// Swing: recursive halving and doubling whose partners stay near on a torus.
//
// In step s of a ring, an NPU of even rank exchanges with the one rho(s) = 1, -1, 3, -5, 11, -21, .. ranks on, one of
// odd rank with the one as far back. A distance is about two thirds of the 2^s of halving and doubling, so messages
// meet less on links. On a torus the dimensions take turns. There are 2D plans for D dimensions, each beginning in
// another dimension or going the other way round, and slice k takes plan k mod 2D: give 2D chunks, or a multiple, so
// that all links work.
//
// swing: Reduce-Scatter nearest first, All-Gather farthest first, 2 (n - 1) / n S bytes and 2 log2 n steps for an
// All-Reduce. Of an even number that is no power of two some chunks would come to an NPU twice: they go in the first
// message alone. Of an odd number the last NPU exchanges directly with each other one, in the round of the farthest.
// swing_whole: whole sums in log2 n steps of S bytes, for powers of two (the paper's latency-optimal variant).
//
// Dimensions are those of the shape, where each has an even number of positions, or else all ranks in order are one
// ring.
//
// Encoding: steps.hpp. What an NPU has and sends depends in each dimension on the parity of its digit, so the sets of a
// dimension are kept once for even and odd digits, relative to the digit, and a message carries their product. Source:
// De Sensi, Bonato, Saam and Hoefler, "Swing: short-cutting rings for higher bandwidth allreduce", NSDI 2024 (arXiv
// 2401.09356).
#include "algorithm/swing.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "algorithm/dimensionwise.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {

SwingPlan::Dimension SwingPlan::lay_out(std::uint32_t size, std::uint32_t stride, bool mirrored, SwingOrder order) {
  Dimension dimension{size, stride, {}, {}, {}};
  const auto wrapped = [&](std::int64_t offset) { return static_cast<std::uint32_t>((offset % size + size) % size); };
  std::int64_t rho = 0;
  std::int64_t power = 1;
  for (std::uint32_t left = size - 1; left > 0; left /= 2, power *= -2) {
    rho += power;
    dimension.jump.push_back(wrapped(mirrored ? -rho : rho));
  }
  if (order == SwingOrder::farthest_first) std::reverse(dimension.jump.begin(), dimension.jump.end());

  std::array<std::vector<bool>, 2> has;
  for (auto& of_parity : has) {
    of_parity.assign(size, false);
    of_parity[0] = true;
  }
  const auto keep = [&] {
    Offsets kept;
    for (std::size_t parity = 0; parity < 2; ++parity)
      for (std::uint32_t offset = 0; offset < size; ++offset)
        if (has[parity][offset]) kept[parity].push_back(offset);
    dimension.has.push_back(std::move(kept));
  };
  keep();
  for (const auto jump : dimension.jump) {
    Offsets sent;
    const auto before = has;
    for (std::size_t parity = 0; parity < 2; ++parity) {
      const std::int64_t partner = parity == 0 ? jump : -std::int64_t{jump};
      for (const auto offset : dimension.has.back()[parity]) {
        const auto there = wrapped(offset - partner);
        if (before[1 - parity][there]) continue;
        sent[parity].push_back(offset);
        has[1 - parity][there] = true;
      }
    }
    dimension.sends.push_back(std::move(sent));
    keep();
  }
  return dimension;
}

std::uint32_t SwingPlan::steps_of(const std::vector<std::uint32_t>& sizes) {
  std::uint32_t steps = 0;
  for (const auto size : sizes) steps += static_cast<std::uint32_t>(std::bit_width(size - 1));
  return steps;
}

SwingPlan::SwingPlan(const std::vector<std::uint32_t>& sizes, std::uint32_t first, bool mirrored, SwingOrder order)
    : StepPlan(
          [&] {
            std::uint32_t members = 1;
            for (const auto size : sizes) members *= size;
            return members;
          }(),
          steps_of(sizes)) {
  std::uint32_t stride = 1;
  for (const auto size : sizes) {
    ensure(size % 2 == 0, "Swing pairs even and odd digits");
    dimensions_.push_back(lay_out(size, stride, mirrored, order));
    stride *= size;
  }
  // The turns of a Reduce-Scatter, which begin in `first`; an All-Gather takes them from the end.
  std::vector<std::uint32_t> turns;
  for (std::uint32_t s = 0; turns.size() < steps(); ++s)
    for (std::uint32_t d = 0; d < sizes.size(); ++d)
      if (const auto at = (first + d) % sizes.size(); s < dimensions_[at].jump.size())
        turns.push_back(static_cast<std::uint32_t>(at));
  if (order == SwingOrder::farthest_first) std::reverse(turns.begin(), turns.end());
  std::vector<std::uint32_t> done(sizes.size(), 0);
  for (const auto dimension : turns) {
    turns_.push_back({dimension, done});
    ++done[dimension];
  }
}

std::uint32_t SwingPlan::destination(std::uint32_t rank, std::uint32_t step) const {
  const auto& turn = turns_[step];
  const auto& dimension = dimensions_[turn.dimension];
  const auto mine = digit(dimension, rank);
  const auto jump = dimension.jump[turn.done[turn.dimension]];
  const auto to = (mine + (mine % 2 == 0 ? jump : dimension.size - jump)) % dimension.size;
  return rank - mine * dimension.stride + to * dimension.stride;
}

const std::vector<std::uint32_t>& SwingPlan::offsets(std::uint32_t rank, const Turn& turn, std::uint32_t d,
                                                     bool sent) const {
  const auto& dimension = dimensions_[d];
  const auto& of_step = sent && d == turn.dimension ? dimension.sends[turn.done[d]] : dimension.has[turn.done[d]];
  return of_step[digit(dimension, rank) % 2];
}

std::uint32_t SwingPlan::count(std::uint32_t rank, std::uint32_t step) const {
  std::uint32_t product = 1;
  for (std::uint32_t d = 0; d < dimensions_.size(); ++d)
    product *= static_cast<std::uint32_t>(offsets(rank, turns_[step], d, true).size());
  return product;
}

/// Appends the ranks at the product of the offsets of all dimensions.
void SwingPlan::ranks(std::uint32_t rank, const Turn& turn, bool sent, std::vector<std::uint32_t>& out) const {
  const auto first = out.size();
  out.push_back(0);
  for (std::uint32_t d = 0; d < dimensions_.size(); ++d) {
    const auto& dimension = dimensions_[d];
    const auto mine = digit(dimension, rank);
    const auto& here = offsets(rank, turn, d, sent);
    const auto before = out.size() - first;
    std::vector<std::uint32_t> product;
    product.reserve(before * here.size());
    for (const auto offset : here)
      for (std::size_t i = first; i < out.size(); ++i)
        product.push_back(out[i] + (mine + offset) % dimension.size * dimension.stride);
    out.resize(first);
    out.insert(out.end(), product.begin(), product.end());
  }
}

void SwingPlan::parts(std::uint32_t rank, std::uint32_t step, std::vector<std::uint32_t>& out) const {
  ranks(rank, turns_[step], true, out);
}

void SwingPlan::contributors(std::uint32_t rank, std::uint32_t step, std::vector<std::uint32_t>& out) const {
  ranks(rank, turns_[step], false, out);
}

namespace {

constexpr std::size_t kMostOddMembers = 255;

/// Swing of an odd number of NPUs.
class OddSwing final : public StepPlan {
 public:
  OddSwing(std::uint32_t members, bool mirrored)
      : StepPlan(members, first_steps(members)), others_({members - 1}, 0, mirrored, SwingOrder::farthest_first) {}

  [[nodiscard]] std::uint32_t destination(std::uint32_t rank, std::uint32_t step) const override {
    if (step >= last()) return rank == last() ? rank : others_.destination(rank, step - last());
    return rank == last() ? step : rank == step ? last() : rank;
  }
  [[nodiscard]] std::uint32_t source(std::uint32_t rank, std::uint32_t step) const override {
    return destination(rank, step);
  }
  [[nodiscard]] std::uint32_t count(std::uint32_t rank, std::uint32_t step) const override {
    if (step >= last()) return rank == last() ? 0 : others_.count(rank, step - last());
    return rank == last() || rank == step ? 1 : 0;
  }
  void parts(std::uint32_t rank, std::uint32_t step, std::vector<std::uint32_t>& out) const override {
    if (step < last()) return out.push_back(rank);
    others_.parts(rank, step - last(), out);
  }

 private:
  /// In step s of the first `last()` ones the last NPU and NPU s exchange; the rest idles. Others' first step is in the
  /// same round.
  [[nodiscard]] std::uint32_t last() const { return members() - 1; }
  static std::vector<std::uint32_t> first_steps(std::uint32_t members) {
    std::vector<std::uint32_t> first{0};
    for (std::uint32_t left = members - 2, step = members; left > 0; left /= 2) first.push_back(step++);
    return first;
  }

  SwingPlan others_;
};

/// The error for a group of so many members; `fewer` and `more` are allowed numbers.
Diagnostic unfit(std::string_view name, std::size_t members, std::string_view why, std::size_t fewer,
                 std::size_t more) {
  return input_error({}, fmt::format("algorithm \"{}\" for {} NPUs", name, members), std::string(why),
                     fmt::format("choose {} or {} NPUs, or another algorithm", fewer, more));
}

}  // namespace

Status fits_swing(std::string_view name, const Topology& /*topology*/, const Collective& collective) {
  for (const auto& group : collective.groups())
    if (const auto members = group.members.size(); members % 2 != 0 && members > kMostOddMembers)
      return unfit(name, members, "the last of an odd number of NPUs exchanges with all others at once", members - 1,
                   members + 1);
  return success();
}

Status fits_even(std::string_view name, const Topology& /*topology*/, const Collective& collective) {
  for (const auto& group : collective.groups())
    if (const auto members = group.members.size(); members % 2 != 0)
      return unfit(name, members, "its NPUs of even rank exchange with those of odd rank", members - 1, members + 1);
  return success();
}

Status fits_whole_swing(std::string_view name, const Topology& /*topology*/, const Collective& collective) {
  for (const auto& group : collective.groups())
    if (const auto members = group.members.size(); !std::has_single_bit(members))
      return unfit(name, members, "only with powers of two every input comes once", std::bit_floor(members),
                   std::bit_ceil(members));
  return success();
}

namespace {

/// The dimensions of a group: those of the shape, or one of all ranks.
std::vector<std::uint32_t> swing_sizes(const std::optional<Grid>& grid, std::uint32_t members) {
  std::vector<std::uint32_t> sizes;
  if (grid)
    for (const auto& dimension : *grid) sizes.push_back(dimension.size);
  const bool even = !sizes.empty() && std::ranges::all_of(sizes, [](std::uint32_t size) { return size % 2 == 0; });
  return even ? sizes : std::vector{members};
}

std::shared_ptr<const Program> make_swings(std::string_view name, const Topology& topology,
                                           const Collective& collective, SwingOrder order) {
  const auto grids = grids_of(name, topology, collective);
  std::vector<StepPlans> of_groups;
  std::vector<std::vector<std::uint32_t>> sizes;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto members = static_cast<std::uint32_t>(collective.groups()[g].members.size());
    sizes.push_back(swing_sizes(grids ? std::optional((*grids)[g]) : std::nullopt, members));
    const auto known = std::ranges::find(sizes, sizes.back());
    if (known + 1 != sizes.end()) {
      of_groups.push_back(of_groups[static_cast<std::size_t>(known - sizes.begin())]);
      continue;
    }
    auto& plans = of_groups.emplace_back();
    for (std::uint32_t first = 0; first < sizes.back().size(); ++first)
      for (const bool mirrored : {false, true})
        if (members % 2 == 0)
          plans.push_back(std::make_shared<const SwingPlan>(sizes.back(), first, mirrored, order));
        else
          plans.push_back(std::make_shared<const OddSwing>(members, mirrored));
  }
  return make_steps(collective, std::move(of_groups),
                    order == SwingOrder::nearest_first ? Contents::inputs : Contents::parts);
}

}  // namespace

ProgramResult make_swing(const Topology& topology, const Collective& collective, const AlgorithmOptions& /*options*/) {
  if (auto fits = check_fits("swing", topology, collective); !fits) return fits.errors();
  return make_swings("swing", topology, collective, SwingOrder::farthest_first);
}

ProgramResult make_swing_whole(const Topology& topology, const Collective& collective,
                               const AlgorithmOptions& /*options*/) {
  if (auto fits = check_fits("swing_whole", topology, collective); !fits) return fits.errors();
  return make_swings("swing_whole", topology, collective, SwingOrder::nearest_first);
}

ProgramSizes sizes_of_swing(const ProgramScale& scale) {
  auto sizes = sizes_of_rhd(scale);  // as many messages, over fewer hops
  sizes.carried = scale.sends / scale.passes;
  return sizes;
}

ProgramSizes sizes_of_swing_whole(const ProgramScale& scale) {
  auto sizes = sizes_of_recursive_doubling(scale);
  sizes.carried = scale.sends / scale.passes + 2 * scale.slices;
  return sizes;
}

}  // namespace tenex
