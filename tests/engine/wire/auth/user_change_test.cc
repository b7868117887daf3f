// Goal: a change of a user takes effect although something else happens to the user at the same
// time: a log-in, or another change.
// Method: a store that runs a function between two steps of the code under test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "engine/wire/auth/access_control.h"
#include "tests/engine/wire/commands/service_test.h"
#include "tests/forwarding_store.h"

namespace gridmount::wire {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

const UserName kAnn{"CN=ann", "$external"};

// Runs each of the functions once. `after_snapshot` runs when a user is read: the reader then has
// its snapshot.
class StoreWithPause : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::unique_ptr<engine::Snapshot>> snapshot() override {
    Result<std::unique_ptr<engine::Snapshot>> made = inner().snapshot();
    if (after_snapshot) std::exchange(after_snapshot, nullptr)();
    return made;
  }
  Result<std::unique_ptr<engine::Transaction>> begin(engine::TransactionKind kind) override {
    if (before_transaction) std::exchange(before_transaction, nullptr)();
    return inner().begin(kind);
  }
  std::function<void()> after_snapshot;
  std::function<void()> before_transaction;
};

class UserChangeTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    pausing_.emplace(store());
    access_.emplace(*pausing_, true);
    User ann;
    ann.name = kAnn;
    ann.is_external = true;
    ann.roles = {{"root", "admin"}};
    ASSERT_TRUE(access_->users().create(ann).has_value());
    access_->users_changed();
  }

  void TearDown() override {
    access_.reset();
    ServiceTest::TearDown();
  }

  std::optional<StoreWithPause> pausing_;
  std::optional<AccessControl> access_;
  Client ann_{7,
              {.kind = Peer::Kind::kTcp,
               .address = "10.1.1.1:4000",
               .is_loopback = false,
               .certificate_subject = kAnn.name}};
};

TEST_F(UserChangeTest, UserDroppedDuringLogIn_IsNotLoggedIn) {
  pausing_->after_snapshot = [&] {
    EXPECT_TRUE(access_->users().drop(kAnn).has_value());
    access_->users_changed();
  };
  EXPECT_TRUE(access_->log_in_by_certificate(ann_, "").has_value());
  EXPECT_FALSE(access_->identity(ann_).has_value());
  EXPECT_FALSE(access_->can_list(ann_, "test"));
}

TEST_F(UserChangeTest, RolesRevokedDuringLogIn_AreGone) {
  const auto revoke_all = [](User& user) -> Status {
    user.roles.clear();
    return {};
  };
  pausing_->after_snapshot = [&] {
    EXPECT_TRUE(access_->users().update(kAnn, revoke_all).has_value());
    access_->users_changed();
  };
  EXPECT_TRUE(access_->log_in_by_certificate(ann_, "").has_value());
  ASSERT_TRUE(access_->identity(ann_).has_value());
  EXPECT_THAT(access_->identity(ann_)->roles, IsEmpty());
  EXPECT_FALSE(access_->can_list(ann_, "test"));
}

TEST_F(UserChangeTest, ChangesAtTheSameTime_AllTakeEffect) {
  Service service(*pausing_, {});
  const auto run = [&](std::string_view command) {
    const Outcome outcome = service.handle(client(), {doc(command), "shop", {}, false});
    EXPECT_EQ(field(std::get<bson::Document>(outcome), "ok"), "1.0") << command;
  };
  run(R"({"createUser": "bob", "pwd": "one", "roles": ["read", "dbAdmin"]})");
  for (const char* const command :
       {R"({"grantRolesToUser": "bob", "roles": ["userAdmin"]})",
        R"({"revokeRolesFromUser": "bob", "roles": ["dbAdmin"]})",
        R"({"updateUser": "bob", "customData": {"a": 1}})", R"({"updateUser": "bob", "pwd": "x"})",
        R"({"updateUser": "bob", "mechanisms": ["SCRAM-SHA-256"]})"}) {
    run(R"({"grantRolesToUser": "bob", "roles": ["readWrite"]})");
    pausing_->before_transaction = [&] {
      run(R"({"revokeRolesFromUser": "bob", "roles": ["readWrite"]})");
    };
    run(command);
    const Result<std::optional<User>> bob = access_->users().find({"bob", "shop"});
    ASSERT_TRUE(bob.has_value() && bob->has_value());
    EXPECT_THAT((*bob)->roles, Not(Contains(Role{"readWrite", "shop"}))) << command;
  }
  const Result<std::optional<User>> bob = access_->users().find({"bob", "shop"});
  EXPECT_THAT((*bob)->roles, ElementsAre(Role{"read", "shop"}, Role{"userAdmin", "shop"}));
  EXPECT_EQ((*bob)->credentials.size(), 1u);
  EXPECT_FALSE((*bob)->custom_data.view().empty());
}

}  // namespace
}  // namespace gridmount::wire
