#include "engine/query/update/update.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/query/current_timestamp.h"
#include "engine/query/update/operator_update.h"
#include "engine/query/update/pipeline_update.h"
#include "engine/query/update/replacement.h"
#include "engine/query/update/update_application.h"
#include "engine/query/update/update_path.h"

namespace gridmount::query {
namespace {

using bson::Value;
using bson::ValueView;

Status check_size(bson::View document, bool inserting) {
  if (document.size() <= bson::kMaxDocumentBytes) return {};
  const std::string most = std::to_string(bson::kMaxDocumentBytes);
  if (inserting) {
    return fail(ErrorCode::kUpsertedDocumentTooLarge, "Document to upsert is larger than " + most);
  }
  return fail(ErrorCode::kUpdatedDocumentTooLarge,
              "Resulting document after update is larger than " + most);
}

bool are_same(ValueView a, ValueView b) {
  return a.type() == b.type() && a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size()) == 0;
}

bool are_same(bson::View a, bson::View b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// Checks the path of an equality from which an upsert makes a field.
Status check_equality_path(const bson::Path& path) {
  GM_TRY(check_update_path(path));
  if (!is_positional(path)) return {};
  return fail(ErrorCode::kBadValue, "cannot infer query fields to set, path '" + path.dotted() +
                                        "' has a positional part");
}

// Checks the top-level names with '$' that operators have changed in an existing document. A new
// document may have such names.
Status check_dollar_names(const UpdateNode& changes, bson::View before, bson::View after) {
  for (const auto& [name, child] : changes.children) {
    if (!name.starts_with('$')) continue;
    const std::optional<ValueView> made = after.find(name);
    const std::optional<ValueView> given = before.find(name);
    if (made && !(given && are_same(*given, *made))) GM_TRY(check_changed_field(after, name));
  }
  return {};
}

// Returns `document` with `id` as its _id and first field.
bson::Document with_id(ValueView id, bson::View document) {
  bson::Builder builder;
  builder.append("_id", id);
  for (const bson::Element element : document) {
    if (element.key != "_id") builder.append(element.key, element.value);
  }
  return std::move(builder).finish();
}

// Fails with Overflow if the document is nested deeper than a stored document may be.
Status check_stored_depth(bson::View document) {
  if (!bson::is_nested(document, bson::kMaxStoredDepth)) return {};
  return fail(ErrorCode::kOverflow,
              "Document exceeds maximum nesting depth of " + std::to_string(bson::kMaxStoredDepth));
}

}  // namespace

struct Update::State {
  std::optional<bson::Document> replacement;
  std::optional<PipelineUpdate> pipeline;
  OperatorUpdate operators;

  // If there is no position, `$` fails with BadValue. `inserting` means that `document` is the new
  // document of an upsert, which has the filter's equalities.
  Result<Applied> updated(bson::View document, std::optional<size_t> matched_position,
                          bool inserting) const {
    if (replacement) {
      if (!inserting) GM_TRY(check_replacement(*replacement));
      return replaced(document, with_timestamps(*replacement), inserting);
    }
    if (pipeline) {
      GM_ASSIGN(bson::Document made, pipeline->apply(document));
      GM_TRY(check_size(made, inserting));
      return replaced(document, std::move(made), inserting);
    }
    return changed(document, matched_position, inserting);
  }

  Result<Applied> changed(bson::View document, std::optional<size_t> matched_position,
                          bool inserting) const {
    GM_ASSIGN(
        bson::Document result,
        apply_updates(operators.root, document, {operators.filters, matched_position, inserting}));
    GM_TRY(check_size(result, inserting));
    if (operators.may_deepen) GM_TRY(check_stored_depth(result));
    if (!inserting) GM_TRY(check_dollar_names(operators.root, document, result));
    const std::optional<ValueView> before = document.find("_id");
    if (before && operators.root.find("_id") != nullptr) {
      const std::optional<ValueView> after = result.find("_id");
      // Even 1.0 in place of 1 is a change.
      if (!after || !are_same(*before, *after)) return altered_id("_id");
    }
    const bool modified = !are_same(document, result);
    return Applied{std::move(result), modified};
  }

