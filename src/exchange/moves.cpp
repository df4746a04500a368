#include "tenex/exchange/moves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tenex::exchange {
namespace {

/// Sends of one signal, from NPU to NPU.
struct Haul {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  std::vector<ChunkId> chunks;
  Stage stage = Stage::copy;
  std::vector<std::uint32_t> contributors;
  SimTime start;
  SimTime arrival;
  MessageId message = MessageId::none();
  bool first_leg = true;  ///< of its message
  bool last_leg = true;
};

/// A send with all that its table says.
struct FullSend {
  Send send;
  VertexId source;
  VertexId target;
  SimTime arrival;
  std::vector<ChunkId> chunks;
};

/// Joins sends over switches.
class Hauls {
 public:
  explicit Hauls(const ScheduleFile& file) : file_(file), payloads_(file.schedule.payloads()) {}

  Result<std::vector<Haul>> join() {
    std::vector<FullSend> open;
    visit_sends(file_, {}, [&](const ListedSend& each) {
      if (!each.known) return false;
      if (each.send.message.exists()) begins_.try_emplace(each.send.message, each.source);
      open.push_back({each.send, each.source, each.target, each.arrival, {each.chunks.begin(), each.chunks.end()}});
      return true;
    });
    // A send out of a switch may be listed before the one into it that starts at the same time.
    while (!open.empty()) {
      std::vector<FullSend> later;
      for (auto& send : open)
        if (!take(send)) later.push_back(std::move(send));
      if (later.size() == open.size())
        return unsupported_error({}, "a switch sends what has not come to it", "the schedule is not valid",
                                 "verify it");
      open = std::move(later);
    }
    if (sums_in_switch_)
      return unsupported_error({}, "the schedule adds sums in switches", "no executable format that is written does",
                               "synthesize without reducing switches");
    return std::move(hauls_);
  }

 private:
  [[nodiscard]] Haul begin(const FullSend& send) const {
    Haul haul;
    haul.source = send.source.value();
    haul.chunks = send.chunks;
    haul.stage = send.send.stage;
    haul.start = send.send.start;
    haul.message = send.send.message;
    if (payloads_ != nullptr && send.send.chunk.index() >= file_.collective.chunks()) {
      const auto stated = payloads_->contributors_of(send.send.chunk.index() - file_.collective.chunks());
      haul.contributors.assign(stated.begin(), stated.end());
    }
    return haul;
  }

  using Key = std::tuple<VertexId, MessageId, ChunkId, Stage>;

  /// Whether the send could be placed.
  bool take(FullSend& send) {
    Haul haul;
    if (file_.topology.is_npu(send.source)) {
      haul = begin(send);
      if (haul.message.exists()) haul.first_leg = begins_.at(haul.message) == send.source;
    } else {
      auto& there = at_switch_[{send.source, send.send.message, send.send.chunk, send.send.stage}];
      if (there.empty()) return false;
      haul = there.front();
      const auto& properties = file_.topology.switch_properties(send.source);
      if (!properties.copy) there.pop_front();
      if (properties.reduce && send.send.stage == Stage::reduce && there.size() > (properties.copy ? 1U : 0U))
        sums_in_switch_ = true;
    }
    if (!file_.topology.is_npu(send.target)) {
      at_switch_[{send.target, send.send.message, send.send.chunk, send.send.stage}].push_back(std::move(haul));
      return true;
    }
    haul.target = send.target.value();
    haul.arrival = send.arrival;
    haul.last_leg = !haul.message.exists() || send.send.destination.value() == haul.target;
    hauls_.push_back(std::move(haul));
    return true;
  }

