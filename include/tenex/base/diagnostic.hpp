// Errors as values: where, what, why, and what to do about it.
//
// The message grammar of the whole project is `file:line:column: problem (why) suggestion`; any part but the problem
// may be absent. A Result carries either a value or every diagnostic found, so that users see all mistakes at once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tenex {

/// A position in a text that the user wrote. Lines and columns count from 1; 0 means unknown.
struct Place {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool operator==(const Place&) const = default;
};

/// Who is at fault: decides the exit code and whether a retry can help.
enum class Fault : std::uint8_t {
  input,        ///< the user's text or arguments: exit 2
  environment,  ///< file system, permissions, a full disk, a broken file
  resource,     ///< does not fit in the memory or the range of a type
  unsupported,  ///< well formed, but this version does not know it
};

/// One problem, for a user to read and act on.
struct Diagnostic {
  Fault fault = Fault::input;
  Place place;
  std::string problem;     ///< what is wrong, a short clause with the offending text quoted
  std::string why;         ///< the rule that it breaks; may be empty
  std::string suggestion;  ///< what would be right; may be empty
  bool operator==(const Diagnostic&) const = default;
};

/// "file:line:column: problem (why) suggestion" with absent parts left out. O(length).
[[nodiscard]] std::string to_string(const Diagnostic& diagnostic);

using Diagnostics = std::vector<Diagnostic>;

/// One line per diagnostic, each ended by a newline except the last.
[[nodiscard]] std::string to_string(const Diagnostics& diagnostics);

[[nodiscard]] inline Diagnostic input_error(Place place, std::string problem, std::string why = {},
                                            std::string suggestion = {}) {
  return {Fault::input, std::move(place), std::move(problem), std::move(why), std::move(suggestion)};
}
[[nodiscard]] inline Diagnostic environment_error(std::string problem, std::string why = {},
                                                  std::string suggestion = {}) {
  return {Fault::environment, {}, std::move(problem), std::move(why), std::move(suggestion)};
}
[[nodiscard]] inline Diagnostic resource_error(std::string problem, std::string why = {}, std::string suggestion = {}) {
  return {Fault::resource, {}, std::move(problem), std::move(why), std::move(suggestion)};
}
[[nodiscard]] inline Diagnostic unsupported_error(Place place, std::string problem, std::string why = {},
                                                  std::string suggestion = {}) {
  return {Fault::unsupported, std::move(place), std::move(problem), std::move(why), std::move(suggestion)};
}

/// A broken invariant of the program itself, never of its input. Not caught inside a module.
class InvariantError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InvariantError(what) unless `holds`.
constexpr void ensure(bool holds, const char* what) {
  if (!holds) throw InvariantError(what);
}

/// A value, or the reasons why there is none. [[nodiscard]], so an error cannot be dropped silently.
template <class T>
class [[nodiscard]] Result {
 public:
  using Value = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}                        // NOLINT: implicit
  Result(Diagnostic error) : state_(std::in_place_index<1>, Diagnostics{std::move(error)}) {}  // NOLINT: implicit
  Result(Diagnostics errors) : state_(std::in_place_index<1>, std::move(errors)) {             // NOLINT: implicit
    ensure(!std::get<1>(state_).empty(), "a failed Result needs a diagnostic");
  }

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & { return require(), std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return require(), std::get<0>(state_); }
  /// By value, so that a range-for over `f().value()` does not dangle.
  [[nodiscard]] T value() && { return require(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// The reasons; empty when ok.
  [[nodiscard]] Diagnostics errors() const { return ok() ? Diagnostics{} : std::get<1>(state_); }

 private:
  void require() const {
    if (!ok()) throw InvariantError("value of a failed Result: " + to_string(std::get<1>(state_)));
  }
  std::variant<T, Diagnostics> state_;
};

/// The value of a Result that only succeeds or fails.
using Done = std::monostate;
using Status = Result<Done>;
inline Status success() { return Status(Done{}); }

/// Appends `from`'s errors to `into`.
inline void append(Diagnostics& into, Diagnostics from) {
  for (auto& error : from) into.push_back(std::move(error));
}

}  // namespace tenex
