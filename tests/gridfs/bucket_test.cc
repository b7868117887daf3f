// Goal: buckets follow the drivers' GridFS specification.
// Method: tests the rules one by one on a real store, and reads the documents directly.

#include "gridfs/bucket/bucket.h"

#include <gmock/gmock.h>

#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/files_document.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

using ::testing::IsEmpty;

class BucketTest : public BucketFixture {
 protected:
  std::string by_name(const std::string& name, int revision) {
    const auto stream = must(bucket().open_download_stream_by_name(name, revision));
    return rest_of(*stream);
  }
  static std::string rest_of(DownloadStream& stream) {
    std::string all;
    while (true) {
      const std::span<const uint8_t> part = must(stream.read(1000));
      if (part.empty()) return all;
      all.append(reinterpret_cast<const char*>(part.data()), part.size());
    }
  }
  std::vector<std::string> index_keys(engine::Collection& collection) {
    const auto snapshot = must(store().snapshot());
    std::vector<std::string> all;
    for (const engine::IndexDefinition& index : must(collection.indexes(*snapshot))) {
      all.push_back(bson::to_json(index.keys, bson::JsonForm::kRelaxed) +
                    (index.unique ? " unique" : ""));
    }
    return all;
  }
};

TEST_F(BucketTest, Upload_WritesTheDocumentsOfTheSpecification) {
  bson::Builder metadata;
  metadata.append("owner", "me");
  const bson::Document fields = std::move(metadata).finish();
  UploadOptions options;
  options.chunk_bytes = 4;
  options.metadata = fields;
  options.content_type = "text/plain";
  const bson::Value id = upload("a", "0123456789", options);
  const bson::Document document = *files_document(id);
  EXPECT_EQ(document.view()["length"].as_int64(), 10);
  EXPECT_EQ(document.view()["chunkSize"].as_int32(), 4);
  EXPECT_EQ(document.view()["uploadDate"].type(), bson::Type::kDate);
  EXPECT_EQ(document.view()["filename"].as_string(), "a");
  EXPECT_EQ(document.view()["md5"].as_string(), md5_of("0123456789"));
  EXPECT_EQ(document.view()["contentType"].as_string(), "text/plain");
  EXPECT_EQ(document.view()["metadata"].as_document()["owner"].as_string(), "me");
  EXPECT_EQ(count(bucket().chunks()), 3);
  EXPECT_EQ(must(download(id)), "0123456789");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(BucketTest, Upload_MakesTheIndexes) {
  upload("a", "x");
  EXPECT_THAT(index_keys(bucket().files()),
              ::testing::Contains(R"({ "filename" : 1, "uploadDate" : 1 })"));
  EXPECT_THAT(index_keys(bucket().chunks()),
              ::testing::Contains(R"({ "files_id" : 1, "n" : 1 } unique)"));
}

TEST_F(BucketTest, Upload_Lengths) {
  for (const size_t length : {0, 1, 3, 4, 5, 8, 9, 4000}) {
    UploadOptions options;
    options.chunk_bytes = 4;
    const std::string content(length, 'x');
    const bson::Value id = upload("a", content, options);
    EXPECT_EQ(must(download(id)), content);
  }
  EXPECT_THAT(problems(), IsEmpty());
  UploadOptions options;
  options.chunk_bytes = 0;
  EXPECT_EQ(code_of(bucket().open_upload_stream("a", options)), ErrorCode::kBadValue);
}

TEST_F(BucketTest, Upload_IdsOfAnyType) {
  for (const bson::Value& id : {bson::Value(5), bson::Value("text"), bson::Value(true),
                                bson::Value(bson::View()), bson::Value(2.5)}) {
    UploadOptions options;
    options.id = id;
    upload("a", "content", options);
    EXPECT_EQ(must(download(id)), "content");
  }
  UploadOptions again;
  again.id = bson::Value(5.0);
  const auto stream = must(bucket().open_upload_stream("b", again));
  const std::string more = "more";
  const Status written = stream->write(bytes_of(more));
  EXPECT_TRUE(!written || !stream->close()) << "an _id was taken twice";
  EXPECT_EQ(must(download(bson::Value(5))), "content");
}

TEST_F(BucketTest, Upload_Abort_LeavesNothing) {
  const auto stream = must(bucket().open_upload_stream("a"));
  must(stream->write(bytes_of(std::string(3'000'000, 'x'))));
  must(stream->abort());
  EXPECT_EQ(code_of(stream->write(bytes_of("x"))), kStreamClosed);
  EXPECT_EQ(code_of(stream->close()), kStreamClosed);
  EXPECT_EQ(count(bucket().files()), 0);
  EXPECT_EQ(count(bucket().chunks()), 0);
  EXPECT_EQ(count(bucket().detached()), 0);
}

TEST_F(BucketTest, Upload_Unfinished_IsNotThere_AndIsReclaimed) {
  {
    const auto stream = must(bucket().open_upload_stream("a"));
    must(stream->write(bytes_of(std::string(3'000'000, 'x'))));
    EXPECT_EQ(count(bucket().files()), 0);
    EXPECT_EQ(code_of(bucket().open_download_stream_by_name("a")), kFileNotFound);
  }
  must(bucket().reclaim_all());
  EXPECT_EQ(count(bucket().chunks()), 0);
  EXPECT_EQ(count(bucket().detached()), 0);
}

TEST_F(BucketTest, Reclaim_RemovesChunksWithTheLargestNumbers) {
  const bson::Value id = upload("a", "content");
  for (const int64_t n : {INT64_MIN, INT64_MAX - 1, INT64_MAX}) {
    bson::Builder chunk;
    chunk.append("_id", bson::ObjectId::generate()).append("files_id", id).append("n", n);
    const bson::Document document = std::move(chunk).finish();
    change([&](engine::Transaction& transaction) {
      must(bucket().chunks().insert(transaction, document));
    });
  }
  change([&](engine::Transaction& transaction) { must(bucket().detach(transaction, id)); });
  must(bucket().reclaim(id));
  EXPECT_EQ(count(bucket().chunks()), 0);
  EXPECT_EQ(count(bucket().detached()), 0);
}

TEST_F(BucketTest, Upload_ThatSomebodyReclaims_IsNotCommitted) {
  auto stream = must(bucket().open_upload_stream("file"));
  const std::string content(8 * 1024 * 1024, 'x');
  must(stream->write(bytes_of(content)));
  EXPECT_EQ(count(bucket().detached()), 1);
  must(bucket().reclaim_all());
  EXPECT_EQ(code_of(stream->close()), kFileDeleted);
  stream.reset();
  EXPECT_EQ(count(bucket().files()), 0);
  EXPECT_EQ(problems(), std::vector<std::string>());
}

TEST_F(BucketTest, Upload_BeforeCommit_GivesFieldsAndMayRefuse) {
  bson::Builder builder;
  builder.append("kept", true);
  const bson::Document metadata = std::move(builder).finish();
  UploadOptions options;
  options.before_commit = [&](engine::Transaction& transaction) -> Result<CommitFields> {
    GM_TRY(bucket().files().remove(transaction, bson::Document(), true));
    return CommitFields{metadata, bson::Date{INT64_C(4'000'000'000'000)}};
  };
  upload("old", "before");
  const bson::Value id = upload("new", "after", options);
  EXPECT_EQ(count(bucket().files()), 1);
  EXPECT_EQ(file(id).upload_date.milliseconds, 4'000'000'000'000);
  EXPECT_EQ(files_document(id)->view()["metadata"].as_document()["kept"].as_bool(), true);

  options.before_commit = [&](engine::Transaction&) -> Result<CommitFields> {
    return fail(kEntryExists, "refused");
  };
  auto stream = must(bucket().open_upload_stream("third", options));
  must(stream->write(bytes_of("x")));
  EXPECT_EQ(code_of(stream->close()), kEntryExists);
  stream.reset();
  EXPECT_EQ(count(bucket().files()), 1);
}

TEST_F(BucketTest, Download_Ranges) {
  UploadOptions options;
  options.chunk_bytes = 4;
  const bson::Value id = upload("a", "0123456789", options);
  EXPECT_EQ(must(download(id, ByteRange{0, 10})), "0123456789");
  EXPECT_EQ(must(download(id, ByteRange{3, 5})), "34");
  EXPECT_EQ(must(download(id, ByteRange{4, 8})), "4567");
  EXPECT_EQ(must(download(id, ByteRange{10, 10})), "");
  for (const ByteRange range : {ByteRange{-1, 5}, ByteRange{5, 3}, ByteRange{0, 11}}) {
    EXPECT_EQ(code_of(download(id, range)), kInvalidRange);
  }
}

TEST_F(BucketTest, Download_Revisions) {
  for (int i = 0; i < 4; ++i) {
    bson::Builder document;
    document.append("_id", i).append("length", 1).append("chunkSize", 10);
    document.append("uploadDate", bson::Date{i * 1000}).append("filename", "a");
    insert_file(std::move(document).finish());
    insert_chunk(bson::Value(i), 0, std::to_string(i));
  }
  EXPECT_EQ(by_name("a", 0), "0");
  EXPECT_EQ(by_name("a", 1), "1");
  EXPECT_EQ(by_name("a", -1), "3");
  EXPECT_EQ(by_name("a", -2), "2");
  EXPECT_EQ(code_of(bucket().open_download_stream_by_name("a", 4)), kRevisionNotFound);
  EXPECT_EQ(code_of(bucket().open_download_stream_by_name("a", -5)), kRevisionNotFound);
  EXPECT_EQ(code_of(bucket().open_download_stream_by_name("b")), kFileNotFound);
  EXPECT_EQ(code_of(bucket().open_download_stream(bson::Value(9))), kFileNotFound);
}

TEST_F(BucketTest, Download_DamagedChunks) {
  UploadOptions options;
  options.chunk_bytes = 4;
  const bson::Value missing = upload("missing", "0123456789", options);
  const bson::Value shortened = upload("short", "0123456789", options);
  const bson::Value longer = upload("long", "0123456789", options);
  const auto remove_chunk = [&](const bson::Value& id, int32_t n) {
    change([&](engine::Transaction& transaction) {
      bson::Builder filter;
      filter.append("files_id", id).append("n", n);
      must(bucket().chunks().remove(transaction, std::move(filter).finish(), false));
    });
  };
  remove_chunk(missing, 1);
  remove_chunk(shortened, 1);
  insert_chunk(shortened, 1, "45");
  remove_chunk(longer, 2);
  insert_chunk(longer, 2, "89and more");
  EXPECT_EQ(code_of(download(missing)), kChunkIsMissing);
  EXPECT_EQ(code_of(download(shortened)), kChunkIsWrongSize);
  EXPECT_EQ(code_of(download(longer)), kChunkIsWrongSize);
}

TEST_F(BucketTest, Download_NumbersOfAnyType) {
  bson::Builder document;
  document.append("_id", 1).append("length", 6.0).append("chunkSize", int64_t{4});
  document.append("uploadDate", bson::Date::now()).append("filename", "a");
  insert_file(std::move(document).finish());
  insert_chunk(bson::Value(1), 0, "0123");
  insert_chunk(bson::Value(1), 1, "45");
  EXPECT_EQ(must(download(bson::Value(1))), "012345");
}

TEST_F(BucketTest, Download_SeesOneState_WhateverHappensMeanwhile) {
  UploadOptions options;
  options.chunk_bytes = 4;
  const bson::Value id = upload("a", "0123456789", options);
  const auto stream = must(bucket().open_download_stream(id));
  EXPECT_EQ(must(stream->read(2)).size(), 2U);
  must(bucket().remove(id));
  EXPECT_EQ(rest_of(*stream), "23456789");
}

TEST_F(BucketTest, RemoveAndRename) {
  const bson::Value id = upload("a", std::string(100'000, 'x'));
  upload("a", "second");
  upload("b", "other");
  must(bucket().rename(id, "c"));
  EXPECT_EQ(file(id).filename, "c");
  must(bucket().remove(id));
  EXPECT_EQ(code_of(bucket().remove(id)), kFileNotFound);
  EXPECT_EQ(code_of(bucket().rename(id, "d")), kFileNotFound);
  upload("a", "third");
  must(bucket().rename_by_name("a", "e"));
  EXPECT_EQ(code_of(bucket().rename_by_name("a", "e")), kFileNotFound);
  must(bucket().remove_by_name("e"));
  EXPECT_EQ(code_of(bucket().remove_by_name("e")), kFileNotFound);
  EXPECT_EQ(count(bucket().files()), 1);
  EXPECT_EQ(by_name("b", -1), "other");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(BucketTest, RemoveByName_OfAllKinds_LeavesTheOthers) {
  UploadOptions small;
  small.chunk_bytes = 100;
  for (int i = 0; i < 1200; ++i) {
    bson::Builder document;
    document.append("_id", i).append("length", i % 3).append("chunkSize", 10);
    document.append("uploadDate", bson::Date{i}).append("filename", "a");
    insert_file(std::move(document).finish());
    if (i % 3 != 0) insert_chunk(bson::Value(i), 0, std::string(static_cast<size_t>(i % 3), 'x'));
  }
  upload("a", std::string(300'000, 'x'), small);  // by way of `detached`
  const bson::Value truncated = upload("a", "short");
  const bson::Value linked = upload("a", "linked");
  upload("b", "other");
  bson::Builder wrong;
  wrong.append("_id", "no length").append("filename", "a").append("uploadDate", bson::Date{7});
  insert_file(std::move(wrong).finish());
  bson::Builder names;
  names.open_document("$set").append(kRecordedLinksPath, 1).close();
  const bson::Document has_links = std::move(names).finish();
  bson::Builder link;
  link.append("_id", "further").append("file", linked);
  change([&](engine::Transaction& transaction) {
    must(bucket().record_truncated(transaction, truncated, 1, 5));
    must(bucket().files().update(transaction, equals("_id", linked), has_links));
    must(bucket().ensure_links(transaction));
    must(bucket().links().insert(transaction, std::move(link).finish()));
  });
  insert_chunk(truncated, 3, "rest");
  must(bucket().remove_by_name("a"));
  EXPECT_EQ(count(bucket().files()), 1);
  EXPECT_EQ(count(bucket().chunks()), 1);
  EXPECT_EQ(count(bucket().detached()), 0);
  EXPECT_EQ(count(bucket().links()), 0);
  EXPECT_EQ(by_name("b", -1), "other");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(BucketTest, Remove_LargeFile_LeavesNothing) {
  UploadOptions options;
  options.chunk_bytes = 100;
  const bson::Value id = upload("a", std::string(300'000, 'x'), options);
  must(bucket().remove(id));
  EXPECT_EQ(count(bucket().chunks()), 0);
  EXPECT_EQ(count(bucket().detached()), 0);
}

TEST_F(BucketTest, DropIfEmpty_AnythingIsThere_IsRefused) {
  change([&](engine::Transaction& transaction) { must(bucket().ensure_indexes(transaction)); });
  const auto refused_with = [&](engine::Collection& collection, const char* document) {
    change([&](engine::Transaction& transaction) {
      must(collection.insert(transaction, *bson::document_from_json(document)));
    });
    EXPECT_EQ(code_of(bucket().drop_if_empty()), kBucketNotEmpty) << document;
    change([&](engine::Transaction& transaction) {
      must(collection.remove(transaction, bson::View(), true));
    });
  };
  refused_with(bucket().files(), R"({"_id": "is no files document"})");
  refused_with(bucket().directories(), R"({"_id": 1, "parent": "", "name": "a"})");
  refused_with(bucket().links(), R"({"_id": "a", "file": 1})");
  change([&](engine::Transaction& transaction) {
    must(bucket().directories().insert(
        transaction, *bson::document_from_json(R"({"_id": 1, "parent": null, "name": ""})")));
  });
  must(bucket().drop_if_empty());
  EXPECT_EQ(must(bucket_names(bucket().database(), *must(store().snapshot()))).size(), 0U);
}

TEST_F(BucketTest, Drop) {
  upload("a", "x");
  must(bucket().drop());
  EXPECT_EQ(count(bucket().files()), 0);
  EXPECT_EQ(count(bucket().chunks()), 0);
  upload("a", "y");
  EXPECT_EQ(by_name("a", -1), "y");
  EXPECT_THAT(index_keys(bucket().chunks()),
              ::testing::Contains(R"({ "files_id" : 1, "n" : 1 } unique)"));
}

TEST_F(BucketTest, Find) {
  upload("a", "x");
  upload("b", "xx");
  const auto snapshot = must(store().snapshot());
  bson::Builder filter;
  filter.open_document("length").append("$gt", 1).close();
  const bson::Document longer = std::move(filter).finish();
  const auto cursor = must(bucket().find(*snapshot, longer));
  EXPECT_EQ((*must(cursor->next()))["filename"].as_string(), "b");
  EXPECT_FALSE(must(cursor->next()));
}

TEST_F(BucketTest, BucketNames) {
  upload("a", "x");
  const Bucket other(store(), store().database("test"), {.name = "photos.raw"});
  change([&](engine::Transaction& transaction) { must(other.ensure_indexes(transaction)); });
  const auto snapshot = must(store().snapshot());
  EXPECT_THAT(must(bucket_names(*store().database("test"), *snapshot)),
              ::testing::ElementsAre(bucket().options().name, "photos.raw"));
}

}  // namespace
}  // namespace gridmount::gridfs
