#include "pages/svg.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "pages/html.hpp"

namespace tenex {

SvgPicture::SvgPicture(double width, double height, std::string_view title)
    : text_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                        "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" font-family=\"DejaVu Sans, Arial, sans-serif\">\n"
                        "<title>{2}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
                        width, height, escape_html(title))) {}

void SvgPicture::line(Spot from, Spot to, std::string_view colour, double width, double bend, std::string_view dashes) {
  const double length = std::max(std::hypot(to.x - from.x, to.y - from.y), 1e-9);
  const Spot control{(from.x + to.x) / 2 + (to.y - from.y) / length * 2 * bend,
                     (from.y + to.y) / 2 - (to.x - from.x) / length * 2 * bend};
  text_ += bend == 0 ? fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"", from.x, from.y, to.x, to.y)
                     : fmt::format("<path d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\"", from.x, from.y, control.x,
                                   control.y, to.x, to.y);
  text_ += fmt::format(" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.2g}\"", colour, width);
  if (!dashes.empty()) text_ += fmt::format(" stroke-dasharray=\"{}\"", dashes);
  text_ += "/>\n";
}

void SvgPicture::arrow_head(Spot from, Spot to, std::string_view colour, double size) {
  const double length = std::max(std::hypot(to.x - from.x, to.y - from.y), 1e-9);
  const Spot along{(to.x - from.x) / length * size, (to.y - from.y) / length * size};
  text_ += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\" fill=\"{}\"/>\n", to.x, to.y,
                       to.x - along.x - along.y * 0.45, to.y - along.y + along.x * 0.45,
                       to.x - along.x + along.y * 0.45, to.y - along.y - along.x * 0.45, colour);
}

void SvgPicture::circle(Spot centre, double radius, std::string_view fill, std::string_view stroke, double width) {
  text_ += fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"{:.2g}\"/>\n",
      centre.x, centre.y, radius, fill, stroke, width);
}

void SvgPicture::box(Spot corner, double width, double height, std::string_view fill, std::string_view stroke) {
  text_ +=
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" stroke=\"{}\"/>\n",
                  corner.x, corner.y, width, height, fill, stroke);
}

void SvgPicture::text(Spot at, std::string_view words, Anchor anchor, double size, std::string_view colour) {
  const std::string_view names[] = {"start", "middle", "end"};
  text_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{:.2g}\" fill=\"{}\">{}</text>\n",
                  at.x, at.y, names[static_cast<std::size_t>(anchor)], size,
                  colour.empty() ? picture_colours::kInk : colour, escape_html(words));
}

std::string SvgPicture::finish() && { return std::move(text_) + "</svg>\n"; }

}  // namespace tenex
