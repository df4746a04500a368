// The event loop, and the matching of one layer's ports.
#include "synthesis/orbit/layer_gather.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

namespace {

/// Costs of items in arrivals: what a neighbour that lacks an item is worth, what a port that could deliver it costs,
/// what waiting for it costs, and what makes a port leave an item to those of lower ranks.
constexpr std::int64_t kPerNeighbour = 1'000;
constexpr std::int64_t kPerDeliverer = 100;
constexpr std::int64_t kNotReady = 100'000;
constexpr std::int64_t kDeferred = 1'000'000;
/// Of items that are left to lower ranks, how far they are decides first: by 1/1000 of what the way takes.
constexpr std::int64_t kFarthest = std::int64_t{1} << 60;
constexpr std::int64_t kPerNanosecond = std::int64_t{1} << 22;

}  // namespace

LayerGather::LayerGather(const LayerNetwork& network, const std::vector<HopTime>& hops, std::uint32_t chunks)
    : network_(network), hops_(hops), chunks_(chunks), items_(network.layers() * chunks * network.positions()) {}

void LayerGather::reset(const LayerStyle& style, std::optional<Random> random) {
  style_ = &style;
  random_ = std::move(random);
  const std::uint32_t layers = network_.layers();
  ports_.resize(network_.all_ports());
  for (Port& port : ports_) {
    port.free_at = SimTime::zero();
    port.candidates.clear();
  }
  claimed_.assign(std::size_t{layers} * items_, 0);
  wanted_.resize(claimed_.size());
  for (std::uint32_t layer = 0; layer < layers; ++layer)
    std::fill_n(wanted_.begin() + static_cast<std::ptrdiff_t>(at(layer, 0)), items_,
                static_cast<std::uint16_t>(network_.uses(layer).size()));
  set_keys();
  missing_.assign(layers, items_);
  arrived_.assign(layers, 0);
  left_ = std::uint64_t{layers} * items_;
  touched_.assign(layers, 0);
  touched_layers_.clear();
  events_ = {};
  caused_ = 0;
  taken_by_.assign(items_, kNone);
  seen_.assign(items_, 0);
  deliverers_.assign(items_, 0);
  search_ = 0;
  insisting_ = false;
  now_ = last_arrival_ = SimTime::zero();
  sends_.clear();
  for (std::uint32_t layer = 0; layer < layers; ++layer)
    for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk)
      claim(layer, (layer * chunks_ + chunk) * network_.positions());
  for (std::uint32_t layer = 0; layer < layers; ++layer)
    for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk)
      hold(layer, (layer * chunks_ + chunk) * network_.positions(), SimTime::zero());
}

void LayerGather::set_keys() {
  const std::uint32_t ranks = 1 + *std::max_element(style_->rank.begin(), style_->rank.end());
  opened_.assign(ranks, {});
  away_.assign(ranks, {});
  unopened_.assign(ranks, {});
  sharing_.assign(ranks, {});
  layer_keys_.assign(ranks, {});
  offset_keys_.assign(ranks, {});
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    std::vector<bool> kept;
    for (const std::uint32_t own : style_->rank) kept.push_back(own >= rank);
    opened_[rank].assign(claimed_.size(), 0);
    if (style_->far) away_[rank].assign(claimed_.size(), SimTime::max());
    for (std::uint32_t layer = 0; layer < network_.layers(); ++layer)
      layer_keys_[rank].push_back(network_.coordinates(true, layer, kept));
    for (std::uint32_t offset = 0; offset < network_.positions(); ++offset)
      offset_keys_[rank].push_back(network_.coordinates(false, offset, kept));
    std::vector<char> key_of_offsets(network_.positions(), 0);
    for (const std::uint32_t key : offset_keys_[rank]) key_of_offsets[key] = 1;
    const auto keys = std::count(key_of_offsets.begin(), key_of_offsets.end(), 1);
    unopened_[rank].assign(network_.layers(), network_.layers() * chunks_ * static_cast<std::uint32_t>(keys));
    sharing_[rank].assign(network_.layers(), 0);
    for (const std::uint32_t key : layer_keys_[rank]) ++sharing_[rank][key];
  }
}

