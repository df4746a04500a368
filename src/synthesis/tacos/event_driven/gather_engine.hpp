// The event-driven TACOS engine for one attempt: link-chunk matching at each instant with an event.
//
// Idea (TACOS, sections IV-D and IV-F): at each instant at which a chunk arrives or a link becomes free, holdings are
// frozen. Every idle link, cheapest first and in random order among equals, takes a chunk that its source holds, that
// its target wants, and that is not under way there yet. Three rules are added for quality. A link that finds nothing
// may take the chunk of a link matched at the same instant, if that one finds another chunk (one augmenting step of a
// bipartite matching). A slow link leaves to faster links what they will deliver (rivals.hpp). A fast link that would
// idle takes over a chunk that a slow link would deliver later (the slow send is then dropped).
//
// Encoding: each vertex lists what it holds in order of arrival. Each link walks its source's list with a cursor, first
// in, first out, and looks at each entry once, so all matching costs O(links * chunks) bit tests. The out-links of a
// vertex that starts with many chunks begin at different ones. Events wait by their delay (gather_setup.hpp), so there
// is no heap of sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "synthesis/tacos/event_driven/gather_setup.hpp"
#include "synthesis/tacos/event_driven/rivals.hpp"
#include "tenex/base/random.hpp"

namespace tenex {

/// A send of the engine. `chunk` is kSuperseded if a faster link delivers it earlier.
struct TentativeSend {
  std::int64_t start;
  std::uint32_t link;
  std::uint32_t chunk;
};
inline constexpr std::uint32_t kSuperseded = 0xFFFFFFFFU;

/// Runs attempts one after another, reusing its memory.
class GatherEngine {
 public:
  /// Keeps a reference to `setup`.
  explicit GatherEngine(const GatherSetup& setup);

  /// Synthesizes from scratch and returns the last arrival that a member needs. The result depends on the setup and the
  /// arguments alone. With `rare_first`, links that are not slow take, among the first chunks that they could take, the
  /// one with the fewest copies: better where every NPU needs all its links all the time, as on a torus.
  SimTime run(Random random, Reach reach, bool rare_first);
  /// The sends of the last run, in order of start. The caller may swap them out to keep them.
  [[nodiscard]] std::vector<TentativeSend>& sends() { return sends_; }

 private:
  enum class LinkState : std::uint8_t { busy, idle, queued, retired };

  /// Send numbers that wait for their delay; head .. end is in use.
  struct DelayQueue {
    std::vector<std::uint32_t> sends;
    std::size_t head = 0;
  };

  /// Chunks that a slow link has left to faster ones, in order; head .. end is in use.
  struct Deferred {
    std::vector<std::uint32_t> chunks;
    std::size_t head = 0;
  };

  void reset(Reach reach);
  void start_with(std::size_t vertex);
  void advance();
  void insist();
  void drain(std::uint32_t delay);
  void deliver(std::uint32_t number);
  void activate(std::uint32_t link);
  void match();
  void match_link(std::uint32_t link);
  [[nodiscard]] std::uint32_t choose(std::uint32_t link);
  [[nodiscard]] std::uint32_t choose_rare(std::uint32_t link);
  [[nodiscard]] std::uint32_t choose_deferred(std::uint32_t link);
  [[nodiscard]] std::uint32_t listed(std::uint32_t link, std::uint32_t position) const;
  bool rematch(std::uint32_t link);
  bool take_over(std::uint32_t link);
  void send(std::uint32_t link, std::uint32_t chunk);
  void enqueue(std::uint32_t delay, std::uint32_t number);
  [[nodiscard]] std::size_t source_of(std::uint32_t link) const { return setup_.topology.source(LinkId(link)).index(); }
  [[nodiscard]] std::size_t target_of(std::uint32_t link) const { return setup_.topology.target(LinkId(link)).index(); }

  const GatherSetup& setup_;
  std::optional<Rivals> rivals_;  ///< heterogeneous links only
  bool rare_first_ = false;       ///< setting of this run
  bool insisting_ = false;        ///< slow links take what they have deferred
  Random random_{0};
  std::int64_t now_ = 0;
  BitMatrix served_;                     ///< vertex by chunk: not wanted, held or under way there
  BitMatrix arrived_;                    ///< vertex by chunk: held
  std::vector<std::uint32_t> unserved_;  ///< per vertex: clear bits of its row of served_
  std::uint64_t missing_ = 0;            ///< deliveries to members not yet arrived
  std::uint64_t unclaimed_ = 0;          ///< deliveries to any vertex not yet under way
  std::int64_t finish_ = 0;              ///< the last arrival of all sends
  std::vector<std::uint32_t> held_;      ///< lists of all vertices, at setup.list_begin
  std::vector<std::uint32_t> held_count_;
  std::vector<std::uint32_t> own_count_;  ///< per vertex: chunks held at the start
  std::vector<std::uint32_t> copies_;     ///< per chunk: vertices that hold it or will receive it
  std::vector<std::uint32_t> cursor_;     ///< per link
  std::vector<std::uint32_t> first_own_;  ///< per link: the first own chunk of its source that it looks at
  std::vector<LinkState> state_;
  std::vector<std::uint32_t> last_send_;  ///< per link
  std::vector<Deferred> deferred_;        ///< per link; heterogeneous links only
  std::vector<std::uint32_t> active_;     ///< links to match at this instant
  std::vector<std::uint32_t> matching_;
  std::vector<TentativeSend> sends_;
  std::vector<DelayQueue> queues_;
  using DelayTime = std::pair<std::int64_t, std::uint32_t>;
  std::priority_queue<DelayTime, std::vector<DelayTime>, std::greater<>> next_;  ///< of every delay in use
};

}  // namespace tenex
