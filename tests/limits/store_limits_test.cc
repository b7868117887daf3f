// Goal: operations at the limits of the embedded store succeed. Those one beyond the limit fail
// with the error that doc/limits.md names, and the store continues to work.
#include <string>
#include <vector>

#include "tests/engine/wire/commands/service_test.h"
#include "tests/sanitized.h"

namespace gridmount::wire {
namespace {

class StoreLimits : public ServiceTest {};

TEST_F(StoreLimits, Snapshots) {
  insert_numbered("c", 3);
  std::vector<std::unique_ptr<engine::Snapshot>> held;
  std::optional<Error> error;
  while (!error && held.size() < 5000) {
    auto snapshot = store().snapshot();
    if (snapshot) {
      held.push_back(std::move(*snapshot));
    } else {
      error = std::move(snapshot).error();
    }
  }
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kOperationFailed);
  EXPECT_THAT(error->message(), testing::HasSubstr("too many snapshots"));
  // The store itself uses one or two.
  EXPECT_GE(held.size(), 4090U);
  held.clear();
  EXPECT_EQ(find("c").size(), 3U);
}

// One transaction that changes more pages than LMDB lists in memory (131,071), so LMDB writes some
// of them to the file before the commit.
TEST_F(StoreLimits, LargeTransaction) {
  const int documents = kSanitized ? 2'000 : 140'000;
  const std::string text(3000, 'x');  // one per page
  {
    const auto transaction = store().begin();
    ASSERT_TRUE(transaction);
    const auto collection = store().database("test")->collection("c");
    for (int32_t id = 0; id < documents; ++id) {
      bson::Builder builder;
      builder.append("_id", id).append("x", text);
      ASSERT_TRUE(collection->insert(**transaction, std::move(builder).finish())) << id;
    }
    ASSERT_TRUE((*transaction)->commit());
  }
  EXPECT_EQ(good(R"({"count": "c"})", "test", "n"), std::to_string(documents));
  EXPECT_EQ(find("c", R"({"_id": 1999})").size(), 1U);
}

}  // namespace
}  // namespace gridmount::wire
