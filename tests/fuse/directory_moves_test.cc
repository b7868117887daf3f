// Goal: while a directory is being renamed, calls on other nodes proceed, and calls on the
// directory or on anything below it wait for the end.
// Method: a rename that lasts until the test ends it.
#include "fuse/tree/directory_moves.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace gridmount::fuse {
namespace {

class DirectoryMovesTest : public testing::Test {
 protected:
  DirectoryMovesTest() {
    moved_ = table_.acquire_directory(kRootNode, "moved", "moved", 10);
    below_ = table_.acquire_directory(moved_, "below", "moved/below", 11);
    other_ = table_.acquire_directory(kRootNode, "other", "other", 12);
    WriterLock lock(tree_);
    moves_.begin({moved_});
  }
  void end_move() {
    WriterLock lock(tree_);
    moves_.end();
  }
  // Expects that a thread that runs `call` waits for the end of the move.
  template <typename Call>
  void expect_waits(Call call) {
    std::atomic<bool> done = false;
    std::thread caller([&] {
      call();
      done = true;
    });
    // Gives a wrong call time to return. A correct call waits however slow the machine is.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(done);
    end_move();
    caller.join();
    EXPECT_TRUE(done);
  }

  SharedMutex tree_;
  InodeTable table_{nullptr};
  DirectoryMoves moves_{tree_, table_};
  uint64_t moved_ = 0;
  uint64_t below_ = 0;
  uint64_t other_ = 0;
};

TEST_F(DirectoryMovesTest, OtherNodes_AreThere) {
  { TreeReadLock lock(moves_, tree_, other_); }
  { TreeReadLock lock(moves_, tree_, kRootNode, other_); }
  // The table does not know a file by its path.
  const uint64_t file = table_.acquire_file(nullptr, bson::Value(int32_t{1}), 13);
  { TreeReadLock lock(moves_, tree_, file); }
  end_move();
}

TEST_F(DirectoryMovesTest, TheMovedDirectory_IsWaitedFor) {
  expect_waits([&] { TreeReadLock lock(moves_, tree_, moved_); });
}

TEST_F(DirectoryMovesTest, WhatIsBelow_IsWaitedFor) {
  expect_waits([&] { TreeReadLock lock(moves_, tree_, other_, below_); });
}

TEST_F(DirectoryMovesTest, AllOfTheTree_IsWaitedFor) {
  expect_waits([&] { TreeReadLock lock(moves_, tree_, kWholeTree); });
}

TEST_F(DirectoryMovesTest, OtherChangesOfPaths_Wait) {
  expect_waits([&] { TreeWriteLock lock(moves_, tree_); });
}

TEST_F(DirectoryMovesTest, AfterTheEnd_NothingWaits) {
  end_move();
  { TreeReadLock lock(moves_, tree_, below_); }
  { TreeReadLock lock(moves_, tree_, kWholeTree); }
  { TreeWriteLock lock(moves_, tree_); }
  EXPECT_FALSE(table_.is_moving(below_));
}

}  // namespace
}  // namespace gridmount::fuse