  const ScheduleFile& file_;
  const Payloads* payloads_;
  std::map<Key, std::deque<Haul>> at_switch_;
  std::map<MessageId, VertexId> begins_;  ///< where a message's first send leaves
  std::vector<Haul> hauls_;
  bool sums_in_switch_ = false;
};

/// What an NPU has of a chunk's sum: a set of contributors at a place.
struct SumPiece {
  std::vector<std::uint32_t> set;
  MovePlace place;
};

class Planner {
 public:
  Planner(const ScheduleFile& file, std::vector<Haul> hauls)
      : collective_(file.collective), hauls_(std::move(hauls)), pieces_stated_(states(file)) {
    plan_.kind = collective_.kind();
    plan_.npus = collective_.npus();
    plan_.chunks = collective_.chunks();
    plan_.in_place = plan_.kind != CollectiveKind::all_to_all;
    if (!plan_.in_place) plan_.chunks /= plan_.npus;
    plan_.scratch.assign(plan_.npus, 0);
    plan_.keeps_parts = pieces_stated_;
    sums_ = reduces(plan_.kind);
  }

  Result<MovePlan> plan() {
    struct Event {
      SimTime time;
      bool starts;
      std::uint32_t haul;
    };
    std::vector<Event> events;
    for (std::uint32_t h = 0; h < hauls_.size(); ++h) {
      events.push_back({hauls_[h].start, true, h});
      events.push_back({hauls_[h].arrival, false, h});
    }
    std::ranges::stable_sort(events, [](const Event& a, const Event& b) {
      return a.time != b.time ? a.time < b.time : !a.starts && b.starts;
    });
    plan_.moves.resize(hauls_.size());
    place_own_shares();
    for (const auto& event : events) {
      const bool done = event.starts ? start(event.haul) : arrive(event.haul);
      if (!done) return error();
    }
    for (std::uint32_t npu = 0; npu < plan_.npus && pieces_stated_; ++npu)
      for (std::size_t c = 0; c < collective_.chunks(); ++c)
        if (collective_.must_hold(NpuId(npu), ChunkId::at(c)) && !complete(npu, ChunkId::at(c))) return error();
    drop_useless();
    return std::move(plan_);
  }

 private:
  static bool states(const ScheduleFile& file) {
    const auto* const payloads = file.schedule.payloads();
    return payloads != nullptr && payloads->states_contributors();
  }
  using At = std::pair<std::uint32_t, ChunkId>;

  [[nodiscard]] Diagnostic error() const {
    return unsupported_error({}, "an NPU sends a sum that it cannot form of the sums that it has",
                             "the format's buffers hold sums, not their parts");
  }

  MovePlace scratch(std::uint32_t npu) { return {'s', plan_.scratch[npu]++}; }

  /// Where an NPU keeps the chunk.
  MovePlace home(std::uint32_t npu, ChunkId chunk) {
    const auto c = static_cast<std::uint32_t>(chunk.index());
    if (plan_.kind == CollectiveKind::all_gather) return {'o', c};
    if (sums_) return {'i', c};
    const auto known = homes_.find({npu, chunk});
    if (known != homes_.end()) return known->second;
    const auto n = static_cast<std::uint32_t>(plan_.npus);
    const auto per_pair = static_cast<std::uint32_t>(plan_.chunks / plan_.npus);
    const auto pair = c / per_pair;
    MovePlace place;
    if (pair / n == npu)
      place = {'i', (pair % n) * per_pair + c % per_pair};
    else if (pair % n == npu)
      place = {'o', (pair / n) * per_pair + c % per_pair};
    else
      place = scratch(npu);
    return homes_.emplace(At{npu, chunk}, place).first->second;
  }

  /// What an NPU has for itself.
  void place_own_shares() {
    if (plan_.in_place) return;
    const auto per_pair = static_cast<std::uint32_t>(plan_.chunks / plan_.npus);
    for (std::uint32_t npu = 0; npu < plan_.npus; ++npu)
      for (std::uint32_t k = 0; k < per_pair; ++k)
        local(npu, {'i', npu * per_pair + k}, {'o', npu * per_pair + k}, false);
  }

  void local(std::uint32_t npu, MovePlace from, MovePlace to, bool adds) {
    plan_.deeds.push_back({Deed::Kind::local, static_cast<std::uint32_t>(plan_.locals.size())});
    plan_.locals.push_back({npu, from, to, adds});
  }

