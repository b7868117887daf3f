// The measured loops of the mount benchmark: plain system calls, timed here, so that no
// interpreter's time blurs the ratios. Each run does one thing and prints one JSON object
// {"seconds": S, "units": N}; units are bytes for sequential commands and operations for the rest.
//
//   load write-sequential FILE BYTES     1 MiB blocks of random bytes, fsync and close included
//   load read-sequential FILE            1 MiB blocks up to the end
//   load write-random FILE COUNT SEED    COUNT aligned 4 KiB blocks, fsync and close included
//   load read-random FILE COUNT SEED
//   load create FOLDER COUNT             files of 4 KiB: open, write, close
//   load create-empty FOLDER COUNT       files without content: open, close
//   load stat FOLDER COUNT               one fstatat per file, by name
//   load stat-some FOLDER COUNT OF SEED  fstatat of COUNT of the folder's OF names, in random order
//   load list FOLDER                     readdir, and fstatat of each entry, as `ls -l` does
//   load list-names FOLDER               readdir
//   load read-files FOLDER COUNT         open, read, close
//   load delete FOLDER COUNT             unlink
//   load descend FOLDER DEPTH            mkdir in mkdir, with an empty file in each
//
// Two more commands run until their standard input ends or has data. Their "seconds" is the
// duration of the longest operation.
//
//   load longest-read FOLDER COUNT       open, read, close of COUNT files in turn
//   load longest-create FOLDER           create and close, then unlink of a file: two operations
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr size_t kSequentialBlockBytes = 1024 * 1024;
constexpr size_t kRandomBlockBytes = 4096;
constexpr size_t kSmallFileBytes = 4096;
// The amount of distinct data written before the same bytes repeat. It is more than block-level
// deduplication or compression on the way to the disk would detect.
constexpr size_t kDataBytes = 16 * kSequentialBlockBytes;

[[noreturn]] void die(const std::string& what, int error = errno) {
  std::fprintf(stderr, "load: %s: %s\n", what.c_str(), std::strerror(error));
  std::exit(1);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // splitmix64
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

std::vector<uint8_t> random_bytes(size_t size, uint64_t seed) {
  std::vector<uint8_t> bytes(size);
  Random random(seed);
  for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
    const uint64_t word = random.next();
    std::memcpy(bytes.data() + at, &word, sizeof(word));
  }
  return bytes;
}

class Descriptor {
 public:
  Descriptor(int folder, const char* path, int flags) : fd_(::openat(folder, path, flags, 0644)) {
    if (fd_ < 0) die(std::string("open ") + path);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  // Explicit, so that the time and the error of close(2) are measured.
  void close() {
    const int fd = fd_;
    fd_ = -1;
    if (::close(fd) != 0) die("close");
  }

 private:
  int fd_;
};

uint64_t number(const char* text) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (end == text || *end != '\0') die(std::string("not a number: ") + text, EINVAL);
  return value;
}

// Runs `body`, which returns its units, and prints the result.
void report(const std::function<uint64_t()>& body) {
  const auto start = std::chrono::steady_clock::now();
  const uint64_t units = body();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::printf("{\"seconds\": %.9f, \"units\": %llu}\n", elapsed.count(),
              static_cast<unsigned long long>(units));
}

void write_all(int fd, const uint8_t* data, size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, data, size);
    if (written < 0) die("write");
    data += written;
    size -= static_cast<size_t>(written);
  }
}

void write_sequential(const char* path, uint64_t bytes) {
  const std::vector<uint8_t> data = random_bytes(kDataBytes, bytes);
  report([&] {
    Descriptor file(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC);
    for (uint64_t at = 0; at < bytes; at += kSequentialBlockBytes) {
      const size_t size =
          static_cast<size_t>(std::min<uint64_t>(kSequentialBlockBytes, bytes - at));
      write_all(file.get(), data.data() + at % kDataBytes, size);
    }
    if (::fsync(file.get()) != 0) die("fsync");
    file.close();
    return bytes;
  });
}

void read_sequential(const char* path) {
  std::vector<uint8_t> block(kSequentialBlockBytes);
  report([&] {
    Descriptor file(AT_FDCWD, path, O_RDONLY);
    uint64_t total = 0;
    for (;;) {
      const ssize_t size = ::read(file.get(), block.data(), block.size());
      if (size < 0) die("read");
      if (size == 0) break;
      total += static_cast<uint64_t>(size);
    }
    file.close();
    return total;
  });
}

