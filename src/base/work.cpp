// The table of prices. The column `seconds` is printed by analysis/tenex_analysis/work_prices.py.
#include "tenex/base/work.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace tenex {
namespace {

constexpr std::string_view kFitted = "2026-11-27, one core of a 2-core x86-64 machine, -O3";

constexpr std::array<WorkPrice, kWorkUnits> kPrices = {{
    {WorkUnit::point, "point", "rest", 0.000391, 0},
    {WorkUnit::link, "link", "rest", 2.48e-7, 2e-7},
    {WorkUnit::bound_visit, "bound_visit", "rest", 4.92e-11, 0},
    {WorkUnit::certificate_visit, "certificate_visit", "rest", 4.34e-10, 0},
    {WorkUnit::hashed_send, "hashed_send", "rest", 2.84e-8, 5e-8},
    {WorkUnit::hashed_cell, "hashed_cell", "rest", 2.04e-7, 0},
    {WorkUnit::switched_hop, "switched_hop", "rest", 1.3e-7, 1e-6},
    {WorkUnit::early_bound, "early_bound", "rest", 0.001, 0},
    {WorkUnit::formula, "formula", "rest", 1.81e-5, 5e-6},
    {WorkUnit::time_split, "time_split", "rest", 1.77e-5, 0.0001},
    {WorkUnit::product_split, "product_split", "rest", 0.000286, 0.05},
    {WorkUnit::joint_send, "joint_send", "rest", 2.4e-6, 1.5e-6},
    {WorkUnit::recorded_hop, "recorded_hop", "simulation", 1.17e-7, 2e-7},
    {WorkUnit::recorded_chunk, "recorded_chunk", "simulation", 9e-9, 0},
    {WorkUnit::simulated_hop, "simulated_hop", "simulation", 3.61e-8, 1e-7},
    {WorkUnit::train_hop, "train_hop", "simulation", 1e-9, 0},
    {WorkUnit::formula_message, "formula_message", "simulation", 2e-7, 2e-7},
    {WorkUnit::joined_pair, "joined_pair", "simulation", 0.00012, 0},
    {WorkUnit::tree_place, "tree_place", "simulation", 3.87e-6, 0},
    {WorkUnit::verified_send, "verified_send", "verification", 2.62e-8, 2.5e-7},
    {WorkUnit::verified_sum, "verified_sum", "verification", 1.29e-7, 0},
    {WorkUnit::verified_chunk, "verified_chunk", "verification", 4e-8, 0},
    {WorkUnit::send_by_link, "send_by_link", "verification", 1.04e-8, 5e-9},
    {WorkUnit::send_of_period, "send_of_period", "verification", 3.71e-8, 3e-8},
    {WorkUnit::event_send, "event_send", "synthesis", 3.79e-8, 7.5e-8},
    {WorkUnit::event_send_unlike, "event_send_unlike", "synthesis", 3.07e-7, 2.25e-7},
    {WorkUnit::event_look, "event_look", "synthesis", 7e-10, 7e-10},
    {WorkUnit::event_send_kept, "event_send_kept", "synthesis", 1.2e-7, 1.2e-7},
    {WorkUnit::event_send_retimed, "event_send_retimed", "synthesis", 2.28e-7, 6e-7},
    {WorkUnit::event_send_by_levels, "event_send_by_levels", "synthesis", 1.82e-8, 1.5e-7},
    {WorkUnit::arrival_link, "arrival_link", "synthesis", 1.5e-9, 1.5e-9},
    {WorkUnit::arrival_chunk, "arrival_chunk", "synthesis", 5.19e-10, 5e-9},
    {WorkUnit::exact_delivery, "exact_delivery", "synthesis", 1.9e-7, 2e-8},
    {WorkUnit::exact_delivery_far, "exact_delivery_far", "synthesis", 2.14e-8, 3.5e-8},
    {WorkUnit::level_delivery, "level_delivery", "synthesis", 8e-8, 8e-8},
    {WorkUnit::coarse_stream, "coarse_stream", "synthesis", 6e-8, 6e-8},
    {WorkUnit::coarse_link, "coarse_link", "synthesis", 1e-6, 1e-6},
    {WorkUnit::orbit_look, "orbit_look", "weight", 0, 1e-8},
    {WorkUnit::orbit_visit, "orbit_visit", "synthesis", 1e-8, 0},
    {WorkUnit::orbit_look_unlike, "orbit_look_unlike", "synthesis", 2.42e-9, 1.2e-7},
    {WorkUnit::orbit_send, "orbit_send", "synthesis", 2e-7, 6e-8},
    {WorkUnit::layer_delivery, "layer_delivery", "synthesis", 1.1e-8, 1e-7},
    {WorkUnit::layer_candidate, "layer_candidate", "synthesis", 4.75e-10, 2e-9},
    {WorkUnit::layer_send, "layer_send", "synthesis", 1.2e-7, 1.2e-7},
    {WorkUnit::tree_send_retimed, "tree_send_retimed", "synthesis", 1.2e-7, 2.5e-8},
    {WorkUnit::reference_look, "reference_look", "synthesis", 5e-9, 5e-9},
    {WorkUnit::path_hop, "path_hop", "synthesis", 2.36e-7, 4e-7},
    {WorkUnit::path_hop_unequal, "path_hop_unequal", "synthesis", 3.42e-7, 1e-6},
    {WorkUnit::tree_visit, "tree_visit", "synthesis", 2.05e-8, 9e-8},
    {WorkUnit::tree_visit_unequal, "tree_visit_unequal", "synthesis", 6.12e-8, 2.25e-7},
    {WorkUnit::grown_visit, "grown_visit", "weight", 0, 9e-8},
    {WorkUnit::grown_visit_unequal, "grown_visit_unequal", "weight", 0, 2.25e-7},
    {WorkUnit::grown_look, "grown_look", "synthesis", 1.47e-7, 0},
    {WorkUnit::grown_look_unequal, "grown_look_unequal", "synthesis", 5.44e-8, 0},
    {WorkUnit::rerouted_send, "rerouted_send", "synthesis", 1.62e-6, 2e-6},
    {WorkUnit::balanced_hop, "balanced_hop", "synthesis", 4e-7, 5e-7},
    {WorkUnit::moved_hop, "moved_hop", "synthesis", 5.78e-8, 7e-8},
    {WorkUnit::moved_link, "moved_link", "synthesis", 2.35e-7, 2e-8},
    {WorkUnit::grid_plan, "grid_plan", "synthesis", 4.21e-5, 0.0001},
    {WorkUnit::grid_hop, "grid_hop", "synthesis", 2.58e-8, 1e-7},
    {WorkUnit::signal_send, "signal_send", "synthesis", 6e-6, 6e-6},
    {WorkUnit::packing, "packing", "synthesis", 0.000662, 0.001},
    {WorkUnit::weighed_link, "weighed_link", "synthesis", 1.5e-7, 1.5e-7},
    {WorkUnit::cut_packing_visit, "cut_packing_visit", "synthesis", 1.1e-8, 4e-8},
    {WorkUnit::played_send, "played_send", "synthesis", 3.14e-7, 6e-7},
    {WorkUnit::capped_send, "capped_send", "synthesis", 2.5e-7, 4e-7},
    {WorkUnit::justified_send, "justified_send", "synthesis", 5.28e-8, 1e-7},
    {WorkUnit::packed_send, "packed_send", "synthesis", 2.39e-7, 4e-7},
    {WorkUnit::comb_link, "comb_link", "synthesis", 6.81e-8, 1e-8},
    {WorkUnit::te_ccl_column, "te_ccl_column", "weight", 0, 0.0002},
    {WorkUnit::te_ccl_cell, "te_ccl_cell", "synthesis", 7.77e-10, 0},
    {WorkUnit::taccl_column, "taccl_column", "synthesis", 0.000596, 0.002},
    {WorkUnit::sccl_variable, "sccl_variable", "synthesis", 1e-6, 0.001},
    {WorkUnit::guessed_send, "guessed_send", "synthesis", 1e-6, 1e-6},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kWorkUnits; ++i)
    if (kPrices[i].unit != static_cast<WorkUnit>(i)) return false;
  return true;
}
static_assert(in_order(), "the table has a line for every unit, in their order");

constexpr const WorkPrice& price_of(WorkUnit unit) { return kPrices[static_cast<std::size_t>(unit)]; }

}  // namespace

