#include "tests/engine/contract/reference.h"

#include "engine/bson/builder.h"
#include "engine/bson/text.h"

namespace gridmount::engine {
namespace {

tl::unexpected<Error> no_reference(bson::ValueView value, std::string_view why) {
  return fail(ErrorCode::kTypeMismatch,
              "not a DBRef, " + std::string(why) + ": " + bson::to_text(value));
}

}  // namespace

Result<Reference> Reference::parse(bson::ValueView value) {
  if (value.type() != bson::Type::kDocument) return no_reference(value, "it is no document");
  Reference reference;
  size_t position = 0;
  for (const bson::Element field : value.as_document()) {
    if (position == 0) {
      if (field.key != "$ref" || field.value.type() != bson::Type::kString) {
        return no_reference(value, "its first field is not $ref with a collection's name");
      }
      reference.collection = field.value.as_string();
    } else if (position == 1) {
      if (field.key != "$id") return no_reference(value, "its second field is not $id");
      reference.id = bson::Value(field.value);
    } else if (field.key == "$db") {
      if (position != 2 || field.value.type() != bson::Type::kString) {
        return no_reference(value, "$db is not a database's name directly behind $id");
      }
      reference.database = field.value.as_string();
    }
    ++position;
  }
  if (position < 2) return no_reference(value, "it has no $ref and $id");
  return reference;
}

bson::Document Reference::document() const {
  bson::Builder builder;
  builder.append("$ref", collection).append("$id", id);
  if (!database.empty()) builder.append("$db", database);
  return std::move(builder).finish();
}

Result<std::optional<bson::View>> resolve(Store& store, Snapshot& snapshot,
                                          std::string_view database, const Reference& reference) {
  const std::string_view where = reference.database.empty() ? database : reference.database;
  bson::Builder filter;
  filter.open_document("_id").append("$eq", reference.id).close();
  return store.database(where)
      ->collection(reference.collection)
      ->find_one(snapshot, std::move(filter).finish());
}

}  // namespace gridmount::engine
