#include "tests/tools/store_test.h"

#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace gridmount::tests {

namespace fs = std::filesystem;

void StoreTest::SetUp() {
  std::string pattern = (fs::temp_directory_path() / "gridmount-tools.XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  folder_ = fs::canonical(pattern);
}

void StoreTest::TearDown() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void StoreTest::write_file(const std::string& name, const std::string& bytes) const {
  fs::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name, std::ios::binary) << bytes;
}

std::string StoreTest::read_file(const std::string& name) const {
  std::ifstream file(folder_ / name, std::ios::binary);
  EXPECT_TRUE(file.good()) << "there is no file " << name;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

bool StoreTest::exists(const std::string& name) const {
  return fs::exists(fs::symlink_status(folder_ / name));
}

std::vector<std::string> StoreTest::names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path() != store_path()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Outcome StoreTest::gridfiles(std::vector<std::string> arguments, const std::string& input) const {
  arguments.insert(arguments.begin(), {"--store", "store.gfs"});
  return run({GRIDFILES, std::move(arguments), folder_, input, {}});
}

Outcome StoreTest::gridfiles_plain(std::vector<std::string> arguments) const {
  return run({GRIDFILES, std::move(arguments), folder_, "", {}});
}

Outcome StoreTest::gridstore_check(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {"check", "store.gfs"});
  return run({GRIDSTORE, std::move(arguments), folder_, "", {}});
}

void StoreTest::create_store() const {
  local::OpenOptions options;
  options.create = true;
  auto store = must(local::open(store_path(), options));
  gridfs::Bucket bucket(*store, store->database("test"), {});
  auto transaction = must(store->begin());
  must(bucket.ensure_indexes(*transaction));
  must(transaction->commit());
}

void StoreTest::with_store(const std::function<void(engine::Store&)>& work) const {
  auto store = must(local::open(store_path(), {}));
  work(*store);
}

void StoreTest::with_bucket(const std::function<void(gridfs::Bucket&)>& work,
                            gridfs::BucketOptions options) const {
  with_store([&](engine::Store& store) {
    gridfs::Bucket bucket(store, store.database("test"), std::move(options));
    work(bucket);
  });
}

void StoreTest::change(
    const std::function<void(engine::Database&, engine::Transaction&)>& work) const {
  with_store([&](engine::Store& store) {
    auto database = store.database("test");
    auto transaction = must(store.begin());
    work(*database, *transaction);
    must(transaction->commit());
  });
}

bson::Value StoreTest::upload(const gridfs::Bucket& bucket, const std::string& name,
                              const std::string& bytes, const gridfs::UploadOptions& options) {
  auto stream = must(bucket.open_upload_stream(name, options));
  must(stream->write({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}));
  must(stream->close());
  return stream->id();
}

std::string pattern_bytes(size_t size) {
  std::string bytes(size, '\0');
  uint32_t state = 12345;
  for (char& c : bytes) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>(state >> 24);
  }
  return bytes;
}

}  // namespace gridmount::tests
