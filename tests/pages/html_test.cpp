// Texts of pages: escapes, base64 and JSON.
#include "pages/html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string_view>

#include "pages/page_files.hpp"

namespace tenex {
namespace {

std::string base64_of(std::string_view text) { return base64(std::as_bytes(std::span(text.data(), text.size()))); }

// RFC 4648, section 10.
TEST(Html, Base64IsThatOfTheRfc) {
  EXPECT_EQ(base64_of(""), "");
  EXPECT_EQ(base64_of("f"), "Zg==");
  EXPECT_EQ(base64_of("fo"), "Zm8=");
  EXPECT_EQ(base64_of("foo"), "Zm9v");
  EXPECT_EQ(base64_of("foob"), "Zm9vYg==");
  EXPECT_EQ(base64_of("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64_of("foobar"), "Zm9vYmFy");
}

TEST(Html, EscapesWhatHtmlReads) {
  EXPECT_EQ(escape_html("<script>alert('a' & \"b\")</script>"),
            "&lt;script&gt;alert(&#39;a&#39; &amp; &quot;b&quot;)&lt;/script&gt;");
}

// A script element ends at the first "</script", whatever its type: JSON of pages has no "<" at all.
TEST(Html, JsonHasNoTagsAndItsCommas) {
  JsonText json;
  json.begin_object().member("a", "</script>\n\"\\").key("b").begin_array().integer(1).real(0.5).null();
  json.begin_object().end_object().truth(true).end_array().member("c", std::int64_t{-2}).end_object();
  EXPECT_EQ(json.str(), "{\"a\":\"\\u003c/script\\u003e\\u000a\\\"\\\\\",\"b\":[1,0.5,null,{},true],\"c\":-2}");
}

// Every script and style of a page has a digest of 64 hexadecimal digits, and no inline handler.
TEST(Html, FilesHaveDigestsAndNoHandlers) {
  for (const auto& file : page_files()) {
    if (!file.name.ends_with(".html")) {
      EXPECT_EQ(page_digest(file.name).size(), 64U) << file.name;
    }
    EXPECT_THAT(file.content, testing::Not(testing::ContainsRegex(" on[a-z]+=\""))) << file.name;
    EXPECT_EQ(file.content.find("innerHTML"), std::string_view::npos) << file.name;
    EXPECT_EQ(file.content.find("http:"), std::string_view::npos) << file.name;
  }
  for (const auto& library : page_libraries()) {
    if (library.name.ends_with(".js")) {
      EXPECT_EQ(page_digest(library.name).size(), 64U) << library.name;
    }
  }
}

}  // namespace
}  // namespace tenex
