#include "engine/wire/commands/last_write.h"

#include "engine/bson/text.h"

namespace gridmount::wire {

void record_last_write(Client& client, const BatchResult& result, bool is_update) {
  bson::Builder out;
  out.append("n", static_cast<int32_t>(std::min<int64_t>(result.matched, INT32_MAX)));
  if (is_update) {
    out.append("updatedExisting", result.upserted.empty() && result.matched > 0);
    if (!result.upserted.empty()) out.append("upserted", result.upserted.back().second);
  }
  if (result.errors.empty()) {
    out.append_null("err");
  } else {
    const Error& error = result.errors.back().second;
    out.append("err", bson::valid_text(error.message()))
        .append("code", static_cast<int32_t>(error.code()));
    out.append("codeName", error_code_name(error.code()));
  }
  client.set_last_write(std::move(out).finish());
}

}  // namespace gridmount::wire
