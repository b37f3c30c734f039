#include "shoal/runtime/tools/program.h"

#include <gtest/gtest.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "shoal/tests/runtime/tools/child_program.h"
#include "shoal/tests/runtime/train/temp_folder.h"

namespace shoal::tools {
namespace {

using Json = nlohmann::ordered_json;
using test::ProgramRun;
using test::run_shoal;

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

const std::vector<std::string> kTinyTrain = {"train",   "--model", "chain-2x64", "--ranks", "2",
                                             "--batch", "8",       "--threads",  "1"};

std::vector<Json> parse_lines(const ProgramRun& run) {
  std::vector<Json> events;
  for (const std::string& line : run.out_lines()) events.push_back(Json::parse(line));
  return events;
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

void expect_failure(const ProgramRun& run, int status, const std::vector<std::string>& parts) {
  EXPECT_EQ(run.status, status) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  for (const std::string& part : parts) EXPECT_NE(run.err.find(part), std::string::npos) << part << " in: " << run.err;
}

TEST(ProgramJson, TrainingRun_IsEventsWithTheDocumentedFields) {
  const ProgramRun run = run_shoal(with(kTinyTrain, {"--steps", "3", "--json"}));
  ASSERT_EQ(run.status, 0) << run.err;
  std::vector<Json> events = parse_lines(run);
  std::erase_if(events, [](const Json& event) { return event["event"] == "warning"; });
  ASSERT_EQ(events.size(), 6u) << run.out;
  EXPECT_EQ(keys_of(events[0]), (std::vector<std::string>{"event", "config", "machine", "plan_fingerprint"}));
  EXPECT_EQ(events[0]["event"], "start");
  EXPECT_EQ(events[0]["config"]["model"], "chain-2x64");
  EXPECT_EQ(events[0]["config"]["batch"], 8);
  for (std::size_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(keys_of(events[i]),
              (std::vector<std::string>{"event", "step", "loss", "lr", "grad_norm", "ms", "items_per_s"}));
    EXPECT_EQ(events[i]["event"], "step");
    EXPECT_EQ(events[i]["step"], i);
  }
  EXPECT_EQ(keys_of(events[4]), (std::vector<std::string>{"event", "loss", "accuracy"}));
  EXPECT_TRUE(events[4]["accuracy"].is_null());
  EXPECT_EQ(keys_of(events[5]),
            (std::vector<std::string>{"event", "steps", "stopped", "loss", "accuracy", "items_per_s", "peak_bytes",
                                      "predicted_bytes", "weights_hash", "state_hash"}));
  EXPECT_EQ(events[5]["steps"], 3);
  EXPECT_EQ(events[5]["stopped"], false);
  EXPECT_EQ(events[5]["peak_bytes"].size(), 2u);
  EXPECT_EQ(events[5]["peak_bytes"], events[5]["predicted_bytes"]);
  EXPECT_GT(events[5]["peak_bytes"][0]["parameters"], 0);
  for (const Json& hash : {events[0]["plan_fingerprint"], events[5]["weights_hash"], events[5]["state_hash"]}) {
    EXPECT_EQ(hash.get<std::string>().size(), 16u);
    EXPECT_EQ(hash.get<std::string>().find_first_not_of("0123456789abcdef"), std::string::npos);
  }
  EXPECT_TRUE(run.err.empty()) << run.err;
}

TEST(ProgramJson, StartEventsConfig_IsAConfigFileThatRepeatsTheRun) {
  const test::TempFolder folder;
  const ProgramRun first = run_shoal(with(kTinyTrain, {"--steps", "2", "--seed", "18446744073709551615", "--json"}));
  const std::string path = folder.write_text("config.json", parse_lines(first).front()["config"].dump());
  const ProgramRun second = run_shoal({"train", "--config", path, "--json"});
  ASSERT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(parse_lines(second).back()["state_hash"], parse_lines(first).back()["state_hash"]);
  EXPECT_EQ(parse_lines(second).front()["config"], parse_lines(first).front()["config"]);
  // Flags win over the file.
  const ProgramRun third = run_shoal({"train", "--config", path, "--seed", "10", "--epochs", "1", "--json"});
  EXPECT_EQ(parse_lines(third).front()["config"]["seed"], 10);
  EXPECT_EQ(parse_lines(third).front()["config"]["epochs"], 1);
  EXPECT_FALSE(parse_lines(third).front()["config"].contains("steps"));
}

TEST(ProgramJson, Errors_AreEventsToo) {
  const std::vector<std::string> keys = {"event", "code", "rank", "operation", "message"};
  const ProgramRun wrong = run_shoal(with(kTinyTrain, {"--batch", "7", "--json"}));
  EXPECT_EQ(wrong.status, 2);
  const ProgramRun odd = run_shoal({"train", "--model", "mlp", "--batch", "33", "--json"});
  EXPECT_EQ(odd.status, 2);
  ASSERT_EQ(odd.out_lines().size(), 1u);
  EXPECT_EQ(keys_of(parse_lines(odd)[0]), keys);
  EXPECT_EQ(parse_lines(odd)[0]["code"], "InvalidArgument");
  EXPECT_EQ(parse_lines(odd)[0]["operation"], "config");
  EXPECT_TRUE(parse_lines(odd)[0]["rank"].is_null());
  const ProgramRun unstable = run_shoal(with(kTinyTrain, {"--steps", "9", "--lr", "1e30", "--json"}));
  EXPECT_EQ(unstable.status, 1);
  const Json last = parse_lines(unstable).back();
  EXPECT_EQ(last["event"], "error");
  EXPECT_EQ(last["operation"], "train");
  EXPECT_TRUE(last["rank"].is_number());
}

TEST(ProgramStatus, WrongUse_Is2WithTheNearestMatch) {
  expect_failure(run_shoal({}), 2, {"train", "doctor"});
  expect_failure(run_shoal({"trian"}), 2, {"'train'"});
  expect_failure(run_shoal({"train", "--bacth", "8"}), 2, {"'batch'"});
  expect_failure(run_shoal({"train", "--model", "resnet8"}), 2, {"resnet9"});
  expect_failure(run_shoal({"train", "--data", "txet"}), 2, {"'text'"});
  expect_failure(run_shoal({"train", "--ranks", "0"}), 2, {"--ranks 0"});
  expect_failure(run_shoal({"train", "--batch", "33"}), 2, {"32 and 34"});
  expect_failure(run_shoal({"train", "--dtype", "bf16"}), 2, {"--dtype bf16"});
  expect_failure(run_shoal({"train", "--strategy", "gradients"}), 2, {"--strategy gradients"});
  expect_failure(run_shoal({"train", "--device", "cuda"}), 2, {"--device cuda"});
  expect_failure(run_shoal({"train", "--config", "/nonexistent.json"}), 2, {"/nonexistent.json"});
  expect_failure(run_shoal({"train", "--data", "fashion-mnist:/nonexistent"}), 2, {"dataset-fashion-mnist"});
  expect_failure(run_shoal({"bench", "step", "--workload", "resnet19"}), 2, {"'resnet18'"});
  expect_failure(run_shoal({"bench", "step", "--steps", "1", "--warmup", "0"}), 2, {"too few to verify"});
  expect_failure(run_shoal({"bench", "step", "--warmup", "9999999999"}), 2, {"--warmup 9999999999", "1000000"});
  expect_failure(run_shoal({"--ranks", "8", "plan"}), 2, {"'--ranks'"});
  expect_failure(run_shoal(with(kTinyTrain, {"--memory-limit", "50KiB"})), 2, {"--memory-limit 51200", "needs"});
  expect_failure(run_shoal({"plan", "--model", "gpt2-1.5b", "--memory-limit", "1GiB"}), 2,
                 {"--memory-limit 1073741824"});
}

TEST(ProgramStatus, Failure_Is1) {
  // A NaN's sign is noise, and the error does not continue the progress line of a terminal.
  const ProgramRun run = run_shoal(with(kTinyTrain, {"--steps", "9", "--lr", "1e300"}), {.has_terminal = true});
  expect_failure(run, 1, {"loss of step", " is nan;", "--lr"});
  EXPECT_NE(run.out.find("\r\x1b[K"
                         "epoch"),
            std::string::npos)
      << run.out;
  EXPECT_TRUE(run.out.ends_with("left\n")) << run.out;
}

TEST(ProgramStatus, DamagedData_Is1) {
  const test::TempFolder folder;
  folder.write_text("train-images-idx3-ubyte", std::string("no images"));
  folder.write_text("train-labels-idx1-ubyte", std::string("no labels"));
  expect_failure(run_shoal({"train", "--data", "fashion-mnist:" + folder.path()}), 1, {"train-images-idx3-ubyte"});
}

TEST(ProgramStatus, Help_Is0) {
  const ProgramRun run = run_shoal({"train", "--help"});
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.out.find("--clip-norm"), std::string::npos);
}

TEST(ProgramOutput, FullDisk_IsOneClearLineAnd1) {
  for (const char* mode : {"--json", ""}) {
    std::vector<std::string> arguments = with(kTinyTrain, {"--steps", "5"});
    if (*mode != '\0') arguments.emplace_back(mode);
    expect_failure(run_shoal(arguments, {.stdout_path = "/dev/full"}), 1, {"standard output", "No space left"});
  }
  expect_failure(run_shoal({"doctor"}, {.stdout_path = "/dev/full"}), 1, {"No space left"});
}

TEST(ProgramText, PlainLinesWhereThereIsNoTerminal) {
  const ProgramRun run = run_shoal(with(kTinyTrain, {"--steps", "40"}));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out.find('\x1b'), std::string::npos) << "colour without a terminal";
  EXPECT_EQ(run.out.find('\r'), std::string::npos);
  for (const char* part : {"step 40/40", "rows/s", "predicted", "optimizer_state", "weights hash"}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part;
  }
  EXPECT_LT(run.out_lines().size(), 60u);
}

// The words of a table's line of this name, without it.
std::vector<std::string> row_of(const ProgramRun& run, const std::string& name) {
  for (const std::string& line : run.out_lines()) {
    if (!line.starts_with("  " + name + " ")) continue;
    std::istringstream rest(line.substr(2 + name.size()));
    return {std::istream_iterator<std::string>(rest), {}};
  }
  ADD_FAILURE() << "no " << name << " in " << run.out;
  return {};
}

TEST(ProgramText, LanguageModel_EndsWithASampleThatThePlanCounts) {
  const test::TempFolder folder;
  const std::string path = folder.write_text("text", std::string(20000, 'x'));
  const std::vector<std::string> flags = {"--model", "gpt-1x64", "--data", "text:" + path, "--steps",
                                          "1",       "--batch",  "2",      "--threads",    "1"};
  const ProgramRun run = run_shoal(with({"train"}, flags));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("what the model writes"), std::string::npos);
  // Of two ranks that are alike; inputs are where a window shows that is held for one sample alone.
  const ProgramRun planned = run_shoal(with({"plan"}, flags));
  for (const char* row : {"inputs", "activations", "in total, at once"}) {
    EXPECT_EQ(row_of(run, row), with(row_of(planned, row), row_of(planned, row))) << row;
  }
}

