// Goal: an update of one field of a files document changes that field alone.
#include "gridfs/bucket/file_fields.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "engine/bson/json.h"
#include "tests/must.h"

namespace gridmount::gridfs {
namespace {

std::string update_of(std::string_view files_document, std::string_view field,
                      std::optional<std::string_view> text) {
  const bson::Document document = must(bson::document_from_json(files_document));
  return bson::to_json(must(field_update(document, field, text)), bson::JsonForm::kRelaxed);
}

TEST(FileFields, MetadataRemoved_IsGone) {
  EXPECT_EQ(update_of(R"({"metadata": {"owner": "me"}})", "metadata", std::nullopt),
            R"({ "$unset" : { "metadata" : "" } })");
  EXPECT_EQ(update_of(R"({"metadata": {"owner": "me"}})", "metadata", "{}"),
            R"({ "$set" : { "metadata" : {  } } })");
}

TEST(FileFields, MetadataRemoved_KeepsTheFieldsOfTheMount) {
  EXPECT_EQ(
      update_of(R"({"metadata": {"owner": "me", "posix": {"mode": 1}}})", "metadata", std::nullopt),
      R"({ "$set" : { "metadata" : { "posix" : { "mode" : 1 } } } })");
}

// The error has its own code, so that setxattr(2) fails with EINVAL.
TEST(FileFields, MetadataNestedTooDeeply_IsNotParsed) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += R"({"a": )";
  text += "1" + std::string(300, '}');
  const auto update = field_update(bson::Document(), "metadata", text);
  ASSERT_FALSE(update);
  EXPECT_EQ(update.error().code(), ErrorCode::kFailedToParse);
}

}  // namespace
}  // namespace gridmount::gridfs
