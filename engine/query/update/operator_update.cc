#include "engine/query/update/operator_update.h"

#include <algorithm>
#include <set>

#include "engine/bson/text.h"
#include "engine/query/interruption.h"
#include "engine/query/update/update_path.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

constexpr UpdateOperator kRenamed{"$rename", accept_any, apply_renamed};
constexpr UpdateOperator kUnset{"$unset", accept_any, apply_unset};
constexpr UpdateOperator kEquality{"$set", accept_any, apply_set};

std::string show(ValueView value) {
  return bson::to_text(value);
}

// Returns the number of levels of documents and arrays. The value has been validated, which bounds
// the recursion.
size_t depth_of(ValueView value) {
  if (value.type() != Type::kDocument && value.type() != Type::kArray) return 0;
  size_t deepest = 0;
  for (const bson::Element element : value.as_document()) {
    deepest = std::max(deepest, depth_of(element.value));
  }
  return deepest + 1;
}

Result<std::shared_ptr<const UpdateLeaf>> make_leaf(const UpdateOperator& update,
                                                    std::string_view path, ValueView operand,
                                                    const SharedCollator& collator) {
  GM_TRY(update.check(path, operand));
  auto leaf = std::make_shared<UpdateLeaf>();
  leaf->update = &update;
  leaf->operand = Value(operand);
  leaf->collator = collator;
  if (update.prepare != nullptr) {
    GM_ASSIGN(leaf->prepared, update.prepare(path, operand, collator));
  }
  return std::shared_ptr<const UpdateLeaf>(std::move(leaf));
}

class Parser {
 public:
  Parser(ArrayFilters filters, const SharedCollator& collator) : collator_(collator) {
    parsed_.filters = std::move(filters);
  }

  Result<OperatorUpdate> parse(bson::View specification) {
    for (const bson::Element element : specification) {
      GM_TRY(add_operator(element.key, element.value));
    }
    for (const auto& [identifier, filter] : parsed_.filters.by_identifier()) {
      if (used_.find(identifier) != used_.end()) continue;
      return fail(ErrorCode::kFailedToParse, "The array filter for identifier '" + identifier +
                                                 "' was not used in the update " +
                                                 bson::to_text(specification));
    }
    number_children(parsed_.root);
    return std::move(parsed_);
  }

 private:
  Status add_operator(std::string_view name, ValueView fields) {
    const bool renames = name == "$rename";
    const UpdateOperator* const update = find_update_operator(name);
    if (update == nullptr && !renames) {
      return fail(ErrorCode::kFailedToParse,
                  "Unknown modifier: " + std::string(name) +
                      ". Expected a valid update modifier or pipeline-style update specified as "
                      "an array");
    }
    if (fields.type() != Type::kDocument) {
      return fail(ErrorCode::kFailedToParse,
                  "Modifiers operate on fields but we found type " +
                      std::string(bson::type_alias(fields.type())) +
                      " instead. For example: {$mod: {<field>: ...}} not {" + std::string(name) +
                      ": " + show(fields) + "}");
    }
    for (const bson::Element element : fields.as_document()) {
      GM_TRY(check_interruption());
      if (renames) {
        GM_TRY(add_rename(element));
      } else {
        const bson::Path path(element.key);
        GM_TRY(check_update_path(path));
        GM_TRY(add(path, *update, element.value));
      }
    }
    return {};
  }

  Status add_rename(const bson::Element& element) {
    if (element.value.type() != Type::kString) {
      return fail(ErrorCode::kBadValue, "The 'to' field for $rename must be a string: " +
                                            std::string(element.key) + ": " + show(element.value));
    }
    const bson::Path source(element.key);
    const bson::Path target(element.value.as_string());
    GM_TRY(check_update_path(source));
    GM_TRY(check_update_path(target));
    if (element.value.as_string().find('\0') != std::string_view::npos) {
      return fail(ErrorCode::kBadValue,
                  "The 'to' field for $rename cannot contain an embedded null byte");
    }
    if (source.dotted() == target.dotted()) {
      return fail(ErrorCode::kBadValue,
                  "The source and target field for $rename must differ: " + source.dotted());
    }
    if (target.dotted().starts_with(source.dotted() + ".") ||
        source.dotted().starts_with(target.dotted() + ".")) {
      return fail(ErrorCode::kBadValue,
                  "The source and target field for $rename must not be on the same path: " +
                      source.dotted() + ": '" + target.dotted() + "'");
    }
    if (is_positional(source)) {
      return fail(ErrorCode::kBadValue,
                  "The source field for $rename may not be dynamic: " + source.dotted());
    }
    if (is_positional(target)) {
      return fail(ErrorCode::kBadValue,
                  "The destination field for $rename may not be dynamic: " + target.dotted());
    }
    GM_TRY(add(source, kUnset, Value()));
    // The renamed value may be a nested document.
    parsed_.may_deepen = true;
    return add(target, kRenamed, Value(element.key));
  }

  Status add(const bson::Path& path, const UpdateOperator& update, ValueView operand) {
    GM_ASSIGN(std::shared_ptr<const UpdateLeaf> leaf,
              make_leaf(update, path.dotted(), operand, collator_));
    GM_TRY(add_update(parsed_.root, path, std::move(leaf), parsed_.filters));
    parsed_.touched_paths.push_back(fixed_prefix(path));
    // The levels of the path, of the operand, and of the array that $push makes around the operand.
    const size_t deepest = path.parts().size() + depth_of(operand) + 1;
    parsed_.may_deepen = parsed_.may_deepen || deepest > bson::kMaxStoredDepth;
    for (const std::string& part : path.parts()) {
      if (is_matched_part(part)) parsed_.needs_match = true;
      if (is_elements_part(part)) used_.emplace(identifier_of(part));
    }
    return {};
  }

  const SharedCollator collator_;
  OperatorUpdate parsed_;
  std::set<std::string, std::less<>> used_;  // identifiers
};

}  // namespace

Result<OperatorUpdate> parse_operator_update(bson::View specification, bson::View array_filters,
                                             const SharedCollator& collator) {
  GM_ASSIGN(ArrayFilters filters, ArrayFilters::parse(array_filters, collator));
  return Parser(std::move(filters), collator).parse(specification);
}

Status add_equality(UpdateNode& root, const bson::Path& path, bson::ValueView value) {
  GM_ASSIGN(std::shared_ptr<const UpdateLeaf> leaf,
            make_leaf(kEquality, path.dotted(), value, nullptr));
  return add_update(root, path, std::move(leaf), ArrayFilters());
}

}  // namespace gridmount::query
