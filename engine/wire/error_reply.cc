#include "engine/wire/error_reply.h"

#include "engine/bson/text.h"

namespace gridmount::wire {

void append_error(bson::Builder& out, const Error& error) {
  out.append("errmsg", bson::valid_text(error.message()));
  out.append("code", static_cast<int32_t>(error.code()));
  out.append("codeName", error_code_name(error.code()));
  if (!error.details().empty()) {
    out.append_all(
        bson::View(error.details().data(), static_cast<uint32_t>(error.details().size())));
  }
}

bson::Document error_reply(const Error& error) {
  bson::Builder reply;
  reply.append("ok", 0.0);
  append_error(reply, error);
  return std::move(reply).finish();
}

}  // namespace gridmount::wire