  // Replaces `document` by `made`. If `made` has no _id, the result has the _id of `document`. The
  // document counts as modified if any byte of `made`, as given, differs, for example in the order
  // of fields, or in the position or lack of the _id.
  static Result<Applied> replaced(bson::View document, bson::Document made, bool inserting) {
    const bool is_same_as_given = are_same(document, made);
    const std::optional<ValueView> id = document.find("_id");
    const std::optional<ValueView> own = made.find("_id");
    if (id && own && bson::compare(*id, *own) != 0) {
      return fail(ErrorCode::kImmutableField,
                  "After applying the update, the (immutable) field '_id' was found to have been "
                  "altered to " +
                      show_element("_id", *own));
    }
    if (id) made = with_id(Value(own ? *own : *id), made);
    GM_TRY(check_size(made, inserting));
    GM_TRY(check_stored_depth(made));
    // with_id() moves the _id to the front, which may be a change too.
    const bool modified = !is_same_as_given || !are_same(document, made);
    return Applied{std::move(made), modified};
  }
};

Update::Update(std::unique_ptr<State> state) : state_(std::move(state)) {}
Update::Update(Update&&) noexcept = default;
Update& Update::operator=(Update&&) noexcept = default;
Update::~Update() = default;

Result<Update> Update::parse(bson::View specification, const UpdateParseOptions& options) {
  auto state = std::make_unique<State>();
  const bool operators = !specification.empty() && (*specification.begin()).key.starts_with('$');
  if (operators && !options.is_pipeline) {
    GM_ASSIGN(state->operators,
              parse_operator_update(specification, options.array_filters, options.collator));
    return Update(std::move(state));
  }
  if (!options.array_filters.empty()) {
    return fail(ErrorCode::kFailedToParse,
                "arrayFilters may not be specified for " +
                    std::string(options.is_pipeline ? "pipeline" : "replacement") +
                    "-style updates");
  }
  if (options.is_pipeline) {
    GM_ASSIGN(state->pipeline, PipelineUpdate::parse(specification, options.variables, options.now,
                                                     options.collator));
  } else {
    state->replacement = bson::Document(specification);
  }
  return Update(std::move(state));
}

bool Update::is_replacement() const {
  return state_->replacement.has_value();
}

const std::vector<std::string>& Update::touched_paths() const {
  return state_->operators.touched_paths;
}

bool Update::needs_match() const {
  return state_->operators.needs_match;
}

Result<Update::Applied> Update::apply(bson::View document,
                                      std::optional<size_t> matched_position) const {
  return state_->updated(document, matched_position, false);
}

Result<bson::Document> Update::upserted(const Filter& filter) const {
  UpdateNode equalities;
  for (const auto& [dotted, value] : filter.equalities()) {
    // A replacement takes only the _id from the filter, and only if the filter gives it as a whole.
    if (state_->replacement && dotted.starts_with("_id.")) {
      return fail(ErrorCode::kNotExactValueField,
                  "field at '_id' must be exactly specified, field at "
                  "sub-path '" +
                      dotted + "' found");
    }
    if (state_->replacement && dotted != "_id") continue;
    const bson::Path path(dotted);
    GM_TRY(check_equality_path(path));
    if (!add_equality(equalities, path, value)) {
      return fail(ErrorCode::kNotSingleValueField,
                  "cannot infer query fields to set, path '" + dotted + "' is matched twice");
    }
  }
  number_children(equalities);
  GM_ASSIGN(bson::Document document,
            apply_updates(equalities, bson::View(), {ArrayFilters(), std::nullopt, true}));
  GM_ASSIGN(Applied applied, state_->updated(document, std::nullopt, true));
  document = std::move(applied.document);
  const std::optional<ValueView> id = document.find("_id");
  const Value chosen = id ? Value(*id) : Value(bson::ObjectId::generate());
  document = with_id(chosen, document);
  GM_TRY(check_size(document, true));
  return document;
}

}  // namespace gridmount::query
