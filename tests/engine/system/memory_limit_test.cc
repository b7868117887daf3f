// Goal: a daemon finds the lowest limit of its control groups of both versions, and divides its
// memory so that all parts together fit.
// Method: folders that look like the kernel's.
#include "engine/system/memory_limit.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

namespace gridmount::system {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class MemoryLimitTest : public testing::Test {
 protected:
  MemoryLimitTest() {
    std::string pattern = testing::TempDir() + "gridmount_groups_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~MemoryLimitTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text << "\n";
  }
  uint64_t limit() const { return memory_limit(folder_ / "groups", folder_ / "mounted"); }

  std::filesystem::path folder_;
};

TEST_F(MemoryLimitTest, Version2_TheLeastOfTheGroupAndItsParents) {
  const uint64_t machine = limit();
  EXPECT_GT(machine, 16 * kMiB);
  write("groups", "0::/system.slice/media.service");
  write("mounted/system.slice/memory.max", "max");
  write("mounted/system.slice/media.service/memory.max", "12582912");
  EXPECT_EQ(limit(), 12 * kMiB);
  write("mounted/system.slice/memory.max", "10485760");
  EXPECT_EQ(limit(), 10 * kMiB);
  write("mounted/system.slice/memory.max", "max");
  write("mounted/system.slice/media.service/memory.max", "max");
  EXPECT_EQ(limit(), machine);
  write("mounted/system.slice/media.service/memory.max", "9223372036854771712");
  EXPECT_EQ(limit(), machine);
}

TEST_F(MemoryLimitTest, Version1_AndTheRootOfAContainer) {
  write("groups", "9:name=systemd:/\n4:cpu,memory:/docker/0123\n0::/\n");
  write("mounted/memory/memory.limit_in_bytes", "11534336");
  EXPECT_EQ(limit(), 11 * kMiB);
  write("mounted/memory/docker/0123/memory.limit_in_bytes", "10485760");
  EXPECT_EQ(limit(), 10 * kMiB);
}

TEST_F(MemoryLimitTest, WhatIsNoListOfGroups_LimitsNothing) {
  const uint64_t machine = limit();
  write("groups", "nonsense\n:\n\n4:memory\n");
  write("mounted/memory.max", "1");
  EXPECT_EQ(limit(), machine);
}

TEST(MemoryShares, OfMuch_AreTheLargest_OfLittle_FitTogether) {
  const MemoryShares most = share_out(uint64_t{64} << 30);
  EXPECT_EQ(most.dirty_bytes, 64 * kMiB);
  EXPECT_EQ(most.request_bytes, 128 * kMiB);
  EXPECT_EQ(most.reply_bytes, 128 * kMiB);
  EXPECT_EQ(most.operation_bytes, 100 * kMiB);
  EXPECT_EQ(most.filter_bytes, 400 * kMiB);
  EXPECT_EQ(most.worker_threads, 64U);
  for (const uint64_t memory : {kLeastMemory, 256 * kMiB, 1024 * kMiB}) {
    const MemoryShares shares = share_out(memory);
    EXPECT_GE(shares.worker_threads, 8U);
    // Half of the operations may sort at one time.
    EXPECT_LE(shares.dirty_bytes + shares.request_bytes + shares.reply_bytes +
                  shares.operation_bytes * 4 + shares.filter_bytes,
              memory / 2)
        << memory;
  }
}

}  // namespace
}  // namespace gridmount::system