TEST(ProgramPlan, ShowsScheduleProofMemoryAndTraffic) {
  const ProgramRun run = run_shoal({"plan", "--model", "gpt2-124m", "--ranks", "8", "--strategy", "full"});
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* part : {"check: proved", "blocks.11", "124.", "ranks 0-7", "on the wire", "fingerprint"}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part;
  }
}

TEST(ProgramPlan, AgreesWithTheRun) {
  const std::vector<std::string> flags = {"--model", "chain-2x64", "--steps", "1", "--batch", "8", "--threads", "1"};
  const ProgramRun planned = run_shoal(with(with({"plan"}, flags), {"--json"}));
  const ProgramRun ran = run_shoal(with(with({"train"}, flags), {"--json"}));
  ASSERT_EQ(planned.status, 0) << planned.err;
  const Json plan = parse_lines(planned).at(0);
  EXPECT_EQ(plan["event"], "plan");
  EXPECT_EQ(plan["plan_fingerprint"], parse_lines(ran).front()["plan_fingerprint"]);
  EXPECT_EQ(plan["predicted_bytes"], parse_lines(ran).back()["peak_bytes"][0]);
}

TEST(ProgramDoctor, SaysWhatIsHereAndWhatIsNot) {
  const ProgramRun run = run_shoal({"doctor"});
  EXPECT_EQ(run.status, 0) << run.err;
  for (const char* part : {"cores", "instruction set", "fashion-mnist", "no  dtype bf16", "no  backend nccl",
                           "nvidia driver", "built with"}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part;
  }
  const ProgramRun json = run_shoal({"doctor", "--json"});
  EXPECT_EQ(parse_lines(json).at(0)["event"], "doctor");
}

TEST(ProgramBench, Step_IsARowWithTheDocumentedFields) {
  const ProgramRun run = run_shoal({"bench", "step", "--workload", "chain-100x64", "--steps", "2", "--warmup", "2"});
  ASSERT_EQ(run.status, 0) << run.err;
  const std::vector<Json> rows = parse_lines(run);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(keys_of(rows[0]),
            (std::vector<std::string>{"event", "workload", "strategy", "dtype", "world", "threads", "step_ms", "min_ms",
                                      "items_per_s", "units", "peak_rss_mib", "parameters", "loss", "host_us_per_unit",
                                      "gemm_share", "peak_bytes"}));
  EXPECT_EQ(rows[0]["world"], 2);
  EXPECT_EQ(rows[0]["units"], 100);
  EXPECT_EQ(rows[0]["parameters"], 100 * (64 * 64 + 64));
  EXPECT_LT(rows[0]["loss"][1], rows[0]["loss"][0]);
  EXPECT_GT(rows[0]["gemm_share"], 0);
}

}  // namespace
}  // namespace shoal::tools
