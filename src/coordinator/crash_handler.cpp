// Handlers for fatal signals. See the header for the idea.
//
// A handler cannot run on a stack that overflowed, so every thread that evaluates points has a second, small stack.
#include "coordinator/crash_handler.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "tenex/store/crashes.hpp"

namespace tenex {

namespace {

struct FatalSignal {
  int signal;
  std::string_view name;
};
constexpr std::array<FatalSignal, 5> fatal_signals{
    {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}}};

constexpr std::size_t key_digits = 32;

/// The data that the handler reads. They are plain, so that reading them in a broken process is safe.
struct Hand {
  int descriptor = -1;  ///< negative: no point
  std::array<char, key_digits> key{};
};

// State of the thread and not of an object: a signal handler has no argument by which to find an object.
thread_local constinit Hand hand_of_this_thread;
constinit std::atomic<const Hand*> hand_of_all_threads = nullptr;
std::array<struct sigaction, fatal_signals.size()> previous_actions;
std::mutex installing;
int installed = 0;

const Hand* hand() { return hand_of_this_thread.descriptor >= 0 ? &hand_of_this_thread : hand_of_all_threads.load(); }

void note_crash(std::string_view signal_name) {
  const Hand* const point = hand();
  if (point == nullptr) return;
  std::array<char, 128> line{};
  const auto length = format_crash_line(line, signal_name, {point->key.data(), point->key.size()});
  if (write(point->descriptor, line.data(), length) == static_cast<ssize_t>(length)) fsync(point->descriptor);
}

extern "C" void tenex_on_fault(int signal) {
  const int saved = errno;
  for (std::size_t i = 0; i < fatal_signals.size(); ++i) {
    if (fatal_signals[i].signal != signal) continue;
    note_crash(fatal_signals[i].name);
    sigaction(signal, &previous_actions[i], nullptr);
  }
  errno = saved;
  raise(signal);  // the previous handler gets it when this one returns
}

/// A second stack for this thread's handlers, as long as the thread lives.
class SecondStack {
  using Stack = std::array<std::byte, std::size_t{64} * 1024>;

 public:
  SecondStack() {
    stack_t present{};
    if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;  // the thread has one
    memory_ = std::make_unique<Stack>();
    stack_t mine{};
    mine.ss_sp = memory_->data();
    mine.ss_size = memory_->size();
    if (sigaltstack(&mine, nullptr) != 0) memory_.reset();
  }
  ~SecondStack() {
    if (!memory_) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  SecondStack(const SecondStack&) = delete;
  SecondStack& operator=(const SecondStack&) = delete;

 private:
  std::unique_ptr<Stack> memory_;
};

void give_second_stack() { static thread_local const SecondStack stack; }

}  // namespace

CrashHandler::CrashHandler() {
  const std::lock_guard lock(installing);
  if (installed++ > 0) return;
  struct sigaction action {};
  action.sa_handler = tenex_on_fault;
  action.sa_flags = SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < fatal_signals.size(); ++i)
    sigaction(fatal_signals[i].signal, &action, &previous_actions[i]);
}

CrashHandler::~CrashHandler() {
  const std::lock_guard lock(installing);
  if (--installed > 0) return;
  for (std::size_t i = 0; i < fatal_signals.size(); ++i)
    sigaction(fatal_signals[i].signal, &previous_actions[i], nullptr);
}

PointInHand::PointInHand(int journal_descriptor, const Digest& key, bool all_threads) : all_threads_(all_threads) {
  give_second_stack();
  const auto text = to_string(key);
  std::copy_n(text.data(), std::min(text.size(), key_digits), hand_of_this_thread.key.data());
  std::atomic_signal_fence(std::memory_order_release);
  hand_of_this_thread.descriptor = journal_descriptor;
  if (all_threads_ && journal_descriptor >= 0) hand_of_all_threads = &hand_of_this_thread;
}

PointInHand::~PointInHand() {
  if (all_threads_) hand_of_all_threads = nullptr;
  hand_of_this_thread.descriptor = -1;
  std::atomic_signal_fence(std::memory_order_release);
}

}  // namespace tenex
