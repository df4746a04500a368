// The keys of the switches: how they forward, what they can do, and what may wait in them.
#include <fmt/core.h>

#include "design/settings/entry.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

using namespace entry;  // NOLINT: this file is entries

constexpr std::string_view kTrainingSwitches =
    "the switches of a training step neither copy nor reduce, and buffer all";
constexpr auto forwarding = [](auto& point) -> auto& { return point.point.topology.switches.forwarding; };
constexpr auto switch_copy = [](auto& point) -> auto& { return point.point.topology.switches.copy; };
constexpr auto switch_reduce = [](auto& point) -> auto& { return point.point.topology.switches.reduce; };
constexpr auto switch_buffer = [](auto& point) -> auto& { return point.point.topology.switches.buffer; };

Result<SettingValue> parse_switch_buffer(const Setting&, std::string_view name, const Node& node, ValueContext&) {
  const std::string& text = node.text();
  SwitchBuffer buffer;
  if (text == to_string(SwitchBuffer{kUnlimitedBuffer})) {
    buffer.chunks = kUnlimitedBuffer;
  } else if (text != to_string(SwitchBuffer{})) {
    buffer.chunks = read_number<std::uint32_t>(text);
    if (!buffer.chunks || buffer.chunks == kUnlimitedBuffer)
      return input_error(node.text_place(), fmt::format("\"{}\" is \"{}\"", name, shortened(text)),
                         "it is a number of chunks, \"unlimited\" or \"as_built\"", "write for instance \"4\"");
  }
  SettingValue value = value_at(node);
  value.text = to_string(buffer);
  value.expression = value.text;
  value.data = buffer;
  return value;
}

/// Whether the point may have switches. Those of machine files are not known here.
bool has_switches(const PointView& view) {
  const TopologyChoice& topology = view.point.topology;
  return !topology.machine_file.empty() || count_shape(topology.shape).switches > 0;
}
/// Whether a collective, or those of a training step, meet switches that forward.
bool meets_switches(const PointView& view) {
  const bool kept = runs_collective(view) || !synthesizes(view) || view.point.topology.unwind == 0;
  return has_switches(view) && uses_links(view) && kept;
}

/// What a shape's switches do where `as_built` stands, which is the same point. Those of machine files may differ.
template <auto Field>
std::string as_told(const PointView& view, std::string_view of_shapes) {
  const auto& field = Field(view);
  const bool of_itself = field == std::remove_cvref_t<decltype(field)>{} && view.point.topology.machine_file.empty();
  return std::string(of_itself ? of_shapes : to_string(field));
}
/// A machine that is a shape may say how it forwards; `as_built` leaves that.
void set_forwarding(const PointDraft& draft, const SettingValue& value) {
  const auto given = static_cast<SwitchForwarding>(value.as<SwitchForwarding>());
  if (given != SwitchForwarding::as_built) forwarding(draft) = given;
}
std::string told_forwarding(const PointView& view) {
  return uses_links(view) && (runs_collective(view) || has_switches(view))
             ? as_told<forwarding>(view, "store_and_forward")
             : "";
}
std::string told_buffer(const PointView& view) {
  return runs_collective(view) ? as_told<switch_buffer>(view, "unlimited") : "";
}
template <auto Field>
std::string told_ability(const PointView& view) {
  return runs_collective(view) ? as_told<Field>(view, "no") : "";
}

