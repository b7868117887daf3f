// A message from a client, read: what it asks for, and in which form it is to be answered.
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

// The envelope of a reply, which is of the request's kind.
struct ReplyForm {
  enum class Kind {
    kNone,  // the client has said that it does not listen
    kMessage,
    kLegacy,        // OP_REPLY with the command's reply
    kLegacyCursor,  // OP_REPLY with the documents of the batch that the command's reply holds
  };
  Kind kind = Kind::kMessage;
  int32_t response_to = 0;
  uint32_t legacy_flags = 0;
  bool has_checksum = false;
  bool may_go_on = false;  // the client has said exhaustAllowed; see goes_on()
  bool more_to_come = false;
  std::optional<Compressor> compressor;
};

struct Incoming {
  ReplyForm form;
  bson::Document made;  // the Request's body, where the message holds no command
  // A Document is the reply already: what was sent cannot be handled, and says why.
  std::variant<Request, bson::Document> content;
};

// Whether a request of a client that allows it is answered again and again, without being asked
// for: another reply follows this one, as if the client had sent the same request again. Those are
// a getMore, to the end of its cursor, and a hello that awaits changes from the version which the
// server is at.
bool goes_on(const Incoming& incoming, bson::View reply);

// Reads a whole message, whose header has passed read_header(). What is returned points into
// `message`, or into `decompressed`, which is filled if the message is compressed. After an error
// the connection is to be closed without a reply, as MongoDB does; the error is for the log.
Result<Incoming> read_incoming(std::span<const uint8_t> message, MessageBytes& decompressed);

}  // namespace gridmount::wire
