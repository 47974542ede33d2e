// rules/targets/<id>.yaml. The bounds only catch a slipped unit (GB for TB); no real device is near them.
#include "mha/limits.hpp"

#include "core/text.hpp"
#include "rules/loaders.hpp"

namespace mha {
namespace {

const std::vector<std::string> kKinds = {"gpu", "cpu", "npu", "soc"};
const std::vector<std::string> kComputeTypes = {"f32", "f16", "bf16", "fp8", "int8"};

Diagnostic out_of_range(std::string what, std::string hint) {
  return Diagnostic{Severity::error, "out-of-range", {}, std::move(what), std::move(hint)};
}

Expected<Bytes> parse_memory(std::string_view text) {
  const Expected<Bytes> bytes = parse_bytes(text);
  constexpr Bytes kLeast{i128{1} << 20};
  constexpr Bytes kMost{i128{1} << 50};
  if (!bytes || (kLeast <= *bytes && *bytes <= kMost)) return bytes;
  return out_of_range(shown(text) + " is not a device's memory", "give 1MiB to 1PiB, such as 80GiB");
}

Expected<double> parse_bandwidth(std::string_view text) {
  const Expected<double> rate = parse_rate(text);
  if (!rate || (1e6 <= *rate && *rate <= 1e16)) return rate;
  return out_of_range(shown(text) + " is not a memory bandwidth",
                      "give bytes a second from 1MB to 10PB, such as 3.35TB");
}

Expected<double> parse_peak(std::string_view text) {
  const Expected<double> rate = parse_rate(text);
  if (!rate || (1e6 <= *rate && *rate <= 1e19)) return rate;
  return out_of_range(shown(text) + " is not a peak rate", "give FLOP a second from 1M to 10000P, such as 989T");
}

Expected<double> parse_efficiency(std::string_view text) {
  const Expected<double> part = parse_real(text);
  if (!part || (0 < *part && *part <= 1)) return part;
  return out_of_range(shown(text) + " is not a fraction of the roofline bound", "give a number above 0 and at most 1");
}

std::map<std::string, Sourced<double>> read_peaks(MapReader& reader, const Document& document, Diagnostics& problems) {
  std::map<std::string, Sourced<double>> peaks;
  const Node* node = reader.free_map("peaks_per_s");
  if (node == nullptr) return peaks;
  MapReader inner(node, document.file, "peaks_per_s", problems);
  for (const std::string& type : kComputeTypes) {
    if (inner.find(type, false) != nullptr) peaks[type] = inner.sourced(type, parse_peak);
  }
  inner.close();
  if (node->children.empty()) {
    reader.invalid("peaks_per_s", "empty-map", "there is no peak", "give at least one of f32, f16, bf16, fp8, int8");
  }
  return peaks;
}

}  // namespace

Expected<Target> read_target(const Document& document) {
  Diagnostics problems;
  MapReader reader(&document.root, document.file, "", problems);
  Target out;
  out.id = read_id(reader, document);
  out.name = reader.text("name");
  out.kind = read_choice(reader, "kind", kKinds);
  out.memory = reader.sourced("memory", parse_memory);
  out.reserve = reader.sourced("reserve", parse_bytes);
  if (out.memory.value > Bytes() && out.reserve.value >= out.memory.value) {
    reader.invalid("reserve", "out-of-range", "the reserve leaves no memory", "give less than the device's memory");
  }
  out.bandwidth_per_s = reader.sourced("bandwidth_per_s", parse_bandwidth);
  out.peaks_per_s = read_peaks(reader, document, problems);

  MapReader degrees = reader.map("tensor_parallel");
  out.tensor_parallel = read_rising(degrees, "value", 1, limits::kMaxTensorParallel);
  if (!out.tensor_parallel.empty() && out.tensor_parallel.front() != 1) {
    degrees.invalid("value", "out-of-range", "the first degree is not 1", "start with 1: one device is always there");
  }
  out.tensor_parallel_source = degrees.source_fields("source");
  degrees.close();

  out.kernels = reader.list("kernels", parse_text);
  out.decode_efficiency_low = reader.sourced("decode_efficiency_low", parse_efficiency);
  out.prefill_efficiency_low = reader.sourced("prefill_efficiency_low", parse_efficiency);
  out.note = reader.optional_text("note");
  reader.close();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace mha
