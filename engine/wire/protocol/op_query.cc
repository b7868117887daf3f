#include "engine/wire/protocol/op_query.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "engine/bson/builder.h"
#include "engine/wire/protocol/byte_reader.h"
#include "engine/wire/protocol/header.h"
#include "engine/wire/protocol/reply.h"

namespace gridmount::wire {
namespace {

constexpr std::string_view kCommandSuffix = ".$cmd";
constexpr std::string_view kHint =
    " The client driver may require an upgrade. For more details see "
    "https://dochub.mongodb.org/core/legacy-opcode-removal";

// MongoDB's numbers.
constexpr ErrorCode kBadNumberToReturn{16979};
constexpr ErrorCode kUnsupportedOpQueryCommand{352};
constexpr int32_t kOpcodeRemoved = 5739101;

constexpr std::array<std::string_view, 9> kAnswered = {"hello",     "isMaster",     "ismaster",
                                                       "_isSelf",   "authenticate", "buildinfo",
                                                       "buildInfo", "saslStart",    "saslContinue"};

struct Query {
  std::string_view collection;  // full: with the database
  int32_t number_to_return = 0;
  bson::View document;
};

Result<Query> read_query(std::span<const uint8_t> body) {
  ByteReader reader(body);
  Query query;
  GM_TRY(reader.number());  // flags
  GM_ASSIGN(query.collection, reader.name());
  GM_TRY(reader.number());  // to skip
  GM_ASSIGN(const uint32_t number_to_return, reader.number());
  query.number_to_return = static_cast<int32_t>(number_to_return);
  GM_ASSIGN(query.document, reader.document());
  if (!reader.at_end()) GM_TRY(reader.document());  // fields to return
  return query;
}

// Drivers put a command into `$query` to give a read preference beside it.
bson::View unwrapped(bson::View document) {
  if (document.empty()) return document;
  const bson::Element first = *document.begin();
  const bool wraps = first.key == "$query" || first.key == "query";
  if (!wraps || first.value.type() != bson::Type::kDocument) return document;
  return first.value.as_document();
}

}  // namespace

bson::Document no_longer_supported(std::string_view opcode_name) {
  bson::Builder reply;
  reply.append("$err", std::string(opcode_name) + " is no longer supported." + std::string(kHint));
  reply.append("code", kOpcodeRemoved).append("ok", 0.0);
  return std::move(reply).finish();
}

Result<OpQuery> read_op_query(std::span<const uint8_t> message) {
  GM_ASSIGN(const Query query, read_query(message.subspan(kHeaderBytes)));
  OpQuery op_query;
  if (!query.collection.ends_with(kCommandSuffix)) {
    op_query.reply_flags = kQueryFailure;
    op_query.content = no_longer_supported("OP_QUERY");
    return op_query;
  }
  if (query.number_to_return != 1 && query.number_to_return != -1) {
    op_query.content = error_document(
        {kBadNumberToReturn, "Bad numberToReturn (" + std::to_string(query.number_to_return) +
                                 ") for $cmd type ns - can only be 1 or -1"});
    return op_query;
  }
  Request request;
  request.body = unwrapped(query.document);
  request.database = query.collection.substr(0, query.collection.size() - kCommandSuffix.size());
  request.is_legacy = true;
  if (std::find(kAnswered.begin(), kAnswered.end(), request.name()) == kAnswered.end()) {
    op_query.content = error_document(
        {kUnsupportedOpQueryCommand,
         "Unsupported OP_QUERY command: " + std::string(request.name()) + "." + std::string(kHint)},
        "UnsupportedOpQueryCommand");
    return op_query;
  }
  op_query.content = std::move(request);
  return op_query;
}

}  // namespace gridmount::wire
