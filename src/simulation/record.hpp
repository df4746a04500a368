// Records of simulations beside their finish.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex {

/// A message and the time of its injection.
struct Injection {
  SimTime time;
  Message message;
};

/// The recorded sends as a schedule. A send's message is an index into `injections` and becomes the message's id,
/// numbered by (time of injection, NPU, order of injections); there are no ids if every message is a single hop. A send
/// whose message carries several chunks, or a sum that states its contributors, gets the chunk id of a payload;
/// payloads are numbered by their first message. Errors (resource): more payloads than ids. O(sends log sends).
[[nodiscard]] Result<Schedule> make_record(std::vector<Send> sends, const std::vector<Injection>& injections,
                                           const Collective& collective, const Program& program);

/// A message and the time at which it was unpacked.
struct DeliveredMessage {
  SimTime time;
  Message message;
};

/// A delivery for every chunk of every message, by (time, NPU, order of messages there, chunk). `messages` are in order
/// for each NPU. O(messages log messages + deliveries).
[[nodiscard]] std::vector<Delivery> make_arrivals(std::vector<DeliveredMessage> messages, const Program& program);

/// Busy time of all links, in bins of equal width.
class UtilizationBins {
 public:
  /// `finish` must be known; the bins cover it. With zero bins, add() must not be called.
  UtilizationBins(SimTime finish, std::uint32_t bins);
  /// Adds that `links` links are busy during [start, start + busy), which must end by the finish. O(bins covered).
  void add(SimTime start, SimTime busy, std::uint64_t links = 1);
  /// Adds the bins of another object of the same width.
  void add(const UtilizationBins& other);
  [[nodiscard]] const Utilization& result() const { return utilization_; }

 private:
  Utilization utilization_;
};

}  // namespace tenex
