#include "shoal/runtime/tools/json_lines.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "shoal/runtime/tools/config_flags.h"

namespace shoal::tools {
namespace {

using Json = nlohmann::ordered_json;

// Bytes that are no UTF-8 (a file's name, say) must not keep an error from being reported.
std::string to_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json hex(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

Json event_object(std::string_view event) {
  Json json;
  json["event"] = event;
  return json;
}

Json config_object(const train::TrainConfig& config) {
  Json json = Json::object();
  for (const ConfigFlag& flag : config_flags()) {
    const FlagValue value = flag.get(config);
    const std::string name(flag.name);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) json[name] = *whole;
    if (const auto* natural = std::get_if<std::uint64_t>(&value)) json[name] = *natural;
    if (const auto* real = std::get_if<double>(&value)) json[name] = *real;
    if (const auto* text = std::get_if<std::string>(&value)) json[name] = *text;
  }
  return json;
}

Json machine_object(const MachineInfo& machine) {
  return {{"cores", machine.cores}, {"isa", machine.isa}, {"memory_bytes", machine.memory_bytes}};
}

Json memory_object(const MemoryBytes& bytes) {
  Json json;
  for (int tag = 0; tag < kNumMemoryTags; ++tag) {
    const auto memory_tag = static_cast<MemoryTag>(tag);
    json[std::string(memory_tag_name(memory_tag))] = bytes[memory_tag];
  }
  json["total"] = bytes.total;
  return json;
}

Json memory_by_rank(const std::vector<MemoryBytes>& ranks) {
  Json json = Json::array();
  for (const MemoryBytes& bytes : ranks) json.push_back(memory_object(bytes));
  return json;
}

Json number_or_null(const std::optional<double>& value) { return value.has_value() ? Json(*value) : Json(nullptr); }

Json wire_object(const fsdp::WireBytes& wire) {
  return {{"gathered", wire.gathered}, {"reduced", wire.reduced}, {"sums", wire.sums}};
}

Json parts_array(const std::vector<DoctorReport::Part>& parts) {
  Json json = Json::array();
  for (const DoctorReport::Part& part : parts) {
    json.push_back({{"name", part.name}, {"present", part.is_present}, {"detail", part.detail}});
  }
  return json;
}

}  // namespace

std::string start_line(const train::StartEvent& event, const MachineInfo& machine) {
  Json json = event_object("start");
  json["config"] = config_object(event.config);
  json["machine"] = machine_object(machine);
  json["plan_fingerprint"] = hex(event.plan_fingerprint);
  return to_line(json);
}

std::string step_line(const train::StepEvent& event) {
  Json json = event_object("step");
  json["step"] = event.step;
  json["loss"] = event.loss;
  json["lr"] = event.lr;
  json["grad_norm"] = event.grad_norm;
  json["ms"] = event.ms;
  json["items_per_s"] = event.items_per_s;
  return to_line(json);
}

std::string eval_line(const train::EvalEvent& event) {
  Json json = event_object("eval");
  json["loss"] = event.loss;
  json["accuracy"] = number_or_null(event.accuracy);
  return to_line(json);
}

std::string warning_line(std::string_view message) {
  Json json = event_object("warning");
  json["message"] = message;
  return to_line(json);
}

std::string error_line(const Error& error) {
  Json json = event_object("error");
  json["code"] = error_code_name(error.code());
  json["rank"] = error.rank() < 0 ? Json(nullptr) : Json(error.rank());
  json["operation"] = error.operation();
  json["message"] = error.what();
  return to_line(json);
}

std::string done_line(const train::TrainSummary& summary) {
  Json json = event_object("done");
  json["steps"] = summary.steps;
  json["stopped"] = summary.is_stopped;
  json["loss"] = summary.steps > 0 ? Json(summary.loss) : Json(nullptr);
  json["accuracy"] = number_or_null(summary.accuracy);
  json["items_per_s"] = summary.items_per_s;
  json["peak_bytes"] = memory_by_rank(summary.peak_bytes);
  json["predicted_bytes"] = memory_by_rank(summary.predicted_bytes);
  json["weights_hash"] = hex(summary.weights_hash);
  json["state_hash"] = hex(summary.state_hash);
  return to_line(json);
}

std::string bench_row_line(const BenchRow& row) {
  Json json = event_object("row");
  json["workload"] = row.workload;
  json["strategy"] = row.strategy;
  json["dtype"] = row.dtype;
  json["world"] = row.world;
  json["threads"] = row.threads;
  json["step_ms"] = row.step_ms;
  json["min_ms"] = row.min_ms;
  json["items_per_s"] = row.items_per_s;
  json["units"] = row.units;
  json["peak_rss_mib"] = row.peak_rss_mib;
  json["parameters"] = row.parameters;
  json["loss"] = row.loss;
  json["host_us_per_unit"] = row.host_us_per_unit;
  json["gemm_share"] = row.gemm_share;
  json["peak_bytes"] = memory_by_rank(row.peak_bytes);
  return to_line(json);
}

std::string plan_line(const PlanSummary& summary) {
  Json json = event_object("plan");
  json["config"] = config_object(summary.config);
  json["plan_fingerprint"] = hex(summary.fingerprint);
  json["parameters"] = summary.num_parameters;
  json["units"] = summary.num_units;
  json["predicted_bytes"] = memory_object(summary.predicted);
  json["arena_bytes"] = summary.arena_bytes;
  json["train_wire_bytes"] = wire_object(summary.train_wire);
  json["update_wire_bytes"] = wire_object(summary.update_wire);
  return to_line(json);
}

std::string doctor_line(const DoctorReport& report) {
  Json json = event_object("doctor");
  json["machine"] = machine_object(report.machine);
  json["gpus"] = parts_array(report.gpus);
  json["libraries"] = parts_array(report.libraries);
  json["data"] = parts_array(report.data);
  json["build"] = parts_array(report.build);
  json["environment"] = parts_array(report.environment);
  return to_line(json);
}

}  // namespace shoal::tools
