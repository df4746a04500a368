// Pictures as PNG, drawn by Chromium where it is installed.
#pragma once

#include <filesystem>
#include <string_view>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// Writes an SVG, whose width and height stand in its first element in pixels, as PNG of twice as many. Chromium is
/// looked for on PATH (chromium, chromium-browser, google-chrome), and runs without a network. Errors (environment): it
/// is not there, or draws nothing; what write_file_atomically() says.
[[nodiscard]] Status write_png(std::string_view svg, const std::filesystem::path& path);

}  // namespace tenex
