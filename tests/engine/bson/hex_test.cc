// Goal: bytes are converted to hexadecimal digits and to base64, and back.
// Method: the vectors of RFC 4648, and malformed texts.

#include "engine/base/hex.h"

#include <gtest/gtest.h>

#include "engine/base/base64.h"

namespace gridmount::bson {
namespace {

TEST(Hex, Bytes_HaveTwoDigits) {
  EXPECT_EQ(to_hex(std::string_view("\x00\x0F\xA5\xFF", 4)), "000fa5ff");
  EXPECT_EQ(to_hex(std::string_view("\xA5"), HexDigits::kUpper), "A5");
  EXPECT_EQ(to_hex(std::string_view()), "");
  EXPECT_EQ(from_hex("000fA5fF"), std::string("\x00\x0F\xA5\xFF", 4));
  EXPECT_EQ(from_hex(""), "");
  for (const char* wrong : {"0", "0g", "/0", ":0", "@0", "`0", "0 "}) {
    EXPECT_FALSE(from_hex(wrong)) << wrong;
  }
}

TEST(Base64Text, Vectors) {
  const std::pair<const char*, const char*> kVectors[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : kVectors) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
    std::string bare = text;
    bare.erase(bare.find_last_not_of('=') + 1);
    EXPECT_EQ(to_base64(bytes, Base64::kUrl), bare);
    EXPECT_EQ(from_base64(bare, Base64::kUrl), bytes);
    EXPECT_EQ(from_base64(text, Base64::kUrl), bytes);
  }
  EXPECT_EQ(to_base64("\xFB\xFF"), "+/8=");
  EXPECT_EQ(to_base64("\xFB\xFF", Base64::kUrl), "-_8");
  EXPECT_EQ(from_base64("-_8", Base64::kUrl), "\xFB\xFF");
}

TEST(Base64Text, Others_AreRefused) {
  for (const char* wrong :
       {"Z", "Zg", "Zg=", "Zg===", "====", "Z===", "Zm=v", "-_8=", "Zm 9", "Zm9v\n"}) {
    EXPECT_FALSE(from_base64(wrong)) << wrong;
  }
  for (const char* wrong : {"Z", "+/8", "Zm=v", "====", "Zm9vZ"}) {
    EXPECT_FALSE(from_base64(wrong, Base64::kUrl)) << wrong;
  }
}

}  // namespace
}  // namespace gridmount::bson
