#include "tests/bench/wire/transfers.h"

#include <fcntl.h>
#include <mongoc/mongoc.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>

namespace gridmount::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kPieceBytes = size_t{1} << 20;

template <auto Destroy>
struct Destroyer {
  template <typename T>
  void operator()(T* object) const {
    Destroy(object);
  }
};
using ClientHandle = std::unique_ptr<mongoc_client_t, Destroyer<mongoc_client_destroy>>;
using DatabaseHandle = std::unique_ptr<mongoc_database_t, Destroyer<mongoc_database_destroy>>;
using BucketHandle =
    std::unique_ptr<mongoc_gridfs_bucket_t, Destroyer<mongoc_gridfs_bucket_destroy>>;
using StreamHandle = std::unique_ptr<mongoc_stream_t, Destroyer<mongoc_stream_destroy>>;

[[noreturn]] void fail(const std::string& doing, const bson_error_t& error) {
  throw std::runtime_error(doing + ": " + error.message);
}

[[noreturn]] void fail_errno(const std::string& doing) {
  throw std::runtime_error(doing + ": " + std::strerror(errno));
}

std::string uri_of(const std::filesystem::path& socket) {
  std::string uri = "mongodb://";
  for (const char c : socket.string()) uri += c == '/' ? std::string("%2F") : std::string(1, c);
  return uri;
}

// Contents whose pieces all differ, so that no layer below can deduplicate them.
class Content {
 public:
  explicit Content(uint64_t bytes) : pieces_(bytes / kPieceBytes), piece_(kPieceBytes) {
    std::mt19937_64 random(7);
    for (size_t at = 0; at + sizeof(uint64_t) <= piece_.size(); at += sizeof(uint64_t)) {
      const uint64_t word = random();
      std::memcpy(piece_.data() + at, &word, sizeof(word));
    }
  }
  uint64_t pieces() const { return pieces_; }
  uint8_t* piece(uint64_t number) {
    std::memcpy(piece_.data(), &number, sizeof(number));
    return piece_.data();
  }
  bool is_piece(uint64_t number, const uint8_t* bytes) {
    return std::memcmp(piece(number), bytes, kPieceBytes) == 0;
  }

 private:
  uint64_t pieces_;
  std::vector<uint8_t> piece_;
};

class Driver {
 public:
  Driver(const std::filesystem::path& socket, const char* database) {
    client_.reset(mongoc_client_new(uri_of(socket).c_str()));
    if (!client_) throw std::runtime_error("no URI can be made of " + socket.string());
    database_.reset(mongoc_client_get_database(client_.get(), database));
    bson_error_t error;
    bucket_.reset(mongoc_gridfs_bucket_new(database_.get(), nullptr, nullptr, &error));
    if (!bucket_) fail("the bucket", error);
  }

  void upload(const std::string& name, Content& content, bson_value_t& id) {
    bson_error_t error;
    StreamHandle stream(
        mongoc_gridfs_bucket_open_upload_stream(bucket_.get(), name.c_str(), nullptr, &id, &error));
    if (!stream) fail("uploading", error);
    for (uint64_t i = 0; i < content.pieces(); ++i) {
      if (mongoc_stream_write(stream.get(), content.piece(i), kPieceBytes, 0) !=
          static_cast<ssize_t>(kPieceBytes)) {
        throw std::runtime_error("the upload ended early");
      }
    }
    if (mongoc_stream_close(stream.get()) != 0) throw std::runtime_error("the upload failed");
    // The same promise as that of the mount's fsync().
    bson_t command = BSON_INITIALIZER;
    BSON_APPEND_INT32(&command, "fsync", 1);
    const bool synced =
        mongoc_client_command_simple(client_.get(), "admin", &command, nullptr, nullptr, &error);
    bson_destroy(&command);
    if (!synced) fail("making the upload durable", error);
  }

  void download(const bson_value_t& id, Content& content) {
    bson_error_t error;
    StreamHandle stream(mongoc_gridfs_bucket_open_download_stream(bucket_.get(), &id, &error));
    if (!stream) fail("downloading", error);
    std::vector<uint8_t> piece(kPieceBytes);
    for (uint64_t i = 0; i < content.pieces(); ++i) {
      const ssize_t got =
          mongoc_stream_read(stream.get(), piece.data(), kPieceBytes, kPieceBytes, 0);
      if (got != static_cast<ssize_t>(kPieceBytes) || !content.is_piece(i, piece.data())) {
        throw std::runtime_error("the download gives something else");
      }
    }
  }

 private:
  ClientHandle client_;
  DatabaseHandle database_;
  BucketHandle bucket_;
};

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {
    if (fd_ < 0) fail_errno(path.string());
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

void write_through_mount(const std::filesystem::path& path, Content& content) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  for (uint64_t i = 0; i < content.pieces(); ++i) {
    if (::write(file.get(), content.piece(i), kPieceBytes) != static_cast<ssize_t>(kPieceBytes)) {
      fail_errno("writing " + path.string());
    }
  }
  if (::fsync(file.get()) != 0) fail_errno("syncing " + path.string());
}

void read_through_mount(const std::filesystem::path& path, Content& content) {
  const Descriptor file(path, O_RDONLY);
  std::vector<uint8_t> piece(kPieceBytes);
  for (uint64_t i = 0; i < content.pieces(); ++i) {
    if (::read(file.get(), piece.data(), kPieceBytes) != static_cast<ssize_t>(kPieceBytes) ||
        !content.is_piece(i, piece.data())) {
      throw std::runtime_error(path.string() + " reads as something else");
    }
  }
}

void drop_from_cache(const std::filesystem::path& path) {
  const Descriptor file(path, O_RDONLY);
  if (const int code = ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED); code != 0) {
    throw std::runtime_error(path.string() + ": " + std::strerror(code));
  }
}

template <typename Work>
double seconds_of(Work work) {
  const Clock::time_point begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

std::vector<Transfer> measure_transfers(const TransferOptions& options) {
  mongoc_init();
  Transfer up{"gridfs_up", "GridFS upload, durable", 0, {}, {}};
  Transfer down{"gridfs_down", "GridFS download", 0.5, {}, {}};
  Content content(options.file_bytes);
  Driver driver(options.socket, "test");
  for (uint64_t round = 0; round < options.rounds; ++round) {
    const std::string name = "driver-" + std::to_string(round);
    bson_value_t id{};
    std::fprintf(stderr, "GridFS, round %llu\n", static_cast<unsigned long long>(round + 1));
    up.driver_seconds.push_back(seconds_of([&] { driver.upload(name, content, id); }));
    const std::filesystem::path written =
        options.bucket_folder / ("mount-" + std::to_string(round));
    up.mount_seconds.push_back(seconds_of([&] { write_through_mount(written, content); }));

    const std::filesystem::path path = options.bucket_folder / name;
    // A first download puts the store's file into the kernel's cache for both.
    driver.download(id, content);
    drop_from_cache(path);
    const auto by_driver = [&] {
      down.driver_seconds.push_back(seconds_of([&] { driver.download(id, content); }));
    };
    const auto by_mount = [&] {
      down.mount_seconds.push_back(seconds_of([&] { read_through_mount(path, content); }));
    };
    if (round % 2 == 0) {
      by_driver();
      by_mount();
    } else {
      by_mount();
      by_driver();
    }
    bson_value_destroy(&id);
  }
  return {std::move(up), std::move(down)};
}

}  // namespace gridmount::bench
