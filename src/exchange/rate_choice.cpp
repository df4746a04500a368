#include "exchange/rate_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"

namespace tenex::exchange {
namespace {

/// "KIND=VALUE" or "VALUE"; kinds hold no "=".
std::pair<std::string, std::string> split(const std::string& words) {
  const auto equals = words.find('=');
  if (equals == std::string::npos) return {"", words};
  return {words.substr(0, equals), words.substr(equals + 1)};
}

}  // namespace

RateChoice::RateChoice(const ImportOptions& options, std::string file) : file_(std::move(file)) {
  for (const auto& words : options.bandwidths) {
    auto [kind, value] = split(words);
    const auto rate = parse_bandwidth(value, {"--bandwidth", 0, 0});
    if (!rate)
      append(errors_, rate.errors());
    else
      bandwidths_.push_back({std::move(kind), *rate, "--bandwidth " + words});
  }
  for (const auto& words : options.alphas) {
    auto [kind, value] = split(words);
    const auto time = parse_time(value, {"--alpha", 0, 0});
    if (!time)
      append(errors_, time.errors());
    else
      alphas_.push_back({std::move(kind), *time, "--alpha " + words});
  }
}

template <class Number>
Sourced<Number> RateChoice::choose(const std::vector<Given<Number>>& given, std::string_view option,
                                   std::string_view kind, std::optional<Sourced<Number>> known, std::string_view why,
                                   std::string_view example) {
  kinds_.emplace(kind);
  const Given<Number>* for_all = nullptr;
  for (const auto& each : given) {
    if (each.kind == kind) return {each.value, "option " + each.words};
    if (each.kind.empty()) for_all = &each;
  }
  if (known) return *std::move(known);
  if (for_all != nullptr) return {for_all->value, "option " + for_all->words};
  ask(fmt::format("the {} of \"{}\" links is missing", option, kind), std::string(why),
      fmt::format("give --{} {}={}, or --{} {} for all that is missing", option, kind, example, option, example));
  return {Number::of(1), "missing"};
}

Sourced<Bandwidth> RateChoice::bandwidth(std::string_view kind, std::optional<Sourced<Bandwidth>> known,
                                         std::string_view why) {
  return choose(bandwidths_, "bandwidth", kind, std::move(known), why, "50GB/s");
}

Sourced<SimTime> RateChoice::alpha(std::string_view kind, std::optional<Sourced<SimTime>> known, std::string_view why) {
  return choose(alphas_, "alpha", kind, std::move(known), why, "1us");
}

void RateChoice::ask(std::string problem, std::string why, std::string suggestion) {
  if (asked_.insert(problem).second)
    errors_.push_back(input_error({file_, 0, 0}, std::move(problem), std::move(why), std::move(suggestion)));
}

bool RateChoice::has_bandwidth(std::string_view kind) const {
  return std::ranges::any_of(bandwidths_, [&](const auto& each) { return each.kind.empty() || each.kind == kind; });
}

Diagnostics RateChoice::errors() const {
  Diagnostics errors = errors_;
  const std::vector<std::string_view> known(kinds_.begin(), kinds_.end());
  const auto check = [&](const std::string& kind, const char* option) {
    if (!kind.empty() && !kinds_.contains(kind))
      errors.push_back(unknown_word(kind, "kind of link", known, {option, 0, 0}));
  };
  for (const auto& each : bandwidths_) check(each.kind, "--bandwidth");
  for (const auto& each : alphas_) check(each.kind, "--alpha");
  return errors;
}

}  // namespace tenex::exchange
