#include "tests/bench/wire/rows.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"

namespace gridmount::bench {
namespace {

constexpr const char* kDatabase = "bench";
constexpr uint64_t kRange = 100;
constexpr uint64_t kBulk = 1000;
constexpr size_t kPaddingBytes = 200;  // makes documents of about 300 bytes

// OP_MSG with one section of kind 0.
Bytes op_msg(const bson::Document& body) {
  constexpr int32_t kOpcode = 2013;
  constexpr size_t kBodyAt = kMessageHeaderBytes + 5;
  const bson::View view = body.view();
  Bytes message(kBodyAt + view.size());
  const auto length = static_cast<uint32_t>(message.size());
  std::memcpy(message.data(), &length, sizeof(length));
  std::memcpy(message.data() + 12, &kOpcode, sizeof(kOpcode));
  std::memcpy(message.data() + kBodyAt, view.data(), view.size());
  return message;
}

// Returns the numbers in a scattered order.
int64_t scattered(uint64_t number, uint64_t count) {
  constexpr uint64_t kPrime = 2'654'435'761;
  return static_cast<int64_t>(number * kPrime % count);
}

bson::Document document_of(int64_t id) {
  bson::Builder builder;
  builder.append("_id", id).append("name", "document " + std::to_string(id));
  builder.append("count", int32_t{0}).append("score", static_cast<double>(id) / 3);
  builder.append("padding", std::string(kPaddingBytes, 'x'));
  return std::move(builder).finish();
}

Bytes insert(const std::string& collection, int64_t first, uint64_t count) {
  bson::Builder command;
  command.append("insert", collection).open_array("documents");
  for (uint64_t i = 0; i < count; ++i) {
    command.push(document_of(first + static_cast<int64_t>(i)).view());
  }
  command.close().append("$db", kDatabase);
  return op_msg(std::move(command).finish());
}

Bytes find_one(int64_t id) {
  bson::Builder command;
  command.append("find", "documents").open_document("filter").append("_id", id).close();
  command.append("limit", int32_t{1}).append("singleBatch", true).append("$db", kDatabase);
  return op_msg(std::move(command).finish());
}

Bytes find_range(int64_t from) {
  bson::Builder command;
  command.append("find", "documents").open_document("filter").open_document("_id");
  command.append("$gte", from).append("$lt", from + static_cast<int64_t>(kRange)).close().close();
  command.append("$db", kDatabase);
  return op_msg(std::move(command).finish());
}

Bytes update_one(int64_t id) {
  bson::Builder command;
  command.append("update", "documents").open_array("updates").push_open_document();
  command.open_document("q").append("_id", id).close();
  command.open_document("u").open_document("$inc").append("count", int32_t{1}).close().close();
  command.close().close().append("$db", kDatabase);
  return op_msg(std::move(command).finish());
}

}  // namespace

std::vector<Bytes> fill_requests(const WireSizes& sizes) {
  std::vector<Bytes> requests;
  for (uint64_t first = 0; first < sizes.documents; first += kBulk) {
    requests.push_back(
        insert("documents", static_cast<int64_t>(first), std::min(kBulk, sizes.documents - first)));
  }
  return requests;
}

std::vector<WireRow> make_wire_rows(const WireSizes& sizes) {
  const uint64_t documents = sizes.documents;
  const uint64_t some = std::max<uint64_t>(sizes.operations / 10, 1);
  const uint64_t few = std::max<uint64_t>(sizes.operations / 200, 1);
  return {
      {"find_one", "find by _id", sizes.operations, 1, 1.5,
       [=](uint64_t number) { return find_one(scattered(number, documents)); }},
      {"find_range", "find 100 by a range", some, kRange, 0,
       [=](uint64_t number) { return find_range(scattered(number, documents - kRange)); }},
      {"insert", "insert", sizes.operations, 1, 0,
       [](uint64_t number) { return insert("inserted", static_cast<int64_t>(number), 1); }},
      {"update", "update in place", sizes.operations, 1, 0,
       [=](uint64_t number) { return update_one(scattered(number, documents)); }},
      {"bulk", "insert 1000 in one message", few, kBulk, 0,
       [](uint64_t number) { return insert("bulk", static_cast<int64_t>(number * kBulk), kBulk); }},
  };
}

void check_reply(std::span<const uint8_t> message, uint64_t documents) {
  constexpr size_t kBodyAt = kMessageHeaderBytes + 5;
  if (message.size() < kBodyAt + 5) throw std::runtime_error("the reply is too short");
  const bson::View reply(message.data() + kBodyAt, static_cast<uint32_t>(message.size() - kBodyAt));
  const auto ok = reply.find("ok");
  uint64_t count = 0;
  if (const auto cursor = reply.find("cursor")) {
    const bson::View batch = cursor->as_document()["firstBatch"].as_document();
    count = static_cast<uint64_t>(std::distance(batch.begin(), batch.end()));
  } else if (const auto n = reply.find("n")) {
    count = static_cast<uint64_t>(n->integral().value_or(0));
  }
  if (!ok || ok->as_double() != 1 || reply.find("writeErrors") || count != documents) {
    throw std::runtime_error("the server answers " +
                             bson::to_json(reply, bson::JsonForm::kRelaxed).substr(0, 500));
  }
}

}  // namespace gridmount::bench
