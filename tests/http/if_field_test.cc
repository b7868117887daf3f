// Goal: the field If is parsed and evaluated as RFC 4918 says, and nonsense in it is refused.
#include "http/if_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/site_error.h"
#include "tests/must.h"

namespace gridmount::http {
namespace {

using ::testing::ElementsAre;

bool is_met_in(const std::string& field, const ResourceState& own,
               const ResourceState& other = {}) {
  return must(holds(must(parse_if(field)), [&](const auto& resource) -> Result<ResourceState> {
    return resource ? other : own;
  }));
}

TEST(IfField, Lists_AreAlternatives_AndConditionsAreNot) {
  const ResourceState own{{"urn:a", "urn:b"}, "\"tag\""};
  EXPECT_TRUE(is_met_in("(<urn:a>)", own));
  EXPECT_TRUE(is_met_in(" ( <urn:a> [\"tag\"] <urn:b> ) ", own));
  EXPECT_FALSE(is_met_in("(<urn:a> <urn:c>)", own));
  EXPECT_TRUE(is_met_in("(<urn:c>)(<urn:b>)", own));
  EXPECT_TRUE(is_met_in("(<urn:c>) (Not <urn:c>)", own));
  EXPECT_FALSE(is_met_in("(NOT <urn:a>)", own));
  EXPECT_TRUE(is_met_in("(Not<DAV:no-lock>)", own));
  EXPECT_FALSE(is_met_in("([\"other\"])", own));
  EXPECT_FALSE(is_met_in("([W/\"tag\"])", own));
  EXPECT_FALSE(is_met_in("([*])", own));
  EXPECT_FALSE(is_met_in("([\"tag\"])", {{}, std::nullopt}));
}

TEST(IfField, Resources_HaveTheirOwnLists) {
  const ResourceState own{{"urn:a"}, {}};
  const ResourceState other{{"urn:b"}, {}};
  EXPECT_TRUE(is_met_in("<http://localhost/x> (<urn:b>)", own, other));
  EXPECT_FALSE(is_met_in("<http://localhost/x> (<urn:a>)", own, other));
  EXPECT_TRUE(is_met_in("</x> (<urn:a>) (<urn:b>) </y> (<urn:c>)", own, other));
  const auto lists = must(parse_if("</x> (<urn:a>) (<urn:b>) </y> (<urn:c> [\"t\"])"));
  EXPECT_EQ(lists[1].resource, "/x");
  EXPECT_EQ(lists[2].resource, "/y");
  EXPECT_THAT(tokens_in(lists), ElementsAre("urn:a", "urn:b", "urn:c"));
}

TEST(IfField, Nonsense_IsRefused) {
  for (const char* field :
       {"", " ", "()", "(", "(<urn:a>", "(<urn:a)", "(urn:a)", "<x>", "<x> <y> (<urn:a>)", "(<>)",
        "([])", "(Not)", "(Not Not <urn:a>)", "(<urn:a>) x", "(<urn:a>) </x> (<urn:b>)",
        "(<urn:a>), (<urn:b>)", ")", "[\"tag\"]"}) {
    EXPECT_EQ(parse_if(field).error().code(), ErrorCode::kBadValue) << field;
  }
}

TEST(IfField, TooManyConditions_AreRefused) {
  std::string many = "(";
  for (size_t i = 0; i < kIfConditionsMax; ++i) many += "<a>";
  EXPECT_TRUE(parse_if(many + ")"));
  EXPECT_EQ(parse_if(many + "<a>)").error().code(), kXmlTooLarge);
  EXPECT_EQ(parse_if(many + ")(<a>)").error().code(), kXmlTooLarge);
}

}  // namespace
}  // namespace gridmount::http
