// Internal to pages: elements of an SVG picture. Coordinates are pixels, y down.
#pragma once

#include <string>
#include <string_view>

#include "tenex/pages/layout.hpp"

namespace tenex {

/// Colours that people with a weak colour sense tell apart (Okabe and Ito, "Color universal design", 2008), and greys.
namespace picture_colours {
inline constexpr std::string_view kInk = "#1c2127";
inline constexpr std::string_view kMuted = "#5d6772";
inline constexpr std::string_view kLine = "#cbd2d9";
inline constexpr std::string_view kFill = "#f2f4f6";
inline constexpr std::string_view kCopy = "#0072b2";
inline constexpr std::string_view kReduce = "#d55e00";
inline constexpr std::string_view kCut = "#a8487c";
inline constexpr std::string_view kWait = "#b9c2cb";
inline constexpr std::string_view kLate = "#e69f00";
}  // namespace picture_colours

/// Where text is anchored.
enum class Anchor { start, middle, end };

class SvgPicture {
 public:
  SvgPicture(double width, double height, std::string_view title);

  /// A stroke; `bend`: how far the middle is moved to the left. `dashes`: of stroke-dasharray, or empty.
  void line(Spot from, Spot to, std::string_view colour, double width, double bend = 0, std::string_view dashes = {});
  /// The head of an arrow that ends at `to`, as if it came from `from`.
  void arrow_head(Spot from, Spot to, std::string_view colour, double size);
  void circle(Spot centre, double radius, std::string_view fill, std::string_view stroke, double width = 1.1);
  void box(Spot corner, double width, double height, std::string_view fill, std::string_view stroke = "none");
  void text(Spot at, std::string_view words, Anchor anchor, double size = 12, std::string_view colour = {});
  /// Ends the picture.
  [[nodiscard]] std::string finish() &&;

 private:
  std::string text_;
};

}  // namespace tenex