void LayerGather::touch(std::uint32_t layer) {
  if (touched_[layer] != 0) return;
  touched_[layer] = 1;
  touched_layers_.push_back(layer);
}

void LayerGather::add_event(Event event, std::size_t kind) {
  event.kind_and_number = (std::uint64_t{kind} << 48U) + caused_++;
  events_.push(event);
}

/// The layer holds the item from `ready` on, and may then send it.
void LayerGather::hold(std::uint32_t layer, std::uint32_t item, SimTime ready) {
  const std::uint32_t arrival = arrived_[layer]++;
  for (const LayerUse& use : network_.uses(layer)) {
    const std::uint32_t theirs = at_target(network_.ports(use.layer)[use.port].shift, item);
    if (claimed_[at(use.layer, theirs)] != 0) continue;
    port_at(use.layer, use.port).candidates.push_back({theirs, arrival, ready});
    touch(use.layer);
  }
}

void LayerGather::claim(std::uint32_t layer, std::uint32_t item) {
  claimed_[at(layer, item)] = 1;
  --missing_[layer];
  --left_;
  for (const LayerPort& port : network_.ports(layer)) --wanted_[at(port.source, at_source(port.shift, item))];
  for (std::uint32_t rank = 1; rank < opened_.size(); ++rank) {
    char& opened = opened_[rank][coset(rank, layer, item)];
    if (opened == 0) --unopened_[rank][layer_keys_[rank][layer]];
    opened = 1;
    if (style_->far) bring_nearer(rank, layer, item);
  }
}

/// Lowers `away_` where ports of lower ranks come sooner now that the item is claimed.
void LayerGather::bring_nearer(std::uint32_t rank, std::uint32_t layer, std::uint32_t item) {
  auto& away = away_[rank];
  away[at(layer, item)] = SimTime::zero();
  nearer_.assign(1, {layer, item});
  for (std::size_t i = 0; i < nearer_.size(); ++i) {
    const auto [from, theirs] = nearer_[i];
    const SimTime so_far = away[at(from, theirs)];
    for (const LayerUse& use : network_.uses(from)) {
      if (rank_of(use.layer, use.port) >= rank) continue;
      const std::uint32_t next = at_target(network_.ports(use.layer)[use.port].shift, theirs);
      SimTime& old = away[at(use.layer, next)];
      if (so_far + hop(use.layer, use.port).latency >= old) continue;
      old = so_far + hop(use.layer, use.port).latency;
      nearer_.emplace_back(use.layer, next);
    }
  }
}

/// Whether no port of a lower rank can reach the item.
bool LayerGather::opens(std::uint32_t layer, std::uint32_t port, std::uint32_t item) const {
  const std::uint32_t rank = rank_of(layer, port);
  return rank > 0 && opened_[rank][coset(rank, layer, item)] == 0;
}

std::optional<SimTime> LayerGather::run(const LayerStyle& style, std::optional<Random> random, SimTime limit) {
  reset(style, std::move(random));
  match_all();
  while (left_ > 0) {
    if (style.pace != LayerPace::lockstep && last_arrival_ >= limit) return std::nullopt;
    if (!advance()) {
      ensure(!insisting_, "a synthesis by layers came to rest with deliveries missing");
      insisting_ = true;
      for (std::uint32_t layer = 0; layer < network_.layers(); ++layer) touch(layer);
    }
    match_all();
  }
  if (style.pace == LayerPace::lockstep) last_arrival_ = move_early();
  if (last_arrival_ >= limit) return std::nullopt;
  return last_arrival_;
}

/// Moves to the next instant at which something happens. False if there is none.
bool LayerGather::advance() {
  if (events_.empty()) return false;
  now_ = events_.top().time;
  while (!events_.empty() && events_.top().time == now_) {
    const Event event = events_.top();
    events_.pop();
    if (event.item == kNone)
      touch(event.layer);
    else
      hold(event.layer, event.item, event.arrival);
  }
  insisting_ = false;
  return true;
}

