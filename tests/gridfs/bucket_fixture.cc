#include "tests/gridfs/bucket_fixture.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <thread>

#include "engine/bson/json.h"
#include "engine/local/local_store.h"
#include "engine/local/storage/environment.h"
#include "engine/local/test_options.h"
#include "gridfs/namespace/links.h"

namespace gridmount::gridfs {
namespace {

std::string shown(bson::ValueView value) {
  return bson::to_json(value, bson::JsonForm::kCanonical);
}

std::vector<bson::Document> all_of(engine::Collection& collection, engine::Snapshot& snapshot) {
  std::vector<bson::Document> documents;
  const auto cursor = must(collection.find(snapshot, bson::View()));
  while (const auto document = must(cursor->next())) documents.emplace_back(*document);
  return documents;
}

std::string data_of(bson::View chunk) {
  const bson::Binary data = chunk["data"].as_binary();
  return std::string(reinterpret_cast<const char*>(data.data), data.size);
}

}  // namespace

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string text_of(const ReadResult& read) {
  std::string text;
  for (const iovec& piece : read.pieces()) {
    text.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
  }
  EXPECT_EQ(text.size(), read.size());
  return text;
}

std::string random_bytes(std::mt19937_64& random, size_t size) {
  std::string bytes(size, '\0');
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    const uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, 8);
  }
  for (; i < size; ++i) bytes[i] = static_cast<char>(random());
  return bytes;
}

std::string md5_of(const std::string& bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_md5(), nullptr);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    char hex[3];
    std::snprintf(hex, sizeof(hex), "%02x", digest[i]);
    text += hex;
  }
  return text;
}

