// Goal: an operation is listed with its object while it is in progress, and not afterwards.
#include "fuse/monitoring/operations_in_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <thread>

namespace gridmount::fuse {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::IsEmpty;
using Note = OperationsInProgress::Note;

TEST(OperationsInProgress, Listed_OldestFirst_UntilTheyEnd) {
  OperationsInProgress operations;
  EXPECT_THAT(operations.list(), IsEmpty());
  const auto now = steady_clock::now();
  {
    const Note younger(operations, "lookup", 1, "a.txt", now);
    const Note older(operations, "read", 7, nullptr, now - 2s);
    const auto list = operations.list();
    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(list[0].text(), "read of node 7");
    EXPECT_EQ(list[0].begin, now - 2s);
    EXPECT_EQ(list[1].text(), "lookup of node 1 name a.txt");
  }
  EXPECT_THAT(operations.list(), IsEmpty());
}

TEST(OperationsInProgress, Untold_AreToldOnce) {
  OperationsInProgress operations;
  const auto now = steady_clock::now();
  const Note young(operations, "lookup", 1, "a", now);
  {
    const Note old(operations, "read", 7, nullptr, now - 2s);
    const auto untold = operations.take_unreported(now - 1s);
    ASSERT_EQ(untold.size(), 1U);
    EXPECT_EQ(untold[0].text(), "read of node 7");
    EXPECT_THAT(operations.take_unreported(now - 1s), IsEmpty());
  }
  // The slot now belongs to another operation.
  const Note next(operations, "write", 8, nullptr, now - 2s);
  EXPECT_EQ(operations.take_unreported(now - 1s).size(), 1U);
}

TEST(OperationsInProgress, LongName_IsCut) {
  OperationsInProgress operations;
  const std::string name(5000, 'n');
  const Note note(operations, "mkdir", 1, name.c_str(), steady_clock::now());
  EXPECT_EQ(operations.list().at(0).name, name.substr(0, 255));
}

TEST(OperationsInProgress, MoreThanPlaces_AreNotNoted) {
  OperationsInProgress operations;
  std::deque<Note> notes;
  for (size_t i = 0; i < OperationsInProgress::kOperationsMax + 3; ++i) {
    notes.emplace_back(operations, "read", i, nullptr, steady_clock::now());
  }
  EXPECT_EQ(operations.list().size(), OperationsInProgress::kOperationsMax);
  notes.clear();
  EXPECT_THAT(operations.list(), IsEmpty());
}

TEST(OperationsInProgress, ManyThreads_WhileListed_LeaveNothing) {
  OperationsInProgress operations;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int each = 0; each < 20'000; ++each) {
        const Note note(operations, "write", 5, "name", steady_clock::now());
      }
    });
  }
  for (int i = 0; i < 1000; ++i) {
    for (const OperationInProgress& operation : operations.list()) {
      ASSERT_EQ(operation.text(), "write of node 5 name name");
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(operations.list(), IsEmpty());
}

}  // namespace
}  // namespace gridmount::fuse
