#include "pages/html.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "pages/page_files.hpp"

namespace tenex {
namespace {

unsigned digit_of(char letter) { return static_cast<unsigned>(letter <= '9' ? letter - '0' : letter - 'a' + 10); }

/// 'sha256-...', as a content security policy names a script or a style.
std::string source_of(std::string_view name) {
  const auto digits = page_digest(name);
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(16 * digit_of(digits[i]) + digit_of(digits[i + 1])));
  return " 'sha256-" + base64(bytes) + "'";
}

std::string data_element(std::string_view id, std::string_view type, std::string_view text) {
  return fmt::format("<script id=\"{}\" type=\"{}\">{}</script>\n", id, type, text);
}

bool is_script(const BuiltinFile& file) { return file.name.ends_with(".js"); }

}  // namespace

std::string_view page_file(std::string_view name) {
  const auto found = find_builtin(page_files(), name);
  ensure(found.has_value(), "a page names files of src/pages/web");
  return *found;
}

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char letter : text) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8U | (i + k < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? kLetters[group >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

void JsonText::separate() {
  if (!first_) text_ += ',';
  first_ = false;
}

JsonText& JsonText::open(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
  return *this;
}

JsonText& JsonText::close(char bracket) {
  text_ += bracket;
  first_ = false;
  return *this;
}

void JsonText::quote(std::string_view value) {
  text_ += '"';
  for (const char letter : value) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\')
      text_ += '\\', text_ += letter;
    else if (code < 0x20 || letter == '<' || letter == '>' || letter == '&')
      text_ += fmt::format("\\u{:04x}", code);
    else
      text_ += letter;
  }
  text_ += '"';
}

JsonText& JsonText::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ':';
  first_ = true;
  return *this;
}

JsonText& JsonText::text(std::string_view value) {
  separate();
  quote(value);
  return *this;
}

JsonText& JsonText::integer(std::int64_t value) {
  separate();
  text_ += std::to_string(value);
  return *this;
}

JsonText& JsonText::real(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text_.append(digits.data(), end);
  return *this;
}

JsonText& JsonText::truth(bool value) {
  separate();
  text_ += value ? "true" : "false";
  return *this;
}

JsonText& JsonText::null() {
  separate();
  text_ += "null";
  return *this;
}

void ColumnPack::append(std::string_view name, std::string_view type, std::span<const std::byte> bytes,
                        std::size_t width) {
  bytes_.resize((bytes_.size() + 7) / 8 * 8);  // typed arrays begin at multiples of their width
  columns_.push_back({std::string(name), type, bytes_.size(), bytes.size() / width});
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void ColumnPack::describe(JsonText& json, std::string_view name) const {
  json.key(name).begin_array();
  for (const auto& column : columns_)
    json.begin_object()
        .member("name", column.name)
        .member("type", column.type)
        .member("offset", static_cast<std::int64_t>(column.offset))
        .member("count", static_cast<std::int64_t>(column.count))
        .end_object();
  json.end_array();
}

std::string ColumnPack::packed() const {
  auto length = compressBound(bytes_.size());
  std::vector<std::byte> out(length);
  const int done = compress2(reinterpret_cast<Bytef*>(out.data()), &length,
                             reinterpret_cast<const Bytef*>(bytes_.data()), bytes_.size(), Z_DEFAULT_COMPRESSION);
  ensure(done == Z_OK, "there is room for what is compressed");
  return base64(std::span(out).first(length));
}

Result<std::string> page_of(const PageParts& parts) {
  if (page_libraries().empty())
    return environment_error("this tenex writes no HTML", "it was built without the scripts of d3",
                             "install node-d3 (Debian), and build it again; --svg needs none of it");
  std::string policy = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; script-src";
  std::string scripts;
  std::string_view licences;
  const auto add_script = [&](std::string_view name, std::string_view text) {
    policy += source_of(name);
    scripts += fmt::format("<script>{}</script>\n", text);
  };
  for (const auto& library : page_libraries()) {
    if (is_script(library)) add_script(library.name, library.content);
    if (library.name == "licences.txt") licences = library.content;
  }
  for (const auto name : parts.scripts) add_script(name, page_file(name));
  policy += "; style-src" + source_of("style.css");
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", escape_html(policy));
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  page += "<meta name=\"color-scheme\" content=\"light dark\">\n";
  page += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n", escape_html(parts.title),
                      page_file("style.css"));
  page += page_file(parts.skeleton);
  page += data_element("data", "application/json", parts.data);
  if (!parts.columns.empty()) page += data_element("columns", "text/plain", parts.columns);
  page += fmt::format("<footer><details><summary>Libraries in this page</summary><pre>{}</pre></details></footer>\n",
                      escape_html(licences));
  page += scripts;
  page += "</body>\n</html>\n";
  return page;
}

}  // namespace tenex
