// Diagnostics as people read them: the problem with its place, the reason and the remedy, each on a line of its own.
//
//   study.toml:11:1: error: unknown key "chuncks"
//     reason: no key of a [[sweep]] has this name
//     help: did you mean "chunks"?
//
// Editors find the place as they find those of compilers. Rows and logs have the one-line form of to_string() instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// Whether a message marks its words with the colours of a terminal (ANSI escapes).
enum class Colours : std::uint8_t { none, terminal };

/// Errors that are shown of many: one mistake in a table or a sweep may make thousands.
inline constexpr std::size_t kMostErrorsShown = 10;

/// The diagnostics in this form, each line ended by a newline. Absent parts have no line. Where there are more than one
/// beyond kMostErrorsShown, a last line counts those that are left out. O(length).
[[nodiscard]] std::string render(const Diagnostics& diagnostics, Colours colours = Colours::none);

/// A warning in the same form: "warning: ...", ended by a newline.
[[nodiscard]] std::string render_warning(std::string_view warning, Colours colours = Colours::none);

}  // namespace tenex
