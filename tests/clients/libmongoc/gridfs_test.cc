// Goal: GridFS works in both directions: a file that libmongoc stores is in the mount, and
// libmongoc can read a file of the mount. The tests use the library's bucket functions and its
// older functions.
#include <fcntl.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/clients/libmongoc/mongoc_fixture.h"

namespace gridmount::clients {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr size_t kChunk = size_t{255} * 1024;
constexpr size_t kSizes[] = {0, 1, kChunk - 1, kChunk, kChunk + 1, size_t{256} * 1024, 5'000'001};
constexpr uint32_t kTimeoutMs = 10'000;

class MongocGridFs : public MongocTest {
 protected:
  using Bucket = std::unique_ptr<mongoc_gridfs_bucket_t, Destroy>;

  void SetUp() override {
    MongocTest::SetUp();
    files_.reset(mongoc_client_get_database(client_.get(), "test"));
    bucket_.reset(mongoc_gridfs_bucket_new(files_.get(), nullptr, nullptr, &error_));
    ASSERT_TRUE(bucket_) << error_.message;
  }

  // Returns the file's _id.
  bson_value_t upload(const std::string& name, const std::string& bytes,
                      std::string_view options = "{}") {
    bson_value_t id{};
    const Stream stream(mongoc_gridfs_bucket_open_upload_stream(
        bucket_.get(), name.c_str(), document(options).get(), &id, &error_));
    EXPECT_TRUE(stream) << error_.message;
    // The library's interface lacks const, but it only reads.
    auto* const data = const_cast<char*>(bytes.data());
    EXPECT_EQ(mongoc_stream_write(stream.get(), data, bytes.size(), kTimeoutMs),
              static_cast<ssize_t>(bytes.size()));
    EXPECT_EQ(mongoc_stream_close(stream.get()), 0);
    return id;
  }

