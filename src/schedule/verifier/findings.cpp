#include "schedule/verifier/findings.hpp"

#include <fmt/format.h>

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

std::string text_of(const Context& context, const Send& send) {
  const std::string ends = context.link_exists(send)
                               ? fmt::format(" ({} -> {})", context.source(send).value(), context.target(send).value())
                               : std::string();
  return fmt::format("send of chunk {} on link {}{} at {}", send.chunk.value(), send.link.value(), ends,
                     text_of(send.start));
}

}  // namespace tenex::verifier
