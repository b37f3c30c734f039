#include "shoal/runtime/tools/text_format.h"

#include <gtest/gtest.h>

namespace shoal::tools {
namespace {

TEST(FormatBytes, PicksTheUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes((std::int64_t{1} << 20) - 1), "1.0 MiB");
  EXPECT_EQ(format_bytes(std::int64_t{5} << 30), "5.0 GiB");
}

TEST(FormatCount, PicksTheUnit) {
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(12345), "12.3k");
  EXPECT_EQ(format_count(999960), "1.0M");
  EXPECT_EQ(format_count(124439808), "124.4M");
  EXPECT_EQ(format_count(1557611200), "1.6B");
}

TEST(FormatSeconds, RoundsUp) {
  EXPECT_EQ(format_seconds(-1), "0:00");
  EXPECT_EQ(format_seconds(6.2), "0:07");
  EXPECT_EQ(format_seconds(725), "12:05");
  EXPECT_EQ(format_seconds(10800), "3:00:00");
}

MemoryBytes bytes_of(std::int64_t parameters, std::int64_t inputs) {
  MemoryBytes bytes;
  bytes.by_tag[static_cast<std::size_t>(MemoryTag::Parameters)] = parameters;
  bytes.by_tag[static_cast<std::size_t>(MemoryTag::Inputs)] = inputs;
  bytes.total = parameters + inputs;
  return bytes;
}

TEST(FormatMemory, RanksThatAreAlike_ShareAColumn) {
  const std::string table = format_memory({}, {bytes_of(1024, 0), bytes_of(1024, 0), bytes_of(2048, 0)});
  EXPECT_NE(table.find("ranks 0-1"), std::string::npos) << table;
  EXPECT_NE(table.find("rank 2"), std::string::npos) << table;
  EXPECT_EQ(table.find("measured"), std::string::npos) << table;
  EXPECT_EQ(table.find("inputs"), std::string::npos) << "nobody has any: " << table;
}

TEST(FormatMemory, MeasuredStandsBesidePredicted) {
  const std::string table = format_memory({bytes_of(1024, 512)}, {bytes_of(2048, 512)});
  EXPECT_EQ(table,
            "  memory at its peak                     rank 0\n"
            "                           measured   predicted\n"
            "  parameters                1.0 KiB     2.0 KiB\n"
            "  inputs                      512 B       512 B\n"
            "  in total, at once         1.5 KiB     2.5 KiB\n");
}

TEST(Printable, TextStaysAsItIs) {
  for (const char* text : {"", "a b\n\tc~", "\xc2\xa0", "\xc3\xa9", "\xe2\x82\xac", "\xed\x9f\xbf", "\xf0\x9f\x90\x9f",
                           "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, OtherBytes_AreEscaped) {
  EXPECT_EQ(printable(std::string("\0\r\x1b\x7f", 4)), "\\x00\\x0d\\x1b\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "a control character of two bytes";
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(printable("\xe2\x82z"), "\\xe2\\x82z") << "cut off";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "longer than it has to be";
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "longer than it has to be";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last character";
  EXPECT_EQ(printable("\xff\x80"), "\\xff\\x80");
}

}  // namespace
}  // namespace shoal::tools
