// The common part of the tests with libmongoc: connections to the stores of live_store.py,
// documents as Extended JSON, and owners of the library's handles.
//
// A failed call leaves its error in the fixture's `error_`.
//
// Thread-safety: not thread-safe.
#pragma once

#include <gtest/gtest.h>
#include <mongoc/mongoc.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gridmount::clients {

struct Destroy {
  void operator()(mongoc_client_t* client) const { mongoc_client_destroy(client); }
  void operator()(mongoc_uri_t* uri) const { mongoc_uri_destroy(uri); }
  void operator()(mongoc_database_t* database) const { mongoc_database_destroy(database); }
  void operator()(mongoc_collection_t* collection) const { mongoc_collection_destroy(collection); }
  void operator()(mongoc_cursor_t* cursor) const { mongoc_cursor_destroy(cursor); }
  void operator()(mongoc_bulk_operation_t* bulk) const { mongoc_bulk_operation_destroy(bulk); }
  void operator()(mongoc_stream_t* stream) const { mongoc_stream_destroy(stream); }
  void operator()(mongoc_gridfs_bucket_t* bucket) const { mongoc_gridfs_bucket_destroy(bucket); }
  void operator()(mongoc_gridfs_t* gridfs) const { mongoc_gridfs_destroy(gridfs); }
  void operator()(mongoc_gridfs_file_t* file) const { mongoc_gridfs_file_destroy(file); }
};
// A document of the library, empty at first. The library can also write a reply into it.
class Document {
 public:
  Document() { bson_init(&value_); }
  explicit Document(bson_t* made) { bson_steal(&value_, made); }
  Document(Document&& other) noexcept {
    bson_steal(&value_, &other.value_);
    bson_init(&other.value_);
  }
  Document& operator=(Document&&) = delete;
  ~Document() { bson_destroy(&value_); }

  bson_t* get() { return &value_; }
  const bson_t& operator*() const { return value_; }

 private:
  bson_t value_;
};
using Client = std::unique_ptr<mongoc_client_t, Destroy>;
using Database = std::unique_ptr<mongoc_database_t, Destroy>;
using Collection = std::unique_ptr<mongoc_collection_t, Destroy>;
using Cursor = std::unique_ptr<mongoc_cursor_t, Destroy>;
using Stream = std::unique_ptr<mongoc_stream_t, Destroy>;

// Returns an environment variable. Fails the test if it is not set.
std::string environment(const char* name);
std::string certificate(const std::string& name);  // returns its path
std::string in_mount(const std::string& name);     // returns the path of a file of the bucket `fs`

// Escapes a password, or a host that is a path, for a URI.
std::string escaped(std::string_view text);

Document document(std::string_view json);
std::string json(const bson_t& document);                       // as relaxed JSON
std::string json_of(const bson_t& document, const char* path);  // one value; "" if it is missing

std::string read_file(const std::string& path);
void write_file(const std::string& path, std::string_view content);
std::string content(unsigned seed, size_t size);

class MongocTest : public ::testing::Test {
 protected:
  // Connects to the socket, and empties the database `mongoc`.
  void SetUp() override;

  Client connect(const std::string& address);
  Collection collection(const char* name, const char* database = "mongoc");
  // Returns the reply, even after a failure.
  Document run(std::string_view command, const char* database = "mongoc");
  // These two functions return the documents as JSON. After an error, the error's message follows.
  std::vector<std::string> find(mongoc_collection_t* in, std::string_view filter = "{}",
                                std::string_view options = "{}");
  std::vector<std::string> all_of(Cursor cursor);
  int64_t count(mongoc_collection_t* in, std::string_view filter = "{}");

  Client client_;
  bson_error_t error_{};
};

}  // namespace gridmount::clients
