// Pieces of sprayed messages: how many there are, and when the last of a message has arrived.
//
// A message is cut at its source; its pieces, which are equal to one byte, go on like messages of their own, each on
// its way (RouteRule::sprayed). The message has arrived when all have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "simulation/next_links.hpp"
#include "tenex/base/random.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/topology/routes.hpp"

namespace tenex {

/// Whether messages may be cut: routes are sprayed, and no shape gives every pair one route. `shape`:
/// ShapeRoutes::of(the topology).
[[nodiscard]] inline bool cuts_messages(const RouteChoice& routes, bool has_shape_routes) {
  return routes.rule == RouteRule::sprayed && !has_shape_routes;
}

/// The bytes of one of several pieces: the first ones are larger by a byte where they cannot be equal. O(1).
[[nodiscard]] inline Bytes bytes_of_piece(Bytes size, std::uint32_t pieces, bool larger) {
  return bytes(size.count() / pieces + (larger ? 1 : 0));
}

/// The pieces of a message, none of which is empty. A message that cannot arrive is one piece, which finds no link.
class Cut {
 public:
  /// O(hops).
  Cut(const Message& message, Bytes size, NextLinks& next_links)
      : destination_(message.destination),
        size_(size),
        routes_(std::max(1U, next_links.equal_routes(message.source, message.destination))),
        pieces_(static_cast<std::uint32_t>(std::min<std::int64_t>(size.count(), std::min(routes_, kMostPieces)))) {}

  [[nodiscard]] std::uint32_t pieces() const { return pieces_; }
  /// Whether its pieces have ways. One piece has, too, if it is so small that there are no more.
  [[nodiscard]] bool has_ways() const { return routes_ > 1; }
  [[nodiscard]] Bytes bytes(std::uint32_t piece) const {
    return bytes_of_piece(size_, pieces_, piece < static_cast<std::uint64_t>(size_.count()) % pieces_);
  }
  [[nodiscard]] RouteWay way(std::uint32_t piece) const { return way_of_piece(destination_, piece, routes_); }

 private:
  NpuId destination_;
  Bytes size_;
  std::uint32_t routes_;
  std::uint32_t pieces_;
};

/// Counts the pieces that have arrived. Not thread-safe: a thread asks about its own destinations alone.
class PieceCounter {
 public:
  /// A piece of `message` has arrived, which has so many. True if it was the last one. O(1).
  [[nodiscard]] bool completes(const Message& message, std::uint32_t pieces) {
    if (pieces <= 1) return true;
    const auto [missing, fresh] = missing_.try_emplace(message, pieces);
    if (--missing->second > 0) return false;
    missing_.erase(missing);
    return true;
  }

 private:
  struct Hash {
    std::size_t operator()(const Message& message) const {
      const std::uint64_t ends = std::uint64_t{message.source.value()} << 32 | message.destination.value();
      return mix_bits(mix_bits(ends) + message.chunk.value() + (message.stage == Stage::reduce ? 1ULL << 32 : 0));
    }
  };
  std::unordered_map<Message, std::uint32_t, Hash> missing_;
};

}  // namespace tenex
