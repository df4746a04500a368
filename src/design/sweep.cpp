// Reads sweeps and defaults.
//
// Inside a sweep a key may be given once: plainly, under `axes` or under `zip`. Axes vary in the order in which they
// are written. `zip` is one axis, at the place of its first key. The study's list of seeds varies slower than all of
// them.
#include "design/sweep.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace tenex {

namespace {

constexpr std::int64_t kMostDrawn = 10'000'000;  // as many points as a study may have
constexpr std::string_view kBandwidthRule = "bandwidth is per link, npu_bandwidth per NPU and dimension";

/// The keys of point settings and these.
std::vector<std::string_view> with_keys(std::vector<std::string_view> more) {
  more.insert(more.end(), key_names().begin(), key_names().end());
  return more;
}

/// The other one of the two bandwidths.
std::optional<Key> rival_of(Key key) {
  if (key == Key::bandwidth) return Key::npu_bandwidth;
  if (key == Key::npu_bandwidth) return Key::bandwidth;
  return std::nullopt;
}

/// The keys that a sweep gives, with their places; refuses a key that is given twice.
class GivenKeys {
 public:
  /// False (and an error) if the key or its rival is given already.
  bool add(Key key, const Entry& entry, const std::string& shown, Diagnostics& errors) {
    const std::optional<Key> rival = rival_of(key);
    const std::optional<Place>& before = places_[index_of(key)];
    if (before) {
      errors.push_back(input_error(
          entry.key_place, fmt::format("\"{}\" is given twice", shown),
          fmt::format("\"{}\" stands at {}:{} already", shown_[index_of(key)], before->line, before->column),
          "keep one of them"));
      return false;
    }
    if (rival && places_[index_of(*rival)]) {
      errors.push_back(input_error(entry.key_place, "\"bandwidth\" and \"npu_bandwidth\" exclude each other",
                                   std::string(kBandwidthRule), "keep one of them"));
      return false;
    }
    places_[index_of(key)] = entry.key_place;
    shown_[index_of(key)] = shown;
    return true;
  }
  [[nodiscard]] bool has(Key key) const { return places_[index_of(key)].has_value(); }
  [[nodiscard]] const GivenPlaces& places() const { return places_; }

 private:
  GivenPlaces places_;
  PerKey<std::string> shown_;
};

/// One pass over one [[sweep]].
class SweepReader {
 public:
  SweepReader(ValueContext& context, Diagnostics& errors) : context_(context), errors_(errors) {}

  Sweep read(const Node& node, std::size_t number, const Defaults& defaults) {
    sweep_.place = node.place();
    sweep_.name = fmt::format("sweep {}", number);
    sweep_.title = fmt::format("{}", number);
    if (!node.is(NodeKind::table)) {
      errors_.push_back(input_error(node.place(), fmt::format("\"sweep\" holds {}", describe(node.kind())),
                                    "sweeps are tables", "write [[sweep]]"));
      sweep_.usable = false;
      return std::move(sweep_);
    }
    for (const Entry& entry : node.entries()) read_entry(entry);
    order_axes();
    merge(defaults);
    require_keys();
    check_training_sweep(sweep_, given_.places(), context_, errors_);
    guarded([&] { spread_elements(sweep_, errors_); });
    draw(defaults);
    return std::move(sweep_);
  }

 private:
  /// Runs `read`; if that adds errors the sweep is not usable.
  template <class Read>
  void guarded(const Read& read) {
    const std::size_t before = errors_.size();
    read();
    if (errors_.size() != before) sweep_.usable = false;
  }

  void read_entry(const Entry& entry) {
    if (entry.key == "name") {
      const Result<std::string> name = as_string(entry.value, "name");
      if (name) sweep_.name = fmt::format("sweep \"{}\"", *name);
      if (name) sweep_.title = *name;
      if (!name) append(errors_, name.errors());
    } else if (entry.key == "axes" || entry.key == "zip") {
      read_axes(entry);
    } else if (entry.key == "keep") {
      guarded([&] { read_keep(entry.value); });
    } else if (entry.key == "sampler" || entry.key == "points") {
      guarded([&] { read_sampling(entry); });
    } else if (const auto key = find_key(entry.key)) {
      read_fixed(*key, entry);
    } else {
      errors_.push_back(refuse_key(entry.key_place, entry.key, "a [[sweep]]",
                                   with_keys({"name", "axes", "zip", "keep", "sampler", "points"})));
    }
  }

