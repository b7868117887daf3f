#include "engine/query/pipeline/path_writer.h"

#include <span>

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;
using Parts = std::span<const std::string>;

void append_nested(bson::View document, Parts parts, const std::optional<ValueView>& value,
                   const FieldDependencies* wanted, DocumentOutput& output);

// Appends the field `name`, whose present value is `present`. `rest` is the path below it.
void append_field(std::string_view name, const std::optional<ValueView>& present, Parts rest,
                  const std::optional<ValueView>& value, DocumentOutput& output) {
  if (rest.empty()) {
    if (value) output.append(name, *value);
    return;
  }
  const bool is_document = present && present->type() == Type::kDocument;
  if (!value && !is_document) {
    // The path cannot be continued, so there is nothing to leave out.
    if (present) output.append(name, *present);
    return;
  }
  output.open_document(name);
  append_nested(is_document ? present->as_document() : bson::View(), rest, value, nullptr, output);
  output.close();
}

void append_nested(bson::View document, Parts parts, const std::optional<ValueView>& value,
                   const FieldDependencies* wanted, DocumentOutput& output) {
  bool met = false;
  for (const bson::Element element : document) {
    if (element.key != parts.front()) {
      if (wanted == nullptr || wanted->has_field(element.key)) output.append(element);
    } else if (!met) {
      append_field(element.key, element.value, parts.subspan(1), value, output);
      met = true;
    }
  }
  if (!met && value) append_field(parts.front(), std::nullopt, parts.subspan(1), value, output);
}

}  // namespace

void append_with_field(bson::View document, const std::vector<std::string>& parts,
                       const std::optional<ValueView>& value, const FieldDependencies* wanted,
                       DocumentOutput& output) {
  append_nested(document, parts, value, wanted, output);
}

}  // namespace gridmount::query
