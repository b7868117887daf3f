// Goal: files that are larger than a document can be. Source: "Data Model Design for MongoDB",
// release 2.4.9, sections "GridFS" and "GridFS Reference".
#include "engine/bson/builder.h"
#include "gridfs/bucket/bucket.h"
#include "tests/manuals/manual_fixture.h"

namespace gridmount::manuals {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

class GridFs : public Manual {
 protected:
  gridfs::Bucket bucket(const std::string& name = "fs", int32_t chunk_bytes = 0) {
    gridfs::BucketOptions options;
    options.name = name;
    if (chunk_bytes > 0) options.chunk_bytes = chunk_bytes;
    return gridfs::Bucket(store(), db(), options);
  }

  static std::string id_text(const bson::Value& id) {
    return "ObjectId(\"" + id.view().as_object_id().hex() + "\")";
  }

  // createFile().
  static bson::Value upload(const gridfs::Bucket& bucket, const std::string& name,
                            const std::string& content, const gridfs::UploadOptions& options = {}) {
    auto stream = bucket.open_upload_stream(name, options);
    EXPECT_THAT(stream, Succeeded());
    EXPECT_THAT(
        (*stream)->write({reinterpret_cast<const uint8_t*>(content.data()), content.size()}),
        Succeeded());
    EXPECT_THAT((*stream)->close(), Succeeded());
    return (*stream)->id();
  }

  static std::string all_of(Result<std::unique_ptr<gridfs::DownloadStream>> stream) {
    EXPECT_THAT(stream, Succeeded());
    std::string all;
    while (stream) {
      const auto part = (*stream)->read(4096);
      EXPECT_THAT(part, Succeeded());
      if (!part || part->empty()) break;
      all.append(reinterpret_cast<const char*>(part->data()), part->size());
    }
    return all;
  }
};

// "GridFS Collections": the prototypes of the documents of the two collections.
TEST_F(GridFs, FilesAndChunks) {
  const gridfs::Bucket fs = bucket("fs", 4);
  gridfs::UploadOptions options;
  const bson::Document metadata = document(R"({ owner: "ann" })");
  options.metadata = metadata;
  options.content_type = "text/plain";
  const bson::Date before = bson::Date::now();
  const bson::Value id = upload(fs, "smithco", "0123456789", options);
  EXPECT_THAT(collection_names(), IsSupersetOf({"fs.files", "fs.chunks"}));

  const bson::Document file = find_one("fs.files");
  EXPECT_EQ(bson::Value(file.view()["_id"]), id);
  EXPECT_EQ(id.type(), bson::Type::kObjectId);  // "the default type"
  EXPECT_EQ(file.view()["length"].integral(), 10);
  EXPECT_EQ(file.view()["chunkSize"].integral(), 4);
  EXPECT_GE(file.view()["uploadDate"].as_date(), before);
  EXPECT_EQ(file.view()["md5"].as_string(), "781e5e245d69b566979b86e28d23f2c7");
  EXPECT_EQ(file.view()["filename"].as_string(), "smithco");
  EXPECT_EQ(file.view()["contentType"].as_string(), "text/plain");
  EXPECT_EQ(json(file.view()["metadata"]), json(metadata));

  // "GridFS numbers all chunks, starting with 0."
  EXPECT_EQ(aggregate("fs.chunks", R"([ { $sort: { n: 1 } },
                { $project: { _id: 0, n: 1, type: { $type: "$data" }, id: { $type: "$_id" },
                              file: { $type: "$files_id" }, bytes: { $binarySize: "$data" } } } ])"),
            json_each(R"({ n: 0, type: "binData", id: "objectId", file: "objectId", bytes: 4 }
                         { n: 1, type: "binData", id: "objectId", file: "objectId", bytes: 4 }
                         { n: 2, type: "binData", id: "objectId", file: "objectId", bytes: 2 })"));
  EXPECT_EQ(count("fs.chunks", "{ files_id: " + id_text(id) + " }"), 3);
}

// "By default GridFS limits chunk size to 256k."
TEST_F(GridFs, ChunksOf256Kilobytes) {
  upload(bucket(), "largething.mpg", std::string(600 * 1024, 'x'));
  EXPECT_EQ(field("fs.files", "{}", "chunkSize"), std::to_string(256 * 1024));
  EXPECT_EQ(count("fs.chunks"), 3);
}

// "files that exceed the BSON-document size limit of 16MB".
TEST_F(GridFs, FilesLargerThanADocument) {
  std::string content(17 * 1024 * 1024, '\0');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 >> 7);
  const gridfs::Bucket fs = bucket();
  const bson::Value id = upload(fs, "large", content);
  EXPECT_EQ(count("fs.chunks"), 68);
  EXPECT_TRUE(all_of(fs.open_download_stream(id)) == content);
}