  void read_sampling(const Entry& entry) {
    if (entry.key == "points") {
      points_place_ = entry.key_place;
      const Result<std::int64_t> points = as_integer(entry.value, "points");
      if (!points) return append(errors_, points.errors());
      points_ = *points;
      if (*points >= 1 && *points <= kMostDrawn) return;
      errors_.push_back(input_error(entry.value.place(), fmt::format("\"points\" is {}", *points),
                                    fmt::format("a sampler draws from 1 to {} rows", kMostDrawn)));
      return;
    }
    sampler_place_ = entry.key_place;
    const Result<std::string> name = as_string(entry.value, "sampler");
    if (!name) return append(errors_, name.errors());
    sampler_ = find_sampler(*name);
    if (sampler_) return;
    errors_.push_back(unknown_word(*name, "sampler", sampler_names(), entry.value.text_place()));
  }

  /// Draws rows. Call when the axes are complete.
  void draw(const Defaults& defaults) {
    const bool draws = sampler_ && *sampler_ != Sampler::grid;
    if (points_place_ && !draws && (sampler_ || !sampler_place_)) {
      errors_.push_back(input_error(*points_place_, "\"points\" without a sampler",
                                    "a sweep without one has all rows of its axes",
                                    "write for instance sampler = \"sobol\", or remove it"));
    } else if (draws && !points_place_) {
      errors_.push_back(input_error(*sampler_place_, "\"sampler\" without \"points\"",
                                    "it says how many rows are drawn", "write for instance points = 100"));
    } else if (draws && sweep_.usable) {
      std::vector<std::size_t> lengths;
      for (const Axis& axis : sweep_.axes) lengths.push_back(axis.length());
      if (grid_rows(lengths)) {
        sweep_.drawn = draw_rows(*sampler_, lengths, static_cast<std::size_t>(*points_), seed_of(defaults));
        return;
      }
      errors_.push_back(input_error(*sampler_place_, fmt::format("the axes of {} make too many rows", sweep_.name),
                                    fmt::format("rows are drawn from at most {}", kMostGridRows), "shorten some axes"));
    } else {
      return;
    }
    sweep_.usable = false;
  }

  /// The study's seed, the first if there are several.
  static std::uint64_t seed_of(const Defaults& defaults) {
    const SharedValue value =
        defaults.seed ? defaults.seed->columns.front().front() : defaults.fixed[index_of(Key::seed)];
    return value == nullptr ? 1 : static_cast<std::uint64_t>(value->as<std::int64_t>());
  }

  void read_fixed(Key key, const Entry& entry) {
    if (!given_.add(key, entry, entry.key, errors_)) return;
    guarded([&] {
      if (entry.value.is(NodeKind::table)) {
        errors_.push_back(input_error(entry.value.place(), fmt::format("\"{}\" is a table", entry.key),
                                      "one value belongs here",
                                      fmt::format("write axes.{} = {{ ... }} for a range", entry.key)));
        return;
      }
      Result<SharedValue> value = parse_value(key, entry.key, entry.value, context_);
      if (!value) append(errors_, value.errors());
      if (value) sweep_.fixed[index_of(key)] = *std::move(value);
    });
  }

  void read_axes(const Entry& entry) {
    if (!entry.value.is(NodeKind::table)) {
      errors_.push_back(
          input_error(entry.value.place(), fmt::format("\"{}\" is {}", entry.key, describe(entry.value.kind())),
                      "a table of axes belongs here", fmt::format("write {}.size = [\"1KiB\", \"1MiB\"]", entry.key)));
      sweep_.usable = false;
      return;
    }
    for (const Entry& axis : entry.value.entries()) read_axis_entry(entry.key, axis);
  }

  void read_axis_entry(const std::string& table, const Entry& entry) {
    const std::string shown = fmt::format("{}.{}", table, entry.key);
    const auto key = find_key(entry.key);
    if (!key) {
      errors_.push_back(refuse_key(entry.key_place, entry.key, fmt::format("\"{}\"", table), key_names()));
      return;
    }
    if (!given_.add(*key, entry, shown, errors_)) return;
    AxisColumn column = read_axis(*key, shown, entry.value, context_, errors_);
    if (column.empty()) {
      sweep_.usable = false;
    } else if (table == "zip") {
      add_to_zip(*key, shown, entry, std::move(column));
    } else {
      placed_.push_back({entry.key_place, {{*key}, {std::move(column)}}});
    }
  }