uint64_t test_seed() {
  const char* given = std::getenv("GRIDMOUNT_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
}

BucketFixture::BucketFixture() {
  std::string pattern = std::filesystem::temp_directory_path() / "gridmount-test-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  folder_ = pattern;
  open(true, {});
}

BucketFixture::~BucketFixture() {
  bucket_.reset();
  store_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void BucketFixture::open(bool create, const BucketOptions& options) {
  local::OpenOptions store_options;
  store_options.create = create;
  store_options.map_bytes = uint64_t{1} << 34;
  store_options.size_limit = size_limit_;
  if (keeps_batches_open_) {
    local::TestOptions test;
    test.batch_time_max = std::chrono::hours(1);
    store_ = std::make_unique<local::LocalStore>(
        must(local::Environment::open(folder_ / "store", store_options, test)), store_options);
  } else {
    store_ = must(local::open(folder_ / "store", store_options));
  }
  bucket_ = std::make_unique<Bucket>(*store_, store_->database("test"), options);
  change([&](engine::Transaction& transaction) { must(bucket_->ensure_indexes(transaction)); });
}

void BucketFixture::reopen(const BucketOptions& options) {
  bucket_.reset();
  store_.reset();
  open(false, options);
}

void BucketFixture::limit(uint64_t bytes) {
  size_limit_ = bytes;
  reopen();
}

void BucketFixture::keep_batches_open() {
  keeps_batches_open_ = true;
  reopen();
}

bson::Value BucketFixture::upload(const std::string& name, const std::string& bytes,
                                  const UploadOptions& options) {
  const auto stream = must(bucket().open_upload_stream(name, options));
  must(stream->write(bytes_of(bytes)));
  must(stream->close());
  return stream->id();
}

Result<std::string> BucketFixture::download(bson::ValueView id, std::optional<ByteRange> range) {
  GM_ASSIGN(const std::unique_ptr<DownloadStream> stream, bucket().open_download_stream(id, range));
  std::string bytes;
  while (true) {
    GM_ASSIGN(const std::span<const uint8_t> part, stream->read(64 * 1024));
    if (part.empty()) return bytes;
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
}

void BucketFixture::insert_file(const bson::Document& document) {
  change([&](engine::Transaction& transaction) {
    must(bucket().files().insert(transaction, document));
  });
}

void BucketFixture::insert_chunk(bson::ValueView files_id, int32_t n, const std::string& bytes) {
  bson::Builder chunk;
  chunk.append("_id", bson::ObjectId::generate()).append("files_id", files_id).append("n", n);
  chunk.append("data",
               bson::Binary{0, bytes_of(bytes).data(), static_cast<uint32_t>(bytes.size())});
  const bson::Document document = std::move(chunk).finish();
  change([&](engine::Transaction& transaction) {
    must(bucket().chunks().insert(transaction, document));
  });
}

std::optional<bson::Document> BucketFixture::files_document(bson::ValueView id) {
  const auto snapshot = must(store().snapshot());
  for (bson::Document& document : all_of(bucket().files(), *snapshot)) {
    if (shown(document.view()["_id"]) == shown(id)) return std::move(document);
  }
  return std::nullopt;
}

FilesDocument BucketFixture::file(bson::ValueView id) {
  const std::optional<bson::Document> document = files_document(id);
  if (!document) throw std::runtime_error("no files document with _id " + shown(id));
  return must(FilesDocument::parse(*document));
}

int64_t BucketFixture::count(engine::Collection& collection) {
  const auto snapshot = must(store().snapshot());
  return must(collection.count(*snapshot, bson::View()));
}

std::vector<std::string> BucketFixture::problems(engine::Snapshot* given) {
  std::unique_ptr<engine::Snapshot> own;
  if (given == nullptr) {
    own = must(store().snapshot());
    given = own.get();
  }
  std::vector<std::string> found;
  std::map<std::string, std::map<int64_t, bson::Document>> chunks;
  for (bson::Document& chunk : all_of(bucket().chunks(), *given)) {
    const std::string owner = shown(chunk.view()["files_id"]);
    const int64_t n = chunk.view()["n"].integral().value_or(-1);
    chunks[owner].emplace(n, std::move(chunk));
  }
  for (const bson::Document& document : all_of(bucket().files(), *given)) {
    const std::string id = shown(document.view()["_id"]);
    const FilesDocument file = must(FilesDocument::parse(document));
    std::map<int64_t, bson::Document> own_chunks = std::move(chunks[id]);
    chunks.erase(id);
    std::string content;
    const auto behind = own_chunks.lower_bound(file.chunk_count());
    const auto within = std::distance(own_chunks.begin(), behind);
    if (file.stored_chunks && *file.stored_chunks != within) {
      found.push_back(id + ": storedChunks is " + std::to_string(*file.stored_chunks) + ", not " +
                      std::to_string(within));
    }
    AllocatedRanges besides = file.allocated;
    for (auto chunk = own_chunks.begin(); chunk != behind; ++chunk) {
      const int64_t begin = chunk->first * file.chunk_bytes;
      besides.remove(begin, std::min(begin + file.chunk_bytes, file.length));
    }
    if (besides != file.allocated) found.push_back(id + ": what is stored counts as allocated");
    for (int64_t n = 0; n < file.chunk_count(); ++n) {
      const auto expected = static_cast<size_t>(
          std::min<int64_t>(file.chunk_bytes, file.length - n * file.chunk_bytes));
      const auto chunk = own_chunks.find(n);
      if (chunk == own_chunks.end()) {
        if (!file.sparse) found.push_back(id + ": chunk " + std::to_string(n) + " is missing");
        content.append(expected, '\0');
        continue;
      }
      const std::string data = data_of(chunk->second);
      if (data.size() != expected) {
        found.push_back(id + ": chunk " + std::to_string(n) + " has " +
                        std::to_string(data.size()) + " bytes, not " + std::to_string(expected));
      }
      content += data;
      own_chunks.erase(chunk);
    }
    if (!own_chunks.empty()) {
      // Chunks beyond the end are allowed only if a recorded truncation has left them behind.
      bool recorded = false;
      for (const bson::Document& marker : all_of(bucket().detached(), *given)) {
        const bson::ValueView marker_id = marker.view()["_id"];
        if (marker_id.type() != bson::Type::kDocument || !marker.find("from")) continue;
        recorded = recorded || (shown(marker_id.as_document()["truncated"]) == id &&
                                *marker.view()["from"].integral() <= own_chunks.begin()->first &&
                                *marker.view()["to"].integral() > own_chunks.rbegin()->first);
      }
      if (!recorded) found.push_back(id + ": chunks behind the end");
    }
    if (file.md5 && *file.md5 != md5_of(content)) found.push_back(id + ": md5 is stale");
  }
  for (const bson::Document& document : all_of(bucket().detached(), *given)) {
    chunks.erase(shown(document.view()["_id"]));
  }
  for (const auto& [owner, orphans] : chunks) {
    found.push_back(std::to_string(orphans.size()) + " orphan chunks of " + owner);
  }
  find_wrong_links(*given, found);
  return found;
}

void BucketFixture::find_wrong_links(engine::Snapshot& snapshot, std::vector<std::string>& found) {
  std::map<std::string, int64_t> links;
  for (const bson::Document& link : all_of(bucket().links(), snapshot)) {
    ++links[shown(link.view()["file"])];
  }
  for (const bson::Document& document : all_of(bucket().files(), snapshot)) {
    const std::string id = shown(document.view()["_id"]);
    const int64_t recorded = recorded_links(document);
    if (recorded != links[id]) {
      found.push_back(id + ": notes " + std::to_string(recorded) + " links, there are " +
                      std::to_string(links[id]));
    }
    links.erase(id);
  }
  for (const auto& [owner, count] : links) found.push_back("links of " + owner + ", which is gone");
}

void BucketFixture::make_index_of_aliases() {
  change([&](engine::Transaction& transaction) {
    bson::Builder keys;
    keys.append("aliases", int32_t{1});
    engine::IndexDefinition definition;
    definition.keys = std::move(keys).finish();
    definition.sparse = true;
    must(bucket().files().create_index(transaction, definition));
  });
}

std::string BucketFixture::content(engine::Snapshot& snapshot, bson::ValueView id) {
  std::string content;
  for (const bson::Document& document : all_of(bucket().files(), snapshot)) {
    if (shown(document.view()["_id"]) != shown(id)) continue;
    const FilesDocument file = must(FilesDocument::parse(document));
    content.assign(static_cast<size_t>(file.length), '\0');
    for (const bson::Document& chunk : all_of(bucket().chunks(), snapshot)) {
      if (shown(chunk.view()["files_id"]) != shown(id)) continue;
      const auto begin = static_cast<size_t>(*chunk.view()["n"].integral() * file.chunk_bytes);
      const std::string data = data_of(chunk);
      if (begin < content.size()) content.replace(begin, data.size(), data);
    }
    content.resize(static_cast<size_t>(file.length));
  }
  return content;
}

bson::Value BucketFixture::create(const std::string& name, int32_t chunk_bytes) {
  const bson::ObjectId id = bson::ObjectId::generate();
  bson::Builder document;
  document.append("_id", id).append("length", int64_t{0}).append("chunkSize", chunk_bytes);
  document.append("uploadDate", bson::Date::now()).append("filename", name);
  insert_file(std::move(document).finish());
  return bson::Value(id);
}

std::string BucketFixture::read_all(File& file) {
  return text_of(must(file.read(0, static_cast<size_t>(file.length()) + 1)));
}

std::optional<std::string> BucketFixture::await_md5(bson::ValueView id) {
  for (int i = 0; i < 500; ++i) {
    if (std::optional<std::string> md5 = file(id).md5) return md5;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return std::nullopt;
}

}  // namespace gridmount::gridfs
