// Goal: reads return what was written, in every way in which a program reads and writes.
// Method: plain system calls on a real mount, compared with the bytes in memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>

#include "tests/fuse/mounted_store.h"

namespace gridmount::fuse {
namespace {

std::string random_bytes(size_t size) {
  std::mt19937_64 random(size);
  std::string bytes(size, '\0');
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, size - at));
  }
  return bytes;
}

class ContentTest : public MountTest {
 protected:
  struct stat stat_of(const std::string& path) {
    struct stat result {};
    EXPECT_CALL_OK(stat(path.c_str(), &result));
    return result;
  }
};

TEST_F(ContentTest, WrittenFile_ReadsBack) {
  write_file(at("small"), "hello");
  EXPECT_EQ(read_file(at("small")), "hello");
  EXPECT_EQ(stat_of(at("small")).st_size, 5);
  write_file(at("empty"), "");
  EXPECT_EQ(read_file(at("empty")), "");
}

TEST_F(ContentTest, ManyChunks_ReadBackAfterRemount) {
  const std::string content = random_bytes(5'000'001);
  write_file(at("large"), content);
  EXPECT_TRUE(read_file(at("large")) == content);
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(stat_of(at("large")).st_size, 5'000'001);
  EXPECT_TRUE(read_file(at("large")) == content);
}

TEST_F(ContentTest, OddChunkSizes_ReadBack) {
  ASSERT_EQ(unmount(), 0);
  mount({"--chunk-size", "1000"});
  const std::string content = random_bytes(2'000'003);
  write_file(at("odd"), content);
  ASSERT_EQ(unmount(), 0);
  // Reads in requests with more pieces than fit in one reply.
  mount({});
  EXPECT_TRUE(read_file(at("odd")) == content);
}

TEST_F(ContentTest, RandomWritesAndTruncates_EqualAModel) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::string model;
  const int fd = open(at("model").c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_GE(fd, 0);
  for (int step = 0; step < 200; ++step) {
    const size_t offset = random() % 1'000'000;
    if (random() % 8 == 0) {
      ASSERT_CALL_OK(ftruncate(fd, static_cast<off_t>(offset)));
      model.resize(offset);
    } else {
      const std::string bytes = random_bytes(1 + random() % 70'000);
      ASSERT_EQ(pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)),
                static_cast<ssize_t>(bytes.size()));
      if (model.size() < offset + bytes.size()) model.resize(offset + bytes.size());
      model.replace(offset, bytes.size(), bytes);
    }
    if (random() % 20 == 0) {
      ASSERT_CALL_OK(fsync(fd));
    }
  }
  ASSERT_CALL_OK(close(fd));
  EXPECT_TRUE(read_file(at("model")) == model);
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_TRUE(read_file(at("model")) == model);
}

