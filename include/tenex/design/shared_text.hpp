// A text that many points share: copying a point copies a pointer and not the content of a file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tenex/base/hash.hpp"

namespace tenex {

/// An immutable text with its digest, cheap to copy. Converts from a string and to a view of it. Hashing happens once,
/// at construction: O(length); everything else is O(1).
class SharedText {
 public:
  SharedText() = default;
  SharedText(std::string text) {  // NOLINT: implicit, so that it is used like a string
    const Digest digest = digest128(text);
    shared_ = std::make_shared<const Content>(Content{std::move(text), digest});
  }
  SharedText(const char* text) : SharedText(std::string(text)) {}  // NOLINT: implicit

  [[nodiscard]] std::string_view view() const { return shared_ ? std::string_view(shared_->text) : std::string_view(); }
  operator std::string_view() const { return view(); }  // NOLINT: implicit
  [[nodiscard]] bool empty() const { return view().empty(); }
  /// XXH3-128 of the text.
  [[nodiscard]] Digest digest() const { return shared_ ? shared_->digest : digest128({}); }

 private:
  struct Content {
    std::string text;
    Digest digest;
  };
  std::shared_ptr<const Content> shared_;
};

}  // namespace tenex
