#include "schedule/verifier/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "tenex/base/units.hpp"

namespace tenex::verifier {

std::string name_of(const Topology& topology, VertexId vertex) {
  return fmt::format("{} {}", topology.is_npu(vertex) ? "NPU" : "switch", vertex.value());
}

std::string text_of(SimTime time) {
  if (time >= SimTime::zero()) return to_string(time);
  return "-" + to_string(time == SimTime::of(std::numeric_limits<SimTime::Rep>::min()) ? SimTime::max()
                                                                                       : SimTime::zero() - time);
}

namespace {

/// "chunks 0, 2, 4 and 61 more".
std::string list_of(std::span<const ChunkId> chunks) {
  constexpr std::size_t kListed = 3;
  std::string list = "chunks";
  for (std::size_t i = 0; i < std::min(kListed, chunks.size()); ++i)
    list += fmt::format("{} {}", i == 0 ? "" : ",", chunks[i].value());
  if (chunks.size() > kListed) list += fmt::format(" and {} more", chunks.size() - kListed);
  return list;
}

}  // namespace

std::string text_of(const Context& context, const Send& send) {
  const std::string ends = context.link_exists(send)
                               ? fmt::format(" ({} -> {})", context.source(send).value(), context.target(send).value())
                               : std::string();
  const std::string what = context.carries_payload(send) && context.chunk_exists(send)
                               ? list_of(context.chunks(send))
                               : fmt::format("chunk {}", send.chunk.value());
  return fmt::format("send of {} on link {}{} at {}", what, send.link.value(), ends, text_of(send.start));
}

}  // namespace tenex::verifier
