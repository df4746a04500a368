// Reads [search] and checks which of its keys go together.
#include "design/search_section.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/core.h>

#include "design/keys.hpp"
#include "design/setting_value.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex {

namespace {

constexpr std::int64_t kLargestPart = 1'000'000;
const std::vector<std::string_view> kSearchKeys{"objective", "rounds", "keep", "pareto", "per"};
const std::vector<std::string_view> kFidelities{"bound", "coarse"};

/// One pass over the table.
class SearchReader {
 public:
  SearchReader(const Node& node, const Vocabulary& vocabulary, Diagnostics& errors)
      : node_(node), vocabulary_(vocabulary), errors_(errors) {
    for (const ObjectiveName& each : vocabulary.objectives) metrics_.push_back(each.metric);
  }

  SearchText read() {
    if (!node_.is(NodeKind::table)) {
      errors_.push_back(input_error(node_.place(), fmt::format("\"search\" is {}", describe(node_.kind())),
                                    "a table belongs here", "write [search]"));
      return {};
    }
    for (const Entry& entry : node_.entries()) {
      if (std::find(kSearchKeys.begin(), kSearchKeys.end(), entry.key) == kSearchKeys.end())
        errors_.push_back(refuse_key(entry.key_place, entry.key, "[search]", kSearchKeys));
    }
    read_halving();
    if (const Node* pareto = node_.find("pareto")) read_pareto(*pareto);
    if (const Node* per = node_.find("per")) read_per(*per);
    return {std::move(search_), std::move(asked_), std::move(front_)};
  }

 private:
  /// Calls `read` with a text, or with every text of an array; returns the number of texts.
  template <class Read>
  std::size_t each_text(const Node& node, std::string_view name, const Read& read) {
    const auto one = [&](const Node& item) {
      if (const Result<std::string> text = as_string(item, name)) return read(item, *text);
      append(errors_, as_string(item, name).errors());
    };
    if (!node.is(NodeKind::array)) {
      one(node);
      return 1;
    }
    for (const Node& item : node.items()) one(item);
    return node.items().size();
  }

  std::optional<Objective> read_objective(const Node& node, const std::string& text, bool early) {
    std::string_view metric = text;
    const std::size_t blank = metric.find(' ');
    const std::string_view direction = blank == std::string_view::npos ? std::string_view() : metric.substr(0, blank);
    if (!direction.empty() && direction != "minimize" && direction != "maximize") {
      errors_.push_back(input_error(node.text_place(), fmt::format("\"{}\" is no objective", shortened(text)),
                                    "an objective is a metric, with minimize or maximize before it",
                                    "write for instance \"minimize training_time_ps\""));
      return std::nullopt;
    }
    if (!direction.empty()) metric.remove_prefix(std::min(metric.find_first_not_of(' ', blank), metric.size()));
    const auto known = std::find_if(vocabulary_.objectives.begin(), vocabulary_.objectives.end(),
                                    [&](const ObjectiveName& each) { return each.is_named(metric); });
    if (known == vocabulary_.objectives.end()) {
      errors_.push_back(input_error(node.text_place(), fmt::format("no metric is named \"{}\"", shortened(metric)),
                                    "objectives are numbers that every run computes alike",
                                    did_you_mean(metric, metrics_)));
      return std::nullopt;
    }
    const ObjectiveName& name = *known;
    if (early && !name.early) {
      errors_.push_back(input_error(node.text_place(), fmt::format("points cannot be pruned by \"{}\"", metric),
                                    "no cheap model gives it",
                                    fmt::format("objectives of rounds are {}", early_names())));
      return std::nullopt;
    }
    asked_.push_back({name, node.text_place(), early});
    return Objective{std::string(name.metric), direction.empty() ? name.maximize : direction == "maximize",
                     std::string(name.former)};
  }

