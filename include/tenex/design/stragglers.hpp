// Stragglers: links and NPUs that are slower than the others, and NPUs that start late, as in the key `stragglers`:
// "npu 3 x2; link 0-1 x1.5; link 4->5 alpha x3; npu 7 delay 5us; link 2-3 x4 from 10us to 20us". TE-CCL, section 5,
// "Handling stragglers": a larger beta stands for what grows with the bytes, a larger alpha for what does not;
// "Modeling variable bandwidth": a beta that is larger for a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

/// One straggler.
struct Straggler {
  enum class Kind : std::uint8_t {
    npu,      ///< all links that leave or enter NPU `first`
    link,     ///< the links between vertices `first` and `second`, both ways
    one_way,  ///< the links from `first` to `second`
    delay,    ///< NPU `first` does nothing before `delay`
  };
  /// What takes `thousandths`/1000 times as long, rounded up to picoseconds.
  enum class Scaled : std::uint8_t {
    beta,   ///< the serialization time of every send
    alpha,  ///< the latency
  };
  Kind kind = Kind::npu;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::int64_t thousandths = 1000;  ///< at least 1000
  SimTime delay;
  Scaled scaled = Scaled::beta;
  SimTime from;   ///< beta: the window in which it is larger ...
  SimTime until;  ///< ... and its end; zero: at all times
  bool operator==(const Straggler&) const = default;
};
using Stragglers = std::vector<Straggler>;

/// Parses "none" (an empty list) or entries separated by ";" (also allowed at the end), in any order: `npu N xF`, `link
/// A-B xF`, `link A->B xF` (beta), `npu N alpha xF`, `link A-B alpha xF`, `link A->B alpha xF`, `npu N delay T`, with F
/// a decimal number from 1 to 1000000 of at most three places. `loses P%` or `loses P% resending N` stands for the
/// factor of beta of a link that loses P percent of its packets, and sends the N behind each again. An entry of beta
/// may end with a window, `from T to T`. One subject may have a factor of beta, one of alpha and any windows. The
/// result is sorted by kind, ids, what is scaled (beta first) and window, with the largest of several equal ones'
/// factors. Errors (input), all of them: bad syntax, a factor below 1 or of more places, two delays of one NPU, an
/// empty window. O(n log n).
[[nodiscard]] Result<Stragglers> parse_stragglers(std::string_view text, const Place& place = {});

/// The canonical text: "none", or sorted entries with delays in ps. parse_stragglers() reads it back.
[[nodiscard]] std::string to_string(const Stragglers& stragglers);

/// Whether any of them slows links at all times, by beta or by alpha (is no delay and has no window). The links of a
/// dimension may then differ.
[[nodiscard]] bool slows_links(const Stragglers& stragglers);

/// The windows in which they slow links, for with_slow_windows(). O(n).
[[nodiscard]] std::vector<NamedWindow> windows_of(const Stragglers& stragglers);

/// The links that they slow down at all times, for slow_links() and for unwinding the network that it made: both
/// factors of one subject together. O(n).
[[nodiscard]] std::vector<Slowdown> slowdowns_of(const Stragglers& stragglers);

}  // namespace tenex
