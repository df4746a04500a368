// Internal to execution: what follows from a point's sizes about how it runs and how it is verified.
#pragma once

#include <cstdint>

#include "tenex/design/design_point.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/execution/sizes.hpp"

namespace tenex {

/// Whether one NPU represents all in the point's collective, by the symmetry of its network: of a schedule that has it,
/// too. Does not depend on the simulation engine.
[[nodiscard]] bool moves_by_orbit(const DesignPoint& point, const PointSizes& sizes);
/// Whether the engine `orbit` runs the algorithm's program if nothing is recorded. Null: one of those of `auto`.
[[nodiscard]] bool goes_by_orbit(const DesignPoint& point, const PointSizes& sizes, const Algorithm* algorithm);
/// Whether the engine `trains` runs the point's program, or that of `auto` whose messages go straight, if nothing is
/// recorded. `part`: the point's kind, or that of a half of its All-Reduce.
[[nodiscard]] bool goes_in_trains(const DesignPoint& point, const PointSizes& sizes, CollectiveKind part);

/// Whether the messages of an open loop enter the only link of their NPU one by one, and few of them wait in switches:
/// equal routes give no link between switches more than the link of an NPU has. `part` as above.
[[nodiscard]] bool waits_little(const DesignPoint& point, const PointSizes& sizes, CollectiveKind part);

/// Whether every chunk goes to one NPU, as a copy: the verifier then follows each chunk's walk.
[[nodiscard]] bool walks(const DesignPoint& point);
/// The sends of a synthesizer's schedule, without relays of gathers. Chunks that go to one NPU take all its hops.
[[nodiscard]] double scheduled_sends(const DesignPoint& point, const PointSizes& sizes);
/// Whether the synthesizer makes one NPU's schedule represent all NPUs, and the verifier checks it as such.
[[nodiscard]] bool is_symmetric(const PreparedPoint& prepared);
/// Whether the synthesizer's schedule competes with the best textbook algorithm's: not where bandwidth varies, which
/// programs do not know, and not where other things than time decide.
[[nodiscard]] bool competes_with_textbooks(const PreparedPoint& prepared);
/// The point of the best textbook algorithm in place of the point's own.
[[nodiscard]] DesignPoint as_best_textbook(DesignPoint point);
/// Whether the schedule is stored and checked by link.
[[nodiscard]] bool is_kept_by_link(const PreparedPoint& prepared);
/// Whether verify_by_size() lets one NPU's sends of a symmetric schedule stand for all. Smaller schedules are read send
/// by send.
[[nodiscard]] bool is_checked_by_orbit(const DesignPoint& point, const PointSizes& sizes, double sends);

/// Link visits of the search for each bound with a certificate. `one_for_all`: one NPU's sends stand for all. Part of
/// the physics.
[[nodiscard]] std::uint64_t bound_work(const DesignPoint& point, const PointSizes& sizes, bool one_for_all);
/// The same by the sends of the collective that are looked at. `direct`: the network has no switches.
[[nodiscard]] std::uint64_t bound_work(double sends, bool direct);

}  // namespace tenex