  std::string download(const bson_value_t& id) {
    const Stream stream(mongoc_gridfs_bucket_open_download_stream(bucket_.get(), &id, &error_));
    if (!stream) return error_.message;
    std::string all;
    std::vector<char> part(100'000);
    for (;;) {
      const ssize_t read =
          mongoc_stream_read(stream.get(), part.data(), part.size(), 0, kTimeoutMs);
      if (read <= 0) break;
      all.append(part.data(), static_cast<size_t>(read));
    }
    if (mongoc_gridfs_bucket_stream_error(stream.get(), &error_)) return error_.message;
    return all;
  }

  // Returns the _id of the only file with the name.
  bson_value_t id_of(const std::string& name) {
    const Cursor cursor(mongoc_gridfs_bucket_find(
        bucket_.get(), document(R"({"filename": ")" + name + R"("})").get(), nullptr));
    const bson_t* file = nullptr;
    bson_value_t id{};
    bson_iter_t iterator;
    if (!mongoc_cursor_next(cursor.get(), &file) || !bson_iter_init_find(&iterator, file, "_id")) {
      ADD_FAILURE() << "no file " << name;
      return id;
    }
    bson_value_copy(bson_iter_value(&iterator), &id);
    return id;
  }

  Database files_;
  Bucket bucket_;
};

TEST_F(MongocGridFs, Uploads_AreFilesInTheMount) {
  for (const size_t size : kSizes) {
    const std::string bytes = content(1, size);
    const std::string name = "mongoc/up/" + std::to_string(size);
    bson_value_t id = upload(name, bytes, R"({"metadata": {"owner": "ann"}})");
    EXPECT_EQ(std::filesystem::file_size(in_mount(name)), size);
    EXPECT_TRUE(read_file(in_mount(name)) == bytes) << size;
    EXPECT_TRUE(mongoc_gridfs_bucket_delete_by_id(bucket_.get(), &id, &error_)) << error_.message;
    EXPECT_FALSE(std::filesystem::exists(in_mount(name)));
    EXPECT_FALSE(mongoc_gridfs_bucket_delete_by_id(bucket_.get(), &id, &error_));
    bson_value_destroy(&id);
  }
}

TEST_F(MongocGridFs, FilesOfTheMount_AreDownloaded) {
  for (const size_t size : kSizes) {
    const std::string bytes = content(2, size);
    const std::string name = "mongoc/down/" + std::to_string(size);
    write_file(in_mount(name), bytes);
    bson_value_t id = id_of(name);
    EXPECT_TRUE(download(id) == bytes) << size;
    bson_value_destroy(&id);
    std::filesystem::remove(in_mount(name));
  }
}

TEST_F(MongocGridFs, Compressors_AreAgreedOn) {
  const std::string bytes = content(8, 2'000'000);
  for (const std::string compressor : {"zlib", "snappy", "zstd"}) {
    client_ = connect(escaped(environment("CLIENT_SOCKET")) + "/?compressors=" + compressor);
    files_.reset(mongoc_client_get_database(client_.get(), "test"));
    bucket_.reset(mongoc_gridfs_bucket_new(files_.get(), nullptr, nullptr, &error_));
    bson_value_t id = upload("mongoc-" + compressor, bytes);
    EXPECT_TRUE(read_file(in_mount("mongoc-" + compressor)) == bytes) << compressor;
    EXPECT_TRUE(download(id) == bytes) << compressor;
    EXPECT_TRUE(mongoc_gridfs_bucket_delete_by_id(bucket_.get(), &id, &error_));
    bson_value_destroy(&id);
  }
}

TEST_F(MongocGridFs, Aborts_LeaveNothing) {
  bson_value_t id{};
  {
    const Stream stream(mongoc_gridfs_bucket_open_upload_stream(bucket_.get(), "mongoc-never",
                                                                nullptr, &id, &error_));
    std::string bytes = content(3, 1'000'000);
    EXPECT_GT(mongoc_stream_write(stream.get(), bytes.data(), bytes.size(), kTimeoutMs), 0);
    EXPECT_TRUE(mongoc_gridfs_bucket_abort_upload(stream.get()));
  }
  bson_value_destroy(&id);
  EXPECT_FALSE(std::filesystem::exists(in_mount("mongoc-never")));
  EXPECT_EQ(count(collection("fs.chunks", "test").get()), 0);
}

TEST_F(MongocGridFs, MissingChunks_AreErrors) {
  bson_value_t id = upload("mongoc-broken", content(4, 5000), R"({"chunkSizeBytes": 1000})");
  const Collection chunks = collection("fs.chunks", "test");
  EXPECT_TRUE(mongoc_collection_delete_one(chunks.get(), document(R"({"n": 2})").get(), nullptr,
                                           nullptr, &error_));
  EXPECT_THAT(download(id), HasSubstr("Missing chunk 2"));
  EXPECT_TRUE(mongoc_gridfs_bucket_delete_by_id(bucket_.get(), &id, &error_)) << error_.message;
  bson_value_destroy(&id);
}

// Uses the older functions, which write chunks and files documents by upserts.
class MongocOlderGridFs : public MongocTest {
 protected:
  using GridFs = std::unique_ptr<mongoc_gridfs_t, Destroy>;
  using File = std::unique_ptr<mongoc_gridfs_file_t, Destroy>;

  void SetUp() override {
    MongocTest::SetUp();
    gridfs_.reset(mongoc_client_get_gridfs(client_.get(), "test", "fs", &error_));
    ASSERT_TRUE(gridfs_) << error_.message;
  }