/// Whether what switches can do beyond forwarding may change a row. Messages of textbook algorithms go from NPU to NPU,
/// but the bound beside their time is the network's.
bool have_abilities(const PointView& view) {
  const bool on_switches = view.point.reads.switches || view.point.family == AlgorithmFamily::synthesizer;
  return runs_collective(view) && has_switches(view) && on_switches && view.point.topology.unwind == 0;
}
bool counts_for_textbooks(bool of_kind, const PointView& view) {
  const auto family = view.point.family;
  return of_kind || view.collective.kind == CollectiveKind::mixed ||
         (family != AlgorithmFamily::textbook && family != AlgorithmFamily::any_textbook);
}
/// No bound of a collective whose chunks have one destination each counts copies ...
bool may_copy(const PointView& view) {
  const auto kind = view.collective.kind;
  const bool multicast = kind == CollectiveKind::all_gather || kind == CollectiveKind::broadcast ||
                         kind == CollectiveKind::all_reduce || kind == CollectiveKind::conditions;
  return have_abilities(view) && counts_for_textbooks(multicast, view);
}
/// ... and none of one without sums counts sums.
bool may_reduce(const PointView& view) {
  return have_abilities(view) && counts_for_textbooks(reduces(view.collective.kind), view);
}

/// "yes", or "yes in 2,3" in the network of a training step's collective.
template <auto Field>
std::string ability_line(const PointView& view) {
  std::string line = unless_default<Field>(view);
  const auto& able = view.point.topology.switches.able_dimensions;
  for (std::size_t d = 0; d < able.size() && !line.empty(); ++d)
    if (able[d]) line += fmt::format("{}{}", line.find(" in ") == std::string::npos ? " in " : ",", d + 1);
  return line;
}

/// The entry of an ability, whose field is `Field`.
template <auto Field, auto Matters>
Setting ability(Key key, std::string_view name, std::string_view help) {
  return {.key = key,
          .name = name,
          .help = help,
          .example = "\"yes\"",
          .words = words_to<SwitchAbility::yes>(),
          .fallback = "as_built",
          .read_by = ReadBy::collectives,
          .reason = kTrainingSwitches,
          .column = text_column(),
          .changes = Changes::network,
          .parse = parse_choice<SwitchAbility>,
          .set = set<Field>,
          .reset = reset<Field>,
          .matters = Matters,
          .canonical = ability_line<Field>,
          .text = told_ability<Field>};
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<Setting> switch_settings() {
  return {
      {.key = Key::forwarding,
       .name = "forwarding",
       .help =
           "how switches forward: store_and_forward (a switch receives all of a chunk before it sends it on), "
           "cut_through (a send takes its whole path over switches at once), virtual_cut_through (a switch passes a "
           "chunk on while it arrives, and buffers it), or as_built: as the machine file says; those of shapes store "
           "and forward, and their rows say so",
       .example = "\"virtual_cut_through\"",
       .words = words_to<SwitchForwarding::virtual_cut_through>(),
       .fallback = "as_built",
       .column = text_column(),
       .changes = Changes::network,
       .parse = parse_choice<SwitchForwarding>,
       .set = set_forwarding,
       .reset = reset<forwarding>,
       .matters = meets_switches,
       .canonical = unless_default<forwarding>,
       .text = told_forwarding},
      ability<switch_copy, may_copy>(
          Key::switch_copy, "switch_copy",
          "whether switches copy, so that one arrival leaves over several links: yes, no, or "
          "as_built: as the machine file says; those of shapes do not"),
      ability<switch_reduce, may_reduce>(
          Key::switch_reduce, "switch_reduce",
          "whether switches reduce, so that partial sums of a chunk leave as one: yes, no, or "
          "as_built: as the machine file says; those of shapes do not"),
      {.key = Key::switch_buffer,
       .name = "switch_buffer",
       .help = "chunks that may wait in a switch: a number, unlimited, or as_built: as the "
               "machine file says; those of shapes are unlimited",
       .example = "\"4\"",
       .fallback = "as_built",
       .read_by = ReadBy::collectives,
       .reason = kTrainingSwitches,
       .column = text_column(),
       .changes = Changes::network,
       .parse = parse_switch_buffer,
       .set = set<switch_buffer>,
       .reset = reset<switch_buffer>,
       .matters = [](const PointView& view) { return runs_collective(view) && has_switches(view); },
       .canonical = unless_default<switch_buffer>,
       .text = told_buffer},
  };
}

}  // namespace tenex
