// The body of a request that is taken as one text, such as the XML of WebDAV. The function is
// thread-safe, the receiver is not.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "http/request_handler.h"

namespace gridmount::http {

// Makes the reply to a request from the request's body. `text` is empty if there is no body.
using TextAnswer = std::function<Result<Reply>(std::string_view text)>;

// Returns a receiver that takes the body, calls `answer`, and turns its errors into replies. The
// reply to a body of more than kXmlBytesMax bytes (xml_document.h) has the status 413. The receiver
// never keeps more bytes than that. If Content-Length is larger, returns this reply instead of a
// receiver.
Answer answer_to_text(const Request& request, TextAnswer answer);

}  // namespace gridmount::http
