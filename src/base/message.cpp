// Diagnostics line by line.
#include "tenex/base/message.hpp"

#include <fmt/core.h>

#include <span>

namespace tenex {

namespace {

/// Escapes before a label; empty without colours.
struct Paint {
  std::string_view place;
  std::string_view error;
  std::string_view warning;
  std::string_view label;
  std::string_view off;
};
constexpr Paint kNoPaint{};
constexpr Paint kTerminal{"\x1b[1m", "\x1b[1;31m", "\x1b[1;35m", "\x1b[1;36m", "\x1b[0m"};

const Paint& paint_of(Colours colours) { return colours == Colours::terminal ? kTerminal : kNoPaint; }

std::string place_text(const Place& place) {
  std::string text = place.file;
  if (place.line != 0) text += fmt::format("{}{}", text.empty() ? "" : ":", place.line);
  if (place.line != 0 && place.column != 0) text += fmt::format(":{}", place.column);
  return text;
}

}  // namespace

std::string render(const Diagnostics& diagnostics, Colours colours) {
  const Paint& paint = paint_of(colours);
  std::string text;
  // The line of the count takes as much room as one error.
  const auto shown = diagnostics.size() > kMostErrorsShown + 1 ? kMostErrorsShown : diagnostics.size();
  for (const Diagnostic& each : std::span(diagnostics).first(shown)) {
    const std::string place = place_text(each.place);
    if (!place.empty()) text += fmt::format("{}{}:{} ", paint.place, place, paint.off);
    text += fmt::format("{}error:{} {}\n", paint.error, paint.off, each.problem);
    if (!each.why.empty()) text += fmt::format("  {}reason:{} {}\n", paint.label, paint.off, each.why);
    if (!each.suggestion.empty()) text += fmt::format("  {}help:{} {}\n", paint.label, paint.off, each.suggestion);
  }
  if (shown < diagnostics.size()) text += fmt::format("... and {} more errors\n", diagnostics.size() - shown);
  return text;
}

std::string render_warning(std::string_view warning, Colours colours) {
  const Paint& paint = paint_of(colours);
  return fmt::format("{}warning:{} {}\n", paint.warning, paint.off, warning);
}

}  // namespace tenex
