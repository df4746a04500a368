// The canonical text of a point that trains a model.
//
// As of other points: frozen defaults and what cannot change the result are left out, files are named by the digest of
// their content. The collective time decides which settings of algorithms are read: LIBRA's formulas read none, the
// simulated models read latency, chunks and occupancy, the synthesized one all that say how an algorithm is made. The
// digest of the prices is always there: they are a file, which no schema freezes.
#include <memory>

#include <fmt/core.h>

#include "design/canonical.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex {

namespace {

/// What "auto" means: the model that times the collectives, where it is one that can be minimized.
std::string_view automatic_model(const TrainingChoice& training) {
  return training.collective_time == "libra_derated" ? "libra_derated" : "libra";
}

void normalise_scheme(TrainingChoice& training, DesignPoint& point) {
  ShapeLinks& links = point.topology.links;
  if (training.scheme == "given") {
    training.optimize_with = "auto";
    training.optimize_for.clear();
    training.optimize_for_files.clear();
    training.constraints.clear();
    training.cost_budget.clear();
    if (training.split.empty()) {
      training.total_bandwidth = {};
      return;
    }
  } else {
    training.split.clear();
    if (training.optimize_with == automatic_model(training)) training.optimize_with = "auto";
  }
  links.bandwidth.clear();
  links.per_npu = false;
}

}  // namespace

TrainingReads::TrainingReads(const TrainingChoice& training)
    : synthesizes(training.collective_time == "synthesized"),
      simulates(synthesizes || training.collective_time == "pipeline" || training.collective_time == "themis") {}

void normalise_training(TrainingChoice& training, DesignPoint& point) {
  const TrainingReads reads(training);
  static const DesignPoint plain;
  normalise_scheme(training, point);
  if (!reads.synthesizes) {
    training.contention = TrainingChoice().contention;
    point.algorithm.clear();
    point.family = AlgorithmFamily::unknown;
    point.topology.unwind = 0;
  } else {
    if (point.algorithm.empty()) {
      point.algorithm = kTrainingAlgorithm;
      point.family = AlgorithmFamily::synthesizer;
    }
    reduce_unwinding(point);
  }
  if (!reads.synthesizes || point.family == AlgorithmFamily::textbook) {
    point.attempts = plain.attempts;
    point.engine = plain.engine;
  }
  if (!reads.simulates) {
    point.topology.links.alpha.clear();
    point.chunks = plain.chunks;
    point.occupancy = plain.occupancy;
  }
  point.topology.without.clear();
  point.collective = plain.collective;
  point.size = plain.size;
  point.groups = plain.groups;
  point.root = plain.root;
  point.overlap = plain.overlap;
  point.backend = plain.backend;
  point.window = plain.window;
  point.order = plain.order;
  point.stragglers.clear();
  point.simulation_engine = plain.simulation_engine;
  reduce_list(point.topology.links.alpha);
  reduce_list(point.topology.links.bandwidth);
}

std::string training_text(const DesignPoint& point) {
  static const TrainingChoice kPlain;
  const TrainingChoice& training = *point.training;
  const ShapeLinks& links = point.topology.links;
  CanonicalLines lines;
  const auto word = [&](std::string_view name, const std::string& value, const std::string& fallback) {
    if (value != fallback) lines.add(name, value);
  };
  // In the order of the names.
  if (!point.algorithm.empty() && point.algorithm != kTrainingAlgorithm) lines.add("algorithm", point.algorithm);
  if (!links.alpha.empty()) lines.add("alpha", comma_list(links.alpha));
  if (point.attempts != 1) lines.add_number("attempts", point.attempts);
  if (!links.bandwidth.empty() && !links.per_npu) lines.add("bandwidth", comma_list(links.bandwidth));
  word("batch_rule", training.batch_rule, kPlain.batch_rule);
  if (point.chunks != 1) lines.add_number("chunks", point.chunks);
  word("collective_time", training.collective_time, kPlain.collective_time);
  word("compute", training.compute, kPlain.compute);
  word("constraints", training.constraints, kPlain.constraints);
  word("contention", training.contention, kPlain.contention);
  word("cost_budget", training.cost_budget, kPlain.cost_budget);
  if (!training.cost_model.content.empty()) lines.add("cost_model", to_string(training.cost_model.content.digest()));
  word("dimension_kinds", training.dimension_kinds, kPlain.dimension_kinds);
  word("engine", point.engine, "auto");
  lines.add("hp", training.hp);
  word("in_network", training.in_network, kPlain.in_network);
  if (!links.bandwidth.empty() && links.per_npu) lines.add("npu_bandwidth", comma_list(links.bandwidth));
  if (point.occupancy != Occupancy::serialization) lines.add("occupancy", to_string(point.occupancy));
  word("optimize_for", training.optimize_for, kPlain.optimize_for);
  word("optimize_with", training.optimize_with, kPlain.optimize_with);
  lines.add_number("physics", physics_version);
  word("price_level", training.price_level, kPlain.price_level);
  word("scheme", training.scheme, kPlain.scheme);
  lines.add_number("seed", point.seed);
  word("split", training.split, kPlain.split);
  lines.add("topology", to_string(point.topology.shape));
  if (training.total_bandwidth != Bandwidth{}) lines.add_number("total_bandwidth", training.total_bandwidth.count());
  word("training_loop", training.training_loop, kPlain.training_loop);
  if (point.topology.unwind != 0) lines.add_number("unwind", point.topology.unwind);
  lines.add("workload", to_string(training.workload.content.digest()));
  return lines.take();
}

}  // namespace tenex
