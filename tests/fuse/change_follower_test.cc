// Goal: the follower reports each change, and continues at the position of a broken stream. If it
// cannot, it reports that everything may have changed. It ends without waiting for a server.
// Method: a store whose change streams the test has written in advance.
#include "fuse/daemon/change_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "tests/must.h"

namespace gridmount::fuse {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr seconds kPatience{30};

// The result of one call of a stream's next(): an insert of a file with this name, or an error.
struct Step {
  std::string filename;
  ErrorCode error{};
};
// The result of one call of the store's watch().
struct Opening {
  ErrorCode error{};
  std::vector<Step> steps;  // then the stream waits
};

class ScriptedDeployment final : public engine::Store {
 public:
  ScriptedDeployment(std::deque<Opening> openings, bool has_streams)
      : openings_(std::move(openings)), has_streams_(has_streams) {}

  engine::Capabilities capabilities() const override { return {.change_streams = has_streams_}; }
  Result<std::unique_ptr<engine::ChangeStream>> watch(
      std::string_view database, const engine::ChangeStreamOptions& options) override {
    EXPECT_EQ(database, "media");
    const std::lock_guard lock(mutex_);
    const std::optional<bson::ValueView> place = options.resume_after.find("place");
    places_.push_back(place ? place->as_int32() : -1);
    if (openings_.empty()) return fail(ErrorCode::kHostUnreachable, "no more streams");
    Opening opening = std::move(openings_.front());
    openings_.pop_front();
    if (opening.error != ErrorCode{}) return fail(opening.error, "refused");
    return std::unique_ptr<engine::ChangeStream>(
        std::make_unique<Stream>(*this, std::move(opening.steps)));
  }
  // Returns the position that each call of watch() named; -1 if it named none.
  std::vector<int> places() {
    const std::lock_guard lock(mutex_);
    return places_;
  }
  // From now on the streams do not answer.
  void hang() {
    const std::lock_guard lock(mutex_);
    hangs_ = true;
  }
  void resume() {
    const std::lock_guard lock(mutex_);
    is_resumed_ = true;
    changed_.notify_all();
  }

  std::shared_ptr<engine::Database> database(std::string_view) override { return nullptr; }
  Result<std::vector<std::string>> databases(engine::Snapshot&) override { return unused(); }
  Result<std::unique_ptr<engine::Snapshot>> snapshot() override { return unused(); }
  Result<std::unique_ptr<engine::Transaction>> begin(engine::TransactionKind) override {
    return unused();
  }
  Status make_durable() override { return {}; }
  Result<int64_t> compact(const engine::Namespace&,
                          const std::optional<engine::Deadline>&) override {
    return unused();
  }
  Result<engine::StoreStats> stats() override { return unused(); }
  bool read_only() const override { return false; }

 private:
  class Stream final : public engine::ChangeStream {
   public:
    Stream(ScriptedDeployment& store, std::vector<Step> steps)
        : deployment_(store), steps_(std::move(steps)) {}

    Result<std::vector<bson::View>> next() override {
      if (at_ == steps_.size()) {
        deployment_.wait();
        return std::vector<bson::View>();
      }
      const Step& step = steps_[at_++];
      if (step.error != ErrorCode{}) return fail(step.error, "broken");
      event_ = must(bson::document_from_json(
          R"({"operationType": "insert", "ns": {"db": "media", "coll": "fs.files"},
              "documentKey": {"_id": 1}, "fullDocument": {"filename": ")" +
          step.filename + R"("}})"));
      bson::Builder place;
      place.append("place", static_cast<int32_t>(at_));
      token_ = std::move(place).finish();
      return std::vector<bson::View>{event_};
    }
    bson::View resume_token() const override { return token_; }

   private:
    ScriptedDeployment& deployment_;
    const std::vector<Step> steps_;
    size_t at_ = 0;
    bson::Document event_;
    bson::Document token_ = must(bson::document_from_json(R"({"place": {"$numberInt": "0"}})"));
  };

