#include "shoal/tests/lint/code_rules.h"

#include <gtest/gtest.h>

#include "shoal/tests/lint/samples.h"

namespace shoal::lint {
namespace {

TEST(Calls, ThatAGuestDoesNotMake_AreRejected) {
  for (const char* code : {"std::abort();",
                           "::abort();",
                           "if (x) abort();",
                           "return abort();",
                           "std::exit(1);",
                           "exit(1);",
                           "exit(EXIT_FAILURE);",
                           "std::cout << x;",
                           "std::cerr << x;",
                           "printf(\"x\");",
                           "std::fprintf(stderr, \"x\");",
                           "puts(\"x\");",
                           "std::fwrite(p, 1, n, stderr);",
                           "fputc(c, f);",
                           "::dprintf(2, \"x\");",
                           "vfprintf(stderr, f, a);",
                           "std::terminate();",
                           "std::getenv(\"X\");",
                           "getenv(\"X\");",
                           "signal(2, f);",
                           "fmt::print(\"x\");",
                           "#include <iostream>"}) {
    const Violations found = check_one(check_calls, "nn/a.cpp", std::string("\n") + code + "\n");
    expect_one(found, 2, "the library");
  }
}

TEST(Calls, OfMembersWithThoseNames_Pass) {
  for (const char* code :
       {"communicator.abort(reason);", "world->abort(reason);", "virtual void abort(int x) = 0;",
        "void Threads::abort(int x) {}", "binding.exit(module, phase);", "exit(ctx);", "void exit(Context& ctx);",
        "std::vector<int> abort(int rank);", "// std::abort()", "f(\"std::cout\");", "is_printf(x);"}) {
    EXPECT_TRUE(check_one(check_calls, "nn/a.cpp", code).empty()) << code;
  }
}

TEST(Calls, InTheProgramAndInTests_MayPrintAndExit) {
  EXPECT_TRUE(check_one(check_calls, "runtime/tools/main/main.cpp", "std::exit(1); std::cout << 1;").empty());
  EXPECT_TRUE(check_one(check_calls, "tests/examples/a.cpp", "std::printf(\"x\");").empty());
  EXPECT_TRUE(check_one(check_calls, "runtime/base/env.cpp", "std::getenv(name);").empty());
}

TEST(Calls, ThatSleep_AreRejectedEverywhere) {
  for (const char* path : {"nn/a.cpp", "tests/nn/a_test.cpp", "runtime/tools/a.cpp"}) {
    expect_one(check_one(check_calls, path, "std::this_thread::sleep_for(x);"), 1, "sleep_for");
    expect_one(check_one(check_calls, path, "usleep(10);"), 1, "usleep");
  }
  EXPECT_TRUE(
      check_one(check_calls, "runtime/device/host/stream_threads.cpp", "std::this_thread::sleep_for(x);").empty());
}

TEST(Preprocessor, ConditionsAndMacros_AreRejected) {
  for (const char* code : {"#if X", "#ifdef X", "#  ifndef X", "#elif X", "#define X 1"}) {
    expect_one(check_one(check_preprocessor, "nn/a.cpp", code), 1, "compile another file");
  }
  EXPECT_TRUE(check_one(check_preprocessor, "nn/a.cpp", "#pragma once\n#include <vector>\n// #if\n").empty());
}

TEST(Preprocessor, TheBudget_CountsAllFiles) {
  const Violations found = check_one(check_preprocessor, "nn/a.cpp", "#if X\n#if Y\n#define A\n#define B\n");
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[4].message, "2 conditions; 1 allowed");
  EXPECT_EQ(found[5].message, "2 macros; 1 allowed");
}

TEST(Tolerances, AsNumbers_AreRejected) {
  const std::string near = "EXPECT_NEAR";
  expect_one(check_one(check_tolerances, "tests/a_test.cpp", "\n" + near + "(a, b, 1e-3);"), 2, "tolerance.h");
  expect_one(check_one(check_tolerances, "tests/a_test.cpp", near + "(f(1, 2), b,\n  4 * kTol);"), 1, "tolerance.h");
  expect_one(check_one(check_tolerances, "tests/a_test.cpp", "ASSERT_NEAR(a, b, .5);"), 1, "tolerance.h");
  EXPECT_TRUE(check_one(check_tolerances, "tests/a_test.cpp", near + "(f(1), 2.5, kTolerance2);").empty());
}

TEST(Tolerances, MadeElsewhere_AreRejected) {
  expect_one(check_one(check_tolerances, "tests/a_test.cpp", "x(Tolerance{8, 1e-3, 1});"), 1, "makes a Tolerance");
  EXPECT_TRUE(check_one(check_tolerances, "tests/support/tolerance.h", "Tolerance{8, 1e-3, 1}").empty());
  EXPECT_TRUE(check_one(check_tolerances, "tests/a_test.cpp", "const Tolerance& tolerance = kExact;").empty());
}

}  // namespace
}  // namespace shoal::lint
