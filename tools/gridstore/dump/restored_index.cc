#include "tools/gridstore/dump/restored_index.h"

#include <cmath>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/query/plan/index_option_names.h"

namespace gridmount::tools {
namespace {

// The limit below which mongorestore treats a number as zero.
constexpr double kEpsilon = 1e-9;

bson::View keys_of(bson::View specification) {
  const std::optional<bson::ValueView> keys = specification.find("key");
  return keys && keys->type() == bson::Type::kDocument ? keys->as_document() : bson::View();
}

void append_converted(bson::Builder& builder, const bson::Element& key) {
  const std::optional<double> number = key.value.number();
  const bool is_name = key.value.type() == bson::Type::kString && !key.value.as_string().empty();
  const bool is_nothing = number && std::abs(*number) < kEpsilon;
  if (is_name || (number && !is_nothing)) {
    builder.append(key.key, key.value);
  } else {
    builder.append(key.key, int32_t{number && *number < 0 ? -1 : 1});
  }
}

}  // namespace

bson::Document current_specification(bson::View specification) {
  bson::Builder current;
  for (const bson::Element field : specification) {
    if (field.key == "v" || field.key == "ns" || !query::is_index_option(field.key)) continue;
    current.append(field.key, field.value);
  }
  return std::move(current).finish();
}

bson::Document with_converted_keys(bson::View specification) {
  bson::Builder converted;
  for (const bson::Element field : specification) {
    if (field.key != "key" || field.value.type() != bson::Type::kDocument) {
      converted.append(field.key, field.value);
      continue;
    }
    converted.open_document(field.key);
    for (const bson::Element key : field.value.as_document()) append_converted(converted, key);
    converted.close();
  }
  return std::move(converted).finish();
}

bool have_equal_keys(bson::View specification, bson::View other) {
  return bson::compare(keys_of(specification), keys_of(other)) == 0;
}

}  // namespace gridmount::tools
