// Assigns the degrees of a parallelization to the dimensions of a shape.
//
// Encoding: for each dimension the factor that each slot takes. A scope is a run of neighbouring slots. Its number of
// members in a dimension is the product of their factors, and their distance is the product of the faster slots'
// factors.
#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "tenex/workload/parallelization.hpp"
#include "workload/exact_arithmetic.hpp"
#include "workload/saturating.hpp"

namespace tenex {

namespace {

/// Slots: tensor, expert, the rest of data, pipeline; in the order of the dimensions they are numbered anew.
constexpr std::size_t kSlots = 4;
using Factors = std::array<std::uint32_t, kSlots>;

constexpr std::array<std::string_view, kHpOrders> kOrderNames{"tensor,data,pipeline", "tensor,pipeline,data",
                                                              "data,tensor,pipeline", "data,pipeline,tensor",
                                                              "pipeline,tensor,data", "pipeline,data,tensor"};
/// Per order the number of the first slot of tensor, data and pipeline; data has two.
constexpr std::array<std::array<std::size_t, 3>, kHpOrders> kFirstSlots{
    {{0, 1, 3}, {0, 2, 1}, {2, 0, 3}, {3, 0, 2}, {1, 2, 0}, {3, 1, 0}}};

/// The slots [first, last) of a scope.
struct SlotRange {
  std::size_t first;
  std::size_t last;
};

constexpr SlotRange slots_of(Scope scope, HpOrder order) {
  const auto [tensor, data, pipeline] = kFirstSlots[static_cast<std::size_t>(order)];
  switch (scope) {
    case Scope::tensor:
      return {tensor, tensor + 1};
    case Scope::data:
      return {data, data + 2};
    case Scope::pipeline:
      return {pipeline, pipeline + 1};
    case Scope::expert:
      return {data, data + 1};
    case Scope::expert_replicas:
      return {data + 1, data + 2};
    case Scope::world:
      break;
  }
  return {0, kSlots};
}

/// The sizes of the slots in the order of the dimensions.
std::array<std::int64_t, kSlots> slots_for(const Parallelization& degrees, HpOrder order) {
  std::array<std::int64_t, kSlots> sizes{};
  const auto [tensor, data, pipeline] = kFirstSlots[static_cast<std::size_t>(order)];
  sizes[tensor] = degrees.tensor;
  sizes[data] = degrees.expert;
  sizes[data + 1] = degrees.data / degrees.expert;
  sizes[pipeline] = degrees.pipeline;
  return sizes;
}

/// Hands out the dimensions to the slots; the degrees multiply to the NPU count.
std::vector<Factors> split_dimensions(const Shape& shape, std::array<std::int64_t, kSlots> wanted) {
  std::vector<Factors> factors(shape.dimensions(), Factors{1, 1, 1, 1});
  std::vector<std::int64_t> left;
  for (const auto& block : shape.blocks) left.push_back(block.size);
  for (std::size_t slot = 0; slot < kSlots; ++slot)
    for (std::size_t dimension = 0; dimension < left.size(); ++dimension) {
      const auto taken = std::gcd(wanted[slot], left[dimension]);
      factors[dimension][slot] = static_cast<std::uint32_t>(taken);
      wanted[slot] /= taken;
      left[dimension] /= taken;
    }
  for (const auto rest : wanted) ensure(rest == 1, "degrees that multiply to the NPU count fit the dimensions");
  return factors;
}

GroupSpan span_of(const Shape& shape, const std::vector<Factors>& factors, SlotRange slots) {
  GroupSpan span;
  for (std::size_t dimension = 0; dimension < factors.size(); ++dimension) {
    const auto product = [&](std::size_t first, std::size_t last) {
      std::uint32_t result = 1;
      for (auto slot = first; slot < last; ++slot) result *= factors[dimension][slot];
      return result;
    };
    const auto members = product(slots.first, slots.last);
    if (members > 1) span.shares.push_back({dimension, shape.blocks[dimension].size, members, product(0, slots.first)});
  }
  return span;
}

/// Degrees near the asked ones that multiply to `npus`.
std::string suggest_degrees(const Parallelization& asked, std::int64_t npus) {
  std::vector<Parallelization> found;
  const auto add = [&](Parallelization degrees) {
    if (degrees.data % degrees.expert != 0) degrees.expert = std::gcd(degrees.data, degrees.expert);
    if (std::find(found.begin(), found.end(), degrees) == found.end()) found.push_back(degrees);
  };
  if (npus % asked.pipeline != 0)
    return fmt::format("pipeline stages divide {}: {}", npus, suggest_divisors(npus, asked.pipeline));
  const auto replicas = npus / asked.pipeline;
  if (replicas % asked.tensor == 0) add({asked.tensor, replicas / asked.tensor, asked.pipeline, asked.expert});
  if (replicas % asked.data == 0) add({replicas / asked.data, asked.data, asked.pipeline, asked.expert});
  if (found.empty())
    for (const auto tensor : nearest_divisors(replicas, asked.tensor))
      add({tensor, replicas / tensor, asked.pipeline, asked.expert});
  std::string text;
  for (const auto& degrees : found) text += (text.empty() ? "use " : " or ") + to_string(degrees);
  return text;
}

Diagnostics check_mapping_degrees(const Shape& shape, const Parallelization& degrees, const Place& place) {
  Diagnostics errors;
  if (std::min({degrees.tensor, degrees.data, degrees.pipeline, degrees.expert}) < 1) {
    errors.push_back(input_error(place, fmt::format("{} has a degree under 1", to_string(degrees)),
                                 "degrees count NPUs of a group"));
    return errors;
  }
  if (!shape.is_product())
    errors.push_back(input_error(place, fmt::format("{} cannot be laid over {}", to_string(degrees), to_string(shape)),
                                 "groups span dimensions, and this shape is no product of them"));
  const auto npus = static_cast<std::int64_t>(shape.npus());
  if (degrees.npus() != npus)
    errors.push_back(input_error(place, fmt::format("{} is for {} NPUs", to_string(degrees), degrees.npus()),
                                 fmt::format("{} has {}", to_string(shape), npus), suggest_degrees(degrees, npus)));
  else if (degrees.data % degrees.expert != 0)
    errors.push_back(
        input_error(place, fmt::format("expert degree {} does not divide data degree {}", degrees.expert, degrees.data),
                    "experts are spread over a part of the replicas", suggest_divisors(degrees.data, degrees.expert)));
  return errors;
}

}  // namespace

std::int64_t GroupSpan::members() const {
  std::int64_t product = 1;
  for (const auto& share : shares) product *= share.members;
  return product;
}

std::string_view to_string(HpOrder order) { return kOrderNames[static_cast<std::size_t>(order)]; }

Result<Mapping> Mapping::make(const Shape& shape, const Parallelization& degrees, const Place& place, HpOrder order) {
  auto errors = check_mapping_degrees(shape, degrees, place);
  if (!errors.empty()) return errors;
  const auto factors = split_dimensions(shape, slots_for(degrees, order));
  Mapping mapping;
  mapping.shape_ = shape;
  mapping.degrees_ = degrees;
  for (std::size_t scope = 0; scope < kScopes; ++scope)
    mapping.spans_[scope] = span_of(shape, factors, slots_of(static_cast<Scope>(scope), order));
  return mapping;
}

std::vector<ProcessGroup> Mapping::groups(Scope scope) const {
  const auto& shares = span(scope).shares;
  std::vector<ProcessGroup> groups;
  if (shares.empty()) return groups;
  // The distance in the NPU id of neighbouring members of each share. A group starts where all its digits are 0.
  std::vector<std::size_t> steps;
  std::vector<std::size_t> lines(shape_.dimensions(), 1);
  for (std::size_t dimension = 1; dimension < lines.size(); ++dimension)
    lines[dimension] = lines[dimension - 1] * shape_.blocks[dimension - 1].size;
  for (const auto& share : shares) steps.push_back(lines[share.dimension] * share.stride);
  std::vector<std::size_t> offsets{0};
  for (std::size_t index = 0; index < shares.size(); ++index) {
    const auto before = offsets.size();
    for (std::size_t digit = 1; digit < shares[index].members; ++digit)
      for (std::size_t at = 0; at < before; ++at) offsets.push_back(offsets[at] + digit * steps[index]);
  }
  for (std::size_t npu = 0; npu < shape_.npus(); ++npu) {
    const bool first = std::all_of(
        shares.begin(), shares.end(),
        [&, index = std::size_t{0}](const auto& share) mutable { return npu / steps[index++] % share.members == 0; });
    if (!first) continue;
    auto& group = groups.emplace_back();
    group.members.reserve(offsets.size());
    for (const auto offset : offsets) group.members.push_back(NpuId::at(npu + offset));
  }
  return groups;
}

std::string Mapping::describe() const {
  std::string text;
  for (const auto scope : {Scope::tensor, Scope::data, Scope::pipeline, Scope::expert}) {
    std::string parts;
    for (const auto& share : span(scope).shares)
      parts += fmt::format("{}{} of {} in dimension {}", parts.empty() ? "" : ", ", share.members, share.extent,
                           share.dimension + 1);
    if (!parts.empty()) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", to_string(scope), parts);
  }
  return text;
}

}  // namespace tenex
