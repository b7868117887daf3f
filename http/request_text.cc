#include "http/request_text.h"

#include <memory>
#include <utility>

#include "http/site_error.h"
#include "http/xml_document.h"

namespace gridmount::http {

namespace {

Reply too_long(const Request& request) {
  return refusal_of({kXmlTooLarge, "the body is too long"}, request);
}

class TextReceiver final : public BodyReceiver {
 public:
  TextReceiver(Request request, TextAnswer answer)
      : request_(std::move(request)), answer_(std::move(answer)) {}

  std::optional<Reply> take(std::span<const uint8_t> bytes) override {
    if (bytes.size() > kXmlBytesMax - text_.size()) return too_long(request_);
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return std::nullopt;
  }

  Reply finish() override {
    Result<Reply> reply = answer_(text_);
    if (reply) return std::move(reply).value();
    return refusal_of(reply.error(), request_);
  }

 private:
  const Request request_;
  const TextAnswer answer_;
  std::string text_;
};

}  // namespace

Answer answer_to_text(const Request& request, TextAnswer answer) {
  if (request.body_bytes.value_or(0) > kXmlBytesMax) return too_long(request);
  return std::make_unique<TextReceiver>(request, std::move(answer));
}

}  // namespace gridmount::http
