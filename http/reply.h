// A reply of HTTP before it is sent: status, fields and body, without the transport.
//
// A reply and its body belong to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::http {

// The maximum length of a piece of a file's content, so a connection needs at most this memory for
// content. A listing and a multi-status reply add whole entries, which may be longer: in JSON, an
// entry has the whole _id of the file.
inline constexpr size_t kPieceBytesMax = size_t{256} * 1024;

// The bytes of a reply after the head, made piece by piece.
class Body {
 public:
  virtual ~Body() = default;
  // Returns the next piece, which is valid until the next call, and an empty piece at the end.
  // After an error, the body cannot be completed. The connection must then end, so that the client
  // does not take the part that it has for the whole body.
  virtual Result<std::string_view> next() = 0;
};

struct Reply {
  int status = 200;
  // The fields except Content-Length, Transfer-Encoding, Connection and Date, which the connection
  // adds. The values must not have control characters.
  std::vector<std::pair<std::string, std::string>> fields;
  // The number of bytes of the body. Unset if the number is not known when the head is sent. The
  // body then has the transfer coding "chunked", or for a client of HTTP/1.0 it ends with the
  // connection. Also unset for the statuses 204 and 304, which get no Content-Length.
  std::optional<uint64_t> length = 0;
  // Null if there is no body. A reply to HEAD has no body, but has the length of the body that GET
  // would have got.
  std::unique_ptr<Body> body;

  void add(std::string name, std::string value) {
    fields.emplace_back(std::move(name), std::move(value));
  }
};

// Returns the reply with this text and the media type. If `is_head`, the reply has the length of
// the text, but no body.
Reply text_reply(int status, std::string media_type, std::string text, bool is_head);
// Returns a reply whose body is one line: the status, its reason, and `what`, which says what is
// wrong.
Reply refusal(int status, std::string_view what, bool is_head);

// Returns the reason phrase of a status that this server sends, such as "Not Found".
std::string_view reason_of(int status);

}  // namespace gridmount::http
