// The parser of constraints: recursive descent over one line of text, every part a LinearForm.
#include "tenex/codesign/constraint.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "codesign/decimal.hpp"
#include "codesign/linear_form.hpp"
#include "tenex/base/units.hpp"

namespace tenex {
namespace {

using codesign::LinearForm;
using Kind = LinearForm::Kind;

constexpr WideInt kGiga = 1'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string_view describe(Kind kind) {
  return kind == Kind::number ? "a plain number" : kind == Kind::bandwidth ? "a bandwidth" : "an amount of money";
}

/// The row of `less <= more` (or `=`), reduced; errors at `place`.
Result<LinearConstraint> as_row(const LinearForm& less, const LinearForm& more, Relation relation, std::string text,
                                const Place& place) {
  LinearForm difference = less;
  difference.add(more, -1);
  const auto too_long = [&] {
    return input_error(place, fmt::format("the numbers of \"{}\" are too long", text), "a coefficient has 58 bits");
  };
  if (difference.overflow) return too_long();
  WideInt common = 0;
  for (const auto coefficient : difference.coefficients) common = codesign::common_divisor(coefficient, common);
  if (common == 0) {
    return input_error(place, fmt::format("\"{}\" says nothing about a bandwidth", text),
                       "no B1, B2, ... with a coefficient other than 0 is left");
  }
  // The denominator is positive, so it can be left out. What whole bandwidths can reach is rounded down.
  LinearConstraint row{{}, relation, -difference.constant, std::move(text), place};
  if (relation == Relation::at_most || row.bound % common == 0) {
    const WideInt quotient = row.bound / common;
    row.bound = quotient * common > row.bound ? quotient - 1 : quotient;
  } else {
    common = codesign::common_divisor(common, row.bound);
    row.bound /= common;
  }
  for (const auto coefficient : difference.coefficients) {
    const WideInt reduced = coefficient / common;
    if (codesign::magnitude(reduced) > kLargestCoefficient) return too_long();
    row.coefficients.push_back(static_cast<std::int64_t>(reduced));
  }
  return row;
}

class Parser {
 public:
  Parser(std::string_view text, const ConstraintWords& words, const Place& place)
      : text_(text), words_(words), place_(place) {}

  Result<std::vector<LinearConstraint>> run() {
    std::vector<LinearConstraint> rows;
    skip_spaces();
    std::size_t begin = at_;
    auto left = sum();
    if (!left) return left.errors();
    do {
      const auto comparator = take_comparator();
      if (!comparator) return comparator.errors();
      skip_spaces();
      const std::size_t right_begin = at_;
      auto right = sum();
      if (!right) return right.errors();
      const std::string part(text_.substr(begin, end_ - begin));
      if (left->kind != right->kind) return mixed(right_begin, *left, *right);
      const bool less = *comparator == '<' || *comparator == '=';
      auto row = as_row(less ? *left : *right, less ? *right : *left,
                        *comparator == '=' ? Relation::equal : Relation::at_most, part, place_at(begin));
      if (!row) return row.errors();
      rows.push_back(*std::move(row));
      left = std::move(right);
      begin = right_begin;
    } while (skip_spaces(), at_ < text_.size());
    return rows;
  }

