#include "tenex/exchange/library_model.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace tenex {

Bytes LibraryProtocol::carried(Bytes size) const {
  __extension__ using Wide = __int128;
  const Wide total = (static_cast<Wide>(size.count()) * line + data - 1) / data;
  const auto limit = static_cast<Wide>(Bytes::max().count());
  return bytes(static_cast<std::int64_t>(total < limit ? total : limit));
}

SimTime LibraryProtocol::hops(std::string_view algorithm, CollectiveKind kind, std::size_t npus,
                              std::size_t boxes) const {
  const auto n = static_cast<std::int64_t>(npus);
  const auto b = static_cast<std::int64_t>(std::max<std::size_t>(boxes, 1));
  const auto& own = latency(algorithm);
  if (algorithm == "tree") {
    if (kind != CollectiveKind::all_reduce) return SimTime::zero();
    const auto levels = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(b)) - 1);
    return ((n / b - 1) * own.box_hop + levels * own.network_hop) * 2;
  }
  if (algorithm != "ring") return SimTime::zero();
  const bool twice = kind == CollectiveKind::all_reduce;
  const auto steps = twice ? 2 * (n - 1) : n - 1;
  const auto between = std::min(steps, b == 1 ? 0 : twice ? 2 * b : b - 1);
  return (steps - between) * own.box_hop + between * own.network_hop;
}

double least_ll_us(const LibraryProtocol& protocol, CollectiveKind kind, std::size_t npus, double size,
                   Bandwidth limit) {
  constexpr double kMicro = 1e6;
  if (protocol.name != "ll") return 0;
  const double part = static_cast<double>(npus - 1) / static_cast<double>(npus);
  const bool shares = kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
  const double bus = kind == CollectiveKind::all_reduce ? 2 * part : shares ? part : 1;
  return bus * size / static_cast<double>(limit.count()) * kMicro;
}

std::span<const LibraryProtocol> library_protocols() {
  constexpr auto us = [](std::int64_t hundredths) { return nanoseconds(hundredths * 10); };
  static constexpr std::array kProtocols{
      LibraryProtocol{"ll", 4, 8, {us(660), us(60), us(270)}, {us(680), us(60), us(500)}},
      LibraryProtocol{"ll128", 120, 128, {us(1400), us(190), us(400)}, {us(1400), us(125), us(850)}},
      LibraryProtocol{"simple", 1, 1, {us(840), us(340), us(1400)}, {us(840), us(400), us(1400)}},
  };
  return kProtocols;
}

}  // namespace tenex
