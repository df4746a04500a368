// What heterogeneous links add to the matching: whether a slow link should leave a chunk to faster ones, and which
// chunk on its way a fast link can still bring earlier.
//
// Encoding: per level of cost a matrix of bits, cluster by chunk: the chunk is held or on its way somewhere in the
// cluster; per vertex a short list of what is on its way there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "synthesis/tacos/event_driven/gather_plan.hpp"
#include "tenex/base/bitset.hpp"

namespace tenex {

/// How far a slow link looks for a faster supplier of its target. Attempts take turns: neither is always better.
enum class Reach : std::uint8_t {
  cluster,    ///< anywhere in the target's cluster
  neighbour,  ///< at the source of a faster link into the target
};

/// The part of an attempt's state that only heterogeneous links need.
class Rivals {
 public:
  explicit Rivals(const GatherPlan& plan);

  /// Something that is on its way to a vertex.
  struct Flight {
    std::uint32_t send;
    std::uint32_t chunk;
    std::int64_t arrival;
  };

  void reset(Reach reach);
  /// The vertex holds the chunk, or it is on its way there.
  void supply(std::size_t vertex, std::uint32_t chunk);
  /// A send has begun.
  void depart(std::uint32_t link, std::size_t target, const Flight& flight, std::int64_t free_at);
  /// It has ended or has been superseded.
  void forget(std::size_t target, std::uint32_t send);

  /// Some link into the target of `link` is faster by a level (the link is slow) or slower at all.
  [[nodiscard]] bool slow(std::uint32_t link) const { return !faster_.row(link).empty(); }
  [[nodiscard]] bool has_slower(std::uint32_t link) const { return has_slower_[link]; }
  /// A faster supplier of the target has the chunk, or will.
  [[nodiscard]] bool covered(std::uint32_t link, std::size_t target, std::uint32_t chunk) const;
  /// The faster links into the target cannot deliver `wanted` chunks before this link would deliver one.
  [[nodiscard]] bool worth_it(std::uint32_t link, std::uint32_t chunk, std::uint32_t wanted, std::int64_t now) const;
  /// What is on its way to a vertex.
  [[nodiscard]] const std::vector<Flight>& flights_to(std::size_t vertex) const { return flights_[vertex]; }

 private:
  const GatherPlan& plan_;
  std::vector<bool> has_slower_;  ///< per link: some link into its target has a higher cost
  Csr<std::uint32_t> faster_;     ///< per link: links into its target of a lower level
  Reach reach_ = Reach::cluster;
  BitMatrix supplied_;               ///< vertex by chunk
  std::vector<BitMatrix> clusters_;  ///< per level: cluster by chunk
  std::vector<std::vector<Flight>> flights_;
  std::vector<std::int64_t> free_at_;
};

}  // namespace tenex