 private:
  /// Columns count characters: continuation bytes of UTF-8 do not.
  [[nodiscard]] Place place_at(std::size_t offset) const {
    Place place = place_;
    const auto before = text_.substr(0, offset);
    const auto characters = std::count_if(before.begin(), before.end(),
                                          [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    place.column = std::max(place.column, 1U) + static_cast<std::uint32_t>(characters);
    return place;
  }

  [[nodiscard]] Diagnostic fail(std::size_t offset, std::string problem, std::string why = {},
                                std::string suggestion = {}) const {
    return input_error(place_at(offset), std::move(problem), std::move(why), std::move(suggestion));
  }

  [[nodiscard]] Diagnostic mixed(std::size_t offset, const LinearForm& left, const LinearForm& right) const {
    return fail(offset, fmt::format("{} meets {}", describe(left.kind), describe(right.kind)),
                "both sides of a sum or comparison are of one kind",
                right.kind == Kind::number || left.kind == Kind::number ? "a quantity has a unit: write 25GB/s" : "");
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  [[nodiscard]] char next() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  /// '<', '>' or '=' for <=, >= and =.
  Result<char> take_comparator() {
    const char first = next();
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view wrong : {"==", "!=", "=<", "=>", "<>"}) {
      if (!rest.starts_with(wrong)) continue;
      const std::string_view right = wrong == "==" ? "=" : wrong == "=<" ? "<=" : wrong == "=>" ? ">=" : "";
      return fail(at_, fmt::format("unknown operator \"{}\"", wrong),
                  "a constraint compares with =, <= or >=", right.empty() ? "" : fmt::format("write \"{}\"", right));
    }
    if (rest.starts_with("<=") || rest.starts_with(">=")) return end_ = at_ += 2, first;
    if (first == '=') return end_ = ++at_, first;
    if (first == '<' || first == '>') {
      return fail(at_, fmt::format("\"{}\" leaves its limit out", first), "a best split may lie on the limit itself",
                  fmt::format("write \"{}=\"", first));
    }
    if (first == '\0') return fail(end_, "a comparison is missing", "a constraint compares with =, <= or >=");
    return fail(at_, fmt::format("unexpected \"{}\"", character()), "an operator (+ - * = <= >=) belongs here");
  }

  /// The whole character at the reading position.
  [[nodiscard]] std::string_view character() const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80U) ++end;
    return text_.substr(at_, end - at_);
  }

  Result<LinearForm> sum() {
    const bool negative = next() == '-';
    if (negative) ++at_;
    auto total = product();
    if (!total) return total;
    if (negative) total->scale(-1, 1);
    for (char sign = next(); sign == '+' || sign == '-'; sign = next()) {
      end_ = ++at_;
      skip_spaces();
      const std::size_t begin = at_;
      const auto part = product();
      if (!part) return part;
      if (part->kind != total->kind) return mixed(begin, *total, *part);
      total->add(*part, sign == '+' ? 1 : -1);
    }
    return total;
  }

  Result<LinearForm> product() {
    auto left = factor();
    if (!left) return left;
    while (next() == '*') {
      const std::size_t star = at_++;
      auto right = factor();
      if (!right) return right;
      if (left->kind != Kind::number && right->kind != Kind::number)
        return fail(star, "a product of two quantities", "constraints are linear: one factor is a plain number");
      if (left->kind != Kind::number) std::swap(*left, *right);
      right->scale(left->constant, left->denominator);
      right->overflow = right->overflow || left->overflow;
      left = std::move(right);
    }
    return left;
  }

  Result<LinearForm> factor() {
    const char first = next();
    if (first == '(') return parenthesis();
    if (first == '$') return money();
    if (is_digit(first)) return quantity();
    if (is_letter(first)) return word();
    const std::string_view why = "a bandwidth, B1, B2, ..., total, cost or a number belongs here";
    if (first == '\0') return fail(end_, "the constraint ends too early", std::string(why));
    return fail(at_, fmt::format("unexpected \"{}\"", character()), std::string(why));
  }

  Result<LinearForm> parenthesis() {
    const std::size_t open = at_++;
    if (++depth_ > kMostParentheses) return fail(open, "too many parentheses", "they nest at most 50 deep");
    auto inner = sum();
    if (!inner) return inner;
    if (next() != ')') return fail(open, "a parenthesis is not closed");
    end_ = ++at_;
    --depth_;
    return inner;
  }

