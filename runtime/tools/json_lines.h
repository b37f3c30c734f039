#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/tools/bench_row.h"
#include "shoal/runtime/tools/doctor_report.h"
#include "shoal/runtime/tools/machine_info.h"
#include "shoal/runtime/tools/plan_summary.h"
#include "shoal/runtime/train/train_events.h"

namespace shoal::tools {

// What standard output holds with --json: one object per line, without the line end, each with an `event` field. Those
// of a training run are start, step, eval, warning, error, and done as the last; plan, doctor and row (of bench step)
// stand alone. Numbers that are not finite become null, hashes 16 hexadecimal digits, memory one object per rank with
// the bytes of each tag and `total`.

std::string start_line(const train::StartEvent& event, const MachineInfo& machine);
std::string step_line(const train::StepEvent& event);
std::string eval_line(const train::EvalEvent& event);
std::string warning_line(std::string_view message);
std::string error_line(const Error& error);
std::string done_line(const train::TrainSummary& summary);

/// One row of `bench step`.
std::string bench_row_line(const BenchRow& row);
std::string plan_line(const PlanSummary& summary);
std::string doctor_line(const DoctorReport& report);

}  // namespace shoal::tools
