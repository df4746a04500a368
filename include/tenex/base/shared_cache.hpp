// A bounded map of shared immutable values. A lost race computes twice and stores once.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "tenex/base/contract.hpp"

namespace tenex {

/// Least-recently-used map from text to a shared immutable value, bounded by the bytes that values say they take.
template <class Value>
class SharedCache {
 public:
  explicit SharedCache(std::size_t limit_bytes) : limit_(limit_bytes) {}

  /// The value of `key`, made by `make()` (outside the lock) when absent; `bytes_of(value)` is what it counts.
  template <class Make, class BytesOf>
  std::shared_ptr<const Value> get(const std::string& key, Make&& make, BytesOf&& bytes_of) {
    if (auto found = find(key)) return found;
    auto made = std::make_shared<const Value>(make());
    insert(key, made, bytes_of(*made) + key.size());
    return made;
  }

  /// The value of `key`; null when absent.
  std::shared_ptr<const Value> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->value;
  }

  /// Keeps a value that counts `bytes`, unless there is one of that key or it exceeds the limit by itself. Expects: a
  /// value. Ensures: what is kept counts no more than the limit.
  void insert(const std::string& key, std::shared_ptr<const Value> value, std::size_t bytes) {
    TENEX_EXPECTS(value != nullptr, "a value");
    const std::lock_guard lock(mutex_);
    if (bytes > limit_ || index_.contains(key)) return;
    entries_.push_front({key, std::move(value), bytes});
    index_[key] = entries_.begin();
    used_ += bytes;
    while (used_ > limit_) {
      used_ -= entries_.back().bytes;
      index_.erase(entries_.back().key);
      entries_.pop_back();
    }
    TENEX_ENSURES(used_ <= limit_ && index_.size() == entries_.size(), "what is kept counts no more than the limit");
  }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Value> value;
    std::size_t bytes = 0;
  };

  std::mutex mutex_;
  std::list<Entry> entries_;
  std::unordered_map<std::string, typename std::list<Entry>::iterator> index_;
  std::size_t limit_;
  std::size_t used_ = 0;
};

}  // namespace tenex