  static tl::unexpected<Error> unused() { return fail(ErrorCode::kInternalError, "not used"); }
  void wait() {
    std::unique_lock lock(mutex_);
    const milliseconds patience = hangs_ ? milliseconds(kPatience) : milliseconds(10);
    changed_.wait_for(lock, patience, [this] { return is_resumed_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Opening> openings_;
  std::vector<int> places_;
  bool hangs_ = false;
  bool is_resumed_ = false;
  const bool has_streams_;
};

class ChangeFollowerTest : public testing::Test {
 protected:
  void follow(std::deque<Opening> openings, bool has_streams = true) {
    deployment_.emplace(std::move(openings), has_streams);
    follower_.emplace(*deployment_, "media", [this](const FollowedChanges& changes) {
      const std::lock_guard lock(mutex_);
      if (changes.everything) seen_.emplace_back("everything");
      for (const auto& [name, bucket] : changes.buckets) {
        seen_.insert(seen_.end(), bucket.filenames.begin(), bucket.filenames.end());
      }
      changed_.notify_all();
    });
    follower_->open();
    follower_->begin();
  }
  // Waits until `count` changes were reported, but not longer than kPatience. Returns them.
  std::vector<std::string> seen(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] { return seen_.size() >= count; });
    return seen_;
  }
  void TearDown() override {
    if (follower_) {
      EXPECT_TRUE(follower_->end(kPatience));
    }
  }

  std::optional<ScriptedDeployment> deployment_;
  std::optional<ChangeFollower> follower_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> seen_;
};

TEST_F(ChangeFollowerTest, Events_AreReported) {
  follow({{{}, {{"a"}, {"b"}}}});
  EXPECT_THAT(seen(2), ElementsAre("a", "b"));
  EXPECT_THAT(deployment_->places(), ElementsAre(-1));
}

TEST_F(ChangeFollowerTest, LostConnection_GoesOnAtTheSamePlace) {
  follow({{{}, {{"a"}, {"", ErrorCode::kHostUnreachable}}},
          {ErrorCode::kHostUnreachable, {}},
          {{}, {{"b"}}}});
  EXPECT_THAT(seen(2), ElementsAre("a", "b"));
  EXPECT_THAT(deployment_->places(), ElementsAre(-1, 1, 1));
}

TEST_F(ChangeFollowerTest, LostHistory_IsEverything) {
  follow({{{}, {{"a"}, {"", ErrorCode::kHostUnreachable}}},
          {engine::kChangeStreamHistoryLost, {}},
          {{}, {{"b"}}}});
  EXPECT_THAT(seen(3), ElementsAre("a", "everything", "b"));
  EXPECT_THAT(deployment_->places(), ElementsAre(-1, 1, -1));
}

TEST_F(ChangeFollowerTest, ErrorThatNobodyKnows_IsEverything) {
  follow({{{}, {{"a"}, {"", ErrorCode::kBsonObjectTooLarge}}}, {{}, {{"b"}}}});
  EXPECT_THAT(seen(3), ElementsAre("a", "everything", "b"));
  EXPECT_THAT(deployment_->places(), ElementsAre(-1, -1));
}

TEST_F(ChangeFollowerTest, NoServerAtFirst_IsEverythingLater) {
  follow({{ErrorCode::kHostUnreachable, {}}, {{}, {{"a"}}}});
  EXPECT_THAT(seen(2), ElementsAre("everything", "a"));
}

TEST_F(ChangeFollowerTest, RefusedAtFirst_FollowsNothing) {
  follow({{ErrorCode::kUnauthorized, {}}});
  EXPECT_TRUE(follower_->end(milliseconds(0)));
  EXPECT_THAT(deployment_->places(), ElementsAre(-1));
}

TEST_F(ChangeFollowerTest, StoreWithoutStreams_IsNotAsked) {
  follow({}, false);
  EXPECT_TRUE(follower_->end(milliseconds(0)));
  EXPECT_THAT(deployment_->places(), IsEmpty());
}

TEST_F(ChangeFollowerTest, ServerThatDoesNotAnswer_IsNotWaitedFor) {
  follow({{{}, {{"a"}}}});
  seen(1);
  deployment_->hang();
  std::this_thread::sleep_for(milliseconds(50));  // more than a stream waits for events
  EXPECT_FALSE(follower_->end(milliseconds(20)));
  deployment_->resume();
}

}  // namespace
}  // namespace gridmount::fuse