uint64_t blocks_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) die("fstat");
  const uint64_t blocks = static_cast<uint64_t>(status.st_size) / kRandomBlockBytes;
  if (blocks == 0) die("the file has no whole block", EINVAL);
  return blocks;
}

void write_random(const char* path, uint64_t count, uint64_t seed) {
  const std::vector<uint8_t> data = random_bytes(kDataBytes, seed);
  Random random(seed);
  report([&] {
    Descriptor file(AT_FDCWD, path, O_WRONLY);
    const uint64_t blocks = blocks_of(file.get());
    for (uint64_t i = 0; i < count; ++i) {
      const off_t offset = static_cast<off_t>(random.next() % blocks * kRandomBlockBytes);
      const uint8_t* from = data.data() + i * kRandomBlockBytes % kDataBytes;
      if (::pwrite(file.get(), from, kRandomBlockBytes, offset) != kRandomBlockBytes) die("pwrite");
    }
    if (::fsync(file.get()) != 0) die("fsync");
    file.close();
    return count;
  });
}

void read_random(const char* path, uint64_t count, uint64_t seed) {
  std::vector<uint8_t> block(kRandomBlockBytes);
  Random random(seed);
  report([&] {
    Descriptor file(AT_FDCWD, path, O_RDONLY);
    const uint64_t blocks = blocks_of(file.get());
    for (uint64_t i = 0; i < count; ++i) {
      const off_t offset = static_cast<off_t>(random.next() % blocks * kRandomBlockBytes);
      if (::pread(file.get(), block.data(), block.size(), offset) != kRandomBlockBytes) {
        die("pread");
      }
    }
    file.close();
    return count;
  });
}

std::vector<std::string> names(uint64_t count) {
  std::vector<std::string> result;
  result.reserve(count);
  for (uint64_t i = 0; i < count; ++i) result.push_back("small-" + std::to_string(i) + ".dat");
  return result;
}

