// Studies, folders and JSON values for tests that watch runs through the binary.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace tenex::testing {

inline support::Finished tenex(std::vector<std::string> words) {
  words.insert(words.begin(), TENEX_BINARY);
  return support::run({words, {}, {}});
}

/// A study with ring All-Gathers of these sizes on 4 NPUs.
inline std::string rings(const std::string& sizes) {
  return "schema = 1\nname = \"rings\"\n[[sweep]]\ntopology = \"RI(4)\"\nalpha = \"1us\"\nbandwidth = \"1GB/s\"\n"
         "collective = \"all_gather\"\nalgorithm = \"ring\"\naxes.size = " +
         sizes + "\n";
}

/// One point that takes minutes, as estimated.
inline const std::string endless =
    "[[sweep]]\ntopology = \"mesh(60,60)\"\nalpha = \"1us\"\nbandwidth = \"1GB/s\"\ncollective = \"all_gather\"\n"
    "algorithm = \"tacos\"\nsize = \"1GiB\"\nattempts = 500\n";

/// The number after a name in JSON.
inline double number_of(const std::string& json, const std::string& name) {
  const auto at = json.find("\"" + name + "\":");
  return at == std::string::npos ? -999 : std::strtod(json.c_str() + at + name.size() + 3, nullptr);
}

/// The first text after a name in JSON.
inline std::string text_of(const std::string& json, const std::string& name) {
  const auto at = json.find("\"" + name + "\":\"");
  if (at == std::string::npos) return "(none)";
  const auto begin = at + name.size() + 4;
  return json.substr(begin, json.find('"', begin) - begin);
}

class Seeing : public ::testing::Test {
 protected:
  std::string study(const std::string& text, const char* name = "study.toml") {
    support::write_text(folder_.path() / name, text);
    return (folder_.path() / name).string();
  }
  std::string out(const char* name = "out") { return (folder_.path() / name).string(); }
  /// Runs a study of two rings to its end.
  void run_rings() {
    const auto ran = tenex({"run", study(rings("[\"1KiB\", \"1MiB\"]")), "--out", out(), "--threads", "1"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
  }
  support::TemporaryFolder folder_;
};

}  // namespace tenex::testing
