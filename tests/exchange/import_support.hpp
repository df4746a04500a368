// Small files in the forms of other tools, written for these tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tenex/exchange/machine_import.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex::exchange_test {

/// The machine that a text becomes; fails the test with the errors where it does not.
inline Machine imported(const std::string& text, const ImportOptions& options = {}) {
  const auto made = import_machine({"dir/some.file", text}, options);
  EXPECT_TRUE(made.ok()) << to_string(made.errors());
  if (!made.ok()) return {};
  auto machine = parse_machine(made->text, "machine.toml");
  EXPECT_TRUE(machine.ok()) << to_string(machine.errors()) << made->text;
  return machine.ok() ? *std::move(machine) : Machine{};
}

inline std::string text_of_import(const std::string& text, const ImportOptions& options = {}) {
  const auto made = import_machine({"dir/some.file", text}, options);
  EXPECT_TRUE(made.ok()) << to_string(made.errors());
  return made.ok() ? made->text : std::string();
}

/// The reasons why a text is refused.
inline std::string refusal(const std::string& text, const ImportOptions& options = {}) {
  const auto made = import_machine({"some.file", text}, options);
  EXPECT_FALSE(made.ok());
  return to_string(made.errors());
}

/// A GPU of a box, with an attribute text and child elements.
inline std::string gpu(int number, const std::string& attributes, const std::string& children) {
  const auto n = std::to_string(number);
  return "<gpu dev=\"" + n + "\" rank=\"" + n + "\" " + attributes + ">" + children + "</gpu>";
}
inline std::string pci(const std::string& busid, const std::string& inside, const std::string& pci_class = "0x030200",
                       const std::string& link = "link_speed=\"16.0 GT/s PCIe\" link_width=\"16\"") {
  return "<pci busid=\"" + busid + "\" class=\"" + pci_class + "\" " + link + ">" + inside + "</pci>";
}
inline std::string cpu(int numa, const std::string& inside, const std::string& more = "") {
  return "<cpu numaid=\"" + std::to_string(numa) +
         "\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"25\" modelid=\"1\" " + more + ">" + inside + "</cpu>\n";
}
inline std::string nic(int dev, const std::string& speed, const std::string& guid, const std::string& more = "") {
  return "<nic><net name=\"net" + std::to_string(dev) + "\" dev=\"" + std::to_string(dev) + "\" speed=\"" + speed +
         "\" guid=\"" + guid + "\" " + more + "/></nic>";
}
inline std::string box(const std::string& inside, const std::string& version = "1") {
  return "<system version=\"" + version + "\">\n" + inside + "</system>\n";
}

/// Two GPUs on a switch of NVLinks, each with a NIC of 200 Gb/s behind the same bridge.
inline std::string two_gpus() {
  std::string all;
  for (int i = 0; i < 2; ++i) {
    const auto n = std::to_string(i + 1);
    all += pci("0000:0" + n + ":00.0",
               pci("0000:1" + n + ":00.0",
                   gpu(i, "sm=\"90\"", "<nvlink target=\"0000:e0:00.0\" count=\"18\" tclass=\"0x068000\"/>"),
                   "0x030200", "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"") +
                   pci("0000:2" + n + ":00.0", nic(i, "200000", "0x" + n, "latency=\"0.000\""), "0x020000",
                       "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\""),
               "0x060400", "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"");
  }
  return box(cpu(0, all));
}

}  // namespace tenex::exchange_test
