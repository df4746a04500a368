// Pieces of sprayed messages: how many there are, and when the last of a message has arrived.
//
// A message is cut at its source; its pieces, which are equal to one byte, go on like messages of their own, each on
// its way (RouteRule::sprayed). The message has arrived when all have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

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

/// The id under which a piece is under way: what remains of its way, and the mark of its message.
class PieceId {
 public:
  PieceId(RouteWay way, std::uint16_t mark) : value_(std::uint32_t{mark} << kWayBits | way) {}
  explicit PieceId(MessageId id) : value_(id.value()) {}

  [[nodiscard]] RouteWay way() const { return static_cast<RouteWay>(value_); }
  [[nodiscard]] std::uint16_t mark() const { return static_cast<std::uint16_t>(value_ >> kWayBits); }
  [[nodiscard]] MessageId as_id() const { return MessageId(value_); }

 private:
  static constexpr unsigned kWayBits = 16;
  std::uint32_t value_;
};

/// Counts the pieces that have arrived. A message has a mark, the number of cut messages that its source sent before it
/// modulo 2^16, so that equal messages under way are told apart. Not thread-safe: a thread marks the messages of its
/// own sources, and asks about its own destinations alone.
class PieceCounter {
 public:
  /// `npus`: 0 where no message is cut.
  explicit PieceCounter(std::size_t npus) : sent_(npus, 0) {}

  /// The mark of the next message of a source. O(1).
  [[nodiscard]] std::uint16_t mark(NpuId source) { return sent_[source.index()]++; }
  /// A piece of `message` has arrived, which has so many. True if it was the last one. O(1).
  [[nodiscard]] bool completes(const Message& message, MessageId piece, std::uint32_t pieces) {
    if (pieces <= 1) return true;
    const auto [missing, fresh] = missing_.try_emplace({message, PieceId(piece).mark()}, pieces);
    if (--missing->second > 0) return false;
    missing_.erase(missing);
    return true;
  }

 private:
  struct Marked {
    Message message;
    std::uint16_t mark;
    bool operator==(const Marked&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Marked& marked) const {
      const Message& message = marked.message;
      const std::uint64_t ends = std::uint64_t{message.source.value()} << 32 | message.destination.value();
      const std::uint64_t kind = std::uint64_t{marked.mark} << 1 | (message.stage == Stage::reduce ? 1U : 0U);
      return mix_bits(mix_bits(ends) + (kind << 32 | message.chunk.value()));
    }
  };
  std::vector<std::uint16_t> sent_;  // by NPU
  std::unordered_map<Marked, std::uint32_t, Hash> missing_;
};

}  // namespace tenex
