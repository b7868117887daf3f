#include "engine/wire/auth/password_preparation.h"

#include <stringprep.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace gridmount::wire {

Result<std::string> prepare_password(std::string_view password) {
  // SASLprep does not change ASCII text without control characters.
  if (std::all_of(password.begin(), password.end(),
                  [](char character) { return character >= 0x20 && character < 0x7F; })) {
    return std::string(password);
  }
  if (password.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kBadValue, "Password holds a NUL character");
  }
  char* prepared = nullptr;
  const int code = stringprep_profile(std::string(password).c_str(), &prepared, "SASLprep",
                                      STRINGPREP_NO_UNASSIGNED);
  const std::unique_ptr<char, decltype(&std::free)> owner(prepared, &std::free);
  if (code != STRINGPREP_OK) {
    return fail(ErrorCode::kBadValue, std::string("Password cannot be normalized by SASLprep: ") +
                                          stringprep_strerror(static_cast<Stringprep_rc>(code)));
  }
  return std::string(prepared);
}

}  // namespace gridmount::wire