  bool start(std::uint32_t number) {
    const Haul& haul = hauls_[number];
    Move& move = plan_.moves[number];
    move.source = haul.source;
    move.target = haul.target;
    if (haul.message.exists() && !haul.first_leg) {
      const auto known = in_transit_.find({haul.source, haul.message});
      if (known == in_transit_.end()) return false;
      move.from = known->second;
    } else {
      for (const ChunkId chunk : haul.chunks) {
        auto from = std::optional(home(haul.source, chunk));
        if (pieces_stated_) from = haul.stage == Stage::copy ? complete(haul.source, chunk) : form(haul, chunk);
        if (!from) return false;
        move.from.push_back(*from);
      }
    }
    plan_.deeds.push_back({Deed::Kind::send, number});
    return true;
  }

  bool arrive(std::uint32_t number) {
    const Haul& haul = hauls_[number];
    Move& move = plan_.moves[number];
    plan_.deeds.push_back({Deed::Kind::receive, number});
    if (!haul.last_leg) {
      for (std::size_t i = 0; i < haul.chunks.size(); ++i) move.to.push_back(scratch(haul.target));
      in_transit_[{haul.target, haul.message}] = move.to;
      return true;
    }
    const bool sum = haul.stage == Stage::reduce;
    move.adds = sum && !pieces_stated_;
    for (const ChunkId chunk : haul.chunks) {
      if (sum && pieces_stated_) {
        move.to.push_back(scratch(haul.target));
        pieces_of(haul.target, chunk).push_back({haul.contributors, move.to.back()});
        continue;
      }
      if (!sum) {
        const bool there = collective_.holds_at_start(NpuId(haul.target), chunk);
        if (there || !final_.insert({haul.target, chunk}).second) {
          move.to.push_back(scratch(haul.target));  // it has it: a delivery that nobody needs
          ++useless_[number];
          continue;
        }
      }
      move.to.push_back(home(haul.target, chunk));
    }
    return true;
  }

  std::vector<SumPiece>& pieces_of(std::uint32_t npu, ChunkId chunk) {
    auto [known, fresh] = pieces_.try_emplace({npu, chunk});
    if (fresh)
      if (const auto rank = collective_.rank_in(GroupId::at(0), NpuId(npu)))
        known->second.push_back({{*rank}, home(npu, chunk)});
    return known->second;
  }

  /// Disjoint pieces that make up the set, the largest first; empty where there are none.
  std::vector<std::size_t> cover(const std::vector<SumPiece>& pieces, const std::vector<std::uint32_t>& set) {
    std::vector<std::size_t> order;
    for (std::size_t p = 0; p < pieces.size(); ++p)
      if (!pieces[p].set.empty() && std::ranges::includes(set, pieces[p].set)) order.push_back(p);
    std::ranges::stable_sort(order, [&](auto a, auto b) { return pieces[a].set.size() > pieces[b].set.size(); });
    std::vector<std::size_t> chosen;
    std::vector<std::uint32_t> covered;
    for (const auto p : order) {
      std::vector<std::uint32_t> both;
      std::ranges::set_intersection(covered, pieces[p].set, std::back_inserter(both));
      if (!both.empty()) continue;
      std::vector<std::uint32_t> joined;
      std::ranges::set_union(covered, pieces[p].set, std::back_inserter(joined));
      covered = std::move(joined);
      chosen.push_back(p);
    }
    return covered.size() == set.size() ? chosen : std::vector<std::size_t>();
  }

  /// A place with the sum that the haul carries.
  std::optional<MovePlace> form(const Haul& haul, ChunkId chunk) {
    auto& pieces = pieces_of(haul.source, chunk);
    auto set = haul.contributors;
    if (set.empty()) {  // all that has come
      for (const auto& piece : pieces) set.insert(set.end(), piece.set.begin(), piece.set.end());
      std::ranges::sort(set);
      set.erase(std::unique(set.begin(), set.end()), set.end());
    }
    const auto chosen = cover(pieces, set);
    if (chosen.empty()) return std::nullopt;
    if (chosen.size() == 1) return pieces[chosen.front()].place;
    const auto place = scratch(haul.source);
    for (std::size_t i = 0; i < chosen.size(); ++i) local(haul.source, pieces[chosen[i]].place, place, i > 0);
    pieces.push_back({std::move(set), place});
    return place;
  }

