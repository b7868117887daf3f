// The body of a request that is taken as one text, such as the XML of WebDAV.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "http/request_handler.h"

namespace gridmount::http {

// Makes the reply to a request from its body, which is empty if there is none.
using TextAnswer = std::function<Result<Reply>(std::string_view text)>;

// Returns what takes the body and then calls `answer`. Errors become replies. A body of more than
// kXmlBytesMax (xml_document.h) gets the status 413, and of a longer one no more than that is kept.
Answer answer_to_text(const Request& request, TextAnswer answer);

}  // namespace gridmount::http
