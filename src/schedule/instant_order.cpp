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

/// What is brought to a switch at an instant, of one chunk (or payload), and the sends that wait for it.
struct Coming {
  std::size_t left = 0;
  std::vector<std::size_t> waiting;
};

class CauseOrder {
 public:
  CauseOrder(const Topology& topology, const std::vector<Send>& sends) : topology_(topology), sends_(sends) {
    for (const Send& send : sends)
      if (exists(send) && brings_at_once(topology, send.link)) ++coming_[brought(send)].left;
  }

  [[nodiscard]] std::vector<Send> order() {
    std::vector<bool> taken(sends_.size());
    std::vector<Send> ordered;
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      if (!exists(sends_[i])) continue;
      const auto found = coming_.find(taken_on(sends_[i]));
      if (found != coming_.end() && found->second.left > 0) {
        found->second.waiting.push_back(i);
        continue;
      }
      free.push_back(i);
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
  [[nodiscard]] bool exists(const Send& send) const { return send.link.index() < topology_.links(); }
  [[nodiscard]] std::uint64_t brought(const Send& send) const {
    return holding_key(topology_.target(send.link), send.chunk);
  }
  [[nodiscard]] std::uint64_t taken_on(const Send& send) const {
    return holding_key(topology_.source(send.link), send.chunk);
  }
  void release(const Send& send, std::vector<std::size_t>& free) {
    if (!brings_at_once(topology_, send.link)) return;
    Coming& there = coming_[brought(send)];
    if (--there.left == 0) free.insert(free.end(), there.waiting.begin(), there.waiting.end());
  }

  const Topology& topology_;
  const std::vector<Send>& sends_;
  std::unordered_map<std::uint64_t, Coming> coming_;
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