  [[nodiscard]] std::string early_names() const {
    std::vector<std::string_view> names;
    for (const ObjectiveName& each : vocabulary_.objectives) {
      if (each.early) names.push_back(each.metric);
    }
    return join(names);
  }

  void read_halving() {
    const Node* objective = node_.find("objective");
    if (objective == nullptr) {
      for (const std::string_view key : {"rounds", "keep"}) {
        if (const Entry* entry = node_.find_entry(key))
          errors_.push_back(input_error(entry->key_place, fmt::format("\"{}\" without \"objective\"", key),
                                        "it says how points are pruned by an objective",
                                        "write for instance objective = \"minimize training_time_ps\""));
      }
      return;
    }
    const std::size_t before = errors_.size();
    (void)each_text(*objective, "objective", [&](const Node& item, const std::string& text) {
      if (auto read = read_objective(item, text, true)) search_.objective = *std::move(read);
    });
    if (objective->is(NodeKind::array))
      errors_.push_back(input_error(objective->place(), "\"objective\" is an array", "points are pruned by one",
                                    "several make a front: pareto = [...]"));
    std::vector<HalvingRound> rounds = read_rounds();
    read_parts(rounds);
    if (errors_.size() == before) search_.rounds = std::move(rounds);
  }

  std::vector<HalvingRound> read_rounds() {
    const Node* node = node_.find("rounds");
    if (node == nullptr) return {{Fidelity::coarse}};
    std::vector<HalvingRound> rounds;
    const std::size_t count = each_text(*node, "rounds", [&](const Node& item, const std::string& text) {
      const auto known = std::find(kFidelities.begin(), kFidelities.end(), text);
      if (known == kFidelities.end()) {
        errors_.push_back(input_error(item.text_place(), fmt::format("unknown round \"{}\"", shortened(text)),
                                      fmt::format("rounds value points by {}", join(kFidelities)),
                                      did_you_mean(text, kFidelities)));
        return;
      }
      const auto fidelity = static_cast<Fidelity>(known - kFidelities.begin());
      if (!rounds.empty() && rounds.back().fidelity >= fidelity) {
        errors_.push_back(input_error(item.text_place(), fmt::format("the round \"{}\" comes too late", text),
                                      "each round values points better than the one before",
                                      "write rounds = [\"bound\", \"coarse\"], or one of them"));
        return;
      }
      rounds.push_back({fidelity});
    });
    if (count == 0)
      errors_.push_back(input_error(node->place(), "\"rounds\" has no values", "pruning takes at least one round",
                                    "remove \"objective\" to evaluate all points"));
    return rounds;
  }

  void read_parts(std::vector<HalvingRound>& rounds) {
    const Node* node = node_.find("keep");
    if (node == nullptr) return;
    std::vector<HalvingRound> parts;
    const std::size_t before = errors_.size();
    (void)each_text(*node, "keep", [&](const Node& item, const std::string& text) { read_part(item, text, parts); });
    if (errors_.size() != before || rounds.empty()) return;
    if (node->is(NodeKind::array) && parts.size() != rounds.size()) {
      errors_.push_back(input_error(node->place(), fmt::format("\"keep\" has {} values", parts.size()),
                                    fmt::format("the number of rounds is {}", rounds.size()),
                                    "give one for each, or one for all"));
      return;
    }
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      const HalvingRound& part = parts[parts.size() == 1 ? 0 : i];
      rounds[i].numerator = part.numerator;
      rounds[i].denominator = part.denominator;
    }
  }

  void read_part(const Node& node, const std::string& text, std::vector<HalvingRound>& parts) {
    HalvingRound part;
    const char* const end = text.data() + text.size();
    const auto above = std::from_chars(text.data(), end, part.numerator);
    const bool has_line = above.ec == std::errc() && above.ptr != end && *above.ptr == '/';
    const auto below = has_line ? std::from_chars(above.ptr + 1, end, part.denominator) : above;
    const bool whole = has_line && below.ec == std::errc() && below.ptr == end;
    if (whole && part.numerator > 0 && part.numerator < part.denominator && part.denominator <= kLargestPart) {
      parts.push_back(part);
      return;
    }
    errors_.push_back(input_error(node.text_place(), fmt::format("\"{}\" is no part of the points", shortened(text)),
                                  "a round keeps a part between 0 and 1", "write for instance keep = \"1/4\""));
  }

