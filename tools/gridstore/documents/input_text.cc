#include "tools/gridstore/documents/input_text.h"

#include <span>
#include <string_view>

namespace gridmount::tools {

Result<bool> InputText::fill() {
  constexpr size_t kBufferBytes = 64 * 1024;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  buffer_.resize(kBufferBytes);
  GM_ASSIGN(used_, file_.read({reinterpret_cast<uint8_t*>(buffer_.data()), buffer_.size()}));
  at_ = 0;
  if (!begun_ && std::string_view(buffer_.data(), used_).starts_with(kByteOrderMark)) {
    at_ = kByteOrderMark.size();
  }
  begun_ = true;
  return at_ < used_;
}

Status InputText::skip_line() {
  while (true) {
    GM_ASSIGN(const bool more, this->more());
    if (!more || take() == '\n') return {};
  }
}

}  // namespace gridmount::tools
