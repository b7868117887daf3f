// Goal: if the map of data.mdb does not show the last commit, no transaction from the older
// snapshot is acknowledged. The store then refuses all writes, and loses no acknowledged commit.
//
// Method: a real store in a temporary folder. LMDB's writes of meta pages go through this program's
// own pwrite, which can leave one out. LMDB has then committed, but its map shows the snapshot
// before. Other tests write an older meta page back under the open store.
#include "engine/local/storage/commit_sequence.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/local/files/meta_page.h"
#include "tests/engine/local/storage/environment_fixture.h"

namespace {

// The number of LMDB's meta page writes to leave out. Such a write begins within the first two
// pages, but not at the beginning of a page.
std::atomic<int> metas_left_out{0};
constexpr off_t kPageBytes = 4096;

}  // namespace

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  using Function = ssize_t (*)(int, const void*, size_t, off_t);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pwrite"));
  if (metas_left_out > 0 && offset < 2 * kPageBytes && offset % kPageBytes != 0) {
    --metas_left_out;
    return static_cast<ssize_t>(size);
  }
  return real(fd, bytes, size, offset);
}

namespace gridmount::local {
namespace {

using ::testing::HasSubstr;

using Meta = std::array<char, kMetaBytes>;

class CommitSequenceTest : public testing::EnvironmentFixture {
 protected:
  CommitSequenceTest()
      : EnvironmentFixture("commit_sequence_test", engine::TransactionKind::kMayBlock) {
    const Status opened = try_open(store());
    if (!opened) throw std::runtime_error(opened.error().message());
  }
  ~CommitSequenceTest() override { metas_left_out = 0; }

  // Returns the offset of the newest commit's meta page.
  off_t newest_meta() const {
    return static_cast<off_t>(environment_->last_transaction() % 2) * kPageBytes;
  }
  Meta read_meta(off_t at) const {
    Meta meta{};
    const int fd = ::open((store() / "data.mdb").c_str(), O_RDONLY);
    EXPECT_EQ(::pread(fd, meta.data(), meta.size(), at), static_cast<ssize_t>(meta.size()));
    ::close(fd);
    return meta;
  }
  void write_meta(off_t at, const Meta& meta) const {
    const int fd = ::open((store() / "data.mdb").c_str(), O_RDWR);
    EXPECT_EQ(::pwrite(fd, meta.data(), meta.size(), at), static_cast<ssize_t>(meta.size()));
    ::close(fd);
  }

  // Makes the map show the commit before the last, as if the last had not been written. Returns the
  // meta page of the last commit.
  Meta make_map_stale() {
    EXPECT_TRUE(put("before", "1"));
    EXPECT_TRUE(put("between", "1"));
    const off_t at = kPageBytes - newest_meta();  // where the next meta page goes
    const Meta older = read_meta(at);
    EXPECT_TRUE(put("last", "1"));
    EXPECT_EQ(newest_meta(), at);
    const Meta newest = read_meta(at);
    write_meta(at, older);
    return newest;
  }

  void expect_refused(const Status& status) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kWritesRefused) << status.error().message();
    EXPECT_THAT(status.error().message(), HasSubstr("takes no more writes"));
    EXPECT_THAT(status.error().message(), HasSubstr("does not show what was committed last"));
  }
};

TEST_F(CommitSequenceTest, OlderMetaPage_NothingIsWrittenFromIt) {
  const Meta newest = make_map_stale();
  expect_refused(put("lost", "1"));
  // Writing stays refused, whatever the map shows later.
  write_meta(read_meta(0) == newest ? 0 : (environment_->last_transaction() + 1) % 2 * kPageBytes,
             newest);
  expect_refused(put("lost", "1"));
  expect_refused(environment_->make_durable());
  ASSERT_TRUE(try_open(store()));
  EXPECT_EQ(get("last"), "1");
  EXPECT_EQ(get("lost"), "");
  EXPECT_TRUE(put("later", "1"));
}

TEST_F(CommitSequenceTest, OlderMetaPage_IsNotReadAsTheNewestSnapshot) {
  const auto before = environment_->begin_read();
  ASSERT_TRUE(before);
  (void)make_map_stale();
  EXPECT_THAT(get("before"), HasSubstr("does not show what was committed last"));
  expect_refused(put("lost", "1"));
}

TEST_F(CommitSequenceTest, CommitThatDoesNotShow_IsNotAcknowledged) {
  EXPECT_TRUE(put("before", "1"));
  metas_left_out = 1;
  const Status lost = put("lost", "1");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code(), ErrorCode::kWritesRefused);
  EXPECT_EQ(metas_left_out, 0);
  expect_refused(put("later", "1"));
  expect_refused(environment_->make_durable());
  expect_refused(environment_->checkpoint());
  ASSERT_TRUE(try_open(store()));
  EXPECT_EQ(get("before"), "1");
  EXPECT_EQ(get("later"), "");
}

