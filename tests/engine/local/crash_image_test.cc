// Power failures: whatever the disk holds of what was not yet synced, the store opens with exactly
// the contents of a commit, no older than the last checkpoint that had returned, and goes on.
//
// Method: a random workload on a real store, every write and sync recorded; then images of what a
// disk may hold at random points (crash_image.h), each opened as after another start of the
// machine, compared with the expected state, written to, compared again. A child process does so
// for each: a broken store may kill it. Writers also run while a checkpoint's syncs are under way.
// The same with the pin or the saved meta pages switched off must find broken images, or this test
// proves nothing.
//
// GRIDMOUNT_CRASH_IMAGES sets how many images (300), GRIDMOUNT_CRASH_SEED the seed; a seed gives
// the same images again.
#include "tests/engine/local/crash_image.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "engine/local/environment.h"
#include "engine/local/test_options.h"
#include "tests/engine/local/write_recorder.h"

namespace gridmount::local::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kTrees = 3;
constexpr int kKeys = 40;
constexpr int kLargeKeys = 4;
constexpr size_t kChunkBytes = 256 * 1024;
constexpr unsigned kChildSeconds = 60;

// Contents: by tree and key, the seed and size of a value.
struct Value {
  uint64_t seed = 0;
  size_t size = 0;
};
using State = std::map<std::pair<int, std::string>, Value>;
// By generation: the state after that many transactions.
using History = std::vector<State>;

std::string bytes_of(const Value& value) {
  std::string bytes(value.size, '\0');
  uint64_t word = value.seed;
  for (size_t i = 0; i < value.size; i += sizeof word) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    std::memcpy(bytes.data() + i, &word, std::min(sizeof word, value.size - i));
  }
  return bytes;
}

int put(MDB_txn* txn, MDB_dbi tree, const std::string& key, const std::string& value) {
  MDB_val mdb_key{key.size(), const_cast<char*>(key.data())};
  MDB_val mdb_value{value.size(), const_cast<char*>(value.data())};
  return mdb_put(txn, tree, &mdb_key, &mdb_value, 0);
}

int remove(MDB_txn* txn, MDB_dbi tree, const std::string& key) {
  MDB_val mdb_key{key.size(), const_cast<char*>(key.data())};
  return mdb_del(txn, tree, &mdb_key, nullptr);
}

// One random transaction on the store and on the expected state. The message of what failed.
std::string run_transaction(Environment& environment, std::mt19937_64& random, State& state,
                            uint64_t generation) {
  auto transaction = environment.begin_write();
  if (!transaction) return transaction.error().message();
  MDB_txn* const txn = transaction->lmdb();
  const size_t operations = 1 + random() % 6;
  for (size_t i = 0; i < operations; ++i) {
    const int tree = static_cast<int>(random() % kTrees);
    const uint64_t kind = random() % 10;
    const bool large = kind == 0;
    const std::string key =
        (large ? "chunk" : "key") + std::to_string(random() % (large ? kLargeKeys : kKeys));
    int code;
    if (!large && kind <= 3 && state.contains({tree, key})) {
      code = remove(txn, environment.tree(tree), key);
      state.erase({tree, key});
    } else {
      const size_t size = large       ? kChunkBytes + random() % 100
                          : kind <= 5 ? 2000 + random() % 20000
                                      : 10 + random() % 400;
      const Value value{random(), size};
      code = put(txn, environment.tree(tree), key, bytes_of(value));
      state[{tree, key}] = value;
    }
    if (code != MDB_SUCCESS) return mdb_strerror(code);
  }
  if (put(txn, environment.catalog(), "generation", std::to_string(generation)) != 0) {
    return "the generation cannot be written";
  }
  WriteRecorder::instance().note(EventKind::kCommitBegins, generation);
  const Status status = transaction->commit();
  return status ? "" : status.error().message();
}

std::optional<uint64_t> generation_of(Environment& environment, MDB_txn* txn) {
  MDB_val key{10, const_cast<char*>("generation")};
  MDB_val value;
  if (mdb_get(txn, environment.catalog(), &key, &value) != 0) return std::nullopt;
  return std::stoull(std::string(static_cast<const char*>(value.mv_data), value.mv_size));
}

// Reads everything. Empty if it is the expected state.
std::string compare(Environment& environment, MDB_txn* txn, const State& expected) {
  size_t entries = 0;
  for (int tree = 0; tree < Environment::kTreeCount; ++tree) {
    MDB_cursor* cursor = nullptr;
    if (const int code = mdb_cursor_open(txn, environment.tree(tree), &cursor); code != 0) {
      return mdb_strerror(code);
    }
    MDB_val key;
    MDB_val value;
    int code;
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
      const std::string name(static_cast<const char*>(key.mv_data), key.mv_size);
      const auto found = expected.find({tree, name});
      if (found == expected.end()) return "an unexpected key " + name;
      if (bytes_of(found->second) !=
          std::string_view(static_cast<const char*>(value.mv_data), value.mv_size)) {
        return "a wrong value of " + name;
      }
      if (++entries > expected.size()) return "keys come twice";
    }
    mdb_cursor_close(cursor);
    if (code != MDB_NOTFOUND) return mdb_strerror(code);
  }
  if (entries != expected.size()) return "keys are missing";
  return "";
}

