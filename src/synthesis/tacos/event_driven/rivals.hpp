// The additions to the matching for heterogeneous links: whether a slow link should leave a chunk to faster ones, and
// which chunk under way a fast link can still deliver earlier.
//
// Encoding: per level of cost a matrix of bits, cluster by chunk: the chunk is held, or will arrive, somewhere in the
// cluster; per vertex a short list of the sends under way to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "synthesis/tacos/event_driven/gather_setup.hpp"
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
  explicit Rivals(const GatherSetup& setup);

  /// A send under way to a vertex.
  struct Flight {
    std::uint32_t send;
    std::uint32_t chunk;
    std::int64_t arrival;
  };

  void reset(Reach reach);
  /// Records that the vertex holds the chunk, or that it is under way there.
  void supply(std::size_t vertex, std::uint32_t chunk);
  /// Records that a send starts.
  void depart(std::uint32_t link, std::size_t target, const Flight& flight, std::int64_t free_at);
  /// Records that a send has arrived or has been superseded.
  void forget(std::size_t target, std::uint32_t send);

  /// slow(): some link into the target of `link` is faster by a level. has_slower(): some link into it has a higher
  /// cost.
  [[nodiscard]] bool slow(std::uint32_t link) const { return !faster_.row(link).empty(); }
  [[nodiscard]] bool has_slower(std::uint32_t link) const { return has_slower_[link]; }
  /// Whether a faster supplier of the target has the chunk, or will have it.
  [[nodiscard]] bool covered(std::uint32_t link, std::size_t target, std::uint32_t chunk) const;
  /// Whether the faster links into the target cannot deliver `wanted` chunks before this link would deliver one.
  [[nodiscard]] bool worth_it(std::uint32_t link, std::uint32_t chunk, std::uint32_t wanted, std::int64_t now) const;
  /// The sends under way to a vertex.
  [[nodiscard]] const std::vector<Flight>& flights_to(std::size_t vertex) const { return flights_[vertex]; }

 private:
  const GatherSetup& setup_;
  std::vector<bool> has_slower_;  ///< per link: some link into its target has a higher cost
  Csr<std::uint32_t> faster_;     ///< per link: links into its target of a lower level
  Reach reach_ = Reach::cluster;
  BitMatrix supplied_;               ///< vertex by chunk
  std::vector<BitMatrix> clusters_;  ///< per level: cluster by chunk
  std::vector<std::vector<Flight>> flights_;
  std::vector<std::int64_t> free_at_;
};

}  // namespace tenex