// "GridFS Index": unique, compound, and used for the retrieval of chunks.
TEST_F(GridFs, IndexOfChunks) {
  const gridfs::Bucket fs = bucket("fs", 4);
  const bson::Value id = upload(fs, "a", "0123456789");
  upload(fs, "b", "0123456789");
  const std::string filter = "{ files_id: " + id_text(id) + " }";
  // cursor = db.fs.chunks.find({files_id: myFileID}).sort({n:1});
  EXPECT_EQ(find("fs.chunks", filter, {.sort = "{ n: 1 }", .projection = "{ _id: 0, n: 1 }"}),
            json_each("{ n: 0 } { n: 1 } { n: 2 }"));
  const Explained explained = explain("fs.chunks", filter, {.sort = "{ n: 1 }"});
  EXPECT_EQ(explained.plan, "FETCH IXSCAN(files_id_1_n_1)");
  EXPECT_EQ(explained.documents, 3);
  EXPECT_THAT(try_insert("fs.chunks", "{ files_id: " + id_text(id) + ", n: 1 }"),
              FailedWith(ErrorCode::kDuplicateKey));
  // "If your driver does not create this index": the index exists, and creating it again is not an
  // error.
  create_index("fs.chunks", "{ files_id: 1, n: 1 }", "{ unique: true }");
  EXPECT_THAT(index_names("fs.chunks"), ElementsAre("_id_", "files_id_1_n_1"));
}

// "You can perform range queries on files": reading from the middle of a file.
TEST_F(GridFs, PartsOfFiles) {
  const gridfs::Bucket fs = bucket("fs", 4);
  const bson::Value id = upload(fs, "a", "0123456789");
  EXPECT_EQ(all_of(fs.open_download_stream(id, gridfs::ByteRange{3, 9})), "345678");
  EXPECT_EQ(all_of(fs.open_download_stream(id, gridfs::ByteRange{8, 10})), "89");
}

// "Example Interface": the default bucket, and one named "contracts".
TEST_F(GridFs, Buckets) {
  upload(bucket(), "/tmp/largething.mpg", "video");
  upload(bucket("contracts"), "smithco", "contract");
  EXPECT_THAT(collection_names(),
              IsSupersetOf({"fs.files", "fs.chunks", "contracts.files", "contracts.chunks"}));
  EXPECT_EQ(all_of(bucket("contracts").open_download_stream_by_name("smithco")), "contract");
  EXPECT_EQ(all_of(bucket().open_download_stream_by_name("/tmp/largething.mpg")), "video");
  EXPECT_EQ(count("fs.files", R"({ filename: "smithco" })"), 0);
}

// "files._id": "of the data type you chose for the original document"; "files.aliases", and
// "arbitrary fields".
TEST_F(GridFs, FieldsOfApplications) {
  const gridfs::Bucket fs = bucket();
  gridfs::UploadOptions options;
  options.id = bson::Value("my id");
  upload(fs, "a", "content", options);
  update("fs.files", R"({ _id: "my id" })", R"({ $set: { aliases: [ "b", "c" ], rating: 5 } })");
  EXPECT_EQ(count("fs.files", R"({ aliases: "c", rating: 5 })"), 1);
  EXPECT_EQ(all_of(fs.open_download_stream(bson::Value("my id"))), "content");
  EXPECT_THAT(fs.rename(bson::Value("my id"), "b"), Succeeded());
  EXPECT_EQ(field("fs.files", R"({ filename: "b" })", "rating"), "5");
}

}  // namespace
}  // namespace gridmount::manuals
