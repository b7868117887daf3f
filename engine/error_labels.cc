#include "engine/error_labels.h"

#include <algorithm>
#include <optional>

#include "engine/bson/document.h"

namespace gridmount::engine {

bool has_error_label(const Error& error, std::string_view label) {
  if (error.details().empty()) return false;
  const Result<bson::View> details =
      bson::validate(error.details(), static_cast<uint32_t>(error.details().size()));
  if (!details) return false;
  const std::optional<bson::ValueView> labels = details->find("errorLabels");
  if (!labels || labels->type() != bson::Type::kArray) return false;
  for (const bson::Element element : labels->as_document()) {
    if (element.value.type() == bson::Type::kString && element.value.as_string() == label) {
      return true;
    }
  }
  return false;
}

}  // namespace gridmount::engine
