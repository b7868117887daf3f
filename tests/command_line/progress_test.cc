// Goal: the progress line has the form that progress.h shows, appears only on terminals and for
// long work, fits into the terminal, and is erased before other output.
//
// Method: a Progress whose clock the test sets writes into a pipe, which the test reads.
#include "command_line/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "command_line/byte_units.h"

namespace gridmount {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kMebibyte = 1024 * 1024;

class ProgressTest : public ::testing::Test {
 protected:
  ProgressTest() { EXPECT_EQ(::pipe2(pipe_.data(), O_NONBLOCK | O_CLOEXEC), 0); }
  ~ProgressTest() override {
    for (const int fd : pipe_) ::close(fd);
  }

  Progress::Terminal terminal(int columns = 100) {
    return {.fd = pipe_[1], .columns = columns, .now = [this] { return now_; }};
  }
  void pass(std::chrono::milliseconds time) { now_ += time; }

  std::string written() {
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t count; (count = ::read(pipe_[0], buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<size_t>(count));
    }
    return text;
  }
  // Returns the text of the line since it was last erased.
  std::string line() {
    const std::string text = written();
    const size_t erased = text.rfind("\033[K");
    return erased == std::string::npos ? text : text.substr(erased + 3);
  }

  std::array<int, 2> pipe_{};
  Progress::Clock::time_point now_{std::chrono::hours(1)};
};

TEST_F(ProgressTest, Bytes_AreShownWithShareRateAndTime) {
  Progress progress("", terminal());
  progress.expect(2048 * kMebibyte);
  progress.set_subject("holiday.mov");
  pass(std::chrono::seconds(4));
  progress.add(512 * kMebibyte);
  EXPECT_EQ(line(), " 25 %  512.0 MiB of 2.0 GiB  128.0 MiB/s  0:12 left  holiday.mov");
}

TEST_F(ProgressTest, UnknownTotal_ShowsNoShare) {
  Progress progress("", terminal());
  pass(std::chrono::seconds(2));
  progress.add(3 * kMebibyte);
  EXPECT_EQ(line(), "3.0 MiB  1.5 MiB/s");
}

TEST_F(ProgressTest, Things_AreCounted) {
  Progress progress("documents", terminal());
  progress.expect(1000);
  pass(std::chrono::seconds(10));
  for (int i = 0; i < 640; ++i) progress.add(1);
  EXPECT_EQ(line(), "  6 %  64 of 1000 documents  6/s  2:26 left");
  pass(std::chrono::seconds(1));
  for (int i = 0; i < 64; ++i) progress.add(1);
  EXPECT_THAT(line(), HasSubstr("704 of 1000 documents"));
}

TEST_F(ProgressTest, FirstSecond_ShowsNothing) {
  Progress progress("", terminal());
  pass(std::chrono::milliseconds(999));
  progress.add(kMebibyte);
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressTest, Drawings_AreApart) {
  Progress progress("", terminal());
  pass(std::chrono::seconds(2));
  progress.add(kMebibyte);
  EXPECT_NE(written(), "");
  pass(std::chrono::milliseconds(199));
  progress.add(kMebibyte);
  EXPECT_EQ(written(), "");
  pass(std::chrono::milliseconds(1));
  progress.add(kMebibyte);
  EXPECT_NE(written(), "");
}

TEST_F(ProgressTest, MoreThanExpected_IsAllOfIt) {
  Progress progress("", terminal());
  progress.expect(kMebibyte);
  pass(std::chrono::seconds(2));
  progress.add(3 * kMebibyte);
  EXPECT_EQ(line(), "100 %  3.0 MiB of 3.0 MiB  1.5 MiB/s  0:00 left");
}

TEST_F(ProgressTest, OtherOutput_ErasesIt) {
  Progress progress("", terminal());
  hide_progress();
  EXPECT_EQ(written(), "");  // nothing was shown
  pass(std::chrono::seconds(2));
  progress.add(kMebibyte);
  hide_progress();
  EXPECT_THAT(written(), EndsWith("\r\033[K"));
  hide_progress();
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressTest, End_ErasesIt) {
  {
    Progress progress("", terminal());
    pass(std::chrono::seconds(2));
    progress.add(kMebibyte);
  }
  EXPECT_THAT(written(), EndsWith("\r\033[K"));
  hide_progress();  // no line is shown
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressTest, LongSubject_IsCutAtTheTerminalsWidth) {
  Progress progress("", terminal(40));
  progress.set_subject(std::string(200, 'x'));
  pass(std::chrono::seconds(2));
  progress.add(kMebibyte);
  EXPECT_EQ(line().size(), 39U);
}

TEST_F(ProgressTest, WideCharacters_AreCutBetween) {
  Progress progress("", terminal(30));
  std::string name;
  for (int i = 0; i < 30; ++i) name += "\u65e5";
  progress.set_subject(name);
  pass(std::chrono::seconds(2));
  progress.add(2 * kMebibyte);
  // 29 columns: "2.0 MiB  1.0 MiB/s  " has 20, and four characters of two columns fit after it.
  EXPECT_EQ(line(), "2.0 MiB  1.0 MiB/s  \u65e5\u65e5\u65e5\u65e5");
}

TEST_F(ProgressTest, ControlCharactersOfAName_DoNotReachTheTerminal) {
  Progress progress("", terminal());
  progress.set_subject("a\033[2Jb\nc");
  pass(std::chrono::seconds(2));
  progress.add(kMebibyte);
  EXPECT_THAT(line(), Not(HasSubstr("\033")));
}

TEST_F(ProgressTest, NoTerminal_IsNeverShown) {
  Progress progress("", {.fd = -1, .columns = 80, .now = [this] { return now_; }});
  EXPECT_FALSE(progress.is_shown());
  pass(std::chrono::seconds(2));
  progress.add(kMebibyte);
  hide_progress();
}

TEST_F(ProgressTest, SeveralThreads_CountEverything) {
  Progress progress("", terminal());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int block = 0; block < 1000; ++block) {
        progress.set_subject("name");
        progress.add(1024);
        hide_progress();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  pass(std::chrono::seconds(2));
  progress.add(0);
  EXPECT_THAT(line(), HasSubstr("3.9 MiB"));
}

TEST(ByteUnits, LargestOfWhichThereIsOne) {
  EXPECT_EQ(in_byte_units(0), "0 B");
  EXPECT_EQ(in_byte_units(1023), "1023 B");
  EXPECT_EQ(in_byte_units(1024), "1.0 KiB");
  EXPECT_EQ(in_byte_units(1536), "1.5 KiB");
  EXPECT_EQ(in_byte_units(5 * kMebibyte * 1024), "5.0 GiB");
  EXPECT_EQ(in_byte_units(UINT64_MAX), "16777216.0 TiB");
}

}  // namespace
}  // namespace gridmount
