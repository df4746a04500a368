// The contents of a result folder's journals, read from their text and not with the store's own reader.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace tenex::crash_tests {

/// The words of the whole lines of a journal, without their sums. A torn line is recognised by its sum, which is
/// shorter, or ends in the zeros that a power loss leaves.
inline std::vector<std::vector<std::string>> journal_lines(const std::filesystem::path& journal) {
  constexpr std::size_t sum_digits = 16;
  std::vector<std::vector<std::string>> lines;
  std::istringstream text(support::read_text(journal));
  for (std::string line; std::getline(text, line);) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.size() < 2 || words.back().size() != sum_digits || line.find('\0') != std::string::npos) continue;
    words.pop_back();
    if (words[0] == "commit" && words.size() != 5) continue;
    lines.push_back(std::move(words));
  }
  return lines;
}

/// The contents of all journals of a folder.
struct JournalTally {
  std::size_t rows_committed = 0;           ///< by every `commit` line; joined shards commit nothing new
  std::map<std::string, std::size_t> live;  ///< shards that count, with their rows
  /// By incarnation: keys of the points that were begun, and (incarnation, rank) of the journals.
  std::map<unsigned, std::multiset<std::string>> begun;
  std::set<std::pair<unsigned, unsigned>> writers;
};

inline JournalTally tally(const std::filesystem::path& out) {
  JournalTally sums;
  std::error_code none_yet;
  for (const auto& journal : std::filesystem::directory_iterator(out / "journal", none_yet)) {
    const auto name = journal.path().filename().string();  // "3-0.log": incarnation and rank
    const auto incarnation = static_cast<unsigned>(std::stoul(name));
    sums.writers.insert({incarnation, static_cast<unsigned>(std::stoul(name.substr(name.find('-') + 1)))});
    for (const auto& words : journal_lines(journal.path())) {
      if (words[0] == "start") sums.begun[incarnation].insert(words[1]);
      if (words[0] != "commit" && words[0] != "replaces") continue;
      const auto rows = std::stoul(words[2]);
      if (words[0] == "commit") sums.rows_committed += rows;
      sums.live[words[1]] = rows;
      for (std::size_t old = 5; old < words.size(); ++old) sums.live.erase(words[old]);
    }
  }
  return sums;
}

}  // namespace tenex::crash_tests