void create(const char* path, uint64_t count) {
  const std::vector<uint8_t> data = random_bytes(kDataBytes, count);
  const std::vector<std::string> all = names(count);
  Descriptor folder(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  report([&] {
    size_t at = 0;
    for (const std::string& name : all) {
      Descriptor file(folder.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL);
      write_all(file.get(), data.data() + at, kSmallFileBytes);
      file.close();
      at = (at + kSmallFileBytes) % kDataBytes;
    }
    return count;
  });
}

void create_empty(const char* path, uint64_t count) {
  const std::vector<std::string> all = names(count);
  Descriptor folder(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  report([&] {
    for (const std::string& name : all) {
      Descriptor(folder.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL).close();
    }
    return count;
  });
}

void check_size(int folder, const char* name) {
  struct stat status {};
  if (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) die(std::string("stat ") + name);
  if (status.st_size != kSmallFileBytes && status.st_size != 0) {
    die(std::string("wrong size of ") + name, EIO);
  }
}

void stat_each(const char* path, uint64_t count) {
  const std::vector<std::string> all = names(count);
  Descriptor folder(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  report([&] {
    for (const std::string& name : all) check_size(folder.get(), name.c_str());
    return count;
  });
}

void stat_some(const char* path, uint64_t count, uint64_t of, uint64_t seed) {
  if (of == 0) die("the folder has no names", EINVAL);
  const std::vector<std::string> all = names(of);
  Descriptor folder(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  Random random(seed);
  report([&] {
    for (uint64_t i = 0; i < count; ++i) check_size(folder.get(), all[random.next() % of].c_str());
    return count;
  });
}

void list(const char* path, bool with_status) {
  report([&] {
    DIR* folder = ::opendir(path);
    if (folder == nullptr) die(std::string("opendir ") + path);
    uint64_t entries = 0;
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(folder);
      if (entry == nullptr) break;
      if (entry->d_name[0] == '.') continue;
      if (with_status) check_size(::dirfd(folder), entry->d_name);
      ++entries;
    }
    if (errno != 0) die("readdir");
    ::closedir(folder);
    return entries;
  });
}

void read_files(const char* path, uint64_t count) {
  std::vector<uint8_t> block(2 * kSmallFileBytes);
  const std::vector<std::string> all = names(count);
  Descriptor folder(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  report([&] {
    for (const std::string& name : all) {
      Descriptor file(folder.get(), name.c_str(), O_RDONLY);
      if (::read(file.get(), block.data(), block.size()) != kSmallFileBytes) die("read " + name);
      file.close();
    }
    return count;
  });
}

void delete_each(const char* path, uint64_t count) {
  const std::vector<std::string> all = names(count);
  Descriptor folder(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  report([&] {
    for (const std::string& name : all) {
      if (::unlinkat(folder.get(), name.c_str(), 0) != 0) die("unlink " + name);
    }
    return count;
  });
}

void descend(const char* path, uint64_t depth) {
  report([&] {
    int folder = ::open(path, O_RDONLY | O_DIRECTORY);
    for (uint64_t level = 0; level < depth; ++level) {
      Descriptor(folder, "f", O_WRONLY | O_CREAT | O_EXCL).close();
      if (::mkdirat(folder, "d", 0755) != 0) die("mkdir at level " + std::to_string(level));
      const int inner = ::openat(folder, "d", O_RDONLY | O_DIRECTORY);
      if (inner < 0) die("open at level " + std::to_string(level));
      ::close(folder);
      folder = inner;
    }
    ::close(folder);
    return depth;
  });
}

bool standard_input_has_ended() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

// Prints the duration of the longest operation. `operation` gets a number that counts up.
void report_longest(const std::function<void(uint64_t)>& operation) {
  using Clock = std::chrono::steady_clock;
  Clock::duration longest{};
  uint64_t count = 0;
  while (!standard_input_has_ended()) {
    const auto start = Clock::now();
    operation(count++);
    longest = std::max(longest, Clock::now() - start);
  }
  std::printf("{\"seconds\": %.9f, \"units\": %llu}\n",
              std::chrono::duration<double>(longest).count(),
              static_cast<unsigned long long>(count));
}

void longest_read(const char* path, uint64_t files) {
  const std::vector<std::string> all = names(files);
  Descriptor folder(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  std::vector<uint8_t> block(kSmallFileBytes);
  report_longest([&](uint64_t number) {
    Descriptor file(folder.get(), all[number % files].c_str(), O_RDONLY);
    if (::read(file.get(), block.data(), block.size()) != kSmallFileBytes) die("read");
    file.close();
  });
}

void longest_create(const char* path) {
  Descriptor folder(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  report_longest([&](uint64_t number) {
    if (number % 2 == 0) {
      Descriptor(folder.get(), "made", O_WRONLY | O_CREAT | O_EXCL).close();
    } else if (::unlinkat(folder.get(), "made", 0) != 0) {
      die("unlink");
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  struct Command {
    int arguments;  // after the command's name
    std::function<void(char**)> run;
  };
  const std::map<std::string, Command> commands = {
      {"write-sequential", {2, [](char** a) { write_sequential(a[0], number(a[1])); }}},
      {"read-sequential", {1, [](char** a) { read_sequential(a[0]); }}},
      {"write-random", {3, [](char** a) { write_random(a[0], number(a[1]), number(a[2])); }}},
      {"read-random", {3, [](char** a) { read_random(a[0], number(a[1]), number(a[2])); }}},
      {"create", {2, [](char** a) { create(a[0], number(a[1])); }}},
      {"stat", {2, [](char** a) { stat_each(a[0], number(a[1])); }}},
      {"create-empty", {2, [](char** a) { create_empty(a[0], number(a[1])); }}},
      {"stat-some",
       {4, [](char** a) { stat_some(a[0], number(a[1]), number(a[2]), number(a[3])); }}},
      {"list", {1, [](char** a) { list(a[0], true); }}},
      {"list-names", {1, [](char** a) { list(a[0], false); }}},
      {"read-files", {2, [](char** a) { read_files(a[0], number(a[1])); }}},
      {"delete", {2, [](char** a) { delete_each(a[0], number(a[1])); }}},
      {"descend", {2, [](char** a) { descend(a[0], number(a[1])); }}},
      {"longest-read", {2, [](char** a) { longest_read(a[0], number(a[1])); }}},
      {"longest-create", {1, [](char** a) { longest_create(a[0]); }}},
  };
  const auto command = argc > 1 ? commands.find(argv[1]) : commands.end();
  if (command == commands.end() || argc != command->second.arguments + 2) {
    std::fprintf(stderr, "load: see the head of load.cc for the commands and their arguments\n");
    return 2;
  }
  command->second.run(argv + 2);
  return 0;
}
