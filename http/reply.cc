#include "http/reply.h"

namespace gridmount::http {

namespace {

class TextBody final : public Body {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}

  Result<std::string_view> next() override {
    const size_t begin = at_;
    at_ = std::min(text_.size(), at_ + kPieceBytesMax);
    return std::string_view(text_).substr(begin, at_ - begin);
  }

 private:
  const std::string text_;
  size_t at_ = 0;
};

}  // namespace

Reply text_reply(int status, std::string media_type, std::string text, bool is_head) {
  Reply reply;
  reply.status = status;
  reply.add("Content-Type", std::move(media_type));
  reply.add("X-Content-Type-Options", "nosniff");
  reply.length = text.size();
  if (!is_head) reply.body = std::make_unique<TextBody>(std::move(text));
  return reply;
}

Reply refusal(int status, std::string_view what, bool is_head) {
  std::string text = std::to_string(status) + " " + std::string(reason_of(status));
  if (!what.empty()) text += ": " + std::string(what);
  Reply reply = text_reply(status, "text/plain; charset=utf-8", text + "\n", is_head);
  reply.add("Cache-Control", "no-store");
  return reply;
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 207:
      return "Multi-Status";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 421:
      return "Misdirected Request";
    case 423:
      return "Locked";
    case 424:
      return "Failed Dependency";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 507:
      return "Insufficient Storage";
    default:
      return "";
  }
}

}  // namespace gridmount::http
