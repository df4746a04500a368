// Certificates that problems share. Chunks of 1 MB, links of 50 GB/s unless said otherwise.
#include "tenex/bound/certificates.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string_view>

#include "bound/graphs.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using enum CollectiveKind;

constexpr std::uint64_t kCertificateWork = 100'000'000;

Topology torus(SimTime alpha, std::int64_t first, std::int64_t second) {
  return support::shape("RI(4)_RI(4)", {alpha}, {gigabytes_per_second(first), gigabytes_per_second(second)});
}

Digest key_of(const Topology& topology, CollectiveKind kind, std::int64_t chunks, Occupancy occupancy) {
  const auto collective = support::collective(kind, topology.npus(), bytes(1'000'000) * (16 * chunks), chunks);
  return certificate_key({{topology, collective, occupancy}});
}

TEST(Certificates, AreThoseOfTheRatioOfBandwidths) {
  const auto key = key_of(torus(SimTime::zero(), 50, 25), all_reduce, 1, Occupancy::serialization);
  EXPECT_EQ(key, key_of(torus(microseconds(1), 100, 50), all_reduce, 7, Occupancy::serialization));
  EXPECT_NE(key, key_of(torus(SimTime::zero(), 50, 26), all_reduce, 1, Occupancy::serialization));
  EXPECT_NE(key, key_of(torus(SimTime::zero(), 25, 50), all_reduce, 1, Occupancy::serialization));
  EXPECT_NE(key, key_of(torus(SimTime::zero(), 50, 25), all_gather, 1, Occupancy::serialization));
  // Under `transfer` a chunk of 1 MB takes 20 and 40 us on these links: with an alpha of 1 us, 21 and 41.
  EXPECT_EQ(key, key_of(torus(SimTime::zero(), 50, 25), all_reduce, 1, Occupancy::transfer));
  EXPECT_NE(key, key_of(torus(microseconds(1), 50, 25), all_reduce, 1, Occupancy::transfer));
}

/// The bound of a method as rows have it.
SimTime shared(const BoundMethod& method, const BoundProblem& problem, std::uint64_t work = kCertificateWork) {
  if (!method.concerns(problem.collective.kind())) return SimTime::zero();
  const auto certificate = StandIn(problem).find(method, work);
  return certificate ? method.time_of(problem, *certificate) : SimTime::zero();
}

// What a shared certificate proves is nearly what a search for the problem itself proves: they differ by whole chunks.
RC_GTEST_PROP(CertificatesProperties, ProveNearlyTheBoundOfTheProblem, ()) {
  const auto topology = support::random_graph(*rc::gen::inRange<std::uint32_t>(2, 7), 0);
  const auto kind = *rc::gen::element(all_gather, reduce_scatter, all_reduce, all_to_all);
  const auto npus = static_cast<std::int64_t>(topology.npus());
  const auto collective = support::collective(kind, topology.npus(), bytes(1'000'000) * (npus * 1000), 1000);
  const BoundProblem problem{{topology, collective, Occupancy::serialization}};
  for (const auto& method : bound_methods()) {
    if (method.certify == nullptr) continue;
    const auto own = method.certify(problem, kCertificateWork);
    const auto others = shared(method, problem);
    RC_ASSERT(others ==
              (own ? method.check(problem, *StandIn(problem).find(method, kCertificateWork)) : SimTime::zero()));
    if (!own) continue;
    const double ratio = static_cast<double>(others.count()) / static_cast<double>(own->time.count());
    RC_ASSERT(ratio > 0.99 && ratio < 1.01);
  }
}

// The cheap bounds of products that only count what crosses, or how far it goes, are no larger than a full search.
RC_GTEST_PROP(CertificatesProperties, AreNotBelowTheCheapBoundsOfProducts, ()) {
  const auto product = support::random_product();
  const auto kind = *rc::gen::element(all_gather, reduce_scatter, all_reduce, all_to_all);
  const auto npus = static_cast<std::int64_t>(product.npus());
  const auto collective = support::collective(kind, product.npus(), bytes(1'000'000) * (npus * 100), 100);
  const BoundProblem problem{{product, collective, Occupancy::serialization}};
  const auto time_of = [&](std::string_view name) {
    const auto& method = *std::ranges::find(bound_methods(), name, &BoundMethod::name);
    if (method.certify == nullptr) return method.compute(problem).value_or(SimTime::zero());
    const auto found = method.certify(problem, kCertificateWork);
    return found ? found->time : SimTime::zero();
  };
  RC_ASSERT(time_of("middle_cut") <= time_of("cut"));
  RC_ASSERT(time_of("volume_distance") <= time_of("flow"));
}

TEST(Certificates, KeepToTheirWork) {
  // Whatever the limit: a certificate that its checker accepts (StandIn::find() checks it), or none.
  const auto mesh = support::mesh(6, 6, SimTime::zero());
  for (const auto kind : {all_gather, all_reduce, all_to_all}) {
    const auto collective = support::collective(kind, 36, bytes(36'000'000), 1);
    const BoundProblem problem{{mesh, collective, Occupancy::serialization}};
    for (const auto& method : bound_methods()) {
      if (method.certify == nullptr) continue;
      SimTime full = shared(method, problem);
      for (std::uint64_t work = 1; work < kCertificateWork; work *= 8)
        EXPECT_LE(shared(method, problem, work), full) << work;
    }
  }
}

}  // namespace
}  // namespace tenex
