// Axes from arrays and range tables.
//
// A range is generated in the integers that its key counts (bytes, picoseconds, bytes per second, plain numbers), from
// `from` by `factor` or `step` until `to`, which it must meet exactly. A range that would stop short is refused with
// the two values around its end: silently leaving out the largest point would be the worst error of a study.
#include "design/sweep.hpp"

#include <functional>
#include <optional>

#include <fmt/core.h>

#include "tenex/base/units.hpp"
#include "tenex/spec/table_reader.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostValues = 1'000'000;

/// How the ranges of a key read an end and make an element.
struct Domain {
  std::function<Result<std::int64_t>(const Node&, std::string_view)> read;  ///< `from`, `to` and `step`
  std::function<std::string(std::int64_t)> print;
  std::function<Result<SharedValue>(std::int64_t, const Place&)> make;
};

/// An element of a range of quantities, as if its text had been written at the range's place.
Result<SharedValue> from_text(Key key, std::string_view name, const std::string& text, const Place& place,
                              ValueContext& context) {
  return parse_value(key, name, Node::make_string(place, text, place), context);
}

template <class T, class Read>
Domain quantity_domain(Key key, const std::string& name, ValueContext& context, const Read& read) {
  return {[read](const Node& node, std::string_view what) -> Result<std::int64_t> {
            const Result<T> quantity = read(node, what);
            if (!quantity) return quantity.errors();
            return quantity->count();
          },
          [](std::int64_t count) { return to_string(T::of(count)); },
          [key, &name, &context](std::int64_t count, const Place& place) {
            return from_text(key, name, to_string(T::of(count)), place, context);
          }};
}

std::optional<Domain> domain_of(Key key, const std::string& name, ValueContext& context) {
  switch (setting_of(key).counts) {
    case Counts::bytes:
      return quantity_domain<Bytes>(key, name, context, as_bytes);
    case Counts::time:
      return quantity_domain<SimTime>(key, name, context, as_time);
    case Counts::bandwidth:
      return quantity_domain<Bandwidth>(key, name, context, as_bandwidth);
    case Counts::numbers:
      return Domain{as_integer, [](std::int64_t count) { return fmt::format("{}", count); },
                    [key, &name, &context](std::int64_t count, const Place& place) {
                      return parse_value(key, name, Node::make_integer(place, count), context);
                    }};
    case Counts::nothing:
      break;
  }
  return std::nullopt;
}

/// The ends and the step of a range, checked.
struct Range {
  std::int64_t from = 0;
  std::int64_t to = 0;
  bool multiplies = false;
  std::int64_t pace = 1;  ///< factor or step
};

std::optional<Range> read_range(const std::string& name, const Node& node, const Domain& domain, Diagnostics& errors) {
  TableReader reader(node, fmt::format("the range {}", name), {"from", "to", "factor", "step"});
  const auto read = [&](std::string_view key, const auto& read_node) -> std::optional<std::int64_t> {
    const Node* found = reader.find(key);
    if (found == nullptr) return std::nullopt;
    const Result<std::int64_t> value = read_node(*found, fmt::format("{}.{}", name, key));
    if (!value) reader.fail(value.errors());
    return value ? std::optional(*value) : std::nullopt;
  };
  reader.require("from");
  reader.require("to");
  const auto from = read("from", domain.read);
  const auto to = read("to", domain.read);
  const Node* factor = reader.find("factor");
  const Node* step = reader.find("step");
  if ((factor == nullptr) == (step == nullptr)) {
    reader.fail(input_error(node.place(),
                            fmt::format("the range {} has {}", name, factor ? "a factor and a step" : "no pace"),
                            "a range grows by a factor or by a step", "give one of \"factor\" and \"step\""));
  }
  const auto pace = factor != nullptr ? read("factor", as_integer) : read("step", domain.read);
  if (pace && *pace < (factor != nullptr ? 2 : 1)) {
    reader.fail(input_error((factor != nullptr ? factor : step)->place(),
                            fmt::format("the range {} does not grow", name),
                            factor != nullptr ? "a factor is at least 2" : "a step is positive"));
  }
  if (from && to && *from > *to) {
    reader.fail(input_error(node.place(), fmt::format("the range {} runs backwards", name),
                            fmt::format("from {} is more than to {}", domain.print(*from), domain.print(*to))));
  }
  if (factor != nullptr && from && *from <= 0) {
    reader.fail(input_error(reader.find("from")->place(), fmt::format("the range {} cannot grow from 0", name),
                            "0 times a factor is 0", "start higher, or give a step"));
  }
  if (reader.failed()) {
    append(errors, reader.take_errors());
    return std::nullopt;
  }
  return Range{*from, *to, factor != nullptr, *pace};
}