TEST_F(CommitSequenceTest, CommitThatDoesNotShow_IsNotAcknowledgedToThoseWhoShareIt) {
  EXPECT_TRUE(put("before", "1"));
  auto leader = environment_->begin_write();
  ASSERT_TRUE(leader);
  std::latch has_begun(1);
  std::optional<Status> member;
  std::thread thread([&] {
    has_begun.count_down();
    member = put("member", "1");
  });
  has_begun.wait();
  {
    Trees trees(leader->lmdb(), handles_, true);
    ASSERT_TRUE(trees.put(environment_->tree(0), "leader", "1"));
    leader->log(trees.take_changes());
    trees.end();
  }
  metas_left_out = 1;
  EXPECT_FALSE(leader->commit());
  thread.join();
  // The member either shared the failed commit, or came after it.
  EXPECT_FALSE(*member);
  expect_refused(put("later", "1"));
}

TEST_F(CommitSequenceTest, TransactionsWithoutChanges_LoseNothing) {
  EXPECT_TRUE(put("one", "1"));
  for (int i = 0; i < 3; ++i) {
    auto transaction = environment_->begin_write();
    ASSERT_TRUE(transaction);
    EXPECT_TRUE(transaction->commit());
  }
  { const auto given_up = environment_->begin_write(); }
  EXPECT_TRUE(put("two", "1"));
  EXPECT_TRUE(put("three", "1"));
  EXPECT_EQ(get("two"), "1");
  EXPECT_TRUE(environment_->checkpoint());
}

TEST_F(CommitSequenceTest, OlderMetaPage_EndsCheckpointsAndWriting) {
  (void)make_map_stale();
  const Status checkpoint = environment_->checkpoint();
  ASSERT_FALSE(checkpoint);
  EXPECT_EQ(checkpoint.error().code(), ErrorCode::kWritesRefused);
  EXPECT_THAT(checkpoint.error().message(), HasSubstr("takes no more writes"));
  EXPECT_EQ(put("lost", "1").error().code(), ErrorCode::kWritesRefused);
}

TEST_F(CommitSequenceTest, OlderMetaPage_NoHolesAreMade) {
  const auto free_much = [&] {
    EXPECT_TRUE(put("large", std::string(1 << 20, 'x')));
    EXPECT_TRUE(write([&](Trees& trees) { return trees.remove(environment_->tree(0), "large"); }));
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(put("small", std::to_string(i)));
      EXPECT_TRUE(environment_->checkpoint());
    }
  };
  free_much();
  const auto given = environment_->return_free_pages({});
  ASSERT_TRUE(given) << given.error().message();
  EXPECT_GT(*given, uint64_t{1} << 19);
  free_much();
  (void)make_map_stale();
  const auto data = system::File::open(store() / "data.mdb", O_RDONLY);
  ASSERT_TRUE(data);
  const uint64_t before = *data->allocated_bytes();
  EXPECT_FALSE(environment_->return_free_pages({}));
  EXPECT_EQ(*data->allocated_bytes(), before);
}

TEST_F(CommitSequenceTest, ReaderBesideTheOwner_DoesNotReadAnOlderSnapshot) {
  OpenOptions beside;
  beside.read_only = true;
  beside.beside_owner = true;
  auto reader = Environment::open(store(), beside);
  ASSERT_TRUE(reader) << reader.error().message();
  EXPECT_TRUE((*reader)->begin_read());
  (void)make_map_stale();
  const auto snapshot = (*reader)->begin_read();
  ASSERT_FALSE(snapshot);
  EXPECT_THAT(snapshot.error().message(), HasSubstr("does not show what was committed last"));
}

// Tests batches, whose transactions are acknowledged when `pending` has them, before LMDB commits
// them.
class BatchSequenceTest : public testing::EnvironmentFixture {
 protected:
  BatchSequenceTest()
      : EnvironmentFixture("commit_sequence_test", engine::TransactionKind::kShort) {
    test_.small_before_batch = 0;
    const Status opened = try_open(store(), test_);
    if (!opened) throw std::runtime_error(opened.error().message());
  }
  ~BatchSequenceTest() override { metas_left_out = 0; }
  TestOptions test_;
};

TEST_F(BatchSequenceTest, BatchThatDoesNotShow_IsReplayedByTheNextOpening) {
  ASSERT_TRUE(put("zero", "1"));
  EXPECT_EQ(get("zero"), "1");
  ASSERT_TRUE(put("one", "1"));
  ASSERT_TRUE(put("two", "1"));
  metas_left_out = 1;
  // This read ends the batch.
  EXPECT_THAT(get("one"), HasSubstr("does not show what was committed last"));
  EXPECT_EQ(put("lost", "1").error().code(), ErrorCode::kWritesRefused);
  ASSERT_TRUE(try_open(store(), test_));
  EXPECT_EQ(get("one"), "1");
  EXPECT_EQ(get("two"), "1");
  EXPECT_EQ(get("lost"), "");
}

}  // namespace
}  // namespace gridmount::local