  void read_pareto(const Node& node) {
    front_ = node.place();
    const std::size_t before = errors_.size();
    const std::size_t count = each_text(node, "pareto", [&](const Node& item, const std::string& text) {
      const auto objective = read_objective(item, text, false);
      if (!objective) return;
      const bool again = std::any_of(search_.pareto.begin(), search_.pareto.end(),
                                     [&](const Objective& each) { return each.metric == objective->metric; });
      if (again)
        errors_.push_back(input_error(item.text_place(), fmt::format("\"{}\" is given twice", objective->metric),
                                      "a front has each objective once", "remove one"));
      search_.pareto.push_back(*objective);
    });
    if (count < 2 && errors_.size() == before)
      errors_.push_back(input_error(node.place(),
                                    fmt::format("\"pareto\" has {}", count == 0 ? "no values" : "one value"),
                                    "a front is between two objectives or more",
                                    "write for instance pareto = [\"training_time_ps\", \"network_cost_usd\"]"));
  }

  void read_per(const Node& node) {
    std::vector<std::string_view> names;
    for (const SettingColumn& setting : setting_columns()) names.push_back(setting.name);
    (void)each_text(node, "per", [&](const Node& item, const std::string& text) {
      const SettingColumn* column = find_setting_column(text);
      if (column == nullptr) {
        errors_.push_back(input_error(item.text_place(), fmt::format("no setting is named \"{}\"", shortened(text)),
                                      "points that agree in the settings of \"per\" are compared",
                                      did_you_mean(text, names)));
        return;
      }
      search_.per.emplace_back(column->name);
    });
  }

  const Node& node_;
  const Vocabulary& vocabulary_;
  Diagnostics& errors_;
  std::vector<std::string_view> metrics_;
  SearchChoice search_;
  std::vector<AskedObjective> asked_;
  Place front_;
};

}  // namespace

SearchText read_search(const Node& node, const Vocabulary& vocabulary, Diagnostics& errors) {
  return SearchReader(node, vocabulary, errors).read();
}

std::string to_string(const Objective& objective) {
  return fmt::format("{} {}", objective.maximize ? "maximize" : "minimize", objective.metric);
}

std::string_view to_string(Fidelity fidelity) { return kFidelities[static_cast<std::size_t>(fidelity)]; }

std::string pruning_text(const SearchChoice& search) {
  if (!search.prunes()) return {};
  std::string text = to_string({search.objective.first_name(), search.objective.maximize});
  for (const HalvingRound& round : search.rounds)
    text += fmt::format("; {} {}/{}", to_string(round.fidelity), round.numerator, round.denominator);
  for (const std::string& name : search.per) {
    const SettingColumn* column = find_setting_column(name);
    ensure(column != nullptr, "points are compared per an unknown setting");
    text += fmt::format("; per {}", column->former.empty() ? column->name : column->former);
  }
  return text;
}

std::string competition_of(const SearchChoice& search, const DesignPoint& point) {
  std::string text;
  for (const std::string& name : search.per) {
    const SettingCell cell = setting_cell(point, name);
    if (const auto* integer = std::get_if<std::int64_t>(&cell))
      text += fmt::format("{}\n", *integer);
    else if (const auto* real = std::get_if<double>(&cell))
      text += fmt::format("{}\n", *real);
    else  // a list as the point states it: one quantity may stand for any number of dimensions
      text += text_setting(point, name) + '\n';
  }
  return text;
}

std::string search_stamp(const Study& study) { return fmt::format("(search {:016x})", study.digest.low); }

}  // namespace tenex