  /// The home of a chunk with its final value, formed there where only parts have come.
  std::optional<MovePlace> complete(std::uint32_t npu, ChunkId chunk) {
    const auto place = home(npu, chunk);
    if (final_.contains({npu, chunk})) return place;
    auto& pieces = pieces_of(npu, chunk);
    std::vector<std::uint32_t> all(plan_.npus);
    for (std::uint32_t rank = 0; rank < plan_.npus; ++rank) all[rank] = rank;
    const auto chosen = cover(pieces, all);
    if (chosen.empty()) return std::nullopt;
    const bool has_own = std::ranges::any_of(chosen, [&](auto p) { return pieces[p].place == place; });
    // The input is overwritten: whoever needs it alone later gets a copy.
    const auto own = std::ranges::find(pieces, place, &SumPiece::place);
    if (own != pieces.end() && sent_later(npu, chunk)) {
      const auto kept = scratch(npu);
      local(npu, place, kept, false);
      pieces.push_back({own->set, kept});
    }
    bool first = !has_own;
    for (const auto p : chosen) {
      if (pieces[p].place == place) continue;
      local(npu, pieces[p].place, place, !first);
      first = false;
    }
    for (auto& piece : pieces)
      if (piece.place == place) piece.set.clear();
    final_.insert({npu, chunk});
    return place;
  }

  /// Whether the NPU may yet send a partial sum of the chunk. Every haul counts that has not started: few, and a copy
  /// too many is harmless.
  [[nodiscard]] bool sent_later(std::uint32_t npu, ChunkId chunk) const {
    for (std::uint32_t h = 0; h < hauls_.size(); ++h)
      if (hauls_[h].source == npu && hauls_[h].stage == Stage::reduce && plan_.moves[h].from.empty() &&
          std::ranges::find(hauls_[h].chunks, chunk) != hauls_[h].chunks.end())
        return true;
    return false;
  }

  /// Leaves out moves of which the target needs nothing.
  void drop_useless() {
    if (useless_.empty()) return;
    std::erase_if(plan_.deeds, [&](const Deed& deed) {
      if (deed.kind == Deed::Kind::local) return false;
      const auto known = useless_.find(deed.index);
      return known != useless_.end() && known->second == hauls_[deed.index].chunks.size();
    });
  }

  const Collective& collective_;
  std::vector<Haul> hauls_;
  bool pieces_stated_;
  bool sums_ = false;
  MovePlan plan_;
  std::map<At, MovePlace> homes_;
  std::map<At, std::vector<SumPiece>> pieces_;
  std::set<At> final_;
  std::map<std::pair<std::uint32_t, MessageId>, std::vector<MovePlace>> in_transit_;
  std::map<std::uint32_t, std::size_t> useless_;  ///< by haul: chunks that the target has
};

}  // namespace

Result<MovePlan> plan_moves(const ScheduleFile& file) {
  const auto& collective = file.collective;
  const auto kind = collective.kind();
  const bool known = kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
                     kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_to_all;
  if (!known)
    return unsupported_error({}, fmt::format("{} has no form here", to_string(kind)),
                             "all_gather, reduce_scatter, all_reduce and all_to_all are written");
  const auto& members = collective.groups().front().members;
  bool in_order = collective.groups().size() == 1 && members.size() == file.topology.npus();
  for (std::size_t rank = 0; in_order && rank < members.size(); ++rank) in_order = members[rank].index() == rank;
  if (!in_order)
    return unsupported_error({}, "the collective is one of process groups", "these formats run one of all NPUs",
                             "export a schedule without groups");
  if (!file.part.empty()) return unsupported_error({}, "this is a part of a schedule", "it is not valid alone");
  if (file.schedule.sends() > (std::uint64_t{1} << 22))
    return resource_error(fmt::format("the schedule has {} sends", file.schedule.sends()),
                          "executors run a few thousand steps", "use fewer chunks");
  auto hauls = Hauls(file).join();
  if (!hauls) return hauls.errors();
  return Planner(file, *std::move(hauls)).plan();
}

}  // namespace tenex::exchange
