// One attempt at a symmetric All-to-All: when each hop of one NPU's chunks starts.
//
// Seen from one NPU, each port (tenex/schedule/timing/orbit_ports.hpp: a direction, or all directions over one switch)
// is a machine that carries one chunk at a time, for all NPUs at once, and each chunk is a job with a number of hops in
// some directions. (Where owners have two cosets, exchange_ways.hpp, a machine is a port and the coset of the link's
// source. Only hops along a ring lead to the other coset, so a switch joins NPUs of one.) Hops commute, so their order
// is free: an open shop. PCCL (the ASTRA-sim2.0 thesis, chapter 6) takes the farthest condition first and searches its
// earliest path; here events move time, and each free port takes the waiting chunk with the most time of hops left. So
// chunks grow equally short, and the last ones end together. At one instant the port with the most work left chooses
// first. One that finds no chunk may take over that of another, if that one finds another chunk.
//
// Encoding: a waiting chunk stands in one queue per dimension that it has hops left in, that of its port and of the
// time left (in buckets, first in first out). Queues are doubly linked lists, because a chunk that leaves must be taken
// out of all of them. O(1) time per hop and dimension, and per event and port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "synthesis/pccl/orbit/exchange_ways.hpp"
#include "tenex/base/random.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/schedule/timing/orbit_ports.hpp"

namespace tenex {

class OrbitExchange {
 public:
  /// All arguments must outlive this.
  OrbitExchange(const TranslationGroup& group, const ExchangeWays& ways, const OrbitPorts& ports);

  /// Makes a schedule and returns its last arrival. `ordered`: a job goes along its dimensions in a fixed order, which
  /// begins with another dimension for each job in turn. (Where latency is long and a fast dimension could take all
  /// jobs at once, the others would wait for the first arrivals.) With random numbers, equals are shuffled at first.
  /// The same arguments give the same schedule.
  SimTime run(bool ordered, std::optional<Random> random);
  /// The sends of the last run, by start and direction. Where owners have two cosets, their `number` is that of a job.
  [[nodiscard]] std::vector<OrbitSend> take_sends() { return std::move(sends_); }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// What a machine does.
  struct Machine {
    std::uint32_t port = 0;
    SimTime free_at;
    std::uint32_t top = 0;               ///< no queue above holds a job
    std::uint32_t chosen = kNone;        ///< the job that it takes at this instant
    std::size_t landed = 0;              ///< the first of `flights` that has not arrived
    std::vector<std::uint32_t> flights;  ///< jobs in order of start
    std::vector<SimTime> started;
  };

  void reset(bool ordered, std::optional<Random> random);
  bool advance();
  void choose();
  void take_over(std::uint32_t machine);
  void start_chosen();
  void wait(std::uint32_t job);
  void wait_at(std::uint32_t node);
  void leave(std::uint32_t job);
  [[nodiscard]] bool is_free(std::uint32_t machine) const {
    return machines_[machine].free_at <= now_ && left_[machines_[machine].port] > 0;
  }
  [[nodiscard]] std::uint32_t first_waiting(std::uint32_t machine);
  [[nodiscard]] std::uint32_t dimension_of(std::uint32_t port) const {
    return group_.directions()[ports_.all[port].first_direction].dimension;
  }
  /// The machine of a job's next hop along a dimension.
  [[nodiscard]] std::size_t machine_of(std::uint32_t job, const ExchangeLeg& leg) const {
    return ports_.port_of[leg.direction] * ways_.cosets + coset_[job];
  }
  [[nodiscard]] std::size_t queue(std::size_t machine, std::uint32_t bucket) const {
    return nodes_ + machine * buckets_ + bucket;
  }

  const TranslationGroup& group_;
  const ExchangeWays& ways_;
  const OrbitPorts& ports_;
  std::vector<std::uint32_t> weight_;  ///< by port: what a hop adds to a job's bucket
  std::size_t nodes_ = 0;              ///< of jobs; those of queues follow
  std::size_t buckets_ = 0;
  std::vector<std::uint32_t> next_, previous_;  ///< by node
  std::vector<ExchangeLeg> legs_;               ///< what is left
  std::vector<std::uint32_t> first_leg_;        ///< by job, if ordered: the dimension to go along first
  std::vector<std::uint32_t> bucket_;           ///< by job
  std::vector<std::uint8_t> coset_;             ///< by job: that of the NPU where it is
  std::vector<NpuId> at_;                       ///< by job: its offset from its owner
  std::vector<std::uint64_t> left_;             ///< by port: hops of all jobs
  std::vector<Machine> machines_;               ///< by port, then by coset of the source
  std::vector<std::uint32_t> order_;            ///< machines, the most work left first
  std::vector<OrbitSend> sends_;
  bool ordered_ = false;
  SimTime now_;
  SimTime finish_;
};

}  // namespace tenex
