// A folder to work in for each test, a store in it that create_store() makes, and the programs.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/local/open_store.h"
#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "tests/must.h"
#include "tests/tools/program.h"

namespace gridmount::tests {

// The first line that gridfiles prints about the store of these tests.
inline constexpr const char* kConnected = "connected to: store.gfs\n";

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // The folder in which programs run. It contains the store, `store_path()`.
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path store_path() const { return folder_ / "store.gfs"; }

  void write_file(const std::string& name, const std::string& bytes) const;
  std::string read_file(const std::string& name) const;
  bool exists(const std::string& name) const;
  // Returns the names in folder() without the store, sorted.
  std::vector<std::string> names() const;

  // Runs `gridfiles --store STORE ARGUMENTS`. gridfiles_plain() leaves out `--store STORE`.
  Outcome gridfiles(std::vector<std::string> arguments, const std::string& input = "") const;
  Outcome gridfiles_plain(std::vector<std::string> arguments) const;
  Outcome gridstore_check(std::vector<std::string> arguments = {}) const;

  // Makes the store with its bucket fs.
  void create_store() const;
  // Runs `work` on the open store, and closes it afterwards.
  void with_store(const std::function<void(engine::Store&)>& work) const;
  void with_bucket(const std::function<void(gridfs::Bucket&)>& work,
                   gridfs::BucketOptions options = {}) const;
  // Runs `work` in one transaction of the database "test" and commits it.
  void change(const std::function<void(engine::Database&, engine::Transaction&)>& work) const;

  // Uploads through the bucket, as a driver does.
  static bson::Value upload(const gridfs::Bucket& bucket, const std::string& name,
                            const std::string& bytes, const gridfs::UploadOptions& options = {});

 private:
  std::filesystem::path folder_;
};

// Returns a document with one field.
template <typename T>
bson::Document document(std::string_view key, const T& value) {
  bson::Builder builder;
  builder.append(key, value);
  return std::move(builder).finish();
}

// Returns bytes that do not repeat at nearby positions.
std::string pattern_bytes(size_t size);

}  // namespace gridmount::tests
