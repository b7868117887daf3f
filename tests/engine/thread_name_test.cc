// Goal: threads have the names they are given, as system tools show them.
// Method: the kernel's own list of this process's threads.
#include "engine/base/thread_name.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

namespace gridmount {
namespace {

std::string name_of(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

TEST(ThreadName, Given_IsShown) {
  std::thread([] {
    name_this_thread("gm-test");
    EXPECT_EQ(name_of(::gettid()), "gm-test");
  }).join();
}

TEST(ThreadName, LongerThanTheKernelKeeps_IsCut) {
  std::thread([] {
    name_this_thread("gm-0123456789abcdef");
    EXPECT_EQ(name_of(::gettid()), "gm-0123456789ab");
    EXPECT_EQ(name_of(::gettid()).size(), kThreadNameBytesMax);
  }).join();
}

TEST(ThreadName, ThreadsOfIt_BeginWithIt) {
  std::thread([] {
    name_this_thread("gm-test");
    std::thread([] { EXPECT_EQ(name_of(::gettid()), "gm-test"); }).join();
  }).join();
}

TEST(ThreadName, OfTheFirstThread_StaysTheProgramsName) {
  const std::string before = name_of(::getpid());
  name_this_thread("gm-test");
  EXPECT_EQ(name_of(::getpid()), before);
}

}  // namespace
}  // namespace gridmount
