// A reply of HTTP as the rest of the room makes it: status, fields and body, without the transport.
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

// No body makes a piece with more bytes than this. So this is the memory for the content that each
// connection needs at most.
inline constexpr size_t kPieceBytesMax = size_t{256} * 1024;

// The bytes of a reply after the head, made piece by piece.
class Body {
 public:
  virtual ~Body() = default;
  // Returns the next piece, which is valid until the next call, and an empty piece at the end.
  // After an error, the body cannot be completed: the connection must end, so that the client does
  // not take what it has for the whole.
  virtual Result<std::string_view> next() = 0;
};

struct Reply {
  int status = 200;
  // Without Content-Length, Transfer-Encoding, Connection and Date, which the connection adds. The
  // values have no control characters.
  std::vector<std::pair<std::string, std::string>> fields;
  // The number of bytes of the body. Unset if it is not known before: the body is then sent in
  // chunks.
  std::optional<uint64_t> length = 0;
  // Null if there is no body. A reply to HEAD has no body, but has the length of the body that GET
  // would have got.
  std::unique_ptr<Body> body;

  void add(std::string name, std::string value) {
    fields.emplace_back(std::move(name), std::move(value));
  }
};

// Returns the reply with this text and the media type. HEAD: without the text, but with its length.
Reply text_reply(int status, std::string media_type, std::string text, bool is_head);
// Returns a reply whose body is one line: the status, its reason, and what is wrong.
Reply refusal(int status, std::string_view what, bool is_head);

// Returns the reason phrase of a status that this server sends, such as "Not Found".
std::string_view reason_of(int status);

}  // namespace gridmount::http
