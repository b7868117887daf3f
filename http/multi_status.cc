#include "http/multi_status.h"

#include <memory>
#include <utility>

namespace gridmount::http {

namespace {

// A piece is sent when it has this many bytes.
constexpr size_t kSentBytes = size_t{32} * 1024;
constexpr std::string_view kXmlType = "application/xml; charset=utf-8";
constexpr std::string_view kDeclaration = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";

class MultiStatus final : public Body {
 public:
  explicit MultiStatus(ResponseSource responses) : responses_(std::move(responses)) {}

  Result<std::string_view> next() override {
    piece_.clear();
    if (!has_begun_) {
      has_begun_ = true;
      piece_ = std::string(kDeclaration) + "<D:multistatus xmlns:D=\"DAV:\">\n";
    }
    while (!has_ended_ && piece_.size() < kSentBytes) {
      GM_ASSIGN(const std::optional<std::string> response, responses_());
      has_ended_ = !response;
      piece_ += response ? *response : "</D:multistatus>\n";
    }
    return std::string_view(piece_);
  }

 private:
  const ResponseSource responses_;
  bool has_begun_ = false;
  bool has_ended_ = false;
  std::string piece_;
};

}  // namespace

Reply multi_status_reply(ResponseSource responses) {
  Reply reply;
  reply.status = 207;
  reply.length = std::nullopt;
  reply.add("Content-Type", std::string(kXmlType));
  reply.add("Cache-Control", "no-store");
  reply.add("X-Content-Type-Options", "nosniff");
  reply.add("Cross-Origin-Resource-Policy", "same-origin");
  reply.body = std::make_unique<MultiStatus>(std::move(responses));
  return reply;
}

std::string status_element(int status) {
  return "<D:status>HTTP/1.1 " + std::to_string(status) + " " + std::string(reason_of(status)) +
         "</D:status>";
}

Reply condition_reply(int status, std::string_view condition) {
  return xml_reply(status, "error", condition);
}

Reply xml_reply(int status, std::string_view element, std::string_view content) {
  const std::string tag = "D:" + std::string(element);
  std::string text = std::string(kDeclaration) + "<" + tag + " xmlns:D=\"DAV:\">";
  text += content;
  text += "</" + tag + ">\n";
  Reply reply = text_reply(status, std::string(kXmlType), std::move(text), false);
  reply.add("Cache-Control", "no-store");
  return reply;
}

}  // namespace gridmount::http