  File create(const std::string& name) {
    mongoc_gridfs_file_opt_t options{};
    options.filename = name.c_str();
    options.content_type = "text/plain";
    return File(mongoc_gridfs_create_file(gridfs_.get(), &options));
  }
  static void write(mongoc_gridfs_file_t* file, std::string bytes) {
    mongoc_iovec_t vector{bytes.data(), bytes.size()};
    EXPECT_EQ(mongoc_gridfs_file_writev(file, &vector, 1, kTimeoutMs),
              static_cast<ssize_t>(bytes.size()));
    EXPECT_TRUE(mongoc_gridfs_file_save(file));
  }
  static std::string read(mongoc_gridfs_file_t* file, size_t size) {
    std::string bytes(size, '\0');
    mongoc_iovec_t vector{bytes.data(), bytes.size()};
    const ssize_t got = mongoc_gridfs_file_readv(file, &vector, 1, size, kTimeoutMs);
    bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return bytes;
  }
  File find_file(const std::string& name) {
    return File(mongoc_gridfs_find_one_by_filename(gridfs_.get(), name.c_str(), &error_));
  }

  GridFs gridfs_;
};

TEST_F(MongocOlderGridFs, Files_AreFilesInTheMount) {
  const std::string bytes = content(5, 1'000'000);
  const File file = create("mongoc-older");
  ASSERT_TRUE(file);
  write(file.get(), bytes);
  EXPECT_TRUE(read_file(in_mount("mongoc-older")) == bytes);
  // Writes in the middle and at the end.
  EXPECT_EQ(mongoc_gridfs_file_seek(file.get(), 400'000, SEEK_SET), 0);
  write(file.get(), "in the middle");
  EXPECT_EQ(mongoc_gridfs_file_seek(file.get(), 0, SEEK_END), 0);
  write(file.get(), "at the end");
  std::string changed = bytes;
  changed.replace(400'000, 13, "in the middle");
  changed += "at the end";
  EXPECT_TRUE(read_file(in_mount("mongoc-older")) == changed);
  EXPECT_TRUE(mongoc_gridfs_file_remove(file.get(), &error_)) << error_.message;
  EXPECT_FALSE(std::filesystem::exists(in_mount("mongoc-older")));
}

TEST_F(MongocOlderGridFs, FilesOfTheMount_AreReadAnywhere) {
  const std::string bytes = content(6, 1'000'000);
  write_file(in_mount("mongoc-anywhere"), bytes);
  const File file = find_file("mongoc-anywhere");
  ASSERT_TRUE(file) << error_.message;
  EXPECT_EQ(mongoc_gridfs_file_get_length(file.get()), 1'000'000);
  EXPECT_TRUE(read(file.get(), bytes.size()) == bytes);
  for (const int64_t position : {0, 262'143, 262'144, 999'990, 10}) {
    EXPECT_EQ(mongoc_gridfs_file_seek(file.get(), position, SEEK_SET), 0);
    EXPECT_EQ(read(file.get(), 10), bytes.substr(static_cast<size_t>(position), 10)) << position;
  }
  EXPECT_TRUE(mongoc_gridfs_remove_by_filename(gridfs_.get(), "mongoc-anywhere", &error_))
      << error_.message;
  EXPECT_FALSE(std::filesystem::exists(in_mount("mongoc-anywhere")));
}

TEST_F(MongocOlderGridFs, Streams_AreStored) {
  const std::string bytes = content(7, 700'000);
  const std::string path = environment("CLIENT_SCRATCH") + "/source";
  write_file(path, bytes);
  mongoc_gridfs_file_opt_t options{};
  options.filename = "mongoc-stream";
  const File file(mongoc_gridfs_create_file_from_stream(
      gridfs_.get(), mongoc_stream_file_new_for_path(path.c_str(), O_RDONLY, 0), &options));
  ASSERT_TRUE(file);
  EXPECT_TRUE(mongoc_gridfs_file_save(file.get()));
  EXPECT_TRUE(read_file(in_mount("mongoc-stream")) == bytes);
  EXPECT_THAT(find(mongoc_gridfs_get_files(gridfs_.get()), R"({"filename": "mongoc-stream"})",
                   R"({"projection": {"_id": 0, "length": 1}})"),
              ElementsAre(R"({ "length" : 700000 })"));
  EXPECT_TRUE(mongoc_gridfs_file_remove(file.get(), &error_)) << error_.message;
}

}  // namespace
}  // namespace gridmount::clients
