// Goal: files and directories at their limit are accepted, and those one beyond the limit fail with
// the error that doc/limits.md names.
#include <array>
#include <limits>

#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/chunk_size.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/path_namespace.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

class FileLimits : public BucketFixture {};

TEST_F(FileLimits, Path) {
  const auto paths =
      must(PathNamespace::open(store(), store().database("test"), bucket().options(), {}, {}));
  // 128 directories of 254 bytes and a slash: 32,640 bytes.
  std::string folder;
  for (int i = 0; i < 128; ++i) {
    const std::string name(254, 'd');
    must(paths->mkdir(folder, name, 0755, {}));
    folder = join(folder, name);
  }
  ASSERT_EQ(folder.size(), 32'639U);
  const std::string longest(32'767 - 32'640, 'f');
  const Node file = must(paths->create_file(folder, longest, 0644, {}));
  EXPECT_EQ(must(paths->lookup(folder, longest)).ino, file.ino);
  EXPECT_EQ(code_of(paths->create_file(folder, longest + "f", 0644, {})), kNameTooLong);
  EXPECT_TRUE(paths->mkdir(folder, std::string(longest.size(), 'g'), 0755, {}));
  EXPECT_EQ(code_of(paths->mkdir(folder, longest + "g", 0755, {})), kNameTooLong);
  EXPECT_EQ(code_of(paths->link(file.id, folder, longest + "l")), kNameTooLong);
  EXPECT_TRUE(paths->close());
}

TEST_F(FileLimits, Links) {
  // Inserts the links directly, because making them one by one takes long.
  constexpr int kLinks = 64'998;
  bson::Builder document;
  document.append("_id", 1).append("length", 0).append("chunkSize", 1000).append("filename", "f");
  document.open_document("metadata").open_document("posix").append("links", kLinks);
  document.close().close();
  insert_file(std::move(document).finish());
  change([&](engine::Transaction& transaction) {
    must(bucket().ensure_links(transaction));
    for (int i = 0; i < kLinks; ++i) {
      bson::Builder link;
      link.append("_id", std::to_string(i)).append("file", 1);
      must(bucket().links().insert(transaction, std::move(link).finish()));
    }
  });
  const auto paths =
      must(PathNamespace::open(store(), store().database("test"), bucket().options(), {}, {}));
  EXPECT_TRUE(paths->link(bson::Value(1), "", "65,000th"));
  EXPECT_EQ(must(paths->lookup("", "64997")).attributes.nlink, 65'000U);
  EXPECT_EQ(code_of(paths->link(bson::Value(1), "", "65,001st")), kTooManyLinks);
  must(paths->unlink("", "7"));
  EXPECT_TRUE(paths->link(bson::Value(1), "", "65,001st"));
  EXPECT_TRUE(paths->close());
}

TEST_F(FileLimits, ChunkBytes) {
  const auto upload_with = [&](int32_t chunk_bytes) {
    UploadOptions options;
    options.chunk_bytes = chunk_bytes;
    const auto stream = bucket().open_upload_stream("f", options);
    return code_of(stream);
  };
  EXPECT_EQ(upload_with(16'760'832), std::nullopt);
  EXPECT_EQ(upload_with(16'760'833), ErrorCode::kBadValue);
  EXPECT_EQ(upload_with(0), ErrorCode::kBadValue);
  // A chunk of this size is a document that can be stored.
  UploadOptions largest;
  largest.chunk_bytes = 16'760'832;
  const bson::Value id = upload("largest", std::string(16'760'833, 'x'), largest);
  EXPECT_EQ(must(download(id)).size(), 16'760'833U);
}

TEST_F(FileLimits, ChunkBytesOfADriver) {
  const auto insert = [&](int id, int64_t length, int32_t chunk_bytes) {
    bson::Builder document;
    document.append("_id", id).append("length", length).append("chunkSize", chunk_bytes);
    document.append("uploadDate", bson::Date::now()).append("filename", "f" + std::to_string(id));
    insert_file(std::move(document).finish());
    for (int32_t n = 0; int64_t{n} * chunk_bytes < length; ++n) {
      const int64_t rest = length - int64_t{n} * chunk_bytes;
      insert_chunk(bson::Value(id), n,
                   std::string(static_cast<size_t>(std::min<int64_t>(rest, chunk_bytes)), 'x'));
    }
  };
  // The files_id is a number of four bytes, eight bytes less than an ObjectId.
  constexpr int32_t kMost = 16'777'216 - 62 + 8;
  ASSERT_EQ(max_chunk_bytes(bson::Value(1)), kMost);
  ASSERT_EQ(ChunkLayout(bson::Value(1), kMost).capacity(), bson::kMaxDocumentBytes);
  const auto table = FileTable::create(bucket(), {});
  // The file can be read and written even if its chunkSize is greater than a chunk can be.
  int id = 0;
  for (const auto& [length, chunk_bytes, written] :
       std::vector<std::array<int32_t, 3>>{{kMost, kMost, kMost},
                                           {kMost + 10, kMost, kMost},
                                           {16'760'833, 16'760'833, 16'760'833},
                                           {16'770'000, kMost + 1, 16'770'000},
                                           {kMost, 2'147'483'647, kMost},
                                           {20, 2'147'483'647, kMaxChunkBytes}}) {
    insert(++id, length, chunk_bytes);
    std::string content(static_cast<size_t>(length), 'x');
    EXPECT_TRUE(must(download(bson::Value(id))) == content) << id;
    const auto file = must(table->open(bson::Value(id)));
    EXPECT_TRUE(read_all(*file) == content) << id;
    must(write(*file, length - 5, "0123456789"));
    must(file->flush());
    content.replace(content.size() - 5, 5, "0123456789");
    EXPECT_TRUE(must(download(bson::Value(id))) == content) << id;
    EXPECT_EQ(files_document(bson::Value(id))->view()["chunkSize"].integral(), written) << id;
  }
  bson::Builder document;
  document.append("_id", ++id).append("length", kMaxStoredChunkBytes + 1);
  document.append("chunkSize", kMaxStoredChunkBytes + 1).append("filename", "none");
  insert_file(std::move(document).finish());
  EXPECT_EQ(code_of(table->open(bson::Value(id))), kInvalidFilesDocument);
  EXPECT_TRUE(table->close(std::chrono::milliseconds(0)));
}

TEST_F(FileLimits, FileBytes) {
  // With chunks of one byte the largest file has 2 GiB. Nearly all of it is a hole.
  const bson::Value id = create("f", 1);
  const auto table = FileTable::create(bucket(), {});
  const auto file = must(table->open(id));
  constexpr int64_t kMost = int64_t{1} << 31;
  ASSERT_EQ(max_file_bytes(1), kMost);
  EXPECT_TRUE(file->truncate(kMost - 1, TimeUpdate::kNow));
  EXPECT_EQ(code_of(write(*file, kMost, "x")), kFileTooLarge);
  EXPECT_TRUE(write(*file, kMost - 1, "x"));
  EXPECT_TRUE(file->flush());
  EXPECT_EQ(file->length(), kMost);
  EXPECT_EQ(code_of(file->truncate(kMost + 1, TimeUpdate::kNow)), kFileTooLarge);
}

}  // namespace
}  // namespace gridmount::gridfs