std::span<const WorkPrice> work_prices() { return kPrices; }

double seconds_of(WorkUnit unit) { return price_of(unit).seconds; }

std::string_view work_prices_fitted() { return kFitted; }

void Work::add(WorkUnit unit, double count) {
  constexpr std::size_t kUsual = 10;
  if (count == 0) return;
  if (counts_.empty()) counts_.reserve(kUsual);
  auto place = counts_.end();
  while (place != counts_.begin() && std::prev(place)->unit >= unit) --place;
  if (place != counts_.end() && place->unit == unit)
    place->count += count;
  else
    counts_.insert(place, {unit, count});
}

void Work::drop(WorkUnit unit) {
  std::erase_if(counts_, [&](const Count& each) { return each.unit == unit; });
}

Work& Work::operator+=(const Work& other) {
  for (const auto& [unit, count] : other.counts_) add(unit, count);
  return *this;
}

Work& Work::operator*=(double factor) {
  for (Count& each : counts_) each.count *= factor;
  return *this;
}

double Work::count(WorkUnit unit) const {
  const auto found = std::ranges::find(counts_, unit, &Count::unit);
  return found == counts_.end() ? 0 : found->count;
}

double Work::seconds() const {
  double sum = 0;
  for (const auto& [unit, count] : counts_) sum += count * seconds_of(unit);
  return sum;
}

double Work::weight() const {
  double sum = 0;
  for (const auto& [unit, count] : counts_) sum += count * price_of(unit).weight;
  return sum;
}

}  // namespace tenex