  /// Digits and what follows them without a space.
  Result<LinearForm> quantity() {
    const std::size_t begin = at_;
    const auto digit_or_comma = [&](std::size_t at) {
      const bool thousands = text_[at] == ',' && at + 1 < text_.size() && is_digit(text_[at + 1]);
      return is_digit(text_[at]) || text_[at] == '.' || thousands;
    };
    while (at_ < text_.size() && digit_or_comma(at_)) ++at_;
    const std::size_t unit = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '/')) ++at_;
    end_ = at_;
    const std::string_view token = text_.substr(begin, at_ - begin);
    if (token.ends_with("USD")) return as_money(token, begin);
    if (unit == at_) {
      const auto decimal = codesign::read_decimal(token);
      if (!decimal) return fail(begin, fmt::format("\"{}\" is not a number", token), "digits on both sides of a point");
      return LinearForm::value(Kind::number, words_.dimensions, decimal->numerator, decimal->denominator);
    }
    const auto bandwidth = parse_bandwidth(token, place_at(begin));
    if (!bandwidth) return bandwidth.errors();
    return LinearForm::value(Kind::bandwidth, words_.dimensions, bandwidth->count(), 1);
  }

  Result<LinearForm> money() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.' || text_[at_] == ',')) ++at_;
    end_ = at_;
    return as_money(text_.substr(begin, at_ - begin), begin);
  }

  Result<LinearForm> as_money(std::string_view token, std::size_t begin) {
    const auto amount = parse_money(token, place_at(begin));
    if (!amount) return amount.errors();
    return LinearForm::value(Kind::money, words_.dimensions, amount->count(), 1);
  }

  Result<LinearForm> word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    end_ = at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name == "cost") return cost(begin);
    LinearForm form = LinearForm::value(Kind::bandwidth, words_.dimensions, 0, 1);
    if (name == "total") {
      std::fill(form.coefficients.begin(), form.coefficients.end(), 1);
      return form;
    }
    const auto dimension = dimension_of(name);
    if (!dimension) return unknown(name, begin);
    form.coefficients[*dimension] = 1;
    return form;
  }

  [[nodiscard]] std::optional<std::size_t> dimension_of(std::string_view name) const {
    std::size_t dimension = 0;
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), dimension);
    const bool read = name.front() == 'B' && error == std::errc() && end == name.data() + name.size();
    if (!read || dimension < 1 || dimension > words_.dimensions) return std::nullopt;
    return dimension - 1;
  }

  [[nodiscard]] Diagnostic unknown(std::string_view name, std::size_t begin) const {
    const bool spelled = name.size() > 1 && (name.front() == 'B' || name.front() == 'b') &&
                         std::all_of(name.begin() + 1, name.end(), is_digit);
    const std::string words = words_.dimensions == 1 ? "B1" : fmt::format("B1 to B{}", words_.dimensions);
    if (spelled && name.front() == 'b')
      return fail(begin, fmt::format("unknown word \"{}\"", name), {}, fmt::format("write \"B{}\"", name.substr(1)));
    if (spelled)
      return fail(begin, fmt::format("dimension \"{}\" does not exist", name),
                  fmt::format("the network has {}", words));
    const auto near = nearest_spelling(name, {"total", "cost"});
    return fail(begin, fmt::format("unknown word \"{}\"", name),
                fmt::format("a constraint knows {}, total and cost", words),
                near.empty() ? std::string() : fmt::format("did you mean \"{}\"?", near));
  }

  Result<LinearForm> cost(std::size_t begin) {
    if (words_.rates == nullptr)
      return fail(begin, "\"cost\" without a cost model", "nothing says what bandwidth costs", "name a cost model");
    LinearForm form = LinearForm::value(Kind::money, words_.dimensions, 0, kGiga);
    for (std::size_t i = 0; i < words_.dimensions; ++i)
      form.coefficients[i] = words_.rates->per_gigabyte_per_second[i].count();
    return form;
  }

  static constexpr int kMostParentheses = 50;
  std::string_view text_;
  const ConstraintWords& words_;
  const Place& place_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;  ///< behind the last token read
  int depth_ = 0;
};

}  // namespace

bool LinearConstraint::holds(std::span<const Bandwidth> bandwidth) const {
  WideInt sum = 0;
  for (std::size_t i = 0; i < coefficients.size(); ++i)
    sum += static_cast<WideInt>(coefficients[i]) * bandwidth[i].count();
  return relation == Relation::equal ? sum == bound : sum <= bound;
}

Result<std::vector<LinearConstraint>> parse_constraint(std::string_view text, const ConstraintWords& words,
                                                       const Place& place) {
  return Parser(text, words, place).run();
}

LinearConstraint total_bandwidth_is(std::size_t dimensions, Bandwidth total) {
  return {std::vector<std::int64_t>(dimensions, 1),
          Relation::equal,
          total.count(),
          fmt::format("total = {}", to_string(total)),
          {}};
}

LinearConstraint cost_at_most(const CostRates& rates, Money budget) {
  LinearConstraint row{{},
                       Relation::at_most,
                       static_cast<WideInt>(budget.count()) * kGiga,
                       fmt::format("cost <= {}", to_string(budget)),
                       {}};
  for (const auto rate : rates.per_gigabyte_per_second) row.coefficients.push_back(rate.count());
  return row;
}

}  // namespace tenex
