// Goal: the attributes of an open file reach the store at the right time, at once or with the next
// commit. If a time is changed twice, the right change stays.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "gridfs/bucket/file_time.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

class FileAttributesTest : public BucketFixture {
 protected:
  std::unique_ptr<FileTable> table() { return FileTable::create(bucket(), {}); }
};

TEST_F(FileAttributesTest, Write_TimesNow_SetsMtimeAndCtime) {
  const auto files = table();
  const bson::Value id = create("a");
  const auto file = must(files->open(id));
  const timespec before = file_time_now();
  must(write(*file, 0, "x"));
  must(file->flush());
  const PosixFields posix = this->file(id).posix;
  ASSERT_TRUE(posix.mtime && posix.ctime);
  EXPECT_GE(std::pair(posix.mtime->tv_sec, posix.mtime->tv_nsec),
            std::pair(before.tv_sec, before.tv_nsec));
  EXPECT_EQ(posix.mtime->tv_nsec, posix.ctime->tv_nsec);
  EXPECT_EQ(file->document().posix.mtime->tv_nsec, posix.mtime->tv_nsec);
}

TEST_F(FileAttributesTest, Write_TimesKept_SetsNone) {
  const auto files = table();
  const bson::Value id = create("a");
  const auto file = must(files->open(id));
  must(file->write(0, bytes_of("x"), TimeUpdate::kKeep));
  must(file->flush());
  EXPECT_FALSE(this->file(id).posix.mtime);
  EXPECT_EQ(this->file(id).length, 1);
}

TEST_F(FileAttributesTest, UploadDate_AscendsWithEachCommitOfContentOnly) {
  const auto files = table();
  const bson::Value id = create("a");
  const auto file = must(files->open(id));
  bson::Date last = this->file(id).upload_date;
  for (int i = 0; i < 20; ++i) {
    must(write(*file, i, "x"));
    must(file->flush());
    EXPECT_GT(this->file(id).upload_date, last);
    last = this->file(id).upload_date;
    PosixFields posix;
    posix.mode = S_IFREG | 0600;
    must(file->set_posix(posix));
    EXPECT_EQ(this->file(id).upload_date, last);
  }
}

TEST_F(FileAttributesTest, SetPosix_ChangesTheStoreAtOnceAndLeavesTheRest) {
  const auto files = table();
  const bson::Value id = create("a");
  const auto file = must(files->open(id));
  PosixFields posix;
  posix.mode = S_IFREG | 0640;
  posix.uid = 4'000'000'000u;
  posix.mtime = timespec{-5, 123'456'789};
  must(file->set_posix(posix));
  PosixFields second;
  second.gid = 7;
  must(file->set_posix(second));
  const PosixFields stored = this->file(id).posix;
  EXPECT_EQ(stored.mode, S_IFREG | 0640u);
  EXPECT_EQ(stored.uid, 4'000'000'000u);
  EXPECT_EQ(stored.gid, 7u);
  EXPECT_EQ(stored.mtime->tv_sec, -5);
  EXPECT_EQ(stored.mtime->tv_nsec, 123'456'789);
  EXPECT_EQ(file->document().posix.gid, 7u);
  posix = PosixFields();
  posix.mtime = timespec{9, 0};
  must(file->set_posix(posix));
  EXPECT_EQ(this->file(id).posix.mtime->tv_nsec, 0) << "nanoseconds of before must go";
}

TEST_F(FileAttributesTest, SetPosix_TimesAfterUncommittedWrites_AreNotPutBack) {
  const auto files = table();
  const bson::Value id = create("a");
  const auto file = must(files->open(id));
  must(write(*file, 0, "x"));
  PosixFields posix;
  posix.mtime = timespec{1'000, 5};
  must(file->set_posix(posix));
  must(file->flush());
  EXPECT_EQ(this->file(id).posix.mtime->tv_sec, 1'000);
}

// The kernel may write back times after a call has set later ones.
TEST_F(FileAttributesTest, SetPosix_TimesOfMomentsBefore_DoNotComeBack) {
  const auto files = table();
  const bson::Value id = create("a");
  const auto file = must(files->open(id));
  const auto times = [](timespec mtime, timespec ctime) {
    PosixFields posix;
    posix.mtime = mtime;
    posix.ctime = ctime;
    return posix;
  };
  const timespec later{2'000'000'000, 1'000'000};
  const timespec before{1'999'999'999, 999'000'000};
  must(write(*file, 0, "x"));
  file->set_times(later, later);
  must(file->set_posix(times(before, before)));
  EXPECT_EQ(file->document().posix.mtime->tv_sec, later.tv_sec);
  must(file->flush());
  must(file->set_posix(times(before, before)));
  EXPECT_EQ(this->file(id).posix.mtime->tv_sec, later.tv_sec);
  // Times set by a user.
  must(file->set_posix(times(before, later)));
  EXPECT_EQ(this->file(id).posix.mtime->tv_sec, before.tv_sec);
  must(file->set_posix(times(later, later)));
  PosixFields both = times(before, before);
  both.atime = before;
  must(file->set_posix(both));
  EXPECT_EQ(this->file(id).posix.mtime->tv_sec, before.tv_sec);
  // A time in the future, and then the time of the call.
  must(file->set_posix(times(later, before)));
  must(file->set_posix(times(before, before)));
  EXPECT_EQ(this->file(id).posix.mtime->tv_sec, before.tv_sec);
  // The clock was set back.
  const timespec long_before{1'999'999'000, 0};
  must(file->set_posix(times(long_before, long_before)));
  EXPECT_EQ(this->file(id).posix.mtime->tv_sec, long_before.tv_sec);
}

TEST_F(FileAttributesTest, FarTimes_AreTheNearestThatAreKept) {
  constexpr int64_t kLast = INT64_MAX / 1000;  // the greatest second of a Date
  for (const int64_t seconds : {INT64_MIN, -kLast - 2, -kLast, int64_t{-2}, int64_t{0}, kLast - 1,
                                kLast, kLast + 1, INT64_MAX}) {
    const timespec time{seconds, 999'999'999};
    const timespec kept = to_timespec(to_date(time));
    EXPECT_EQ(kept.tv_sec, std::clamp(seconds, -kLast - 1, kLast)) << seconds;
    const timespec nearest = nearest_kept(time);
    EXPECT_EQ(nearest.tv_sec, kept.tv_sec);
    EXPECT_EQ(to_date(nearest).milliseconds, to_date(time).milliseconds);
    EXPECT_TRUE(nearest.tv_nsec >= 0 && nearest.tv_nsec < 1'000'000'000);
  }
  EXPECT_EQ(nearest_kept({5, 123'456'789}).tv_nsec, 123'456'789);
}

}  // namespace
}  // namespace gridmount::gridfs
