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

using ::testing::IsEmpty;

const UserName kAnn{"CN=ann", "$external"};

// Runs `then` once, when a user has been read: the reader then has its snapshot.
class StoreWithPause : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::unique_ptr<engine::Snapshot>> snapshot() override {
    Result<std::unique_ptr<engine::Snapshot>> made = inner().snapshot();
    if (then) std::exchange(then, nullptr)();
    return made;
  }
  std::function<void()> then;
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
  pausing_->then = [&] {
    EXPECT_TRUE(access_->users().drop(kAnn).has_value());
    access_->users_changed();
  };
  EXPECT_TRUE(access_->log_in_by_certificate(ann_, "").has_value());
  EXPECT_FALSE(access_->identity(ann_).has_value());
  EXPECT_FALSE(access_->can_list(ann_, "test"));
}

TEST_F(UserChangeTest, RolesRevokedDuringLogIn_AreGone) {
  pausing_->then = [&] {
    User ann;
    ann.name = kAnn;
    ann.is_external = true;
    EXPECT_TRUE(access_->users().replace(ann).has_value());
    access_->users_changed();
  };
  EXPECT_TRUE(access_->log_in_by_certificate(ann_, "").has_value());
  ASSERT_TRUE(access_->identity(ann_).has_value());
  EXPECT_THAT(access_->identity(ann_)->roles, IsEmpty());
  EXPECT_FALSE(access_->can_list(ann_, "test"));
}

}  // namespace
}  // namespace gridmount::wire