void LayerGather::match_all() {
  auto layers = std::move(touched_layers_);
  touched_layers_.clear();
  for (const std::uint32_t layer : layers) touched_[layer] = 0;
  std::sort(layers.begin(), layers.end());
  if (random_) random_->shuffle(std::span(layers));
  for (const std::uint32_t layer : layers) match(layer);
}

/// Gives free ports of a layer as many items as can be.
void LayerGather::match(std::uint32_t layer) {
  if (missing_[layer] == 0) return;
  free_.clear();
  const auto ports = static_cast<std::uint32_t>(network_.ports(layer).size());
  for (std::uint32_t port = 0; port < ports; ++port)
    if (port_at(layer, port).free_at <= now_) free_.push_back(port);
  if (random_) random_->shuffle(std::span(free_));
  std::stable_sort(free_.begin(), free_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return rank_of(layer, a) < rank_of(layer, b); });
  if (style_->scarce) count_deliverers(layer);
  for (const std::uint32_t port : free_) find_options(layer, port);
  for (const std::uint32_t port : free_) {
    ++search_;
    augment(layer, port);
  }
  for (const std::uint32_t port : free_)
    if (port_at(layer, port).matched != kNone) send(layer, port);
}

void LayerGather::count_deliverers(std::uint32_t layer) {
  const auto for_all = [&](auto&& act) {
    for (const std::uint32_t port : free_)
      for (const Candidate& each : port_at(layer, port).candidates) act(each.item);
  };
  for_all([&](std::uint32_t item) { deliverers_[item] = 0; });
  for_all([&](std::uint32_t item) { ++deliverers_[item]; });
}

/// The port's best items, as many as there are free ports: with so many, one is left whatever the others take.
void LayerGather::find_options(std::uint32_t layer, std::uint32_t port) {
  Port& own = port_at(layer, port);
  own.options.clear();
  own.matched = kNone;
  if (!find_worth(layer, port)) return;
  std::erase_if(own.candidates, [&](const Candidate& candidate) { return claimed_[at(layer, candidate.item)] != 0; });
  for (const Candidate& candidate : own.candidates)
    if (worth_it(layer, candidate))
      own.options.push_back({cost(layer, port, candidate), candidate.item, candidate.ready});
  const std::size_t most = std::min(own.options.size(), free_.size());
  std::partial_sort(own.options.begin(), own.options.begin() + static_cast<std::ptrdiff_t>(most), own.options.end());
  own.options.resize(most);
}

