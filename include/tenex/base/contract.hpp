// Contracts at the doors of engines, verifier and bounds: what a function expects of its caller, and what it ensures.
//
// A docstring says both in words ("Expects: ...", "Ensures: ..."), and the function says them again in code, so that a
// caller who breaks the first and an implementation that breaks the second are found where it happens. They are
// checked where TENEX_CONTRACTS is defined (the CMake option of that name, on in the presets of developers and CI). A
// broken contract throws InvariantError there, which evaluation turns into a row with status `failed`. In every other
// build the condition is compiled, so that it cannot rot, but never evaluated, and leaves no code.
//
// Which one to write:
// - A mistake of the user is a value: Result and Status (diagnostic.hpp). No contract stands for it.
// - What costs next to nothing, and without which users would get a wrong result or an access out of range, is checked
//   in every build: ensure() (diagnostic.hpp).
// - The rest, up to a cost in proportion to the work of the function, is a contract. So is what only repeats a claim
//   that the verifier or a bound judges in every row: contracts say earlier who made it.
// Contracts stand at the beginning and the end of functions: not in loops over sends, not in a noexcept function, and
// not in a parallel region, which no exception may leave.
#pragma once

namespace tenex {

/// Whether this build checks contracts.
#ifdef TENEX_CONTRACTS
constexpr bool kContracts = true;
#else
constexpr bool kContracts = false;
#endif

/// Throws InvariantError: "FUNCTION() PART MEANING: CONDITION does not hold".
[[noreturn]] void throw_broken_contract(const char* function, const char* part, const char* meaning,
                                        const char* condition);

}  // namespace tenex

/// TENEX_EXPECTS(condition, "what the caller must give"), TENEX_ENSURES(condition, "what the function gives back"): see
/// above. Macros, because a function would evaluate its argument.
#define TENEX_EXPECTS(condition, meaning) TENEX_CONTRACT(condition, "expects", meaning)
#define TENEX_ENSURES(condition, meaning) TENEX_CONTRACT(condition, "ensures", meaning)
#define TENEX_CONTRACT(condition, part, meaning)                                                                  \
  do {                                                                                                            \
    if (::tenex::kContracts && !(condition)) ::tenex::throw_broken_contract(__func__, part, meaning, #condition); \
  } while (false)