/// The value after `at`, or nullopt beyond the range of integers.
std::optional<std::int64_t> next(const Range& range, std::int64_t at) {
  std::int64_t after = 0;
  const bool overflow = range.multiplies ? __builtin_mul_overflow(at, range.pace, &after)
                                         : __builtin_add_overflow(at, range.pace, &after);
  return overflow ? std::nullopt : std::optional(after);
}

Diagnostic misses_end(const std::string& name, const Node& node, const Domain& domain, std::int64_t to,
                      std::int64_t before, std::optional<std::int64_t> after) {
  const Node* end = node.find("to");
  const std::string around = after ? fmt::format("{} is followed by {}", domain.print(before), domain.print(*after))
                                   : fmt::format("{} is the last", domain.print(before));
  return input_error(end->place(), fmt::format("the range {} does not hit its end {}", name, domain.print(to)), around,
                     after ? fmt::format("end it at {} or {}", domain.print(before), domain.print(*after))
                           : fmt::format("end it at {}", domain.print(before)));
}

AxisColumn expand(const std::string& name, const Node& node, const Domain& domain, const Range& range,
                  Diagnostics& errors) {
  AxisColumn column;
  std::optional<std::int64_t> at = range.from;
  std::int64_t before = range.from;
  for (; at && *at <= range.to; at = next(range, *at)) {
    if (column.size() == kMostValues) {
      errors.push_back(input_error(node.place(), fmt::format("the range {} is too long", name),
                                   fmt::format("an axis has at most {} values", kMostValues)));
      return {};
    }
    Result<SharedValue> value = domain.make(*at, node.place());
    if (!value) {  // outside the key's own bounds: following elements would only repeat the error
      append(errors, value.errors());
      return {};
    }
    column.push_back(*std::move(value));
    before = *at;
  }
  if (before != range.to) {
    errors.push_back(misses_end(name, node, domain, range.to, before, at));
    return {};
  }
  return column;
}

}  // namespace

AxisColumn read_axis(Key key, const std::string& name, const Node& node, ValueContext& context, Diagnostics& errors) {
  if (node.is(NodeKind::array)) {
    if (node.items().empty()) {
      errors.push_back(input_error(node.place(), fmt::format("{} has no values", name), "an axis has at least one",
                                   "remove the key, or list its values"));
    }
    AxisColumn column;
    for (const Node& item : node.items()) {
      Result<std::vector<SharedValue>> values = parse_item(key, item, context);
      if (!values) {
        append(errors, values.errors());
        column.push_back(nullptr);
      } else {
        column.insert(column.end(), values->begin(), values->end());
      }
    }
    return column;
  }
  const auto domain = domain_of(key, name, context);
  if (!node.is(NodeKind::table) || !domain) {
    errors.push_back(
        input_error(node.place(), fmt::format("{} is {}", name, describe(node.kind())),
                    domain ? "an axis is an array of values, or a range { from, to, factor } or { from, to, step }"
                           : "this axis is an array of values",
                    fmt::format("for one value write {} = ...", name_of(key))));
    return {};
  }
  const auto range = read_range(name, node, *domain, errors);
  return range ? expand(name, node, *domain, *range, errors) : AxisColumn();
}

}  // namespace tenex
