// Puts GridFS documents into a store as a driver would, and prints the stored documents. Tests use
// this program to examine a store's documents without the mount or the tools.
//
//   driver_documents insert STORE < LINES
//       One JSON object per line: {"bucket": NAME, "seed": N, "document": {...}}. The files
//       document is inserted as it is (Extended JSON keeps each type), with chunks made from its
//       length and chunkSize. "missing_chunk" and "short_chunk" name a chunk to leave out or to
//       shorten by one byte. Byte i of the content is (seed + i * 31 + i / 251) modulo 256. Creates
//       the store. Makes indexes as drivers do, before the first insert.
//   driver_documents show STORE BUCKET
//       One canonical JSON object per line, sorted by filename:
//       {"file": {...}, "chunks": [{"n": N, "bytes": SIZE}, ...]}.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/bson/json.h"
#include "engine/local/open_store.h"
#include "engine/store.h"

namespace {

using gridmount::Error;
using gridmount::ErrorCode;
using gridmount::fail;
using gridmount::Result;
using gridmount::Status;
namespace bson = gridmount::bson;
namespace engine = gridmount::engine;
namespace local = gridmount::local;

constexpr std::string_view kDatabase = "test";  // the default of all programs

Result<int64_t> integer(bson::View document, std::string_view key) {
  const auto value = document.find(key);
  const auto number = value ? value->integral() : std::nullopt;
  if (!number) return fail(ErrorCode::kBadValue, "no whole number '" + std::string(key) + "'");
  return *number;
}

std::vector<uint8_t> content(int64_t seed, int64_t from, int64_t size) {
  std::vector<uint8_t> bytes;
  bytes.reserve(static_cast<size_t>(size));
  for (int64_t i = from; i < from + size; ++i) {
    bytes.push_back(static_cast<uint8_t>((seed + i * 31 + i / 251) & 0xff));
  }
  return bytes;
}

// Drivers write index keys with the number type of their language. Some write doubles.
Status create_indexes(engine::Transaction& transaction, engine::Collection& files,
                      engine::Collection& chunks) {
  bson::Builder by_name;
  by_name.append("filename", 1.0).append("uploadDate", 1.0);
  GM_TRY(files.create_index(transaction,
                            {.name = "", .keys = std::move(by_name).finish(), .unique = false}));
  bson::Builder by_number;
  by_number.append("files_id", 1.0).append("n", 1.0);
  return chunks.create_index(transaction,
                             {.name = "", .keys = std::move(by_number).finish(), .unique = true});
}

Status insert_chunks(engine::Transaction& transaction, engine::Collection& chunks, bson::View order,
                     bson::View document) {
  GM_ASSIGN(const int64_t length, integer(document, "length"));
  GM_ASSIGN(const int64_t chunk_bytes, integer(document, "chunkSize"));
  GM_ASSIGN(const int64_t seed, integer(order, "seed"));
  if (chunk_bytes <= 0) return {};  // for tests of absurd documents, which have no chunks
  for (int64_t n = 0; n * chunk_bytes < length; ++n) {
    if (order.find("missing_chunk") && order["missing_chunk"].integral() == n) continue;
    const int64_t start = n * chunk_bytes;
    std::vector<uint8_t> data = content(seed, start, std::min(chunk_bytes, length - start));
    if (order.find("short_chunk") && order["short_chunk"].integral() == n) data.pop_back();
    bson::Builder chunk;
    chunk.append("_id", bson::ObjectId::generate());
    chunk.append("files_id", document["_id"]);
    chunk.append("n", static_cast<int32_t>(n));
    chunk.append(
        "data", bson::Binary{
                    .subtype = 0, .data = data.data(), .size = static_cast<uint32_t>(data.size())});
    GM_TRY(chunks.insert(transaction, std::move(chunk).finish()));
  }
  return {};
}

Status insert_file(engine::Store& store, std::string_view line) {
  GM_ASSIGN(const bson::Document order, bson::document_from_json(line));
  const auto bucket = order.find("bucket");
  const auto document = order.find("document");
  if (!bucket || bucket->type() != bson::Type::kString || !document ||
      document->type() != bson::Type::kDocument || !document->as_document().find("_id")) {
    return fail(ErrorCode::kBadValue, "'bucket' or 'document' with an _id missing in a line");
  }
  const std::string name(bucket->as_string());
  const auto database = store.database(kDatabase);
  const auto files = database->collection(name + ".files");
  const auto chunks = database->collection(name + ".chunks");
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store.begin());
  GM_TRY(create_indexes(*transaction, *files, *chunks));
  GM_TRY(insert_chunks(*transaction, *chunks, order, document->as_document()));
  GM_TRY(files->insert(*transaction, document->as_document()));
  return transaction->commit();
}

Status insert_all(const std::string& folder) {
  GM_ASSIGN(const std::unique_ptr<engine::Store> store, local::open(folder, {.create = true}));
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.empty()) continue;
    GM_TRY(insert_file(*store, line));
  }
  return {};
}

Status show_chunks(engine::Snapshot& snapshot, engine::Collection& chunks, bson::ValueView id,
                   bson::Builder& out) {
  bson::Builder filter;
  filter.append("files_id", id);
  bson::Builder sort;
  sort.append("files_id", int32_t{1}).append("n", int32_t{1});
  const bson::Document filter_document = std::move(filter).finish();
  const bson::Document sort_document = std::move(sort).finish();
  engine::FindOptions options;
  options.sort = sort_document;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            chunks.find(snapshot, filter_document, options));
  out.open_array("chunks");
  for (;;) {
    GM_ASSIGN(const std::optional<bson::View> chunk, cursor->next());
    if (!chunk) break;
    out.push_open_document();
    out.append("n", (*chunk)["n"]);
    out.append("bytes", static_cast<int64_t>((*chunk)["data"].as_binary().size));
    out.close();
  }
  out.close();
  return {};
}

Status show_all(const std::string& folder, const std::string& bucket) {
  GM_ASSIGN(const std::unique_ptr<engine::Store> store, local::open(folder, {.read_only = true}));
  const auto database = store->database(kDatabase);
  const auto files = database->collection(bucket + ".files");
  const auto chunks = database->collection(bucket + ".chunks");
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store->snapshot());
  bson::Builder sort;
  sort.append("filename", int32_t{1}).append("uploadDate", int32_t{1});
  const bson::Document sort_document = std::move(sort).finish();
  engine::FindOptions options;
  options.sort = sort_document;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            files->find(*snapshot, bson::View(), options));
  for (;;) {
    GM_ASSIGN(const std::optional<bson::View> file, cursor->next());
    if (!file) return {};
    bson::Builder out;
    out.append("file", *file);
    GM_TRY(show_chunks(*snapshot, *chunks, (*file)["_id"], out));
    std::cout << bson::to_json(std::move(out).finish().view(), bson::JsonForm::kCanonical) << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  Status status;
  if (words.size() == 2 && words[0] == "insert") {
    status = insert_all(words[1]);
  } else if (words.size() == 3 && words[0] == "show") {
    status = show_all(words[1], words[2]);
  } else {
    std::cerr << "usage: driver_documents insert STORE | show STORE BUCKET\n";
    return 2;
  }
  if (!status) {
    std::cerr << "driver_documents: " << status.error().message() << "\n";
    return 1;
  }
  return 0;
}