std::string compare_newest(Environment& environment, const State& expected) {
  auto transaction = environment.begin_read();
  if (!transaction) return transaction.error().message();
  return compare(environment, transaction->lmdb(), expected);
}

OpenOptions manual_checkpoints() {
  OpenOptions options;
  options.map_bytes = uint64_t{1} << 30;
  options.checkpoint_interval = std::chrono::hours(1);
  return options;
}

class CrashImageTest : public ::testing::Test {
 protected:
  CrashImageTest() {
    std::string name = (fs::temp_directory_path() / "crash_image_test.XXXXXX");
    folder_ = ::mkdtemp(name.data());
    if (const char* images = std::getenv("GRIDMOUNT_CRASH_IMAGES")) images_ = std::stoi(images);
    if (const char* seed = std::getenv("GRIDMOUNT_CRASH_SEED")) {
      seed_ = std::stoull(seed);
    } else {
      seed_ = std::random_device()();
    }
    std::cout << "GRIDMOUNT_CRASH_SEED=" << seed_ << std::endl;
  }
  ~CrashImageTest() override { fs::remove_all(folder_); }

  // Records one workload: sessions of transactions, with checkpoints that writers overlap.
  void record(std::mt19937_64& random, const TestOptions& test);
  void checkpoint_with_writers(Environment& environment, std::mt19937_64& random);
  void transactions(Environment& environment, std::mt19937_64& random, uint64_t count);
  // Makes an image at a random point and tries it. The message of what is wrong with it.
  std::string try_image(std::mt19937_64& random, const TestOptions& test);
  std::string try_in_child(const fs::path& store, uint64_t generation_min, uint64_t generation_max,
                           uint64_t seed, const TestOptions& test);
  std::string examine(const fs::path& store, uint64_t generation_min, uint64_t generation_max,
                      uint64_t seed, const TestOptions& test);
  // How many of `images` are broken; the first of their messages.
  int count_broken(int images, const TestOptions& recording, const TestOptions& opening,
                   std::string& message);

  fs::path folder_;
  int images_ = 300;
  uint64_t seed_ = 0;
  History history_;
};

void CrashImageTest::transactions(Environment& environment, std::mt19937_64& random,
                                  uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    State state = history_.back();
    const std::string problem = run_transaction(environment, random, state, history_.size());
    if (!problem.empty()) throw std::runtime_error(problem);
    history_.push_back(std::move(state));
  }
}

void CrashImageTest::checkpoint_with_writers(Environment& environment, std::mt19937_64& random) {
  WriteRecorder& recorder = WriteRecorder::instance();
  transactions(environment, random, 1);  // so that there is something to do
  const uint64_t generation = history_.size() - 1;
  recorder.hold_sync_of("data.mdb");
  std::future<Status> status =
      std::async(std::launch::async, [&] { return environment.checkpoint(); });
  recorder.wait_for_held_sync();
  transactions(environment, random, random() % 6);
  recorder.hold_sync_of("checkpoint");
  recorder.release();
  recorder.wait_for_held_sync();
  transactions(environment, random, random() % 6);
  recorder.release();
  if (const Status result = status.get(); !result) {
    throw std::runtime_error(result.error().message());
  }
  recorder.note(EventKind::kDurable, generation);
}

void CrashImageTest::record(std::mt19937_64& random, const TestOptions& test) {
  const fs::path store = folder_ / "store";
  fs::remove_all(store);
  history_.assign(1, State());
  OpenOptions options = manual_checkpoints();
  options.create = true;
  auto environment = Environment::open(store, options, test);
  if (!environment) throw std::runtime_error(environment.error().message());
  // Some age first, so that there are free pages to use again.
  transactions(**environment, random, 30);
  environment->reset();
  WriteRecorder& recorder = WriteRecorder::instance();
  recorder.start(store, {"data.mdb", "checkpoint", "owner"});
  recorder.note(EventKind::kDurable, history_.size() - 1);
  for (int session = 0; session < 3; ++session) {
    environment = Environment::open(store, options, test);
    if (!environment) throw std::runtime_error(environment.error().message());
    const uint64_t rounds = 1 + random() % 6;
    for (uint64_t round = 0; round < rounds; ++round) {
      transactions(**environment, random, random() % 8);
      checkpoint_with_writers(**environment, random);
    }
    transactions(**environment, random, random() % 8);
    environment->reset();
    recorder.note(EventKind::kDurable, history_.size() - 1);
  }
  recorder.stop();
}

