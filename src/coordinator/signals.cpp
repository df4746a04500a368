// Implements Signals by signalfd(2).
#include "tenex/coordinator/signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>

namespace tenex {

namespace {

sigset_t run_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void block_run_signals() {
  const auto set = run_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Signals::Signals() {
  const auto set = run_signals();
  pthread_sigmask(SIG_BLOCK, &set, &previous_);
  descriptor_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

Signals::~Signals() {
  // The end of the run has answered any request that came after the last poll. If it stayed pending, it would kill the
  // program now.
  while (poll() != SignalRequest::none) {
  }
  if (descriptor_ >= 0) close(descriptor_);
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

SignalRequest Signals::poll() {
  auto request = SignalRequest::none;
  signalfd_siginfo info{};
  while (descriptor_ >= 0 && read(descriptor_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    auto asked = SignalRequest::drain;
    if (info.ssi_signo == SIGTERM) asked = SignalRequest::leave;
    if (info.ssi_signo == SIGINT && ++interrupts_ > 1) asked = SignalRequest::abort;
    request = std::max(request, asked);
  }
  return request;
}

}  // namespace tenex
