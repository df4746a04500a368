// The part of a result folder that is on the disk, which power_shim.cpp keeps while processes work on the folder, and
// the folder as it is after a power failure.
//
//   inodes/<number>    every file of the folder, by inode
//   contents/<number>  its contents that are durable; no such file: none are
//   names/of <folder>  the durable names in the folder ("of .") or one of its subfolders: lines of inode and name
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/process.hpp"

namespace tenex::crash_tests {

/// Decides for each change that no fsync made durable whether it is on the disk.
class Fate {
 public:
  /// No such change is.
  static Fate worst() { return Fate(); }
  /// About half of them are.
  static Fate drawn(unsigned seed) {
    Fate fate;
    fate.draws_ = true;
    fate.random_.seed(seed);
    return fate;
  }
  bool spares() { return draws_ && draw(2) == 0; }
  /// A number below `limit`.
  std::size_t draw(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }

 private:
  bool draws_ = false;
  std::mt19937 random_;
};

class Platter {
 public:
  /// Makes the folder if it does not exist; `dir` is another path, on the same file system.
  Platter(std::filesystem::path folder, std::filesystem::path dir) : folder_(std::move(folder)), dir_(std::move(dir)) {
    std::filesystem::create_directories(folder_);
    settle();
  }
  [[nodiscard]] const std::filesystem::path& dir() const { return dir_; }

  /// Makes everything in the folder durable, as a disk does after a while.
  void settle() const {
    std::filesystem::remove_all(dir_);
    for (const char* part : {"inodes", "contents", "names"}) std::filesystem::create_directories(dir_ / part);
    settle_folder(".");
  }

  /// Replaces the folder by what the disk has when the power returns. No process may work on it.
  void lose_power(Fate fate) const {
    const auto left = dir_ / "left";
    restore_folder(".", left, fate);
    std::filesystem::remove_all(folder_);
    std::filesystem::rename(left, folder_);
    settle();
  }

 private:
  using Names = std::map<std::string, std::string>;  ///< inode by name

  static std::string number_of(const std::filesystem::path& path) {
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0 ? std::to_string(facts.st_ino) : "";
  }

  [[nodiscard]] Names names_now(const std::string& name) const {
    Names names;
    std::error_code gone;
    for (const auto& file : std::filesystem::directory_iterator(folder_ / name, gone))
      names[file.path().filename().string()] = number_of(file.path());
    return names;
  }
  [[nodiscard]] Names durable_names(const std::string& name) const {
    Names names;
    std::ifstream in(dir_ / "names" / ("of " + name));
    for (std::string number, file; in >> number >> file;) names[file] = number;
    return names;
  }

  void settle_folder(const std::string& name) const {
    std::ofstream out(dir_ / "names" / ("of " + name));
    for (const auto& [file, number] : names_now(name)) {
      out << number << ' ' << file << '\n';
      const auto path = folder_ / name / file;
      if (std::filesystem::is_directory(path)) {
        settle_folder(file);
      } else {
        std::filesystem::create_hard_link(path, dir_ / "inodes" / number);
        std::filesystem::copy_file(path, dir_ / "contents" / number);
      }
    }
  }

  void restore_folder(const std::string& name, const std::filesystem::path& into, Fate& fate) const {
    std::filesystem::create_directories(into);
    const auto now = names_now(name);
    const auto durable = durable_names(name);
    auto names = durable;
    names.insert(now.begin(), now.end());
    for (const auto& [file, number] : names) {
      const auto& chosen = same(now, durable, file) || fate.spares() ? now : durable;
      const auto entry = chosen.find(file);
      if (entry == chosen.end()) continue;
      if (std::filesystem::is_directory(folder_ / name / file))
        restore_folder(file, into / file, fate);
      else
        support::write_text(into / file, contents_of(entry->second, fate));
    }
  }
  static bool same(const Names& a, const Names& b, const std::string& file) {
    const auto x = a.find(file);
    const auto y = b.find(file);
    return x != a.end() && y != b.end() && x->second == y->second;
  }

  /// The durable contents; or all; or part of what was appended, followed by nothing or by zeros.
  [[nodiscard]] std::string contents_of(const std::string& number, Fate& fate) const {
    const auto now = support::read_text(dir_ / "inodes" / number);
    const auto durable = support::read_text(dir_ / "contents" / number);
    if (now == durable || fate.spares()) return now;
    if (!now.starts_with(durable) || !fate.spares()) return durable;
    auto torn = now.substr(0, durable.size() + fate.draw(now.size() - durable.size()));
    if (fate.spares()) torn.resize(now.size(), '\0');
    return torn;
  }

  std::filesystem::path folder_;
  std::filesystem::path dir_;
};

}  // namespace tenex::crash_tests