std::string CrashImageTest::examine(const fs::path& store, uint64_t generation_min,
                                    uint64_t generation_max, uint64_t seed,
                                    const TestOptions& test) {
  std::mt19937_64 random(seed);
  State state;
  uint64_t generation = 0;
  for (int round = 0; round < 2; ++round) {
    auto environment = Environment::open(store, manual_checkpoints(), test);
    if (!environment) return environment.error().message();
    if (round == 0) {
      auto transaction = (*environment)->begin_read();
      if (!transaction) return transaction.error().message();
      const auto found = generation_of(**environment, transaction->lmdb());
      if (!found) return "no generation";
      generation = *found;
      if (generation < generation_min) return "a durable transaction is gone";
      if (generation > generation_max) return "a transaction from the future";
      state = history_[generation];
    }
    if (std::string problem = compare_newest(**environment, state); !problem.empty()) {
      return "round " + std::to_string(round) + ": " + problem;
    }
    for (int i = 0; i < 25; ++i) {
      std::string problem = run_transaction(**environment, random, state, ++generation);
      if (problem.empty() && i % 10 == 9) {
        if (const Status status = (*environment)->checkpoint(); !status) {
          problem = status.error().message();
        }
      }
      if (!problem.empty()) return "after writing: " + problem;
    }
    if (std::string problem = compare_newest(**environment, state); !problem.empty()) {
      return "after writing: " + problem;
    }
  }
  return "";
}

std::string CrashImageTest::try_in_child(const fs::path& store, uint64_t generation_min,
                                         uint64_t generation_max, uint64_t seed,
                                         const TestOptions& test) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return "no pipe";
  std::cout.flush();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kChildSeconds);  // a broken tree may go round in circles
    ::close(pipe[0]);
    const std::string problem = examine(store, generation_min, generation_max, seed, test);
    const ssize_t written = ::write(pipe[1], problem.data(), problem.size());
    ::_exit(written == static_cast<ssize_t>(problem.size()) ? 0 : 1);
  }
  ::close(pipe[1]);
  std::string problem;
  std::array<char, 1024> buffer{};
  ssize_t count;
  while ((count = ::read(pipe[0], buffer.data(), buffer.size())) > 0) {
    problem.append(buffer.data(), static_cast<size_t>(count));
  }
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) problem += " [the process ended with status " + std::to_string(status) + "]";
  return problem;
}

std::string CrashImageTest::try_image(std::mt19937_64& random, const TestOptions& test) {
  const WriteRecorder& recorder = WriteRecorder::instance();
  const std::vector<Event>& events = recorder.events();
  const size_t cut = 1 + random() % events.size();
  uint64_t durable = 0;
  uint64_t committed = 0;
  for (size_t i = 0; i < cut; ++i) {
    if (events[i].kind == EventKind::kDurable) durable = events[i].number;
    if (events[i].kind == EventKind::kCommitBegins) committed = events[i].number;
  }
  committed = std::max(committed, durable);
  const fs::path image = folder_ / "image";
  fs::remove_all(image);
  fs::create_directory(image);
  fs::copy(folder_ / "store" / "format", image / "format");
  for (size_t i = 0; i < recorder.files().size(); ++i) {
    const RecordedFile& file = recorder.files()[i];
    const std::vector<uint8_t> contents = crash_image(file, i, events, cut, random);
    std::ofstream(image / file.name, std::ios::binary)
        .write(reinterpret_cast<const char*>(contents.data()),
               static_cast<std::streamsize>(contents.size()));
  }
  std::string problem = try_in_child(image, durable, committed, random(), test);
  if (!problem.empty()) problem += " (cut at event " + std::to_string(cut) + ")";
  return problem;
}

int CrashImageTest::count_broken(int images, const TestOptions& recording,
                                 const TestOptions& opening, std::string& message) {
  constexpr int kImagesPerRecording = 25;
  std::mt19937_64 random;
  int broken = 0;
  for (int image = 0; image < images; ++image) {
    const int number = image / kImagesPerRecording;
    if (image % kImagesPerRecording == 0) {
      random.seed(seed_ + static_cast<uint64_t>(number));
      record(random, recording);
    }
    const std::string problem = try_image(random, opening);
    if (problem.empty()) continue;
    ++broken;
    if (message.empty()) message = "image " + std::to_string(image) + ": " + problem;
  }
  std::cout << broken << " of " << images << " images broken" << std::endl;
  return broken;
}

TestOptions first_boot() {
  TestOptions options;
  options.boot_id = "first boot";
  return options;
}

TestOptions second_boot() {
  TestOptions options;
  options.boot_id = "second boot";
  return options;
}

TEST_F(CrashImageTest, PowerLoss_AtAnyPoint_LeavesACommitNoOlderThanTheLastCheckpoint) {
  std::string message;
  EXPECT_EQ(count_broken(images_, first_boot(), second_boot(), message), 0) << message;
}

TEST_F(CrashImageTest, Canary_WithoutThePin_ImagesAreBroken) {
  TestOptions recording = first_boot();
  recording.pin = false;
  std::string message;
  const int images = std::min(images_, 100);
  EXPECT_GE(count_broken(images, recording, second_boot(), message), images / 10);
  std::cout << message << std::endl;
}

TEST_F(CrashImageTest, Canary_WithoutTheSavedMetaPages_ImagesAreBroken) {
  TestOptions opening = second_boot();
  opening.restore = false;
  std::string message;
  const int images = std::min(images_, 100);
  EXPECT_GE(count_broken(images, first_boot(), opening, message), images / 10);
  std::cout << message << std::endl;
}

}  // namespace
}  // namespace gridmount::local::testing
