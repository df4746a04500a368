// The event loop over ports.
#include "synthesis/pccl/orbit/orbit_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/storage/raw_array.hpp"

namespace tenex {

namespace {

constexpr std::int64_t kMostBuckets = 4096;

/// What a hop by each port adds to a job's bucket: its latency, in units that make few enough buckets.
std::vector<std::uint32_t> weights_of(const ExchangeWays& ways, const OrbitPorts& ports) {
  std::int64_t unit = 0;
  for (const auto& port : ports.all) unit = std::gcd(unit, port.hop.latency.count());
  std::int64_t longest = 0;
  for (std::size_t job = 0; job < ways.jobs; ++job) {
    std::int64_t time = 0;
    for (std::size_t i = 0; i < ways.dimensions; ++i) {
      const auto& leg = ways.legs[job * ways.dimensions + i];
      time += leg.hops * ports.hop(leg.direction).latency.count();
    }
    longest = std::max(longest, time);
  }
  unit = std::max({std::int64_t{1}, unit, longest / kMostBuckets});
  std::vector<std::uint32_t> weights;
  for (const auto& port : ports.all)
    weights.push_back(static_cast<std::uint32_t>(std::max(std::int64_t{1}, port.hop.latency.count() / unit)));
  return weights;
}

}  // namespace

OrbitExchange::OrbitExchange(const TranslationGroup& group, const ExchangeWays& ways, const OrbitPorts& ports)
    : group_(group), ways_(ways), ports_(ports), weight_(weights_of(ways, ports)), nodes_(ways.jobs * ways.dimensions) {
  std::vector<std::uint64_t> buckets(ways.jobs, 0);
  for (std::size_t node = 0; node < nodes_; ++node)
    buckets[node / ways.dimensions] +=
        std::uint64_t{ways.legs[node].hops} * weight_[ports.port_of[ways.legs[node].direction]];
  buckets_ = std::size_t{1} + (buckets.empty() ? 0 : *std::max_element(buckets.begin(), buckets.end()));
  ensure(nodes_ + buckets_ * ports.size() * ways.cosets < kNone, "a symmetric All-to-All with too many chunks");
}

void OrbitExchange::reset(bool ordered, std::optional<Random> random) {
  ordered_ = ordered && ways_.dimensions > 1;
  legs_ = ways_.legs;
  left_ = ways_.load_of(ports_);
  at_.assign(ways_.jobs, NpuId(0));
  bucket_.assign(ways_.jobs, 0);
  coset_.assign(ways_.jobs, 0);
  std::fill(coset_.begin() + static_cast<std::ptrdiff_t>(ways_.numbers), coset_.end(), std::uint8_t{1});
  for (std::size_t node = 0; node < nodes_; ++node)
    bucket_[node / ways_.dimensions] += legs_[node].hops * weight_[ports_.port_of[legs_[node].direction]];
  machines_.assign(ports_.size() * ways_.cosets, {});
  for (std::size_t i = 0; i < machines_.size(); ++i) machines_[i].port = static_cast<std::uint32_t>(i / ways_.cosets);
  next_.resize(nodes_ + buckets_ * machines_.size());
  std::iota(next_.begin(), next_.end(), 0U);  // queues are empty
  previous_ = next_;
  order_.resize(machines_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::vector<std::uint32_t> jobs(ways_.jobs);
  std::iota(jobs.begin(), jobs.end(), 0U);
  if (random) random->shuffle(std::span(jobs));
  first_leg_.assign(ordered_ ? ways_.jobs : 0, 0);
  if (ordered_)
    for (std::size_t i = 0; i < jobs.size(); ++i)
      first_leg_[jobs[i]] = static_cast<std::uint32_t>(i % ways_.dimensions);
  for (const std::uint32_t job : jobs)
    if (bucket_[job] > 0) wait(job);
  sends_.clear();
  const std::uint64_t total = std::accumulate(left_.begin(), left_.end(), std::uint64_t{0});
  sends_.reserve(total);
  advise_large_pages(sends_.data(), total * sizeof(OrbitSend));
  now_ = finish_ = SimTime::zero();
}

SimTime OrbitExchange::run(bool ordered, std::optional<Random> random) {
  reset(ordered, random);
  do {
    choose();
    start_chosen();
  } while (advance());
  return finish_;
}

/// Moves to the next instant at which a job arrives or a machine becomes free. Returns false if there is none.
bool OrbitExchange::advance() {
  SimTime next = SimTime::max();
  for (const Machine& machine : machines_) {
    if (left_[machine.port] > 0 && machine.free_at > now_) next = std::min(next, machine.free_at);
    if (machine.landed < machine.flights.size())
      next = std::min(next, machine.started[machine.landed] + ports_.all[machine.port].hop.latency);
  }
  if (next == SimTime::max()) return false;
  now_ = next;
  for (Machine& machine : machines_) {
    const SimTime latency = ports_.all[machine.port].hop.latency;
    while (machine.landed < machine.flights.size() && machine.started[machine.landed] + latency <= now_)
      wait(machine.flights[machine.landed++]);
    if (machine.landed < machine.flights.size() || machine.landed == 0) continue;
    machine.flights.clear();
    machine.started.clear();
    machine.landed = 0;
  }
  return true;
}

/// Gives every free machine a job.
void OrbitExchange::choose() {
  const auto work = [&](std::uint32_t machine) {
    const std::uint32_t port = machines_[machine].port;
    return static_cast<std::int64_t>(left_[port]) * ports_.all[port].hop.busy.count();
  };
  for (std::size_t i = 1; i < order_.size(); ++i)  // nearly sorted already
    for (std::size_t j = i; j > 0 && work(order_[j - 1]) < work(order_[j]); --j) std::swap(order_[j - 1], order_[j]);
  bool idle = false;
  for (const std::uint32_t machine : order_) {
    if (!is_free(machine)) continue;
    const std::uint32_t job = first_waiting(machine);
    machines_[machine].chosen = job;
    if (job == kNone)
      idle = true;
    else
      leave(job);
  }
  if (!idle || ordered_) return;
  for (const std::uint32_t machine : order_)
    if (is_free(machine) && machines_[machine].chosen == kNone) take_over(machine);
}

/// Takes the job that another machine has chosen, if that one finds another.
void OrbitExchange::take_over(std::uint32_t machine) {
  const std::uint32_t dimension = dimension_of(machines_[machine].port);
  for (std::uint32_t other = 0; other < machines_.size(); ++other) {
    const std::uint32_t theirs = machines_[other].chosen;
    if (theirs == kNone || other == machine) continue;
    const ExchangeLeg& leg = legs_[theirs * ways_.dimensions + dimension];
    if (leg.hops == 0 || machine_of(theirs, leg) != machine) continue;
    const std::uint32_t instead = first_waiting(other);
    if (instead == kNone) continue;
    leave(instead);
    machines_[other].chosen = instead;
    machines_[machine].chosen = theirs;
    return;
  }
}

void OrbitExchange::start_chosen() {
  for (Machine& machine : machines_) {
    const std::uint32_t job = std::exchange(machine.chosen, kNone);
    if (job == kNone) continue;
    const std::uint32_t dimension = dimension_of(machine.port);
    const HopTime& hop = ports_.all[machine.port].hop;
    ExchangeLeg& leg = legs_[job * ways_.dimensions + dimension];
    const std::uint32_t direction = leg.direction;
    --left_[machine.port];
    --leg.hops;
    bucket_[job] -= weight_[machine.port];
    at_[job] = group_.neighbour(at_[job], direction);
    if (ways_.cosets > 1 && dimension == ways_.coset_dimension) coset_[job] ^= 1U;
    sends_.push_back({now_, direction, at_[job], job, Stage::copy});
    machine.free_at = now_ + hop.busy;
    finish_ = std::max(finish_, now_ + hop.latency);
    if (bucket_[job] == 0) continue;
    machine.flights.push_back(job);
    machine.started.push_back(now_);
  }
}

/// Puts a job into the queues of the machines that it may go on with.
void OrbitExchange::wait(std::uint32_t job) {
  const auto first = static_cast<std::uint32_t>(job * ways_.dimensions);
  const auto dimensions = static_cast<std::uint32_t>(ways_.dimensions);
  if (ordered_) {
    std::uint32_t& leg = first_leg_[job];
    while (legs_[first + leg].hops == 0) leg = leg + 1 < dimensions ? leg + 1 : 0;
    wait_at(first + leg);
    return;
  }
  for (std::uint32_t node = first; node < first + dimensions; ++node)
    if (legs_[node].hops > 0) wait_at(node);
}

void OrbitExchange::wait_at(std::uint32_t node) {
  const auto job = static_cast<std::uint32_t>(node / ways_.dimensions);
  const std::size_t machine = machine_of(job, legs_[node]);
  const auto end = static_cast<std::uint32_t>(queue(machine, bucket_[job]));
  next_[node] = end;
  previous_[node] = previous_[end];
  next_[previous_[end]] = node;
  previous_[end] = node;
  std::uint32_t& top = machines_[machine].top;
  top = std::max(top, bucket_[job]);
}

/// Takes a waiting job out of its queues.
void OrbitExchange::leave(std::uint32_t job) {
  const auto first = static_cast<std::uint32_t>(job * ways_.dimensions);
  const auto out = [&](std::uint32_t node) {
    next_[previous_[node]] = next_[node];
    previous_[next_[node]] = previous_[node];
  };
  if (ordered_) return out(first + first_leg_[job]);
  for (auto node = first; node < first + ways_.dimensions; ++node)
    if (legs_[node].hops > 0) out(node);
}

/// The job with the most time left of those that wait for a machine, or kNone.
std::uint32_t OrbitExchange::first_waiting(std::uint32_t machine) {
  std::uint32_t& top = machines_[machine].top;
  for (; top > 0; --top) {
    const std::size_t end = queue(machine, top);
    if (next_[end] != end) return static_cast<std::uint32_t>(next_[end] / ways_.dimensions);
  }
  return kNone;
}

}  // namespace tenex