TEST_F(ContentTest, Append_GoesToTheEnd) {
  write_file(at("log"), "one\n");
  const int first = open(at("log").c_str(), O_WRONLY | O_APPEND);
  const int second = open(at("log").c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(first, 0);
  ASSERT_GE(second, 0);
  EXPECT_EQ(write(first, "two\n", 4), 4);
  EXPECT_EQ(write(second, "three\n", 6), 6);
  EXPECT_EQ(write(first, "four\n", 5), 5);
  close(first);
  close(second);
  EXPECT_EQ(read_file(at("log")), "one\ntwo\nthree\nfour\n");
}

TEST_F(ContentTest, SparseFile_HolesReadAsZeros) {
  const int fd = open(at("sparse").c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(pwrite(fd, "end", 3, 3'000'000), 3);
  ASSERT_CALL_OK(ftruncate(fd, 4'000'000));
  close(fd);
  ASSERT_EQ(unmount(), 0);
  mount({});
  std::string expected(4'000'000, '\0');
  expected.replace(3'000'000, 3, "end");
  EXPECT_TRUE(read_file(at("sparse")) == expected);
}

TEST_F(ContentTest, TruncatedAndExtended_OldBytesAreGone) {
  write_file(at("file"), std::string(600'000, 'x'));
  ASSERT_CALL_OK(truncate(at("file").c_str(), 10));
  ASSERT_CALL_OK(truncate(at("file").c_str(), 600'000));
  EXPECT_TRUE(read_file(at("file")) == std::string(10, 'x') + std::string(599'990, '\0'));
}

// The kernel reports the last close of a file later, and not as a part of close(2).
TEST_F(ContentTest, TruncatedAfterClose_IsCommitted) {
  const int fd = open(at("file").c_str(), O_WRONLY | O_CREAT, 0644);
  ASSERT_GE(fd, 0);
  const int open_for_longer = dup(fd);
  ASSERT_EQ(write(fd, "something long", 14), 14);
  close(fd);
  ASSERT_CALL_OK(truncate(at("file").c_str(), 9));
  kill_daemon();
  close(open_for_longer);
  mount({});
  EXPECT_EQ(read_file(at("file")), "something");
}

TEST_F(ContentTest, OpenWithTruncate_EmptiesTheFile) {
  write_file(at("file"), "something long");
  const int fd = open(at("file").c_str(), O_WRONLY | O_TRUNC);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(stat_of(at("file")).st_size, 0);
  EXPECT_EQ(write(fd, "new", 3), 3);
  close(fd);
  EXPECT_EQ(read_file(at("file")), "new");
  write_file(at("file"), "");
  EXPECT_EQ(read_file(at("file")), "");
}

// POSIX does not define O_TRUNC with O_RDONLY. Linux empties the file, so the kernel assumes that
// the file is empty.
TEST_F(ContentTest, OpenForReadingWithTruncate_EmptiesTheFile) {
  write_file(at("file"), std::string(300'000, 'x'));
  const int fd = open(at("file").c_str(), O_RDONLY | O_TRUNC);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(stat_of(at("file")).st_size, 0);
  close(fd);
  ASSERT_CALL_OK(truncate(at("file").c_str(), 10));
  EXPECT_EQ(read_file(at("file")), std::string(10, '\0'));
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(read_file(at("file")), std::string(10, '\0'));
}

TEST_F(ContentTest, SharedMapping_IsWrittenBack) {
  const int fd = open(at("mapped").c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_GE(fd, 0);
  ASSERT_CALL_OK(ftruncate(fd, 1 << 20));
  void* memory = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(memory, MAP_FAILED);
  close(fd);
  std::fill_n(static_cast<char*>(memory), 1 << 20, 'm');
  ASSERT_CALL_OK(msync(memory, 1 << 20, MS_SYNC));
  ASSERT_CALL_OK(munmap(memory, 1 << 20));
  EXPECT_TRUE(read_file(at("mapped")) == std::string(1 << 20, 'm'));
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_TRUE(read_file(at("mapped")) == std::string(1 << 20, 'm'));
}

TEST_F(ContentTest, WriteOnlyHandle_PartialPage) {
  // The kernel reads the rest of the page through a handle that was opened for writing only.
  write_file(at("file"), std::string(10'000, 'a'));
  ASSERT_EQ(unmount(), 0);
  mount({});
  const int fd = open(at("file").c_str(), O_WRONLY);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(pwrite(fd, "b", 1, 5'000), 1);
  close(fd);
  std::string expected(10'000, 'a');
  expected[5'000] = 'b';
  EXPECT_TRUE(read_file(at("file")) == expected);
}

TEST_F(ContentTest, UnlinkedWhileOpen_KeepsItsContent) {
  const std::string content = random_bytes(700'000);
  write_file(at("gone"), content);
  const int fd = open(at("gone").c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  ASSERT_CALL_OK(unlink(at("gone").c_str()));
  EXPECT_ERRNO(access(at("gone").c_str(), F_OK), ENOENT);
  struct stat attributes {};
  ASSERT_CALL_OK(fstat(fd, &attributes));
  EXPECT_EQ(attributes.st_nlink, 0U);
  EXPECT_EQ(attributes.st_size, 700'000);
  ASSERT_EQ(pwrite(fd, "!", 1, 699'999), 1);
  ASSERT_CALL_OK(fchmod(fd, 0600));
  ASSERT_CALL_OK(fsync(fd));
  std::string bytes(700'000, '\0');
  ASSERT_EQ(pread(fd, bytes.data(), bytes.size(), 0), 700'000);
  EXPECT_TRUE(bytes == content.substr(0, 699'999) + "!");
  ASSERT_CALL_OK(ftruncate(fd, 10));
  ASSERT_CALL_OK(fstat(fd, &attributes));
  EXPECT_EQ(attributes.st_size, 10);
  EXPECT_EQ(attributes.st_mode, S_IFREG | 0600U);
  // Meanwhile the name can be used for a new file.
  write_file(at("gone"), "new");
  ASSERT_CALL_OK(fstat(fd, &attributes));
  EXPECT_EQ(attributes.st_size, 10);
  close(fd);
  EXPECT_EQ(read_file(at("gone")), "new");
}

TEST_F(ContentTest, ReplacedWhileOpen_KeepsItsContent) {
  write_file(at("target"), "old");
  write_file(at("source"), "new");
  const int fd = open(at("target").c_str(), O_RDONLY);
  ASSERT_GE(fd, 0);
  ASSERT_CALL_OK(rename(at("source").c_str(), at("target").c_str()));
  char bytes[4] = {};
  EXPECT_EQ(read(fd, bytes, 3), 3);
  EXPECT_STREQ(bytes, "old");
  close(fd);
  EXPECT_EQ(read_file(at("target")), "new");
}

TEST_F(ContentTest, Times_AreKept) {
  write_file(at("file"), "x");
  const timespec times[2] = {{.tv_sec = 1'000'000'001, .tv_nsec = 123'456'789},
                             {.tv_sec = 1'500'000'001, .tv_nsec = 987'654'321}};
  ASSERT_CALL_OK(utimensat(AT_FDCWD, at("file").c_str(), times, 0));
  ASSERT_EQ(unmount(), 0);
  mount({});
  struct stat attributes = stat_of(at("file"));
  EXPECT_EQ(attributes.st_atim.tv_sec, 1'000'000'001);
  EXPECT_EQ(attributes.st_atim.tv_nsec, 123'456'789);
  EXPECT_EQ(attributes.st_mtim.tv_sec, 1'500'000'001);
  EXPECT_EQ(attributes.st_mtim.tv_nsec, 987'654'321);
}

TEST_F(ContentTest, Writing_MovesModificationTime) {
  write_file(at("file"), "x");
  const timespec past[2] = {{.tv_sec = 1'000'000'000, .tv_nsec = 0},
                            {.tv_sec = 1'000'000'000, .tv_nsec = 0}};
  ASSERT_CALL_OK(utimensat(AT_FDCWD, at("file").c_str(), past, 0));
  const time_t before = time(nullptr);
  write_file(at("file"), "y");
  EXPECT_GE(stat_of(at("file")).st_mtim.tv_sec, before);
  const timespec written = stat_of(at("file")).st_mtim;
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(stat_of(at("file")).st_mtim.tv_sec, written.tv_sec);
  EXPECT_EQ(stat_of(at("file")).st_mtim.tv_nsec, written.tv_nsec);
}

// The times change as on local file systems, except after truncate(2). The kernel keeps the times
// of the file, and asks for new ones only after ftruncate(2).
TEST_F(ContentTest, TruncatedToTheSameSize_IsModified) {
  write_file(at("file"), "hello");
  const auto has_changed = [&](const std::function<void()>& change) {
    const struct stat before = stat_of(at("file"));
    usleep(20'000);
    change();
    const struct stat after = stat_of(at("file"));
    EXPECT_EQ(after.st_size, before.st_size);
    const bool is_modified = after.st_mtim.tv_nsec != before.st_mtim.tv_nsec;
    EXPECT_EQ(after.st_ctim.tv_nsec != before.st_ctim.tv_nsec, is_modified);
    return is_modified;
  };
  const int file = open(at("file").c_str(), O_WRONLY);
  ASSERT_GE(file, 0);
  EXPECT_TRUE(has_changed([&] { EXPECT_CALL_OK(ftruncate(file, 5)); }));
  close(file);
  EXPECT_FALSE(has_changed([&] { EXPECT_CALL_OK(truncate(at("file").c_str(), 5)); }));
  EXPECT_TRUE(has_changed([&] {
    ASSERT_EQ(unmount(), 0);
    mount({});
  }));
  ASSERT_CALL_OK(truncate(at("file").c_str(), 0));
  EXPECT_TRUE(has_changed([&] { close(open(at("file").c_str(), O_WRONLY | O_TRUNC)); }));
}

// The kernel still has times of the files to write back, because it recorded the loss of their
// names.
TEST_F(ContentTest, SyncFs_AfterFilesWereRemoved_Succeeds) {
  const int root = open(at().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_GE(root, 0);
  write_file(at("removed"), "some");
  ASSERT_CALL_OK(unlink(at("removed").c_str()));
  EXPECT_CALL_OK(syncfs(root));
  write_file(at("target"), "old");
  write_file(at("source"), "new");
  ASSERT_CALL_OK(rename(at("source").c_str(), at("target").c_str()));
  EXPECT_CALL_OK(syncfs(root));
  close(root);
}

TEST_F(ContentTest, MoreThanTheDirtyBudget_IsWritten) {
  ASSERT_EQ(unmount(), 0);
  mount({"--dirty-bytes", "1M"});
  const std::string content = random_bytes(20'000'000);
  write_file(at("large"), content);
  EXPECT_TRUE(read_file(at("large")) == content);
}

TEST_F(ContentTest, StatFs_ShowsTheDisk) {
  struct statvfs mounted {};
  ASSERT_CALL_OK(statvfs(at().c_str(), &mounted));
  EXPECT_EQ(mounted.f_bsize, 4096U);
  EXPECT_EQ(mounted.f_namemax, 255U);
  EXPECT_GT(mounted.f_bavail, 0U);
  EXPECT_GE(mounted.f_blocks, mounted.f_bavail);
}

TEST_F(ContentTest, Fallocate_ExtendsPunchesAndZeroes) {
  const std::string content = random_bytes(3 << 20);
  write_file(at("file"), content);
  const int file = open(at("file").c_str(), O_RDWR);
  ASSERT_CALL_OK(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 300'000, 1'000'000));
  ASSERT_CALL_OK(fallocate(file, FALLOC_FL_ZERO_RANGE, 3'000'000, 500'000));
  ASSERT_CALL_OK(fallocate(file, 0, 3'400'000, 200'000));
  ASSERT_CALL_OK(fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 8 << 20));
  EXPECT_ERRNO(fallocate(file, FALLOC_FL_COLLAPSE_RANGE, 0, 262'144), EOPNOTSUPP);
  EXPECT_ERRNO(fallocate(file, FALLOC_FL_INSERT_RANGE, 0, 262'144), EOPNOTSUPP);
  EXPECT_ERRNO(fallocate(file, 0, 0, int64_t{1} << 60), EFBIG);
  EXPECT_ERRNO(fallocate(file, FALLOC_FL_KEEP_SIZE, 0, int64_t{1} << 45), ENOSPC);
  std::string expected = content;
  expected.resize(3'600'000);
  std::fill_n(expected.begin() + 300'000, 1'000'000, '\0');
  std::fill(expected.begin() + 3'000'000, expected.end(), '\0');
  EXPECT_TRUE(read_file(at("file")) == expected);
  // Chunks of zeros are holes, and so are the blocks of zeros next to them.
  EXPECT_EQ(lseek(file, 0, SEEK_HOLE), 74 * 4096);
  EXPECT_EQ(lseek(file, 2 << 18, SEEK_DATA), 317 * 4096);
  close(file);
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_TRUE(read_file(at("file")) == expected);
}

TEST_F(ContentTest, SeekData_SeesWhatIsNotWrittenBackYet) {
  const int file = open(at("file").c_str(), O_CREAT | O_RDWR, 0644);
  ASSERT_CALL_OK(ftruncate(file, 4 << 20));
  ASSERT_EQ(pwrite(file, "data", 4, 1 << 20), 4);
  EXPECT_EQ(lseek(file, 0, SEEK_DATA), 1 << 20);
  EXPECT_EQ(lseek(file, 1 << 20, SEEK_HOLE), (1 << 20) + 4096);
  EXPECT_ERRNO(lseek(file, 2 << 20, SEEK_DATA), ENXIO);
  ASSERT_EQ(pwrite(file, "end", 3, 6 << 20), 3);
  EXPECT_EQ(lseek(file, 2 << 20, SEEK_DATA), 6 << 20);
  EXPECT_EQ(lseek(file, 6 << 20, SEEK_HOLE), (6 << 20) + 3);
  EXPECT_ERRNO(lseek(file, (6 << 20) + 3, SEEK_HOLE), ENXIO);
  close(file);
}

TEST_F(ContentTest, CopyFileRange_CopiesDataAndHoles) {
  const std::string content = random_bytes(1'000'000);
  write_file(at("file"), content);
  ASSERT_CALL_OK(truncate(at("file").c_str(), 1 << 30));
  const int from = open(at("file").c_str(), O_RDONLY);
  const int to = open(at("copy").c_str(), O_CREAT | O_RDWR, 0644);
  off_t at_from = 0;
  off_t at_to = 0;
  while (at_from < 1 << 30) {
    ASSERT_GT(copy_file_range(from, &at_from, to, &at_to, 1 << 30, 0), 0);
  }
  EXPECT_EQ(copy_file_range(from, &at_from, to, &at_to, 1, 0), 0);
  EXPECT_EQ(stat_of(at("copy")).st_size, 1 << 30);
  EXPECT_EQ(lseek(to, 0, SEEK_HOLE), 245 * 4096);
  std::string copied(content.size(), '\0');
  ASSERT_EQ(pread(to, copied.data(), copied.size(), 0), static_cast<ssize_t>(copied.size()));
  EXPECT_TRUE(copied == content);
  // Within one file, over existing data.
  at_from = 0;
  at_to = 700'001;
  ASSERT_EQ(copy_file_range(to, &at_from, to, &at_to, 100'000, 0), 100'000);
  ASSERT_EQ(pread(to, copied.data(), 100'000, 700'001), 100'000);
  EXPECT_TRUE(copied.substr(0, 100'000) == content.substr(0, 100'000));
  close(from);
  close(to);
}

// Each call waits for the kernel to write back its data. The daemon must have threads left to
// receive this data.
TEST_F(ContentTest, SeekHole_ByMoreThreadsThanTheDaemonHas_IsAnswered) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) {
    threads.emplace_back([this, i] {
      const int file = open(at("file" + std::to_string(i)).c_str(), O_CREAT | O_RDWR, 0644);
      const std::string data(64 * 1024, 'x');
      for (int64_t round = 0; round < 20; ++round) {
        EXPECT_EQ(pwrite(file, data.data(), data.size(), round * 64 * 1024), 64 * 1024);
        EXPECT_EQ(lseek(file, 0, SEEK_HOLE), (round + 1) * 64 * 1024);
      }
      close(file);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ContentTest, CopyFileRange_WithLittleMemory_Ends) {
  ASSERT_EQ(unmount(), 0);
  mount({"--dirty-bytes", "1M"});
  const std::string content = random_bytes(780'000);
  write_file(at("file"), content);
  const int from = open(at("file").c_str(), O_RDWR);
  const int to = open(at("copy").c_str(), O_CREAT | O_RDWR, 0644);
  ASSERT_EQ(pwrite(from, content.data(), content.size(), 0), 780'000);
  off_t at_from = 0;
  while (at_from < 780'000) ASSERT_GT(copy_file_range(from, &at_from, to, nullptr, 1 << 20, 0), 0);
  close(from);
  close(to);
  EXPECT_TRUE(read_file(at("copy")) == content);
}

TEST_F(ContentTest, CutAndGrown_IsZeros) {
  constexpr off_t kBytes = 64 << 20;
  const std::string content = random_bytes(kBytes);
  for (const bool at_once : {true, false}) {
    write_file(at("file"), content);
    const int file = open(at("file").c_str(), O_RDWR | O_TRUNC);
    if (!at_once) {
      ASSERT_CALL_OK(fsync(file));
    }
    ASSERT_CALL_OK(ftruncate(file, kBytes));
    close(file);
    EXPECT_TRUE(read_file(at("file")) == std::string(kBytes, '\0'));
    ASSERT_EQ(unmount(), 0);
    mount({});
    EXPECT_TRUE(read_file(at("file")) == std::string(kBytes, '\0'));
  }
}

}  // namespace
}  // namespace gridmount::fuse