  void add_to_zip(Key key, const std::string& shown, const Entry& entry, AxisColumn column) {
    if (!zip_) {
      zip_ = placed_.size();
      zip_name_ = shown;
      placed_.push_back({entry.key_place, {}});
    } else if (const std::size_t length = placed_[*zip_].axis.length(); length != column.size()) {
      errors_.push_back(input_error(entry.value.place(), fmt::format("{} has {} values", shown, column.size()),
                                    fmt::format("keys of zip advance together and {} has {}", zip_name_, length),
                                    "give them equally many"));
      sweep_.usable = false;
      return;
    }
    placed_[*zip_].axis.keys.push_back(key);
    placed_[*zip_].axis.columns.push_back(std::move(column));
  }

  void read_keep(const Node& node) {
    sweep_.keep_place = node.place();
    const auto read_one = [&](const Node& one) {
      if (auto condition = read_condition(one, "keep", errors_)) sweep_.keep.push_back(*std::move(condition));
    };
    if (node.is(NodeKind::array)) {
      for (const Node& item : node.items()) read_one(item);
    } else {
      read_one(node);
    }
  }

  /// Sorts axes by their places: `axes` and `zip` are tables of their own, but their keys may alternate in the text.
  void order_axes() {
    std::stable_sort(placed_.begin(), placed_.end(), [](const PlacedAxis& a, const PlacedAxis& b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    for (PlacedAxis& placed : placed_) sweep_.axes.push_back(std::move(placed.axis));
  }

  /// Defaults serve sweeps of collectives and of workloads; a sweep of one kind ignores defaults for the other.
  void merge(const Defaults& defaults) {
    sweep_.trains =
        given_.has(Key::workload) || (defaults.given[index_of(Key::workload)] && !given_.has(Key::collective));
    for (std::size_t i = 0; i < kKeyCount; ++i) {
      const Key key = static_cast<Key>(i);
      const std::optional<Key> rival = rival_of(key);
      const bool overridden = given_.has(key) || (rival && given_.has(*rival)) || yields(key, defaults);
      const bool of_other_kind = sweep_.trains ? setting_of(key).read_by == ReadBy::collectives : is_training(key);
      if (overridden || of_other_kind || !defaults.given[i]) continue;
      if (key == Key::seed && defaults.seed) {
        sweep_.axes.insert(sweep_.axes.begin(), *defaults.seed);
        continue;
      }
      sweep_.fixed[i] = defaults.fixed[i];
      if (!defaults.fixed[i]) sweep_.usable = false;  // its error is reported at its own place
    }
    defaults_ = &defaults;
  }

  /// Whether a default gives way to another key that states bandwidths.
  [[nodiscard]] bool yields(Key key, const Defaults& defaults) const {
    const bool states = given_.has(Key::bandwidth) || given_.has(Key::npu_bandwidth);
    if (sweep_.trains) return key == Key::split && states;
    // Defaults may have bandwidths for collectives and a total for workloads.
    const bool has_total = given_.has(Key::total_bandwidth);
    const bool stated_by_default =
        defaults.given[index_of(Key::bandwidth)] || defaults.given[index_of(Key::npu_bandwidth)];
    if (key == Key::bandwidth || key == Key::npu_bandwidth) return has_total;
    if (key == Key::total_bandwidth) return states || stated_by_default;
    if (key == Key::split)
      return !has_total && (states || stated_by_default || !defaults.given[index_of(Key::total_bandwidth)]);
    return false;
  }

  void require_keys() {
    std::vector<Key> required = sweep_.trains ? std::vector{Key::topology, Key::hp}
                                              : std::vector{Key::topology, Key::collective, Key::size, Key::algorithm};
    if (may_lack_size(sweep_)) std::erase(required, Key::size);
    for (const Key key : required) {
      if (given_.has(key) || defaults_->given[index_of(key)]) continue;
      errors_.push_back(input_error(sweep_.place, fmt::format("{} has no \"{}\"", sweep_.name, name_of(key)),
                                    key == Key::hp ? "every workload needs one" : "every point needs one",
                                    "give it here or in [defaults]"));
      sweep_.usable = false;
    }
  }

  struct PlacedAxis {
    Place place;
    Axis axis;
  };

  ValueContext& context_;
  Diagnostics& errors_;
  Sweep sweep_;
  GivenKeys given_;
  std::vector<PlacedAxis> placed_;
  std::optional<std::size_t> zip_;  ///< index in placed_
  std::string zip_name_;
  const Defaults* defaults_ = nullptr;
  std::optional<Sampler> sampler_;
  std::optional<std::int64_t> points_;  ///< number of points to draw
  std::optional<Place> sampler_place_;
  std::optional<Place> points_place_;
};

}  // namespace

std::optional<std::string> warn_of_held_links(const Sweep& sweep) {
  bool cuts_through = false;
  bool else_too = false;
  for_each_value(sweep, Key::forwarding, [&](const SharedValue& value) {
    const bool cuts = value != nullptr && value->as<SwitchForwarding>() == SwitchForwarding::cut_through;
    (cuts ? cuts_through : else_too) = true;
  });
  std::string tiers;
  for_each_value(sweep, Key::topology, [&](const SharedValue& value) {
    if (tiers.empty() && value != nullptr && value->as<TopologyValue>().joins_switches) tiers = value->text;
  });
  if (!cuts_through || else_too || tiers.empty()) return std::nullopt;
  return to_string(input_error(
      sweep.place, fmt::format("the switches of {} in {} cut through several tiers", tiers, sweep.name),
      "a send holds every link of its path until it has passed, so that messages wait for one another; real switches "
      "have buffers",
      "take forwarding = \"virtual_cut_through\" there, or compare both"));
}

bool may_lack_size(const Sweep& sweep) {
  const auto& collective = sweep.fixed[index_of(Key::collective)];
  if (sweep.trains || collective == nullptr) return false;
  const auto kind = collective->as<CollectiveKind>();
  return kind == CollectiveKind::mixed || kind == CollectiveKind::conditions;
}

const std::vector<std::string_view>& expression_names() {
  static const std::vector<std::string_view> names = with_keys({"npus"});
  return names;
}

std::optional<Expression> read_condition(const Node& node, std::string_view name, Diagnostics& errors) {
  if (!node.is(NodeKind::string)) {
    errors.push_back(
        input_error(node.place(), fmt::format("\"{}\" is {}", name, describe(node.kind())),
                    name == "keep" ? "a condition or an array of conditions belongs here" : "a condition belongs here",
                    fmt::format("write for instance {} = \"size >= 1MiB\"", name)));
    return std::nullopt;
  }
  Result<Expression> condition = parse_expression(node.text(), node.text_place());
  if (!condition) {
    append(errors, condition.errors());
    return std::nullopt;
  }
  const Status names = check_names(*condition, expression_names());
  if (!names) {
    append(errors, names.errors());
    return std::nullopt;
  }
  return *std::move(condition);
}

void read_default(const Entry& entry, Defaults& defaults, ValueContext& context, Diagnostics& errors) {
  const auto key = find_key(entry.key);
  ensure(key.has_value(), "read_default: not a key");
  const std::size_t slot = index_of(*key);
  const std::optional<Key> rival = rival_of(*key);
  if (defaults.given[slot]) {
    errors.push_back(
        input_error(entry.key_place, fmt::format("\"{}\" is given twice", entry.key),
                    fmt::format("it stands at {}:{} already", defaults.given[slot]->line, defaults.given[slot]->column),
                    "keep one of them"));
    return;
  }
  if (rival && defaults.given[index_of(*rival)]) {
    errors.push_back(input_error(entry.key_place, "\"bandwidth\" and \"npu_bandwidth\" exclude each other",
                                 std::string(kBandwidthRule), "keep one of them"));
    return;
  }
  defaults.given[slot] = entry.key_place;
  Result<SharedValue> value = parse_value(*key, entry.key, entry.value, context);
  if (!value) append(errors, value.errors());
  if (value) defaults.fixed[slot] = *std::move(value);
}

void read_defaults(const Node& node, Defaults& defaults, ValueContext& context, Diagnostics& errors) {
  if (!node.is(NodeKind::table)) {
    errors.push_back(input_error(node.place(), fmt::format("\"defaults\" is {}", describe(node.kind())),
                                 "a table belongs here", "write [defaults]"));
    return;
  }
  for (const Entry& entry : node.entries()) {
    if (entry.key == "axes" || entry.key == "zip" || entry.key == "keep") {
      errors.push_back(input_error(entry.key_place, fmt::format("\"{}\" in [defaults]", entry.key),
                                   "defaults hold one value per key", "move it to a [[sweep]]"));
    } else if (find_key(entry.key)) {
      read_default(entry, defaults, context, errors);
    } else {
      errors.push_back(refuse_key(entry.key_place, entry.key, "[defaults]", key_names()));
    }
  }
}

Sweep read_sweep(const Node& node, std::size_t number, const Defaults& defaults, ValueContext& context,
                 Diagnostics& errors) {
  return SweepReader(context, errors).read(node, number, defaults);
}

}  // namespace tenex
