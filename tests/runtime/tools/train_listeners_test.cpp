#include "shoal/runtime/tools/train_listeners.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "shoal/runtime/train/train_config.h"
#include "shoal/tests/runtime/tools/terminal.h"

namespace shoal::tools {
namespace {

const train::TrainConfig& config() {
  static const train::TrainConfig resolved = [] {
    train::TrainConfig open;
    open.model = "chain-2x64";
    open.ranks = 1;
    open.steps = 20;
    return train::resolve_config(open);
  }();
  return resolved;
}

train::StepEvent step(std::int64_t number) {
  return {.step = number, .loss = 0.5, .lr = 0.1, .grad_norm = 1, .ms = 10, .items_per_s = 100};
}

train::TrainSummary summary(bool is_stopped) {
  train::TrainSummary done;
  done.steps = 20;
  done.is_stopped = is_stopped;
  done.peak_bytes.resize(1);
  done.predicted_bytes.resize(1);
  return done;
}

// What stands on a terminal after `tell` and the end of the listener; "[warning]" where a warning went elsewhere.
std::string screen_after(const std::function<void(TextTrainListener&)>& tell) {
  test::Terminal terminal;
  Output output(terminal.user_end());
  EXPECT_TRUE(output.is_terminal());
  {
    TextTrainListener listener(output, [&](std::string_view) { output.write("[warning]"); });
    listener.on_start({config(), "rows", 8320, 20, 10, 7});
    output.write("|");
    tell(listener);
  }
  const std::string text = terminal.read_rest();
  return text.substr(text.find('|') + 1);
}

TEST(TextTrainListener, OnATerminal_OneLineMoves) {
  const std::string text = screen_after([](TextTrainListener& listener) {
    listener.on_step(step(1));
    listener.on_step(step(20));
    listener.on_done(summary(false));
  });
  EXPECT_TRUE(text.starts_with("\r\x1b[Kepoch 1/2  step 1/20  loss 0.5000  100 rows/s  0:01 left\r\x1b[Kepoch 2/2"))
      << text;
  EXPECT_NE(text.find("left\r\x1b[K\x1b[1mdone: 20 of 20 steps\x1b[0m\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\n") && !text.ends_with("\n\n")) << text;
}

TEST(TextTrainListener, Rate_IsThatOfTheMeanStep) {
  const std::string text = screen_after([](TextTrainListener& listener) {
    listener.on_step(step(1));
    // One item in 1 ms after one in 10 ms: 9.1 ms in a mean that takes a tenth of the new.
    listener.on_step({.step = 20, .loss = 0.5, .lr = 0.1, .grad_norm = 1, .ms = 1, .items_per_s = 1000});
  });
  EXPECT_NE(text.find("step 20/20  loss 0.5000  110 rows/s"), std::string::npos) << text;
}

TEST(TextTrainListener, LineThatStandsOpen_IsEndedWithTheListener) {
  EXPECT_TRUE(screen_after([](TextTrainListener& listener) { listener.on_step(step(1)); }).ends_with("left\n"));
  EXPECT_EQ(screen_after([](TextTrainListener&) {}), "");
}

TEST(TextTrainListener, Warning_StandsOnALineOfItsOwn) {
  const std::string text = screen_after([](TextTrainListener& listener) {
    listener.on_step(step(1));
    listener.on_warning("w");
    listener.on_step(step(20));
  });
  EXPECT_NE(text.find("left\r\x1b[K[warning]\r\x1b[Kepoch 2/2"), std::string::npos) << text;
}

TEST(TextTrainListener, WhatTheModelWrites_CannotSteerTheTerminal) {
  const std::string text = screen_after([](TextTrainListener& listener) {
    train::TrainSummary done = summary(true);
    done.sample = "a\tb\n\x1b[2Jc\x07\xff\xc3\xa9";
    listener.on_done(done);
  });
  EXPECT_NE(text.find("a\tb\n\\x1b[2Jc\\x07\\xff\xc3\xa9\n"), std::string::npos) << text;
  EXPECT_NE(text.find("stopped after 20 of 20 steps"), std::string::npos) << text;
}

}  // namespace
}  // namespace shoal::tools
