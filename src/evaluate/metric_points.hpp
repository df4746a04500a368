// Internal to evaluate: the points that the entries of tenex/schedule/metrics.inc name: those whose rows may have a
// metric (MetricColumn::owners), and those whose reports print it (MetricColumn::reported).
#pragma once

#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/execution/algorithm_table.hpp"

namespace tenex {

inline constexpr MetricOwners kTraining{[](const DesignPoint& point) { return point.trains(); },
                                        "points that train a model"};
inline constexpr MetricOwners kCollectives{[](const DesignPoint& point) { return !point.trains(); },
                                           "points that run a collective"};
inline constexpr MetricOwners kAllReduces{
    [](const DesignPoint& point) { return !point.trains() && point.collective().kind == CollectiveKind::all_reduce; },
    "points that run an All-Reduce"};
inline constexpr MetricOwners kTryingSeveral{[](const DesignPoint& point) {
                                               return !point.trains() &&
                                                      (tries_all(point) || point.family == AlgorithmFamily::any);
                                             },
                                             "points with algorithm \"auto\" or \"best\""};
inline constexpr MetricOwners kChoosingChunks{
    [](const DesignPoint& point) { return !point.trains() && point.chunks == kAutomaticChunks; },
    "points with chunks = \"auto\""};
inline constexpr MetricOwners kWithIdeal{[](const DesignPoint& point) {
                                           return !point.trains() &&
                                                  point.collective().kind != CollectiveKind::all_to_all &&
                                                  !has_root(point.collective().kind);
                                         },
                                         "points that run an All-Gather, Reduce-Scatter or All-Reduce"};
inline constexpr MetricOwners kBounded{[](const DesignPoint& point) {
                                         return point.trains() ||
                                                point.collective().backend != Backend::congestion_unaware;
                                       },
                                       "points that train or whose backend is \"congestion_aware\""};
inline constexpr MetricOwners kChoosingBandwidth{
    [](const DesignPoint& point) { return point.trains() && point.training().scheme; },
    "points that train with a scheme other than \"given\""};

// The reports that have a metric whether or not it has a value.
inline bool in_every_report(const DesignPoint& /*point*/, bool /*has_value*/) { return true; }
inline bool in_no_report(const DesignPoint& /*point*/, bool /*has_value*/) { return false; }
inline bool of_collectives(const DesignPoint& point, bool /*has_value*/) { return kCollectives.may_have(point); }
inline bool of_all_reduces(const DesignPoint& point, bool /*has_value*/) { return kAllReduces.may_have(point); }
inline bool of_training(const DesignPoint& point, bool /*has_value*/) { return kTraining.may_have(point); }
inline bool of_faulty_networks(const DesignPoint& point, bool /*has_value*/) {
  return !point.trains() && !point.topology.faults.empty();
}

}  // namespace tenex
