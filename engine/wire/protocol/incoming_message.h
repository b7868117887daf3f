// Parses a message of a client into a request and the form of the reply.
//
// The functions are thread-safe. The types are plain values and not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/wire/protocol/compression.h"
#include "engine/wire/protocol/message_bytes.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

// The message format of a reply. It depends on the format of the request.
struct ReplyForm {
  enum class Kind {
    kNone,     // the client does not want a reply
    kMessage,  // OP_MSG
    kLegacy,   // OP_REPLY with the command's reply
    // OP_REPLY with the documents of the cursor's batch (`firstBatch` or `nextBatch`), or with the
    // command's reply if this reply has no cursor. If the command has failed, OP_REPLY with {$err,
    // code, ok}, or without a document for CursorNotFound.
    kLegacyCursor,
  };
  Kind kind = Kind::kMessage;
  int32_t response_to = 0;    // the requestID of the message; read_incoming() sets it
  uint32_t legacy_flags = 0;  // for OP_REPLY: the responseFlags that do not depend on the result
  bool has_checksum = false;
  bool exhaust_allowed = false;  // the client has set exhaustAllowed; see has_more_to_come()
  bool more_to_come = false;     // the reply says that another reply follows; set by the connection
  std::optional<Compressor> compressor;  // of the reply; unset: the reply is not compressed
};

struct IncomingMessage {
  ReplyForm form;
  // Owns the Request's body if this body was built from a legacy message. Otherwise empty.
  bson::Document made;
  // The Request. If the message cannot be handled, the error reply instead.
  std::variant<Request, bson::Document> content;
};

// Returns true if the server must handle the request again after this reply, without waiting for a
// new request. The client must have set exhaustAllowed in an OP_MSG. The request must be a getMore
// that leaves the cursor open, or a hello whose topologyVersion names this server's process.
bool has_more_to_come(const IncomingMessage& incoming, bson::View reply);

// Parses a whole message, whose header read_header() has accepted. If the message is compressed,
// fills `decompressed`. `message` and `decompressed` must outlive the result, which refers to them.
// After an error the connection must be closed without a reply, as MongoDB does. The error is for
// the program's log.
Result<IncomingMessage> read_incoming(std::span<const uint8_t> message, MessageBytes& decompressed);

}  // namespace gridmount::wire
