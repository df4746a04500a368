#include "schedule/verifier/paths.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/vertex_roles.hpp"

namespace tenex::verifier {
namespace {

PathStep broken(std::string problem) {
  return {.broken = true, .takes = false, .unpacks = false, .payload = 0, .problem = std::move(problem)};
}

}  // namespace

PathStep MessagePaths::step(const Send& send) {
  if (!send.message.exists() && !send.destination.exists()) return {};
  if (!send.message.exists()) return broken("it names a destination but no message");
  if (send.destination.index() >= context_.topology().npus())
    return broken(send.destination.exists()
                      ? fmt::format("its destination, NPU {}, does not exist", send.destination.value())
                      : "it names a message but no destination");
  if (finished(send.message))
    return broken(fmt::format("message {} has been sent to its destination before", send.message.value()));
  const auto found = under_way_.find(send.message);
  return found == under_way_.end() ? begin(send) : go_on(send, found->second);
}

PathStep MessagePaths::begin(const Send& send) {
  auto& message = under_way_[send.message];
  message = {send};
  if (!context_.topology().is_npu(context_.source(send))) {
    message.broken = true;
    return broken(fmt::format("message {} begins at switch {}; only an NPU can send one", send.message.value(),
                              context_.source(send).value()));
  }
  PathStep result;
  result.unpacks = unpacks(context_.topology(), send);
  if (result.unpacks) finish(send.message);
  return result;
}

PathStep MessagePaths::go_on(const Send& send, UnderWay& message) {
  if (message.broken) return broken({});
  const auto fail = [&](std::string problem) {
    message.broken = true;
    return broken(std::move(problem));
  };
  const Send& last = message.last_hop;
  const VertexId at = context_.target(last);
  if (send.chunk != last.chunk || send.stage != last.stage || send.destination != last.destination)
    return fail(
        fmt::format("message {} does not keep its chunk, stage and destination from hop to hop", send.message.value()));
  if (context_.source(send) != at)
    return fail(fmt::format("message {} was last sent to {}, so it cannot go on from here", send.message.value(),
                            name_of(context_.topology(), at)));
  if (const SimTime ready = context_.ready(last, send); send.start < ready)
    return fail(fmt::format("message {} does not reach {} until {}", send.message.value(),
                            name_of(context_.topology(), at), text_of(ready)));
  message.last_hop = send;
  PathStep result;
  result.takes = false;
  result.payload = message.payload;
  result.unpacks = unpacks(context_.topology(), send);
  if (result.unpacks) finish(send.message);
  return result;
}

void MessagePaths::finish(MessageId message) {
  under_way_.erase(message);
  const auto bit = message.value() % kPageBits;
  finished_[message.value() / kPageBits][bit / 64] |= std::uint64_t{1} << (bit % 64);
}

bool MessagePaths::finished(MessageId message) const {
  const auto page = finished_.find(message.value() / kPageBits);
  const auto bit = message.value() % kPageBits;
  return page != finished_.end() && ((page->second[bit / 64] >> (bit % 64)) & 1U) != 0;
}

std::vector<Send> MessagePaths::unfinished() const {
  std::vector<Send> hops;
  for (const auto& [id, message] : under_way_)
    if (!message.broken) hops.push_back(message.last_hop);
  std::sort(hops.begin(), hops.end(), [](const Send& a, const Send& b) { return a.message < b.message; });
  return hops;
}

}  // namespace tenex::verifier
