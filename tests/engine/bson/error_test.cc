// Goal: error codes have the names that servers use, and names of databases and collections are
// checked as servers check them.

#include "engine/base/error.h"

#include <gtest/gtest.h>

#include "engine/database_name.h"
#include "engine/store.h"

namespace gridmount {
namespace {

TEST(ErrorCodeName, ServersNames) {
  EXPECT_EQ(error_code_name(ErrorCode::kBadValue), "BadValue");
  EXPECT_EQ(error_code_name(ErrorCode::kDuplicateKey), "DuplicateKey");
  EXPECT_EQ(error_code_name(ErrorCode{51091}), "Location51091");
}

TEST(Namespaces, Names) {
  const auto is_good = [](const std::string& database, const std::string& collection) {
    return engine::check_namespace({database, collection}).has_value();
  };
  EXPECT_TRUE(is_good("test", "fs.files"));
  EXPECT_TRUE(is_good("test", "system.views"));
  EXPECT_TRUE(is_good(std::string(63, 'd'), "c"));
  EXPECT_FALSE(is_good(std::string(64, 'd'), "c"));
  EXPECT_FALSE(is_good("", "c"));
  EXPECT_TRUE(engine::check_database_name(std::string(63, 'd')));
  EXPECT_FALSE(engine::check_database_name(""));
  EXPECT_FALSE(engine::check_database_name("a/b"));
  EXPECT_FALSE(is_good("test", ""));
  for (const char c : std::string_view("/\\. \"$*<>:|?")) {
    EXPECT_FALSE(is_good(std::string("a") + c, "c")) << c;
  }
  EXPECT_FALSE(is_good(std::string("a\0b", 3), "c"));
  EXPECT_FALSE(is_good("test", std::string("a\0b", 3)));
  EXPECT_FALSE(is_good("test", "a$b"));
  EXPECT_FALSE(is_good("test", ".a"));
  EXPECT_FALSE(is_good("test", "a."));
  EXPECT_TRUE(is_good("test", std::string(250, 'c')));
  EXPECT_FALSE(is_good("test", std::string(251, 'c')));
}

}  // namespace
}  // namespace gridmount
