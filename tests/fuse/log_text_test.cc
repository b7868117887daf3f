// Goal: whatever a file name contains, a log message stays one line and shows the name.
#include "engine/base/log_text.h"

#include <gtest/gtest.h>

namespace gridmount {
namespace {

TEST(LogText, PlainText_StaysAsItIs) {
  EXPECT_EQ(log_text(""), "");
  EXPECT_EQ(log_text("lookup of node 1 name a b.txt"), "lookup of node 1 name a b.txt");
  EXPECT_EQ(log_text("C:\\n \"x\""), "C:\\n \"x\"");
  EXPECT_EQ(log_text("\u00e4\u00a0\u20ac\U0001F600"), "\u00e4\u00a0\u20ac\U0001F600");
}

TEST(LogText, ControlCharacters_AreEscaped) {
  EXPECT_EQ(log_text("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(log_text("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(log_text(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(log_text("\u0085\u009b"), "\\x85\\x9b");
}

TEST(LogText, NotUtf8_IsEscaped) {
  EXPECT_EQ(log_text("\xff\x9b\xc2"), "\\xff\\x9b\\xc2");
}

}  // namespace
}  // namespace gridmount
