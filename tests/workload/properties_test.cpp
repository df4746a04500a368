// Properties of any shape with any degrees that multiply to its NPUs.
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/topologies.hpp"
#include "tenex/workload/training.hpp"
#include "workload/models.hpp"

namespace tenex {
namespace {

/// A product of up to four dimensions of up to 12 NPUs.
Shape any_shape() {
  Shape shape;
  const auto dimensions = *rc::gen::inRange<std::size_t>(1, 5);
  for (std::size_t dimension = 0; dimension < dimensions; ++dimension)
    shape.blocks.push_back(
        support::block(*rc::gen::element("RI", "FC", "SW"), *rc::gen::inRange<std::uint32_t>(1, 13)));
  return shape;
}

std::int64_t any_divisor(std::int64_t number) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t divisor = 1; divisor <= number; ++divisor)
    if (number % divisor == 0) divisors.push_back(divisor);
  return *rc::gen::elementOf(divisors);
}

Parallelization any_degrees(std::int64_t npus) {
  Parallelization degrees;
  degrees.tensor = any_divisor(npus);
  degrees.pipeline = any_divisor(npus / degrees.tensor);
  degrees.data = npus / degrees.tensor / degrees.pipeline;
  degrees.expert = any_divisor(degrees.data);
  return degrees;
}

RC_GTEST_PROP(MappingProperty, LaysOutAllDegreesThatMultiply, ()) {
  const auto shape = any_shape();
  const auto degrees = any_degrees(static_cast<std::int64_t>(shape.npus()));
  const auto mapping = Mapping::make(shape, degrees);
  RC_ASSERT(mapping.ok());
  RC_ASSERT(mapping->span(Scope::tensor).members() == degrees.tensor);
  RC_ASSERT(mapping->span(Scope::data).members() == degrees.data);
  RC_ASSERT(mapping->span(Scope::pipeline).members() == degrees.pipeline);
  RC_ASSERT(mapping->span(Scope::expert).members() == degrees.expert);
  // A tensor, a data and a pipeline group have at most one NPU in common; so the three groups identify each NPU.
  std::vector<std::array<std::size_t, 3>> place(shape.npus());
  std::size_t slot = 0;
  for (const auto scope : {Scope::tensor, Scope::data, Scope::pipeline}) {
    const auto groups = mapping->groups(scope);
    for (std::size_t group = 0; group < groups.size(); ++group)
      for (const auto npu : groups[group].members) place[npu.index()][slot] = group + 1;
    ++slot;
  }
  const std::set<std::array<std::size_t, 3>> distinct(place.begin(), place.end());
  const auto others = [&](Scope scope) { return mapping->span(scope).members() > 1; };
  if (static_cast<int>(others(Scope::tensor)) + others(Scope::data) + others(Scope::pipeline) >= 2)
    RC_ASSERT(distinct.size() == shape.npus());
}

RC_GTEST_PROP(LibraProperty, AnAllReduceIsAReduceScatterAndAnAllGather, ()) {
  const auto shape = any_shape();
  const auto npus = static_cast<std::int64_t>(shape.npus());
  const auto degrees = any_degrees(npus);
  const auto mapping = Mapping::make(shape, degrees).value();
  const LibraModel model{*rc::gen::arbitrary<bool>(), {}};
  for (const auto scope : {Scope::tensor, Scope::data, Scope::world}) {
    const auto whole = libra_volumes(TrafficKind::all_reduce, mapping.span(scope), shape, model);
    const auto half = libra_volumes(TrafficKind::all_gather, mapping.span(scope), shape, model);
    RC_ASSERT(whole.size() == half.size());
    for (std::size_t index = 0; index < whole.size(); ++index)
      RC_ASSERT(whole[index].per_byte.numerator * half[index].per_byte.denominator ==
                2 * half[index].per_byte.numerator * whole[index].per_byte.denominator);
  }
}

RC_GTEST_PROP(LibraProperty, AllDimensionsTogetherMoveWhatOneRingWould, ()) {
  // The volumes of an All-Gather telescope: sum of (g_i - 1) / (g_1 .. g_i) = 1 - 1/n.
  const auto shape = any_shape();
  const auto mapping = Mapping::make(shape, {1, static_cast<std::int64_t>(shape.npus())}).value();
  const auto npus = static_cast<std::int64_t>(shape.npus());
  std::int64_t sum = 0;
  for (const auto& volume : libra_volumes(TrafficKind::all_gather, mapping.span(Scope::world), shape, {}))
    sum += volume.per_byte.numerator * (npus / volume.per_byte.denominator);
  RC_ASSERT(sum == npus - 1);
}

RC_GTEST_PROP(LibraProperty, DeratingNeverHelps, ()) {
  const auto shape = any_shape();
  const auto degrees = any_degrees(static_cast<std::int64_t>(shape.npus()));
  const auto mapping = Mapping::make(shape, degrees).value();
  const std::vector<Bandwidth> bandwidth{gigabytes_per_second(*rc::gen::inRange<std::int64_t>(1, 1000))};
  const Bytes size = bytes(*rc::gen::inRange<std::int64_t>(1, 1'000'000'000));
  for (const auto scope : {Scope::tensor, Scope::data, Scope::pipeline, Scope::expert}) {
    const auto kind = scope == Scope::pipeline ? TrafficKind::point_to_point : TrafficKind::all_reduce;
    const auto plain = libra_time(libra_volumes(kind, mapping.span(scope), shape, {}), size, bandwidth);
    const auto derated = libra_time(libra_volumes(kind, mapping.span(scope), shape, {true, {}}), size, bandwidth);
    RC_ASSERT(plain <= derated);
  }
}

}  // namespace
}  // namespace tenex
