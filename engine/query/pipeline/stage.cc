#include "engine/query/pipeline/stage.h"

#include "engine/bson/text.h"

namespace gridmount::query {
namespace {

constexpr size_t kShownBytesMax = 1024;

}  // namespace

tl::unexpected<Error> memory_exceeded(std::string_view stage) {
  return fail(ErrorCode::kQueryExceededMemoryLimit,
              "Exceeded memory limit for " + std::string(stage) +
                  ", but didn't allow external sort. Pass allowDiskUse:true to opt in.");
}

std::string shown(bson::ValueView value) {
  if (value.size() > kShownBytesMax) return "a value of type " + type_name(value);
  return bson::to_text(value);
}

std::string type_name(bson::ValueView value) {
  return std::string(bson::type_alias(value.type()));
}

}  // namespace gridmount::query
