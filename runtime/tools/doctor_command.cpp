#include <fmt/format.h>
#include <shoal_build/versions.h>

#include <filesystem>
#include <functional>

#include "shoal/runtime/base/env.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/runtime.h"
#include "shoal/runtime/tools/gpu_probe.h"
#include "shoal/runtime/tools/json_lines.h"
#include "shoal/runtime/tools/session.h"
#include "shoal/runtime/tools/text_format.h"
#include "shoal/runtime/train/child_output.h"
#include "shoal/runtime/train/fashion_mnist.h"
#include "shoal/runtime/train/train_config.h"

namespace shoal::tools {
namespace {

using Part = DoctorReport::Part;

// Present where `probe` throws nothing; otherwise what it says is the detail.
Part probed(const std::string& name, const std::string& detail, const std::function<void()>& probe) {
  try {
    probe();
    return {name, true, detail};
  } catch (const Error& error) {
    return {name, false, error.what()};
  }
}

// Of the headers that the build found.
std::vector<Part> list_libraries() {
  std::vector<Part> parts;
  for (const auto& [name, version] : shoal_build::kLibraries) parts.push_back({name, true, version});
  return parts;
}

std::vector<Part> find_data() {
  std::vector<Part> parts;
  const std::string folder = train::kFashionMnistFolder;
  std::error_code ignored;  // what cannot be looked at is not there for anyone
  const bool has_images = std::filesystem::exists(folder + "/train-images-idx3-ubyte.gz", ignored) ||
                          std::filesystem::exists(folder + "/train-images-idx3-ubyte", ignored);
  parts.push_back({"fashion-mnist", has_images,
                   has_images ? folder : "apt-get install dataset-fashion-mnist, or --data fashion-mnist:DIR"});
  parts.push_back(probed("text", "King James text, printed by the program bible", [] {
    train::read_child_output({"bible", "-f", "gen1:1-gen1:1"}, {}, "apt-get install bible-kjv, or --data text:FILE");
  }));
  parts.push_back({"cifar10", false, "its binary version, from its authors' page: --data cifar10:DIR"});
  parts.push_back({"synthetic", true, "made up as it is needed"});
  return parts;
}

std::vector<Part> find_build() {
  std::vector<Part> parts;
  parts.push_back(probed("device host", "", [] { Runtime().open_device(DeviceKind::Host); }));
  parts.push_back(probed("device cuda", "", [] { Runtime().open_device(DeviceKind::Cuda); }));
  for (const train::NameChoice& choice : train::name_choices()) {
    if (choice.flag == "device") continue;
    for (const std::string_view name : choice.here)
      parts.push_back({fmt::format("{} {}", choice.flag, name), true, ""});
    for (const std::string_view name : choice.elsewhere) {
      parts.push_back({fmt::format("{} {}", choice.flag, name), false, "not in this build"});
    }
  }
  return parts;
}

std::vector<Part> find_environment() {
  std::vector<Part> parts;
  for (const EnvVariable& variable : env_table()) {
    const std::optional<std::string> value = env_value(variable.name);
    parts.push_back({std::string(variable.name), value.has_value(),
                     fmt::format("{}{}", variable.meaning, value ? ", now " + *value : "")});
  }
  return parts;
}

std::string parts_text(const char* title, const std::vector<Part>& parts) {
  if (parts.empty()) return "";
  std::string text = fmt::format("\n{}\n", title);
  for (const Part& part : parts) {
    text += fmt::format("  {} {:<20}  {}\n", part.is_present ? "yes" : "no ", part.name, part.detail);
  }
  return text;
}

std::string to_text(const DoctorReport& report) {
  std::string text = fmt::format("shoal {}\n\nmachine\n  {:<24}  {}\n  {:<24}  {}\n  {:<24}  {}\n",
                                 shoal_build::kVersion, "cores", report.machine.cores, "instruction set in use",
                                 report.machine.isa, "memory", format_bytes(report.machine.memory_bytes));
  text += parts_text("graphics processors", report.gpus);
  text += parts_text("built with", report.libraries);
  text += parts_text("data sets", report.data);
  text += parts_text("this build", report.build);
  text += parts_text("environment", report.environment);
  return text;
}

}  // namespace

CommandSpec doctor_command() {
  return {"doctor",
          "what this machine and this build have, what is missing and how to get it",
          {{"json", "", "one JSON line"}}};
}

void run_doctor(Session& session) {
  session.has_started = true;
  const DoctorReport report{machine_info(), find_gpus(kNvidiaFolder), list_libraries(), find_data(),
                            find_build(),   find_environment()};
  if (session.is_json) {
    session.output.write_line(doctor_line(report));
  } else {
    session.output.write(to_text(report));
  }
}

}  // namespace shoal::tools
