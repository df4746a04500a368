// Another thread opens the folder while this one sends ALIVE to the other ranks.
#include "lead_folder.hpp"

#include <future>

#include "worker.hpp"

namespace tenex {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Result<ResultFolder> open_folder(const Study& study, const RankSetup& setup, Transport& transport) {
  auto opening = std::async(std::launch::async, [&] { return ResultFolder::open(setup.out, study, setup.open); });
  AdaptiveSleep sleep;
  auto last_sign_of_life = Clock::now();
  while (opening.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    sleep.rest(false);
    if (Clock::now() - last_sign_of_life < alive_interval(setup.silence)) continue;
    last_sign_of_life = Clock::now();
    for (std::size_t r = 1; r < transport.size(); ++r) transport.send(r, AliveMessage{});
    (void)transport.all_sent();
  }
  return opening.get();
}

Diagnostics turn_away(Transport& transport, const Diagnostics& errors) {
  for (std::size_t r = 1; r < transport.size(); ++r) transport.send(r, ByeMessage{{}, errors, false});
  const auto deadline = Clock::now() + longest_goodbye;
  AdaptiveSleep sleep;
  while (!transport.all_sent() && Clock::now() < deadline) {
    while (transport.receive()) {
    }
    sleep.rest(false);
  }
  return errors;
}

}  // namespace tenex