std::int64_t LayerGather::cost(std::uint32_t layer, std::uint32_t port, const Candidate& candidate) const {
  std::int64_t cost = candidate.arrival;
  const bool opening = opens(layer, port, candidate.item);
  if (const std::uint32_t rank = rank_of(layer, port); rank > 0) {
    if (!opening)
      cost = kDeferred - cost;
    else if (style_->latest)
      cost = -cost;
    if (!opening && style_->far)
      cost += kFarthest - std::min(kFarthest / kPerNanosecond, away_[rank][at(layer, candidate.item)].count() / 1'000) *
                              kPerNanosecond;
  }
  if (!opening && candidate.ready > now_) cost += kNotReady;
  if (style_->scarce) cost += kPerDeliverer * deliverers_[candidate.item];
  if (style_->wanted) cost -= kPerNeighbour * wanted_[at(layer, candidate.item)];
  return cost;
}

/// Fills `worth_` for a port. False if it should take nothing.
bool LayerGather::find_worth(std::uint32_t layer, std::uint32_t port) {
  const std::uint32_t own = rank_of(layer, port);
  worth_.assign(own + 1, 0);
  for (std::uint32_t rank = 0; rank <= own; ++rank)
    if (rank == 0 || !style_->strict) worth_[rank] = insisting_ || worth_it(layer, port, rank) ? 1 : 0;
  return std::find(worth_.begin(), worth_.end(), 1) != worth_.end();
}

/// Rank 0: whether all ports together cannot deliver all that the layer lacks before a send of this one arrives. Other
/// ranks: whether ports of at least this rank, which alone open cosets of the lower ones, cannot open all.
bool LayerGather::worth_it(std::uint32_t layer, std::uint32_t port, std::uint32_t rank) const {
  if (rank > 0 && rank == rank_of(layer, port)) return true;
  const std::uint32_t key = rank == 0 ? 0 : layer_keys_[rank][layer];
  const std::uint64_t layers = rank == 0 ? 1 : sharing_[rank][key];
  const std::uint64_t wanted = rank == 0 ? missing_[layer] : unopened_[rank][key];
  const SimTime end = now_ + hop(layer, port).latency - picoseconds(1);
  std::uint64_t delivered = 0;
  const auto ports = static_cast<std::uint32_t>(network_.ports(layer).size());
  for (std::uint32_t other = 0; other < ports && delivered < wanted; ++other) {
    if (rank_of(layer, other) < rank) continue;
    const SimTime first = std::max(now_, port_at(layer, other).free_at) + hop(layer, other).latency;
    if (first <= end) delivered += layers * (static_cast<std::uint64_t>((end - first) / busy(layer, other)) + 1);
  }
  return delivered < wanted;
}

bool LayerGather::worth_it(std::uint32_t layer, const Candidate& candidate) const {
  if (worth_[0] != 0) return true;
  for (std::uint32_t rank = 1; rank < worth_.size(); ++rank)
    if (worth_[rank] != 0 && opened_[rank][coset(rank, layer, candidate.item)] == 0) return true;
  return false;
}

/// Finds an item for the port, and others for ports whose items it takes over (Kuhn).
bool LayerGather::augment(std::uint32_t layer, std::uint32_t port) {
  Port& own = port_at(layer, port);
  const auto take = [&](std::uint32_t item) {
    taken_by_[item] = port;
    own.matched = item;
    return true;
  };
  for (const Option& option : own.options)
    if (taken_by_[option.item] == kNone) return take(option.item);
  for (const Option& option : own.options) {
    if (seen_[option.item] == search_) continue;
    seen_[option.item] = search_;
    if (augment(layer, taken_by_[option.item])) return take(option.item);
  }
  return false;
}

void LayerGather::send(std::uint32_t layer, std::uint32_t port) {
  Port& own = port_at(layer, port);
  const std::uint32_t item = own.matched;
  taken_by_[item] = kNone;
  const std::uint16_t link_class = network_.ports(layer)[port].link_class;
  const auto taken =
      std::find_if(own.options.begin(), own.options.end(), [&](const Option& option) { return option.item == item; });
  const SimTime start = std::max(now_, taken->ready);
  const SimTime arrival = start + hop(layer, port).latency;
  own.free_at = start + busy(layer, port);
  const SimTime known = style_->pace == LayerPace::ahead ? own.free_at : arrival;
  add_event({known, 0, layer, item, arrival}, link_class);
  add_event({own.free_at, 0, layer, kNone, own.free_at}, hops_.size() + link_class);
  last_arrival_ = std::max(last_arrival_, arrival);
  sends_.push_back({start, layer, port, item});
  claim(layer, item);
}

/// Starts every send as early as possible, keeping each port's order.
SimTime LayerGather::move_early() {
  std::vector<SimTime> held(claimed_.size(), SimTime::zero());
  for (Port& port : ports_) port.free_at = SimTime::zero();
  SimTime last;
  for (LayerSend& send : sends_) {
    const LayerPort& port = network_.ports(send.layer)[send.port];
    Port& own = port_at(send.layer, send.port);
    send.start = std::max(own.free_at, held[at(port.source, at_source(port.shift, send.item))]);
    own.free_at = send.start + hops_[port.link_class].busy;
    SimTime& arrival = held[at(send.layer, send.item)];
    arrival = send.start + hops_[port.link_class].latency;
    last = std::max(last, arrival);
  }
  return last;
}

}  // namespace tenex
