#include "schedule/instant_order.hpp"

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "schedule/vertex_roles.hpp"
#include "tenex/topology/hand_over.hpp"

namespace tenex {
namespace {

/// Whether a send's chunk may go on at the instant at which it starts.
bool brings_at_once(const Topology& topology, LinkId link) {
  return topology.alpha(link) == SimTime::zero() && passes_on_early(topology, topology.target(link));
}

/// What is brought to a switch at an instant, of one chunk (or payload) and stage, and the sends that wait for it.
struct Coming {
  std::size_t left = 0;
  std::vector<std::size_t> waiting;
};

/// A partial sum waits for partial sums alone; a final value may be a sum that is complete where it is sent.
class CauseOrder {
 public:
  CauseOrder(const Topology& topology, const std::vector<Send>& sends)
      : topology_(topology), sends_(sends), waits_(sends.size(), 0) {
    for (const Send& send : sends)
      if (exists(send) && brings_at_once(topology, send.link)) ++coming_of(send)[brought(send)].left;
  }

  [[nodiscard]] std::vector<Send> order() {
    std::vector<bool> taken(sends_.size());
    std::vector<Send> ordered;
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      if (!exists(sends_[i])) continue;
      wait_for(sums_, i);
      if (sends_[i].stage == Stage::copy) wait_for(copies_, i);
      if (waits_[i] == 0) free.push_back(i);
      while (!free.empty()) {
        const std::size_t next = free.back();
        free.pop_back();
        taken[next] = true;
        ordered.push_back(sends_[next]);
        release(sends_[next], free);
      }
    }
    for (std::size_t i = 0; i < sends_.size(); ++i)
      if (!taken[i]) ordered.push_back(sends_[i]);
    return ordered;
  }

 private:
  using ComingByHolding = std::unordered_map<std::uint64_t, Coming>;

  [[nodiscard]] bool exists(const Send& send) const { return send.link.index() < topology_.links(); }
  [[nodiscard]] ComingByHolding& coming_of(const Send& send) { return send.stage == Stage::copy ? copies_ : sums_; }
  [[nodiscard]] std::uint64_t brought(const Send& send) const {
    return holding_key(topology_.target(send.link), send.chunk);
  }
  [[nodiscard]] std::uint64_t taken_on(const Send& send) const {
    return holding_key(topology_.source(send.link), send.chunk);
  }
  void wait_for(ComingByHolding& coming, std::size_t i) {
    const auto found = coming.find(taken_on(sends_[i]));
    if (found == coming.end() || found->second.left == 0) return;
    found->second.waiting.push_back(i);
    ++waits_[i];
  }
  void release(const Send& send, std::vector<std::size_t>& free) {
    if (!brings_at_once(topology_, send.link)) return;
    Coming& there = coming_of(send)[brought(send)];
    if (--there.left > 0) return;
    for (const std::size_t waiting : there.waiting)
      if (--waits_[waiting] == 0) free.push_back(waiting);
  }

  const Topology& topology_;
  const std::vector<Send>& sends_;
  std::vector<std::uint8_t> waits_;  ///< by send: for how many of the two below
  ComingByHolding sums_;
  ComingByHolding copies_;
};

}  // namespace

bool passes_on_at_once(const Topology& topology) {
  for (std::size_t link = 0; link < topology.links(); ++link)
    if (brings_at_once(topology, LinkId::at(link))) return true;
  return false;
}

void order_by_cause(const Topology& topology, std::vector<Send>& sends) {
  if (sends.size() > 1) sends = CauseOrder(topology, sends).order();
}

}  // namespace tenex
